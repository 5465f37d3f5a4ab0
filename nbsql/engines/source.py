"""Sources: tables, views, queries, relations and frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.errors import InputError, no_column
from nbsql.plan import Rows
from nbsql.plan.rows import Joining
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column
from nbsql.spec.derived import Derived

if TYPE_CHECKING:
    from typing_extensions import Self

AsTexts = Callable[[Sequence[Column], Sequence[str]], Markup]  # of all columns, and of the names of some
COMMENTS = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"  # before the first word of a query
FILE = re.compile(r"\.(parquet|csv|tsv|json|jsonl|ndjson)(\.gz|\.zst)?$", re.IGNORECASE)  # the name of a file that DuckDB reads
_PATH = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s]+))\s*(\.|$)')


class MissingSourceError(InputError):
    """No table or view of the connection has the name of a source, or one in its query."""


class Source:
    """A table, view, query, relation or frame, as a FROM clause reads it; `label` is its name in messages.

    `rereads` is how many more times it may be read, for a column each time, before a copy would be quicker, or a function that
    tells: True for any number of times; False for what is costly to read, or has other rows each time. The rows of a frame
    have an order of their own. The types of a CSV or JSON file are guessed from its values; `as_texts` reads some columns of it
    as they are written. `release` is called when the source is no longer needed.
    """

    joins: Sequence[Joining] = ()  # the joins with dimensions, for a source that nbsql joins (nbsql/learning/joins.py)
    path: tuple[str, ...] = ()  # of a table or view, its schema first, if the engine knows more than `relation` contains
    needs: Any = None  # what must live as long as the source: a query or a source, which may read a frame, or several
    derived: Sequence[Derived] = ()  # the columns that it derives from a source (nbsql/learning/derived_columns.py)
    added: Sequence[str] = ()  # those that the source lacks, which no result contains unless it is asked for
    _is_kept = False  # whether a frame stays registered when the source is gone
    anywhere: bool = False  # whether its name begins with its database, so that it does not depend on the search path

    def __init__(
        self,
        relation: Markup,
        label: str,
        columns: list[Column],
        *,
        is_table: bool = False,
        rereads: int | Callable[[], int] = False,
        is_frame: bool = False,
        as_texts: AsTexts | None = None,
        release: Callable[[], None] | None = None,
    ) -> None:
        self.relation = relation
        self.label = label
        self.columns = columns
        self.is_table = is_table
        self.is_frame = is_frame
        self.as_texts = as_texts
        self._rereads = rereads or is_table
        self._release = release

    def column(self, name: str | None) -> Column | None:
        """The column of that name, in any case of letters, as no two differ in it alone (check_distinct)."""
        return None if name is None else next((each for each in self.columns if folded(each.name) == folded(name)), None)

    def allows_rereads(self, reads: int) -> bool:
        """Whether it may be read again so often, for a column each time, and a copy would not be quicker."""
        if callable(self._rereads):
            self._rereads = self._rereads()
        return self._rereads is True or self._rereads >= max(reads, 1)

    @property
    def facts(self) -> Source:
        """The source without its joins."""
        return self

    @property
    def passed_names(self) -> list[str]:
        """The columns of the facts that a result contains unless some are named."""
        return [column.name for column in self.facts.columns if column.name not in self.facts.added]

    @property
    def rows(self) -> Rows:
        """The rows that a plan scores: the facts and the joins that a statement has to make."""
        facts = self.facts
        names = [column.name for column in facts.columns]
        return Rows(facts.relation, names, self.joins, keeps_order=self.is_frame, added=facts.added)

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by its name; see `Column.kind`."""
        return {column.name: column.kind for column in self.columns}

    @property
    def is_registered(self) -> bool:
        """Whether it is a frame that is registered under a temporary name until the source is released."""
        return self.facts._release is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None

    def release_with(self, source: Source) -> None:
        """Release another source, which this one reads, when this one is released."""
        self._release = source.release

    def _keep(self) -> None:
        """Leave the frames that it reads registered until the connection is closed."""
        self._is_kept = True
        for needed in (self.facts, *(self.needs if isinstance(self.needs, tuple) else (self.needs,))):
            if needed is not None and needed is not self:
                needed._keep()

    def __del__(self) -> None:
        if not self._is_kept:
            self.release()


def file_hint(text: str) -> str:
    """A hint for the name of a file, on an engine that reads none; or else an empty text."""
    return "; a file is a source on DuckDB alone: load it into a table first" if FILE.search(text) else ""


def check_distinct(names: Iterable[Any], label: str) -> None:
    """Raise InputError if a name occurs twice: the engine may number the two, and a user could not tell them apart."""
    seen: set[str] = set()
    for name in map(str, names):
        if folded(name) in seen:
            raise InputError(f"column {name!r} is ambiguous in {label}, which has it twice; rename one")
        seen.add(folded(name))


def check_names(columns: Sequence[Column], label: str) -> None:
    """Raise InputError if the name of a column is reserved for nbsql, or no text."""
    if any("\0" in column.name for column in columns):
        is_big = columns[0].name.startswith("\0")  # of a letter the byte 0 comes first, which DuckDB does not read
        cure = "convert" if is_big else "read it by read_csv with encoding='utf-16', or convert"
        raise InputError(
            f"the columns of {label} have names with zero bytes, as a file in UTF-16 that was read as UTF-8; "
            f"{cure} it first: iconv -f UTF-16{'BE' if is_big else 'LE'} -t UTF-8"
        )
    for column in columns:
        if folded(column.name).startswith("nbsql_"):  # scoring adds columns such as nbsql_row
            raise InputError(f"column {column.name!r} of {label} has a name that nbsql keeps for itself; rename it")


def passed_columns(source: Source, names: Any, *, exact: bool) -> list[str] | None:
    """The columns of a source that the result contains, as the source spells them, without duplicates; None for all.

    With `exact`, names that differ in case are different names. Raises InputError for anything but a list of its columns.
    """
    if names is None:
        return None
    known = [column.name for column in source.facts.columns]
    spelt = {name if exact else folded(name): name for name in known}
    found = {name if exact else folded(name): name for name in column_names(names)}
    for key, name in found.items():
        if key not in spelt:
            raise no_column(name, known, source.label)
    return [spelt[key] for key in found]


def column_names(names: Any, argument: str = "columns") -> list[str]:
    """The column names of an argument as a list. Raises InputError for anything else."""
    found = list(names) if isinstance(names, Iterable) and not isinstance(names, (str, Mapping)) else None
    if found is None or not all(isinstance(name, str) and name for name in found):
        raise InputError(f"{argument} must be a list of names, not {names!r}")
    return found


def split_path(text: str) -> list[str]:
    """The names in a path such as main."my table"; [] if the text is not a path."""
    names, position = [], 0
    while position < len(text):
        match = _PATH.match(text, position)
        if match is None:
            return []
        names.append(match[1].replace('""', '"') if match[1] else match[2])
        position = match.end()
        if not match[3]:
            break
    return names if position >= len(text) else []
