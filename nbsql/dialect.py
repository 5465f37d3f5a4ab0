"""The three gates by which anything enters a statement: names, texts and numbers."""

from __future__ import annotations

import hashlib
import math
import re
import string
from functools import lru_cache

from markupsafe import Markup
from sqlglot import exp

from nbsql.errors import InputError

# Characters that end a line for `str.splitlines`. Indenting a rendered statement must not touch those inside a quoted name
# or text, so they travel as NUL-delimited code points, which `restore` puts back; NUL itself no engine takes.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_KEPT = re.compile("\x00([0-9a-f]+)\x00")
_FOLDED = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WORD = re.compile("[a-z][a-z0-9_]*")

# How dialects differ beyond their macros: where temporary tables are, how many bytes a name may have, how many numbers a row.
_TEMPORARY = {"duckdb": ("temp", "main"), "postgres": ("pg_temp",)}
_LONGEST_NAME = {"postgres": 63}
_MOST_NUMBERS = {"postgres": 1000}  # of 8 bytes: a row is in one page of 8 kB


def folded(name: str) -> str:
    """A name as DuckDB compares it: only ASCII letters lose their case."""
    return name.translate(_FOLDED)


def _keep(sql: str) -> Markup:
    return Markup(_LINE_ENDS.sub(lambda end: f"\x00{ord(end[0]):x}\x00", sql))  # noqa: S704 - this is the gate


def restore(sql: str) -> str:
    """The rendered statement as the engine gets it."""
    return _KEPT.sub(lambda code: chr(int(code[1], 16)), sql)


def _checked(value: object, kind: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"a {kind} must be text, not {type(value).__name__}: {value!r}")
    if "\x00" in value:
        raise InputError(f"a {kind} may not hold the character NUL: {value!r}")
    return value


# A statement names the same columns again and again, and sqlglot takes its time.
@lru_cache(maxsize=10_000)
def _quoted(name: str, dialect: str) -> Markup:
    return _keep(exp.to_identifier(name, quoted=True).sql(dialect))


@lru_cache(maxsize=10_000)
def _literal(value: str, dialect: str) -> Markup:
    return _keep(exp.Literal.string(value).sql(dialect))


class Dialect:
    """The gates of one engine.

    Args:
        name: the engine's name as sqlglot knows it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.temporary = _TEMPORARY[name]
        self.longest_name = _LONGEST_NAME.get(name)
        self.most_numbers = _MOST_NUMBERS.get(name)
        self.analyzes = name == "postgres"  # whether new tables are to be analyzed
        self.refills = name == "postgres"  # whether tables are refilled rather than dropped, for the sake of who reads them
        self.long_form = name == "duckdb"  # whether scoring can have a row a class, not only a column
        self.table_macros = name == "duckdb"  # FROM spam.predict('inbox')

    def ident(self, *names: str) -> Markup:
        """A quoted identifier, or several joined by dots."""
        if self.longest_name is not None:
            for name in names:
                if len(_checked(name, "name").encode()) > self.longest_name:
                    raise InputError(f"a name has at most {self.longest_name} bytes on this engine, which would cut {name!r}")
        return Markup(".").join(_quoted(_checked(name, "name"), self.name) for name in names)

    def output(self, name: str) -> Markup:
        """The name of a column made from a label. One that is too long ends in a hash of the whole, so that no two meet."""
        whole = _checked(name, "name").encode()
        if self.longest_name is not None and len(whole) > self.longest_name:
            digest = hashlib.sha256(whole).hexdigest()[:8]
            name = f"{whole[: self.longest_name - 9].decode(errors='ignore')}_{digest}"
        return self.ident(name)

    def text(self, value: str) -> Markup:
        """A string literal."""
        return _literal(_checked(value, "text"), self.name)

    def number(self, value: float) -> Markup:
        """A finite double. The exponent makes it one: 0.1 alone is DECIMAL, and sums of decimals overflow."""
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"a number must be finite, not {value}")
        digits = repr(value)
        if self.name == "postgres":  # where an exponent makes it no double
            return Markup(f"float8 '{digits}'")  # noqa: S704
        return Markup(digits if "e" in digits else f"{digits}e0")  # noqa: S704

    def word(self, name: str) -> Markup:
        """A name of nbsql's own, never a user's: lower-case letters, digits and underscores."""
        if not _WORD.fullmatch(name):
            raise InputError(f"not a word: {name!r}")
        return Markup(name)  # noqa: S704

    def query(self, sql: str) -> Markup:
        """A SELECT that the user wrote, for use as a source; the engine has parsed it before."""
        return _keep(_checked(sql, "query"))
