"""The tables that scoring reads as literals, for a statement that reads no relation, so that it is planned once."""

import json
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.rendering.relations import Relations
from nbsql.rendering.renderer import Renderer
from nbsql.storage.state import ModelState

_TABLES = ("parameters", "lookups", "calibration")
_MOST_ROWS = 10_000  # that a statement holds, beyond which reading them from their table takes less
_MOST_LENGTH = 2_000_000  # characters


class LiteralTables(Relations):
    """The names by which a statement knows the tables of a model that it holds."""

    def __init__(self, renderer: Renderer) -> None:
        super().__init__(renderer)
        self._word = renderer.dialect.word

    def __getitem__(self, name: str) -> Markup:
        return self._word(f"nbsql_table_of_{name}")


class Alone:
    """Makes statements that hold the tables of a model as it is in a state, where the engine plans them once."""

    def __init__(self, state: ModelState) -> None:
        self._engine, self._state = state.engine, state
        self.relations = LiteralTables(state.engine.renderer)
        self._literals: dict[str, Markup | None] = {}

    def statement(self, query: Markup) -> str | None:
        """A query of `relations` with the tables that it names; None if it names others, or these are too large."""
        named = {name: str(self.relations[name]) for name in _TABLES if str(self.relations[name]) in query}
        for name in named.keys() - self._literals:
            self._literals[name] = _literal(self._engine, self._state.relations[name])
        tables = [(self.relations[name], self._literals[name]) for name in named]
        if any(literal is None for _, literal in tables):
            return None
        return self._engine.renderer.statement("with_tables", query, tables)


def _literal(engine: Engine, relation: Markup) -> Markup | None:
    """The rows of a relation as literals; None if they are too many."""
    render, types = engine.renderer, {column.name: column.type for column in engine.columns(relation)}
    rows = engine.rows(render.statement("all_rows", render.fragment("excerpt", relation, _MOST_ROWS + 1)))
    if not 0 < len(rows) <= _MOST_ROWS:
        return None
    texts = [_text(values, kind) for values, kind in zip(zip(*rows, strict=True), types.values(), strict=True)]
    if None in texts or sum(map(len, filter(None, texts))) > _MOST_LENGTH:
        return None
    columns = [
        (name, text, render.dialect.query(kind), _is_number(kind))
        for (name, kind), text in zip(types.items(), texts, strict=True)
    ]
    return render.fragment("table_of_literals", columns)


_NUMBERS = ("DOUBLE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_TEXTS = re.compile(r"VARCHAR|ENUM\(.*|BOOLEAN|DATE|DECIMAL\(.*", re.DOTALL)  # types of labels that are cast from their texts


def _text(values: Sequence[Any], kind: str) -> str | None:
    """The values of a column as the text of a list that DuckDB reads with all digits; None for a type of which it may not."""
    if _is_number(kind):
        return _list_text(values)
    if kind.endswith("[]") or not _TEXTS.fullmatch(kind):
        return None
    return json.dumps([None if value is None else str(value) for value in values], ensure_ascii=False)


def _is_number(kind: str) -> bool:
    """Whether a type is one of numbers, or of lists of them."""
    return kind.replace("[]", "") in _NUMBERS


def _list_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_list_text, value))}]"
    return "NULL" if value is None else repr(value)
