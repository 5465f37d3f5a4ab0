"""The command line, with the verbs of the library. Nothing else in the package prints."""

from nbsql.cli.app import main

__all__ = ["main"]
