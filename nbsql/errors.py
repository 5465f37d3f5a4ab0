"""The errors and warnings of nbsql: one line each, the fact and the cure."""

import ast
import contextlib
import difflib
import os
import re
import traceback
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

_MARKED = re.compile("⟨([^⟨⟩]*)⟩")
_LONG_TYPE = re.compile(  # with its values or fields, maybe thousands
    r"(ENUM\('(?:[^']|'')*'|STRUCT\([^(),]+)(?:, (?:'(?:[^']|'')*'|[^(),]+)){9,}\)"
)


@dataclass(frozen=True)
class Cure:
    """What a message names as code, in Python: an argument `alpha` or `replace=True`, a method `quadratic()`, a family.

    In the text of a message it stands between the marks ⟨ and ⟩, and each face writes it in its own words: `replace=True`,
    `--replace`.
    """

    text: str

    @cached_property
    def codes(self) -> list[ast.AST]:
        """What it is as arguments of a call; none if it is no Python, as with a column whose name has a quote."""
        try:
            call = ast.parse(f"_({self.text})", mode="eval").body
        except (SyntaxError, ValueError):
            return []
        return [*call.args, *call.keywords] if isinstance(call, ast.Call) else []

    def __str__(self) -> str:
        return self.text

    def marked(self) -> str:
        """The cure between its marks, for a message that is written later."""
        return f"⟨{self.text}⟩"


def together(*cures: str) -> str:
    """Cures that only help together, as one, which every face writes in a form that can be pasted.

    >>> together('⟨missing=["NA"]⟩', "⟨replace=True⟩")
    '⟨missing=["NA"], replace=True⟩'
    """
    return Cure(", ".join(cure.strip("⟨⟩") for cure in cures)).marked()


def in_words(message: str, words: Callable[[Cure], str] = str) -> str:
    """A message with its cures in the words of a face; by default in Python's.

    >>> in_words("fit it again with ⟨replace=True⟩")
    'fit it again with replace=True'
    """
    return _MARKED.sub(lambda found: words(Cure(found[1])), message)


class NbsqlError(Exception):
    """Base class of all errors that nbsql raises.

    Its text is in the words of Python; `marked` is the message with its cures between marks, for the words of another face.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.NbsqlError as error:
    ...     type(error).__name__
    'ModelError'
    """

    def __init__(self, message: str) -> None:
        message = " ".join(message.split()) if "\n" in message else message  # a frame in it would have many lines
        self.marked = _LONG_TYPE.sub(r"\1, …)", message)
        super().__init__(in_words(self.marked))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in a notebook: the lines of the user and the message, without the lines of nbsql."""
        others = (str(Path(__file__).parent), contextlib.__file__)
        frames = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if not frame.filename.startswith(others) and "IPython" not in re.split(r"[/\\]", frame.filename)
        ]
        lines = "".join(traceback.format_list(frames)).splitlines()
        return ["Traceback (most recent call last):", *lines, f"{type(self).__name__}: {self}"]


class InputError(NbsqlError, ValueError):
    """An argument is invalid, or the data of a call cannot be used.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.fit(duckdb.connect(), [{"x": 1}], target="y")
    ... except nbsql.InputError as error:
    ...     print(error)
    no column 'y' in the rows; its columns are 'x'
    """


class ModelError(NbsqlError):
    """A model is missing, exists already, is damaged, or was written by a newer version.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.ModelError as error:
    ...     print(error)
    no model 'spam' in 'memory'; there are none yet
    """


class NoPartError(ModelError, AttributeError):
    """A model has no such property, such as segments, as `hasattr` asks."""


class DatabaseError(NbsqlError):
    """The database cannot be opened, read or written.

    >>> import nbsql
    >>> try:
    ...     nbsql.load("no/such/folder/shop.duckdb", "spam")
    ... except nbsql.DatabaseError as error:
    ...     "shop.duckdb" in str(error)
    True
    """


class NotSupportedError(NbsqlError):
    """The engine does not support what was asked for.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> try:
    ...     model.predict(data).to_spark()
    ... except nbsql.NotSupportedError as error:
    ...     print(error)
    Query.to_spark is not available on DuckDB; it is on Spark
    """


class NbsqlWarning(UserWarning):
    """Warning about data that can be used, but that deserves the user's attention.

    >>> import warnings, duckdb, nbsql
    >>> data = "SELECT i % 2 AS y, i AS x, 1 AS same FROM range(200) AS t(i)"
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = nbsql.fit(duckdb.connect(), data, target="y")
    >>> issubclass(caught[0].category, nbsql.NbsqlWarning)
    True
    """

    def __init__(self, message: str) -> None:
        self.marked = message
        super().__init__(in_words(message))


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The name closest to `name`, in any case of letters, of a day the one with its time; None if none is close."""
    lower = name.lower()
    by_lower_case = {  # without 'id' for 'grid'
        short: each for each in names if len(short := each.lower()) > 2 or len(lower) < 4 or lower.startswith(short)
    }
    close = difflib.get_close_matches(lower, by_lower_case, n=len(by_lower_case) or 1, cutoff=0.6)
    longer_or_shorter = (each for each in close if each.startswith(lower) or lower.startswith(each))
    return by_lower_case[next(longer_or_shorter, close[0])] if close else None


def suggestion(name: str, names: Iterable[str]) -> str:
    """A hint such as "; did you mean 'play'?" with the name closest to `name`, or an empty text if none is close."""
    close = closest_name(name, names)
    return "" if close is None else f"; did you mean {close!r}?"


class FrameLabel(str):
    """The name of a frame in messages, with the index of a pandas frame, whose levels are no columns, and added columns."""

    frame_index: Any = None
    added_names: Collection[str] = ()  # of columns that the user has not given


def index_hint(names: Iterable[str], source: str) -> str:
    """A hint where a frame has one of some names in its index, or else an empty text."""
    found = [name for name in names if name in getattr(getattr(source, "frame_index", None), "names", ())]
    return f"; {listed(found)} {'is' if len(found) == 1 else 'are'} in its index: pass df.reset_index()" if found else ""


def header_hint(names: Iterable[str], columns: Sequence[str], source: str) -> str:
    """A hint where a file has its rows within a column, is no CSV, or its first line no header, or one name, to DuckDB."""
    unnamed = [name for name in columns if re.fullmatch(r"column\d+", name)]
    is_file = re.search(r"\.([ct]sv|txt)(\.\w+)?$", source)
    if is_file and columns and (start := re.match(r'\s*(<[!?/\w]|[{[]\s*(["{]|$))', columns[0])):
        is_page = start[1].startswith("<")
        return (
            "; it is HTML, as a page of an error is; load it again"
            if is_page
            else f"; it is JSON: {source_text('read_json', source)}"
        )
    if 2 * len(unnamed) > len(columns) and is_file and not closest_name(first := next(iter(names)), columns):
        listing = f"; its columns are {listed(columns)}; if "
        if len(unnamed) == len(columns):
            return f"{listing}it has no header, name them: {source_text('read_csv', source, f'names=[{quoted(first)}, ...]')}"
        return f"{listing}there are lines above its header, leave them out: {source_text('read_csv', source, 'skip=...')}"
    if len(columns) != 1:
        return ""
    if source.endswith(("json", "jsonl")):
        rows = source_text("read_json", source).removesuffix('"')
        within = f'{rows} SELECT unnest({columns[0]}, recursive := true)"'
        return f"; its only column is {columns[0]!r}; if the rows are within it: {within}"
    if not {*names} & {*re.split(r"[,;|\t]", columns[0])}:
        marks = (re.search(rf"(?:^|\w(\W+)){re.escape(name)}(?:(\W+)\w|$)", columns[0]) for name in names) if is_file else ()
        mark = next((found[1] or found[2] for found in marks if found and (found[1] or found[2])), None)
        return f"; name the mark between its values: {source_text('read_csv', source, f'delim={quoted(mark)}')}" if mark else ""
    padded = source_text("read_csv", source, "null_padding=true")
    return f"; its lines differ in their number of values, so fill them with NULL: {padded}"


def no_column(name: str, columns: Iterable[str], source: str, role: str = "") -> InputError:
    """The error for a source that lacks a column. `role`, such as "the target of the model", says what the column is for."""
    columns = [column for column in columns if column not in getattr(source, "added_names", ())]
    hint = index_hint([name], source) or header_hint([name], columns, source) or suggestion(name, columns)
    hint = hint or (f"; its columns are {listed(columns)}" if columns else "")
    return InputError(f"no column {name!r} in {source}{role and ', '}{role}{hint}")


def source_text(reader: str, path: str, *options: str) -> str:
    """A source to paste: the quotes around it are those of Python and of the shell."""
    call = ", ".join([quoted(path), *options]).replace('"', r"\"")
    return f'"FROM {reader}({call})"'


def quoted(text: str) -> str:
    """A text as a literal of a SQL that a message shows."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def listed(names: Iterable[Any], limit: int = 8) -> str:
    """The names as a message lists them: 'a', 'b' and 3 more."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - limit
    return ", ".join(quoted) if more <= 0 else f"{', '.join(quoted[:limit])} and {more} more"


def counted(count: int, noun: str) -> str:
    """A number of things: 1 row, 1,000 rows, 2 classes."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith(('s', 'ch')) else 's'}"


def written(value: Any) -> str:
    """A value as messages write it; Python refuses to write whole numbers of more than some thousand digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


def path_text(path: Any) -> str:
    """The text of the path of a file. Raises InputError for anything else, and for an empty text."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"a path must be text or a pathlib.Path, not {path!r}")
    text = os.fspath(path)
    if not text:
        raise InputError("a path must be a text of at least one character, not ''")
    return text
