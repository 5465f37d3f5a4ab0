"""DuckDB's error messages, shortened for nbsql's errors."""

from __future__ import annotations

import re

import duckdb

from nbsql.engines.duckdb.file_messages import file_error
from nbsql.engines.foreign_sources import reads_again
from nbsql.errors import suggestion
from nbsql.warn import user_variable

_EXTENSION = re.compile(r"(?:install|download).* extension ['\"](\w+)", re.DOTALL)
_NO_TABLE = re.compile(r'Catalog Error: Table with name (.*?) does not exist!(?:\s+Did you mean "([^"]*)")?')
_SAID = {  # what DuckDB says -> what is said of the name in it
    r'on database "(.*)" which is attached in read-only mode': "database {!r} is open read-only; open it for writing",
    'infinite recursion detected: attempting to recursively expand table macro "(.*)"': "a view that reads {!r} of a model "
    "cannot be scored by the same macro, which DuckDB expands once; make a table of the view, or score it in Python",
    "Connection already closed": "the connection is closed; open a new one, and load the model with it",
    r'No files found that match the pattern "(.*)"': "no file {!r}; check its path",
    r'Cannot open file "(.*)": No such file or directory': "cannot open {!r}: no such file or folder; check its path",
    r'Could not write file \\?"(.*?)\\?": No space left on device': "cannot write {!r}: no space is left on its disk; "
    "free some, or choose another",
    r'Ambiguous reference to catalog or schema "(.*?)"': "{!r} is the name of a model and of its database; "
    "rename the file, or ATTACH it under another name",
    r'Binder Error: (?:Values list|Table) ".*?" does not have a column named "(.*?)"': "no column {!r} in the rows; "
    "check whether it was dropped or renamed since",
    "Could not convert string ['\"](the text '.*' in column '.*' is no number, and none of .*)['\"] to ": "{}",
}


def frame_hint(name: str) -> str:
    """A hint for the name of a table that there is not, if the user has a frame of that name; or else an empty text."""
    found = user_variable(name)
    if not reads_again(found) or not (hasattr(found, "columns") or hasattr(found, "column_names")):
        return ""
    kind = type(found).__name__
    return f"; {name} is a {kind} of Python: pass the {kind} itself, or register it on the connection for a query"


def one_line(error: duckdb.Error) -> str:
    """DuckDB's message in one line, without the excerpt of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    text = str(error)
    for pattern, message in _SAID.items():
        if said := re.search(pattern, text):
            return message.format(*(name.replace('""', '"') for name in said.groups()))
    if missing := _NO_TABLE.search(text):
        # DuckDB suggests tables of its catalogue, too
        hint = frame_hint(missing[1]) or suggestion(missing[1], filter(None, [missing[2]]))
        return f"no table or view {missing[1]!r}{hint or '; check its name, or whether it was dropped or renamed'}"
    if (missing := _EXTENSION.search(text)) and "Failed to download" in text:
        return (
            f"DuckDB reads this with its extension {missing[1]!r}, which it cannot download; check the network, "
            "or download the rows first" + ("; or save the sheet as CSV" if missing[1] == "excel" else "")
        )
    if (of_file := file_error(text)) is not None:
        return of_file
    return " ".join(re.split(r"\n\nLINE |\n+Stack Trace:|, due to the following Python exception", text)[0].split())
