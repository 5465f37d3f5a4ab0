"""The gates through which every value enters a statement: those for names, texts and numbers."""

from __future__ import annotations

import hashlib
import math
import re
import string
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from nbsql.errors import InputError

# Characters that end a line for `str.splitlines`. Indenting a rendered statement must not change those inside a quoted name
# or text, so they are replaced by NUL-delimited code points until `restore` puts them back. No engine accepts NUL itself.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_KEPT = re.compile("\x00([0-9a-f]+)\x00")
_SIMPLE_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_RESERVED = frozenset(
    "all analyse analyze and anti any array as asc asof asymmetric at authorization between binary both by case cast check "
    "collate collation column concurrently constraint create cross current_catalog current_date current_role current_time "
    "current_timestamp current_user default deferrable desc describe distinct do else end except exists false fetch for "
    "foreign freeze from full glob grant group having ilike in initially inner intersect into is isnull join lambda lateral "
    "leading left like limit localtime localtimestamp minus natural not notnull null offset on only or order outer overlaps "
    "pivot pivot_longer pivot_wider placing positional primary qualify references returning right select semi session_user "
    "show similar some summarize symmetric system_user table tablesample then to trailing true union unique unpack unpivot "
    "user using variadic verbose when where window with".split()
)
_FOLDED = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WORD = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
TIME = re.compile(r"(?:date|time|interval)", re.IGNORECASE)  # the beginning of the name of a type of dates or times
FRACTION = re.compile(r"double(?: precision)?|float|real|(?:decimal|numeric)(?:\(\d+, ?\d+\))?|uhugeint", re.IGNORECASE)
_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def folded(name: str) -> str:
    """A name in the form in which DuckDB compares names: only ASCII letters are folded to lower case."""
    return name.translate(_FOLDED)


def _keep(sql: str) -> Markup:
    return Markup(_LINE_ENDS.sub(lambda end: f"\x00{ord(end[0]):x}\x00", sql))  # noqa: S704 - this is the gate


def plain_name(dialect: Dialect, name: str) -> str:
    """A column's name as a person writes it in SQL: without quotes where none are needed on any engine."""
    simple = _SIMPLE_NAME.fullmatch(name) is not None and name not in _RESERVED
    return name if simple else restore(dialect.ident(name))


def restore(sql: str) -> str:
    """The rendered statement in the form that the engine receives."""
    return _KEPT.sub(lambda code: chr(int(code[1], 16)), sql) if "\x00" in sql else str(sql)


def _checked(value: object, kind: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"a {kind} must be text, not {type(value).__name__}: {value!r}")
    if "\x00" in value:
        raise InputError(f"a {kind} may not hold the character NUL: {value!r}; leave it out: replace(x, chr(0), '')")
    return value


# Cached, because a statement names the same columns again and again, and sqlglot is slow.
@lru_cache(maxsize=10_000)
def _quoted(name: str, dialect: str) -> Markup:
    if DIALECTS[dialect].folds_to_upper and _PLAIN.fullmatch(name):  # the name of what was created without quotes
        name = name.upper()
    if DIALECTS[dialect].standard_quotes:
        return _keep('"' + name.replace('"', '""') + '"')
    if quote := DIALECTS[dialect].escaping_quote:  # older versions of sqlglot leave backslashes as they are
        return _keep(quote + re.sub(rf"[\\{quote}]", r"\\\g<0>", name) + quote)
    from sqlglot import exp  # it would double the time of `import nbsql`, and most engines do not need it

    return _keep(exp.to_identifier(name, quoted=True).sql(dialect))


@lru_cache(maxsize=10_000)
def _literal(value: str, dialect: str) -> Markup:
    if DIALECTS[dialect].backslashes and "\\" in value:
        return _keep("E'" + value.replace("\\", "\\\\").replace("'", "''") + "'")
    if DIALECTS[dialect].standard_quotes:
        return _keep("'" + value.replace("'", "''") + "'")
    from sqlglot import exp

    literal = exp.National(this=value) if DIALECTS[dialect].national else exp.Literal.string(value)
    return _keep(literal.sql(dialect))


@lru_cache(maxsize=10_000)
def _word(name: str) -> Markup:
    if not _WORD.fullmatch(name):
        raise InputError(f"not a word: {name!r}")
    return Markup(name)  # noqa: S704


@dataclass(frozen=True)
class Traits:
    """The differences between dialects that macros cannot express, which each has in the folder of its name."""

    temporary: tuple[str, ...] = ()  # the path of the schema of temporary tables
    # The format of a double, from its digits. None writes an exponent, because 0.1 alone would be a DECIMAL.
    double: str | None = None
    longest_name: int | None = None  # the largest number of bytes in a name
    max_numbers: int | None = None  # the largest number of numbers in a row
    analyzes: bool = False  # whether new tables must be analyzed
    refills_tables: bool = False  # whether tables are refilled instead of dropped, because others may be reading them
    long_form: bool = False  # whether scoring may use one row for each class instead of one column
    table_macros: bool = False  # whether there are macros over a table, as in FROM spam.predict('inbox')
    row_functions: bool = False  # whether there are functions of a row instead
    # Whether the estimates are tables, because the engine would recompute views wherever they are named.
    materializes_estimates: bool = False
    drops_cascade: bool = False  # whether dropping a schema drops everything in it
    substitutes_variables: bool = False  # whether ${name} is replaced by a variable, even in names and texts
    all_but: str | None = None  # the keyword for all columns except some, as in source.* EXCEPT (a)
    materializes: bool = False  # whether a common table expression needs a keyword to be computed only once
    folds_to_upper: bool = False  # whether names without quotes are folded to upper case
    national: bool = False  # whether a text in any script needs the prefix N
    pads_text: bool = False  # whether comparisons ignore blanks at the end of a text
    row_numbers: bool = False  # whether the rows of a table have a number, `rowid`
    # Whether an expression is evaluated for many rows at a time, so that guarding a term costs as much as the term.
    vectorised: bool = False
    # Whether names and texts are written in quotes that are doubled inside, without any other escapes.
    standard_quotes: bool = False
    escaping_quote: str | None = None  # the quotes of names, if a backslash in them is an escape
    named_zones: bool = True  # whether all time zones are known by their names
    # Whether a session's setting can make backslashes an escape, except in texts that are marked otherwise.
    backslashes: bool = False


# A row of PostgreSQL must fit in a page of 8 kB.
DIALECTS = {
    "duckdb": Traits(
        temporary=("temp", "main"),
        long_form=True,
        table_macros=True,
        row_numbers=True,
        vectorised=True,
        all_but="EXCLUDE",
        materializes=True,
        standard_quotes=True,
    ),
    "postgres": Traits(
        temporary=("pg_temp",),
        double="float8 '{}'",
        longest_name=63,
        max_numbers=1000,
        long_form=True,
        analyzes=True,
        refills_tables=True,
        row_functions=True,
        materializes=True,
        standard_quotes=True,
        backslashes=True,
    ),
    "spark": Traits(double="{}D", materializes_estimates=True, drops_cascade=True, substitutes_variables=True),
    # The dialects of standalone scorers (nbsql/queries/standalone/scorer.py), in which no model can be stored.
    "bigquery": Traits(all_but="EXCEPT", escaping_quote="`"),
    "clickhouse": Traits(all_but="EXCEPT", escaping_quote='"'),
    "databricks": Traits(all_but="EXCEPT"),
    "mysql": Traits(named_zones=False),
    "redshift": Traits(double="'{}'::FLOAT8"),
    "snowflake": Traits(double="'{}'::DOUBLE", all_but="EXCLUDE", folds_to_upper=True),
    "sqlite": Traits(materializes=True, named_zones=False),
    "trino": Traits(),
    "tsql": Traits(national=True, pads_text=True, named_zones=False),
}


class Dialect:
    """The gates of one dialect, one of `DIALECTS`, which have the names of sqlglot."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.traits = DIALECTS[name]

    def ident(self, *names: str) -> Markup:
        """A quoted identifier, or several joined by dots."""
        longest = self.traits.longest_name
        for name in names:
            if longest is not None and len(_checked(name, "name").encode()) > longest:
                raise InputError(f"a name has at most {longest} bytes on this engine, which would cut {name!r}")
            if self.traits.substitutes_variables and "${" in name:
                raise InputError(f"the name {name!r} holds '${{', which this engine replaces by a variable; rename it")
        quoted = [_quoted(_checked(name, "name"), self.name) for name in names]
        return quoted[0] if len(quoted) == 1 else Markup(".").join(quoted)

    def output(self, name: str) -> Markup:
        """The name of a column made from a label. A name that is too long ends in a hash of the whole, so that names differ."""
        whole, longest = _checked(name, "name").encode(), self.traits.longest_name
        if longest is not None and len(whole) > longest:
            digest = hashlib.sha256(whole).hexdigest()[:8]
            name = f"{whole[: longest - 9].decode(errors='ignore')}_{digest}"
        return self.ident(name)

    def text(self, value: str) -> Markup:
        """A string literal."""
        literal = _literal(_checked(value, "text"), self.name)
        return literal.replace("${", r"\u0024{") if self.traits.substitutes_variables else literal

    def number(self, value: float) -> Markup:
        """A finite double. It is never a decimal, because sums of decimals overflow."""
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"a number must be finite, not {value}")
        digits = repr(value)
        if self.traits.double is not None:
            return Markup(self.traits.double.format(digits))  # noqa: S704
        return Markup(digits if "e" in digits else f"{digits}e0")  # noqa: S704

    def word(self, name: str) -> Markup:
        """A name of nbsql, never of the user: lower-case letters, digits and underscores; a dot may stand between two."""
        return _word(name)

    def fraction(self, name: str) -> Markup:
        """The name of a type of numbers that need not be whole, or that may exceed HUGEINT."""
        if not FRACTION.fullmatch(name):
            raise InputError(f"not a type of numbers: {name!r}")
        return Markup(name)  # noqa: S704

    def query(self, sql: str) -> Markup:
        """A SELECT that the user wrote, for use as a source; the engine must have parsed it before."""
        return _keep(_checked(sql, "query"))
