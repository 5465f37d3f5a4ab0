"""The commands of a maintainer: `python -m nbsql.dbt write`, `mirror FOLDER` and `extension FOLDER`."""

import argparse
import sys
from pathlib import Path

from nbsql.dbt.facts import FACTS, facts_sql
from nbsql.dbt.mirror import fill_extension, fill_mirror
from nbsql.dbt.package import (
    CALLED,
    DISPATCH,
    INTERNAL,
    PRIMITIVES,
    called_by_name_sql,
    dispatch_sql,
    internal_yaml,
    primitives_sql,
)
from nbsql.dbt.schema import SCHEMA, schema_json
from nbsql.errors import NbsqlError
from nbsql.rendering.renderer import macro_path

# In the order in which they are made: names that are called decide which primitives there are, and all macros are hidden.
GENERATED = {
    FACTS: facts_sql,
    CALLED: called_by_name_sql,
    PRIMITIVES: primitives_sql,
    DISPATCH: dispatch_sql,
    INTERNAL: internal_yaml,
    SCHEMA: schema_json,
}


def main(arguments: list[str]) -> None:
    """Run one of the commands; `arguments` are those of the command line."""
    parser = argparse.ArgumentParser(prog="python -m nbsql.dbt")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write", help="regenerate the package's files that are made from classes and macros")
    fills = {"mirror": fill_mirror, "extension": fill_extension}
    mirror = commands.add_parser("mirror", help="fill a repository with the package at its root, as the dbt hub wants it")
    extension = commands.add_parser("extension", help="fill a repository with the page of plain SQL as an extension of DuckDB")
    for command in (mirror, extension):
        command.add_argument("folder", type=Path)
    asked = parser.parse_args(arguments)
    if asked.command in fills:
        try:
            files = fills[asked.command](asked.folder)
        except NbsqlError as error:
            sys.exit(f"error: {error}")
        print(f"{len(files)} files in {asked.folder}")
        return
    for path, text in GENERATED.items():
        (macro_path() / path).write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
