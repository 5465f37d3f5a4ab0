"""A model as relations and as a file: how it is written, read and dropped."""
