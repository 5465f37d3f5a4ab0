"""Queries that cost no more than a scan to read again: they select or cast columns of one table, and filter its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

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
    """All expressions in a part of a tree."""
    if isinstance(tree, Mapping):
        if "class" in tree:
            yield tree
        tree = tree.values()
    if not isinstance(tree, (str, int, float, type(None))):
        for part in tree:
            yield from _expressions(part)
