"""Text becomes SQL that is safe: the gates, the macros, and the names of relations."""
