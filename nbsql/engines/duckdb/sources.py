"""Resolves sources on DuckDB: tables, views, queries, files, relations and frames."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.engines.duckdb.driver import DuckDBDriver
from nbsql.engines.duckdb.files import PARQUET, read_file
from nbsql.engines.duckdb.messages import frame_hint, one_line, other_file, unquoted_file
from nbsql.engines.duckdb.object_columns import category_columns, unreadable, with_typed_columns
from nbsql.engines.foreign_sources import column_names, is_array, is_stream, read_whole
from nbsql.engines.rows import as_dict
from nbsql.engines.source import COMMENTS, FILE, MissingSourceError, Source, check_distinct, check_names, split_path
from nbsql.engines.turn import turn_of
from nbsql.errors import DatabaseError, FrameLabel, InputError, listed, suggestion
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column

_VERBS = r"(select|from|with|values|table|pivot|unpivot|describe)\b"
_QUERY = re.compile(rf"{COMMENTS}\(*{COMMENTS}{_VERBS}", re.IGNORECASE | re.DOTALL)
_VIEW = re.compile(r".+? AS (SELECT .+)", re.DOTALL)  # as duckdb_views() writes it
_IN_MEMORY = ("DataFrame", "Table", "RecordBatch")  # of pandas, Polars and Arrow


class Sources:
    """Resolves the sources of one connection."""

    def __init__(self, engine: DuckDBDriver) -> None:
        self._engine = engine

    def find(self, source: Any) -> Source:
        """The source that the user names or passes. Raises InputError if the text is neither a table or view nor one SELECT."""
        if isinstance(source, os.PathLike):
            source = str(Path(source))
        if isinstance(source, str):
            return self._find_named(source)
        return self._frame(source)

    def path(self, text: str) -> list[str]:
        """The names of the table or view that a text may name; [] for other texts."""
        path = split_path(text) or [text]
        if len(path) > 3 or not all(path) or _QUERY.match(text) or FILE.search(text):
            return []  # an empty name is an error of the parser, which would abort the transaction
        return path

    def source_of_relation(self, text: str, answer: Sequence[Any], columns: list[Column]) -> tuple[Source, Any] | None:
        """The table or view by its full name, and `updated_at` as `query_macro` returns it; None if the text is ambiguous.

        The answer is the row of `catalog_and_version` (catalog.sql), and the columns are those of the relation that DuckDB
        found by the name.
        """
        place, relations, versions = (answer[0], answer[1]), [(*row,) for row in answer[2] or ()], answer[3]
        path = split_path(text) or [text]
        match = self._find(path, relations, place)
        here = len(path) == 1 and match is not None and match[:2] in (place, ("temp", "main"))
        if match is None or not (here or len(relations) == 1):
            return None
        check_names(columns, text)
        source = Source(self._engine.renderer.dialect.ident(*match[:3]), text, columns, **self._facts_of(match))
        source.anywhere = True
        return source, [(version,) for version in versions or ()]

    def _find_named(self, text: str) -> Source:
        relations = self._engine.query_catalog("relations")
        database, schema = self._engine.current()
        for path in filter(None, ([text], split_path(text))):
            match, namesakes = self._find(path, relations, (database, schema)), _named(path[-1], relations)
            if len(path) == 1 and namesakes not in ([], [match]) and "," in self._engine.current_search_path():
                return self._source(self._engine.renderer.dialect.ident(*path), text)  # DuckDB searches several schemas
            if match is not None:
                # In the current database, whose name is left out otherwise.
                is_hidden = folded(path[0]) == folded(database) and any(each[0] == "temp" for each in namesakes)
                relation = self._engine.renderer.dialect.ident(*match[match[0] == database and not is_hidden : 3])
                return self._source(relation, text, **self._facts_of(match))
        if FILE.search(text):
            if (what := unquoted_file(text)) is None:
                return read_file(self._engine, text)
            if not self._binds(text):
                raise InputError(what)
        query = self._query(text)
        if query is None:
            if (what := other_file(text)) is not None:
                raise InputError(what)
            if "(" in text and self._is_query(
                self._engine.renderer.fragment("all_rows", self._engine.renderer.dialect.query(text))
            ):
                raise MissingSourceError(f"no table or view {text!r}; put FROM before it, if it is a table function")
            near = (self._engine.current(), ("temp", "main"))
            names = sorted({row[2] for row in relations if row[:2] in near and not row[2].startswith("nbsql ")})
            hint = frame_hint(text) or suggestion(text, names)
            hint = hint or (f"; there are {listed(names)}" if names else "; there are no tables yet")
            raise MissingSourceError(f"no table or view {text!r}{hint}")
        with self._engine.errors():
            check_distinct(self._engine.bound(query).columns, "the query")
        relation = self._engine.renderer.fragment("subquery", self._engine.renderer.dialect.query(query))
        return self._source(relation, "the query", rereads=lambda: self._rereads(query, self._engine.current()))

    def _facts_of(self, relation: tuple[str, ...]) -> dict[str, Any]:
        """Whether a row of `relations` (catalog.sql) is a table, and how many more times it may be read."""
        return {"is_table": relation[3] != "view", "rereads": lambda: self._rereads_of(relation)}

    def _rereads(self, query: str, place: tuple[str, str]) -> int:
        """How many more times a query may be read; the place is where it looks for tables first."""
        path = scanned_table(self._engine.query_value("query_tree", query))
        if not path:
            return 0 if path is None else self._engine.renderer.layout.file_rereads  # [] is that of Parquet files
        relations = self._engine.query_catalog("relations")
        match = self._find(path, relations, place) if len(_named(path[-1], relations)) < 2 else None  # which it reads is open
        if match is not None:
            return self._rereads_of(match)
        return self._engine.renderer.layout.file_rereads if len(path) == 1 and PARQUET.search(path[0]) else 0

    def _rereads_of(self, relation: tuple[str, ...]) -> int:
        if relation[3] != "view":
            return relation[3] == "table"
        query = _VIEW.match(self._engine.query_value("view_definition", *relation[:3]))
        return 0 if query is None else self._rereads(query[1], (relation[0], relation[1]))

    def _find(self, path: list[str], relations: list[tuple[Any, ...]], place: tuple[str, str]) -> tuple[str, ...] | None:
        """The table or view that a path of quoted or plain names denotes: its database, schema and name, and its type.

        The relations are the rows of `relations` (catalog.sql), and the place is the current database and schema.
        """
        database, schema = place
        wanted, found = [*map(folded, path)], []

        def in_main(names: tuple[str, ...]) -> bool:
            """Whether a path of two names is a database and a table in its schema main, as DuckDB allows it."""
            return len(path) == 2 and wanted[0] == folded(names[0]) and names[1] == "main"

        for relation in relations:
            names = relation[:3]
            if len(path) > 3 or folded(names[2]) != wanted[-1]:
                continue
            if wanted[:-1] != [*map(folded, names[3 - len(path) : 2])] and not in_main(names):
                continue
            if len(path) == 1 and names[:2] not in [(database, schema), (database, "main"), ("temp", "main")]:
                continue
            if len(path) == 2 and names[0] != database and not in_main(names):
                continue
            # DuckDB's order: temporary relations hide those of the current schema, which hide those of main.
            rank = (names[0] != "temp", names[1] != schema)
            found.append((rank, relation))
        return min(found)[1] if found else None

    def _query(self, text: str) -> str | None:
        """The single SELECT in a text, or None if the text is not a query at all."""
        try:
            statements = self._engine.parsed(text)
        except (duckdb.Error, TypeError) as error:  # for half a character, which DuckDB cannot be told
            if _QUERY.match(text):
                raise InputError(f"the query cannot be read: {one_line(error)}") from None
            return None
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InputError(f"a source is a table, a view or one SELECT, not {text!r}")
        return _without_end(statements[0].query)

    def _binds(self, text: str) -> bool:
        """Whether a text that ends like a file is a query, such as FROM raw.csv, which may be a table of a schema."""
        with suppress(duckdb.Error, TypeError):
            return bool(self._engine.bound(text).columns)
        return False

    def _is_query(self, text: str) -> bool:
        """Whether a text is one statement that DuckDB can parse."""
        with suppress(duckdb.Error):
            return len(self._engine.parsed(text)) == 1
        return False

    def _frame(self, frame: Any) -> Source:
        name = self._engine.transient_name()
        kind = type(frame).__name__
        if is_stream(frame):
            frame = read_whole(frame)
        if is_array(frame) and frame.ndim != 1:
            columns = _columns_of_matrix(frame)
            if hasattr(frame, "mask") and duckdb.__version__ < "2":
                return self._engine.source(columns)  # that version would read what is masked
            frame = columns
        check_distinct(column_names(frame), f"the {kind}")
        label = FrameLabel(f"the {kind}")
        categories = category_columns(frame) if type(frame).__name__ in _IN_MEMORY else set()
        if kind == "DataFrame" and type(frame).__module__.startswith("pandas"):
            label.frame_index = frame.index
            frame = with_typed_columns(frame)
            if "object" in map(str, frame.dtypes):
                self._engine.query_macro("reads_objects")
        try:
            with self._engine.turn():
                self._engine.end_unread_result()
                self._engine.connection.register(name, frame)
        except (duckdb.Error, TypeError, RuntimeError, ValueError) as error:  # for None, a generator, or a type of Arrow
            raise _refusal(error, frame, kind) from None
        release = partial(turn_of(self._engine.handle).release, partial(_unregister, name))
        relation = self._engine.renderer.dialect.ident(name)
        try:
            source = self._source(relation, label, rereads=kind in _IN_MEMORY, is_frame=True, release=release)
            source.columns = [replace(each, is_category=each.name in categories) for each in source.columns]
            if kind in _IN_MEMORY and duckdb.__version__ < "2" and "INTEGER" in [each.type for each in source.columns]:
                types = self._engine.query_macro("types_of_columns", relation)[0]  # that version tells INTEGER for only NULL
                source.columns = [replace(each, type=name) for each, name in zip(source.columns, types, strict=True)]
            return source
        except BaseException:
            release()
            raise

    def _source(self, relation: Markup, label: str, **kind: Any) -> Source:
        return self._engine.described(Source(relation, label, [], **kind))


def _unregister(name: str, connection: Any, after_statement: bool) -> bool:
    """Whether a view of a frame is no more: while a result is unread, it may be needed."""
    if not after_statement and duckdb.__version__ < "2":
        return False  # an unread result would lose its rows
    try:
        connection.unregister(name)
    except duckdb.Error as error:  # the connection or its transaction has ended, and the view with it
        return type(error).__name__ != "ResourceInUseException"  # of an unread result
    return True


def _named(name: str, relations: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [relation for relation in relations if folded(relation[2]) == folded(name)]


def _without_end(query: str) -> str:
    """A query without trailing semicolons and comments, so that it can be put in parentheses."""
    text = query.encode()  # DuckDB's offsets are in bytes
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(query)):
        if kind != duckdb.token_type.comment and text[start : start + 1] != b";":
            break
        end = start
    return text[:end].decode().strip()


_EXPRESSIONS = {"BETWEEN", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "OPERATOR", "STAR", "TYPE"}
_PARTS = {"type", "select_list", "from_table", "where_clause"}
_PARQUET = {"read_parquet", "parquet_scan"}


def scanned_table(tree: str) -> list[str] | None:
    """The path of the only table of such a query, from its tree as `json_serialize_sql` returns it; None for any other query.

    Only operators are called in it, since functions may be costly or volatile; a macro of a user's that has the name of an
    operator counts as the operator. The path of `read_parquet` is [].
    """
    parsed = json.loads(tree)
    if parsed["error"] or len(parsed["statements"]) != 1:
        return None
    select = parsed["statements"][0]["node"]
    table = select.get("from_table") or {}
    others = {part: value for part, value in select.items() if part not in _PARTS and value}
    if select["type"] != "SELECT_NODE" or others != {"cte_map": {"map": []}, "aggregate_handling": "STANDARD_HANDLING"}:
        return None
    expressions = _expressions([select["select_list"], select["where_clause"]])
    plain = (each["class"] in _EXPRESSIONS or (each["class"] == "FUNCTION" and each["is_operator"]) for each in expressions)
    if table.get("sample") or not all(plain):
        return None
    if table["type"] == "TABLE_FUNCTION" and table["function"]["function_name"] in _PARQUET:
        _, *arguments = _expressions(table["function"])
        written = (each["class"] in _EXPRESSIONS or each.get("function_name") == "list_value" for each in arguments)
        return [] if all(written) else None  # an expression may name other files at the next read
    if table["type"] != "BASE_TABLE" or table["at_clause"]:
        return None
    return [name for name in (table["catalog_name"], table["schema_name"], table["table_name"]) if name]


def _expressions(tree: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(tree, Mapping):
        if "class" in tree:
            yield tree
        tree = tree.values()
    if not isinstance(tree, (str, int, float, type(None))):
        for part in tree:
            yield from _expressions(part)


def _columns_of_matrix(array: Any) -> dict[str, Any]:
    """The columns of an array, whose rows DuckDB would read as columns. Raises InputError unless it has two dimensions."""
    if array.ndim != 2:
        raise InputError(f"a source has rows and columns, and an array of {array.ndim} dimensions has not; reshape it")
    return {f"column{index}": column for index, column in enumerate(getattr(array, "A", array).T)}  # of a numpy.matrix


def _refusal(error: Exception, frame: Any, kind: str) -> Exception:
    """What is raised where DuckDB cannot register an object of Python."""
    if isinstance(error, duckdb.ConnectionException):
        return DatabaseError(one_line(error))
    reason = str(error).splitlines()[0]
    if isinstance(frame, duckdb.DuckDBPyRelation):
        hint = "; it reads another database" if "another database" in str(error) else f" ({reason})"
        return InputError(f"the relation cannot be read on this connection{hint}")
    if kind == "LazyFrame":
        return InputError(f"the LazyFrame cannot be read: {reason}")
    if kind in _IN_MEMORY or isinstance(frame, dict):
        return unreadable(frame, kind, reason)
    cure = "; pass pandas.DataFrame(rows)" if is_array(frame) else "; pass list(rows)" if isinstance(frame, Iterator) else ""
    if hasattr(frame, "read"):  # a file, or what pandas reads in parts
        cure = "; pass rows.read()" if hasattr(frame, "get_chunk") else "; pass its path, or pandas.read_csv(file)"
    if kind == "Series" and (call := as_dict(frame)):
        cure = f"; for one row pass [{call}]"
    return InputError(
        f"a source is a table, a view, a SELECT, a file, a Query, a DuckDB relation, a pandas, Polars or Arrow frame, "
        f"a dict of columns or a list of dicts, not {kind}{cure}"
    )
