"""The command line: the library's words, typed. Nothing else in the package prints."""

from nbsql.cli.app import main

__all__ = ["main"]
