"""`nbsql dbt-path`: where the dbt package is."""

from __future__ import annotations

import click

from nbsql.cli import tables
from nbsql.render import macro_path


@click.command("dbt-path", short_help="Print the folder of the dbt package.")
def dbt_path() -> None:
    """Print the folder of the dbt package that is installed with nbsql, for the packages.yml of a dbt project.

    \b
      nbsql dbt-path
      echo "packages: [{local: '$( nbsql dbt-path )'}]" > packages.yml
    """  # noqa: D301 - \b keeps the lines
    tables.echo(str(macro_path()))
