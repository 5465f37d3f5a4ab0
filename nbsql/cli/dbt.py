"""`nbsql dbt-path` and `nbsql ad-hoc`: the SQL that comes with nbsql, for use without Python."""

from __future__ import annotations

import click

from nbsql.cli import tables
from nbsql.rendering.renderer import macro_path


@click.command("dbt-path", short_help="Print the folder of the dbt package.")
def dbt_path() -> None:
    """Print the folder of the dbt package that is installed with nbsql, for the packages.yml of a dbt project.

    \b
      nbsql dbt-path
      echo "packages: [{local: '$( nbsql dbt-path )'}]" > packages.yml
    """  # noqa: D301 - \b keeps the lines
    tables.echo(str(macro_path()))


@click.command("ad-hoc", short_help="Print the classifier as one page of plain SQL.")
def ad_hoc() -> None:
    """Print naive Bayes as one page of plain DuckDB SQL, for use without Python: table macros for any table by its name.

    \b
      nbsql ad-hoc > ad_hoc.sql
      duckdb shop.duckdb -init ad_hoc.sql
    """  # noqa: D301 - \b keeps the lines
    tables.echo((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8").rstrip())
