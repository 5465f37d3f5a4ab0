"""Commands of the program, run in this process."""

import re

from click.testing import CliRunner

from nbsql.cli import main


def run(*arguments: str, code: int = 0, stdin: str | bytes | None = None) -> str:
    """What a command prints; of one that ends with another `code`, its messages."""
    result = CliRunner().invoke(main, arguments, prog_name="nbsql", input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def cells(output: str, start: str) -> list[str]:
    """The cells of the first line that starts with a word."""
    return next(re.split(r"\s{2,}", line.strip()) for line in output.splitlines() if line.strip().startswith(start))
