"""A column of a source, and the columns of one by name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbsql.errors import InputError, listed, no_column
from nbsql.family import NUMBERS, Family
from nbsql.rendering.dialect import TIME

NO_TYPE = ('"NULL"', "void")  # the types of a column that has only NULL
MISSING_WORDS = frozenset([  # that people write for a missing value, in lower case, and Excel for an error
    "", "na", "n/a", "n.a.", "nan", "nat", "<na>", "null", "none", "nil", "-", "--", "?", ".", "missing", "unknown", "inf",
    "-inf", "#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
])  # fmt: skip
INTEGER = re.compile("u?(?:tiny|small|big|huge)?int|u?integer", re.IGNORECASE)
_NUMBER = re.compile(rf"{INTEGER.pattern}|double(?: precision)?|float|real|(?:decimal|numeric)(?:\(.*\))?", re.IGNORECASE)

# The types of texts but for those of ENUMs, which have names of their own on PostgreSQL.
_TEXT = re.compile(
    r'(?:text|string|uuid|name|citext|"char"|bpchar|(?:var)?char(?:acter)?(?: varying)?)(?:\(\d+\))?', re.IGNORECASE
)


ZONED = ("timestamp with time zone", "timestamp")  # kinds of times with a zone: on DuckDB and PostgreSQL, and on Spark


def value_kind(type_name: str) -> str | None:
    """What the values of a type are, from its name: equal values of one kind are one value, whatever their types.

    It is "number", "text", "boolean", "date" (also a time of a date without a time zone), or the name of a type whose values
    equal no others; None if the type is not known.

    >>> value_kind("DECIMAL(4,2)"), value_kind("TIMESTAMP"), value_kind("TIME"), value_kind("character varying")
    ('number', 'date', 'time', 'text')
    """
    name = type_name.lower()
    if not name or type_name in NO_TYPE:
        return None
    if _NUMBER.fullmatch(name):
        return "number"
    if not TIME.match(name):
        return "boolean" if name == "boolean" else "text"
    is_local = name.startswith(("date", "timestamp")) and "with time zone" not in name and type_name != "timestamp"  # Spark's
    return "date" if is_local else name


@dataclass(frozen=True)
class Look:
    """What a look at the values of a column suggests (nbsql/learning/look.py): its family, None for a key, and why."""

    family: Family | None
    why: str


@dataclass(frozen=True)
class Column:
    """A column of a source."""

    name: str  # the name as the catalogue spells it
    type: str  # the type as the engine writes it
    # The class of types that nbsql distinguishes: "text", "boolean", "integer", "float", "decimal", "temporal", "tokens",
    # "token counts" or "other".
    kind: str
    is_category: bool = False  # whether its values are categories, whatever their type: its library says so, or it is a part
    # Of a date or time: the columns of its parts, which are features in its place; None if it has none.
    parts: tuple[str, ...] | None = None
    look: Look | None = field(default=None, compare=False)  # None: its family follows from its type

    @property
    def inferred_kind(self) -> str:
        """The kind by which its family is inferred."""
        return "text" if self.is_category and self.kind in (*NUMBERS, "temporal") else self.kind

    @property
    def value_kind(self) -> str | None:
        """See the function `value_kind`."""
        if self.is_number or self.kind in ("text", "boolean"):
            return None if self.type in NO_TYPE else "number" if self.is_number else self.kind
        return value_kind(self.type)

    @property
    def label_type(self) -> str:
        """The type of its values as labels. Those of an ENUM are texts, so that other labels may follow."""
        if self.type.startswith("ENUM"):  # of DuckDB
            return "VARCHAR"
        return self.type if self.kind != "text" or _TEXT.fullmatch(self.type) else "text"

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS


class Columns:
    """The columns of a source, found without regard to case."""

    def __init__(self, columns: Sequence[Column], source: str) -> None:
        self.all = columns
        self.source = source

    def find(self, name: Any) -> Column:
        if not isinstance(name, str):
            # pandas names columns 0, 1, 2 by default, or by tuples; a Series has a name.
            text = name[0] if isinstance(name, list) and len(name) == 1 else getattr(name, "name", None)
            text = str(name) if isinstance(name, (int, tuple)) else text
            cure = f"; write {text!r}" if isinstance(text, str) else ""
            shown = repr(name) if isinstance(name, (int, float, tuple, list)) or name is None else f"a {type(name).__name__}"
            raise InputError(f"a column's name must be text, not {shown}{cure}")
        found = [c for c in self.all if c.name == name] or [c for c in self.all if c.name.lower() == name.lower()]
        if not found and set(name) & set("*?"):
            raise InputError(f"no column {name!r} in {self.source}; only families takes patterns, so list the columns by name")
        if not found:
            parts = {part for c in self.all for part in c.parts or ()}
            raise no_column(name, (c.name for c in self.all if c.name not in parts), self.source)
        if len(found) > 1:
            raise InputError(f"column {name!r} is ambiguous in {self.source}: {listed(c.name for c in found)}; rename one")
        return found[0]

    def find_all(self, names: Any, argument: str) -> list[Column]:
        if isinstance(names, str):
            names = [names]
        elif names is None:
            names = []
        elif isinstance(names, Mapping) or not isinstance(names, Iterable):
            raise InputError(f"⟨{argument}⟩ must be a column or a list of columns, not {names!r}")
        found = [self.find(name) for name in names]
        twice = {c.name for c in found if sum(other.name == c.name for other in found) > 1}
        if twice:
            raise InputError(f"⟨{argument}⟩ names {min(twice)!r} twice; name it once")
        return found
