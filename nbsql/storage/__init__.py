"""A model as relations and as a file: what it consists of, how it is written, read and dropped."""
