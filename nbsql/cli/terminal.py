"""The capabilities of the terminal: colours, and characters that its encoding lacks."""

import codecs
import io
import os
import sys
from typing import Any

import click

# Replacements of the characters in tables and bars, for a terminal that lacks them.
_ALIKE = {"…": "~", "×": "x", "█": "#", "–": "-", "—": "-", "·": ".", "‘": "'", "’": "'", "“": '"', "”": '"'}


def styled(text: str, **style: Any) -> str:
    """The text in a style, or plain if NO_COLOR is set (https://no-color.org)."""
    return text if os.environ.get("NO_COLOR") else click.style(text, **style)


def show_every_character() -> None:
    """Let stdout and stderr replace a character that their encoding lacks by a similar one or a question mark."""
    codecs.register_error("nbsql_alike", _replace_character)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not codecs.lookup(stream.encoding).name.startswith("utf-"):
            stream.reconfigure(errors="nbsql_alike")


def _replace_character(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_ALIKE.get(character, "?") for character in lacking), error.end


def write_bytes(content: bytes) -> None:
    """Write bytes for programs to stdout: always UTF-8, whatever the terminal's encoding is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
