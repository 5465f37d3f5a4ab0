"""The specification of a model as plain data, and the checks of what is possible."""
