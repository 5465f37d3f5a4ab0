"""The command `nbsql`: its subcommands, and its error messages."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import IO, Any

import click

from nbsql import __version__
from nbsql.cli.terminal import show_every_character, styled
from nbsql.engines.postgres.address import without_passwords
from nbsql.errors import NbsqlError


class Failure(click.ClickException):
    """An error of nbsql, shown as one line on stderr."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        click.echo(f"{styled('error', fg='red', bold=True)}: {self.format_message()}", err=True)


class Interrupted(Failure):
    """The user pressed Ctrl-C, or the process was told to end. Every verb that writes does so in one transaction."""

    exit_code = 130  # the exit status of a command that Ctrl-C ended

    def __init__(self) -> None:
        super().__init__("interrupted; nothing is half-written")


def _with_hint(error: click.NoSuchOption) -> click.UsageError:
    """The error of an option that a command lacks, of one that fits with what another package calls so, if it is known."""
    from nbsql.cli.messages import in_options
    from nbsql.spec.option_hints import ELSEWHERE

    params = error.ctx.command.params if error.ctx is not None else []
    if error.option_name in ("--where", "--filter") and any(each.name == "source" for each in params):
        hint = "SOURCE has the rows, and may be a query with WHERE, in quotes"
        return click.UsageError(f"no option {error.option_name}; {hint}", error.ctx)
    fits = any(each.name == "families" for each in params)
    here = ELSEWHERE.get(error.option_name.lstrip("-").replace("-", "_")) if fits else None
    if here is None:
        return error
    return click.UsageError(f"no option {error.option_name}; here it is {in_options(here)}", error.ctx)


class Commands(click.Group):
    """A group whose commands print one line for an error of nbsql, and no traceback after Ctrl-C."""

    def main(self, args: Sequence[str] | None = None, **options: Any) -> Any:  # type: ignore[override]
        show_every_character()
        if args is None and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # a process of its own, which leaves no files
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        if args is None and any(not word.isprintable() for word in sys.argv):  # the locale cannot decode UTF-8
            args = [os.fsencode(word).decode(errors="replace") for word in sys.argv[1:]]
        return super().main(args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None
        except RuntimeError as error:
            if str(error) != "Query interrupted":  # DuckDB's error when a signal is pending in Python
                raise
            raise Interrupted from None
        except NbsqlError as error:
            import duckdb  # and the rest of the package, which --version needs not

            from nbsql.cli.messages import in_options
            from nbsql.cli.standard_input import with_label

            if isinstance(error.__cause__, duckdb.InterruptException):
                raise Interrupted from None
            raise Failure(without_passwords(with_label(in_options(error.marked)))) from None
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename is not None:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python writes at its end
            raise Failure("cannot write to standard output: no space is left on its disk") from None
        except click.NoSuchOption as error:
            if not error.option_name[1:2].isdigit():
                raise _with_hint(error) from None
            hint = "no option; if it begins a value, put -- before it, and the options before that"
            raise click.UsageError(f"{error.option_name} is {hint}", error.ctx) from None
        except click.UsageError as error:
            message = without_passwords(error.format_message())
            if message != error.format_message():
                raise click.UsageError(message, error.ctx) from None
            raise

    @property
    def commands(self) -> dict[str, click.Command]:
        """The commands by name. Their modules are loaded when the first is asked for; --version needs none."""
        from nbsql.cli.commands import COMMANDS

        return COMMANDS

    @commands.setter
    def commands(self, commands: object) -> None:
        """Click sets the empty dictionary that other groups begin with."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order in which the help lists them."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the commands by what a user wants."""
        from nbsql.cli.commands import GROUPS

        rest = [name for name in self.commands if name not in " ".join(GROUPS.values()).split()]
        room = formatter.width - 6 - max(map(len, self.commands))
        for title, names in [*GROUPS.items(), ("Find help", " ".join(rest))]:
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(room)) for name in names.split()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with: nbsql demo",
)
@click.version_option(__version__, prog_name="nbsql")
def main() -> None:
    """A naive Bayes classifier inside the database: SQL fits it, SQL scores with it, and rows never leave.

    DATABASE is a DuckDB file or a PostgreSQL database, postgresql://user@host/name; a model is a schema in it.
    SOURCE is a table, a view, a SELECT in quotes, a file (.parquet, .csv, .json), or - for standard input.
    """
