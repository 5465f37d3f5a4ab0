"""Renders safe SQL: the gates for values, the macros, and the names of relations."""
