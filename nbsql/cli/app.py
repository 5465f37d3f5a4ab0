"""The command `nbsql`: its subcommands, and how it speaks when something goes wrong."""

from __future__ import annotations

from typing import IO, Any

import click
import duckdb

from nbsql.cli.demo import demo
from nbsql.cli.fit import fit
from nbsql.cli.models import drop, list_, show
from nbsql.cli.score import explain, predict, sql
from nbsql.errors import NbsqlError
from nbsql import __version__


class Failure(click.ClickException):
    """An error of ours: one line on stderr."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Print the line."""
        click.echo(f"{click.style('error', fg='red', bold=True)}: {self.format_message()}", err=True)


INTERRUPTED = 130  # what a shell reports for a command ended by Ctrl-C


class Commands(click.Group):
    """A group whose commands end with one line where nbsql refuses, and without a trace where the user interrupts."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Failure("interrupted; nothing was written", INTERRUPTED) from None
        except NbsqlError as error:
            if isinstance(error.__cause__, duckdb.InterruptException):
                raise Failure("interrupted; nothing was written", INTERRUPTED) from None
            raise Failure(str(error)) from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order in which one needs them."""
        return list(self.commands)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with: nbsql demo",
)
@click.version_option(__version__, prog_name="nbsql")
def main() -> None:
    """A naive Bayes classifier inside DuckDB: SQL fits it, SQL scores with it, and rows never leave.

    DATABASE is a DuckDB file, and a model a schema in it. SOURCE is a table, a view, a SELECT in quotes, or a file
    (.parquet, .csv, .json).
    """


for _command in (demo, fit, predict, explain, show, list_, sql, drop):
    main.add_command(_command)
