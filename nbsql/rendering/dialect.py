"""The three gates by which anything enters a statement: names, texts and numbers."""

from __future__ import annotations

import hashlib
import math
import re
import string
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from nbsql.errors import InputError

# Characters that end a line for `str.splitlines`. Indenting a rendered statement must not touch those inside a quoted name
# or text, so they travel as NUL-delimited code points, which `restore` puts back; NUL itself no engine takes.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_KEPT = re.compile("\x00([0-9a-f]+)\x00")
_FOLDED = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WORD = re.compile("[a-z][a-z0-9_]*")
FRACTION = re.compile(r"double|float|real|decimal\(\d+, ?\d+\)|uhugeint", re.IGNORECASE)
_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")


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
    if DIALECTS[dialect].folds_to_upper and _PLAIN.fullmatch(name):  # where it is created without quotes, that is its name
        name = name.upper()
    if DIALECTS[dialect].standard_quotes:
        return _keep('"' + name.replace('"', '""') + '"')
    from sqlglot import exp  # half of the time of `import nbsql`, and of no use to the engines that models live in

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


@dataclass(frozen=True)
class Traits:
    """How a dialect differs beyond its macros.

    Attributes:
        temporary: the schema that temporary tables are in.
        speaks: the folders of macros that take the place of the general ones, the nearest first.
        double: how a double is written, of its digits; None: an exponent makes it one, where 0.1 alone is DECIMAL.
        longest_name: how many bytes a name may have.
        most_numbers: how many numbers fit in a row.
        analyzes: whether new tables are to be analyzed.
        refills: whether tables are refilled rather than dropped, for the sake of who reads them.
        long_form: whether scoring can have a row a class, not only a column.
        table_macros: whether a query can take a table as its argument, FROM spam.predict('inbox').
        row_functions: whether it can take a row.
        tabulates: whether the estimates are tables, for an engine that would work them out wherever they are named.
        cascades: whether a schema is dropped with all that is in it.
        substitutes: whether ${name} stands for a variable, in names and texts too.
        all_but: the word for all columns but some, source.* EXCEPT (a).
        materializes: whether a common table expression must be told to be computed once.
        recursive: whether a query can read itself, more than once.
        folds_up: whether a name that is not quoted is one of capitals.
        national: whether a text of any script begins with N.
        padded: whether blanks at the end of a text count for nothing where it is compared.
        row_numbers: whether the rows of a table have a number, `rowid`.
        structs: whether a list can hold structs, whose fields have names.
        vectorised: whether an expression runs over many rows at a time, and a guard of a term takes as long as the term.
        standard_quotes: whether names and texts stand in quotes that are doubled within, and nothing else has a meaning there.
        backslashes: whether a setting of a session gives backslashes a meaning, but for texts that say which they have.
    """

    temporary: tuple[str, ...] = ()
    macro_folders: tuple[str, ...] = ()
    double: str | None = None
    longest_name: int | None = None
    max_numbers: int | None = None
    analyzes: bool = False
    refills_tables: bool = False
    long_form: bool = False
    table_macros: bool = False
    row_functions: bool = False
    materializes_estimates: bool = False
    drops_cascade: bool = False
    substitutes_variables: bool = False
    all_but: str | None = None
    materializes: bool = False
    recursive: bool = False
    folds_to_upper: bool = False
    national: bool = False
    pads_text: bool = False
    row_numbers: bool = False
    structs: bool = False
    vectorised: bool = False
    standard_quotes: bool = False
    backslashes: bool = False


# A row of PostgreSQL is in one page of 8 kB.
DIALECTS = {
    "duckdb": Traits(
        macro_folders=("duckdb",),
        temporary=("temp", "main"),
        long_form=True,
        table_macros=True,
        row_numbers=True,
        structs=True,
        vectorised=True,
        all_but="EXCLUDE",
        materializes=True,
        recursive=True,
        standard_quotes=True,
    ),
    "postgres": Traits(
        temporary=("pg_temp",),
        macro_folders=("postgres", "plain"),
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
    "spark": Traits(
        macro_folders=("spark", "plain"),
        double="{}D",
        materializes_estimates=True,
        drops_cascade=True,
        substitutes_variables=True,
    ),
    # Those that frozen scorers are written in (nbsql/answers/elsewhere/scorer.py), and no model lives in.
    "bigquery": Traits(macro_folders=("bigquery",), all_but="EXCEPT"),
    "clickhouse": Traits(macro_folders=("clickhouse",), all_but="EXCEPT"),
    "databricks": Traits(macro_folders=("databricks",), all_but="EXCEPT"),
    "mysql": Traits(macro_folders=("mysql",)),
    "redshift": Traits(macro_folders=("redshift",), double="'{}'::FLOAT8"),
    "snowflake": Traits(macro_folders=("snowflake",), double="'{}'::DOUBLE", all_but="EXCLUDE", folds_to_upper=True),
    "sqlite": Traits(macro_folders=("sqlite",), materializes=True),
    "trino": Traits(macro_folders=("trino",)),
    "tsql": Traits(macro_folders=("tsql",), national=True, pads_text=True),
}


class Dialect:
    """The gates of one engine.

    Args:
        name: the engine's name as sqlglot knows it, one of `DIALECTS`.
    """

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
        return Markup(".").join(_quoted(_checked(name, "name"), self.name) for name in names)

    def output(self, name: str) -> Markup:
        """The name of a column made from a label. One that is too long ends in a hash of the whole, so that no two meet."""
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
        """A finite double, never a decimal, whose sums overflow."""
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"a number must be finite, not {value}")
        digits = repr(value)
        if self.traits.double is not None:
            return Markup(self.traits.double.format(digits))  # noqa: S704
        return Markup(digits if "e" in digits else f"{digits}e0")  # noqa: S704

    def word(self, name: str) -> Markup:
        """A name of nbsql's own, never a user's: lower-case letters, digits and underscores."""
        if not _WORD.fullmatch(name):
            raise InputError(f"not a word: {name!r}")
        return Markup(name)  # noqa: S704

    def fraction(self, name: str) -> Markup:
        """The name of a type of numbers that need not be whole, or are more than HUGEINT holds."""
        if not FRACTION.fullmatch(name):
            raise InputError(f"not a type of numbers: {name!r}")
        return Markup(name)  # noqa: S704

    def query(self, sql: str) -> Markup:
        """A SELECT that the user wrote, for use as a source; the engine has parsed it before."""
        return _keep(_checked(sql, "query"))
