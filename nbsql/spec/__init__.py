"""What was asked for, as plain data, and whether it can be."""
