"""DuckDB's error messages, shortened for nbsql's errors."""

from __future__ import annotations

import re

import duckdb

# DuckDB 1 does not double quotes within a name.
_READ_ONLY = re.compile(r'on database "(.*)" which is attached in read-only mode')
_CSV = re.compile("CSV Error on Line|Error when sniffing file")
_ADVICE = re.compile(r"\n\n|\nPossible |\nThe search space used was")
_FILE = re.compile(r"^ *file ?= ?(.*)$", re.MULTILINE)


def one_line(error: duckdb.Error) -> str:
    """DuckDB's message in one line, without the excerpt of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    read_only = _READ_ONLY.search(str(error))
    if read_only is not None:
        name = read_only[1].replace('""', '"')
        return f"database {name!r} is open read-only; open it for writing"
    text = str(error)
    if "Collations are not supported in DuckLake" in text:
        return (
            "a DuckLake keeps no model, whose texts are compared byte by byte whatever the session says "
            f"({text.split(': ', 1)[-1]}); keep the model in a DuckDB file, which can read rows and counts in the lake"
        )
    if _CSV.search(text):  # the message is a page of advice and options that contains the file's name
        file = _FILE.search(text)
        lines = [line for line in _ADVICE.split(text)[0].splitlines() if not line.startswith("Original Line")]
        text = " ".join(lines) + (f" (in {file[1]})" if file is not None else "")
    return " ".join(re.split(r"\n\nLINE |, due to the following Python exception", text)[0].split())
