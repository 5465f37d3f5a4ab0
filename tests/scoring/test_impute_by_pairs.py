"""Gaps of columns that depend on each other within a class: against enumeration of the joint distribution in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import product
from typing import Any

import duckdb
import pytest

import nbsql

Refused = Callable[[type[Exception], str], AbstractContextManager[None]]

# a has the children b (whole numbers in bins) and c (whole numbers), c has flag; x is a number with a density, z stands alone.
ROWS = """SELECT i AS id, ['j', 'k', 'l'][1 + i % 3] AS y, 'a' || (i // 3 % 3) AS a, (i // 3 % 3) * 2 + (h + i) % 4 AS b,
    (i // 3 % 3 + h // 5 % 2) % 3 + 7 AS c, (i // 3 % 3 + h // 5 % 2 + h // 11 % 5 // 4) % 2 = 0 AS flag, i % 3 + sin(i) AS x,
    'z' || (i % 2) AS z
FROM (SELECT i, hash(i) // 7 % 1000 AS h FROM range(150) AS r(i))"""
FAMILIES: dict[str, Any] = {
    "b": nbsql.Conditional("a", edges=[2, 4]), "c": nbsql.Conditional("a", shrinkage=2), "flag": nbsql.Conditional("c"),
}  # fmt: skip
PARENTS = {"b": "a", "c": "a", "flag": "c", "a": None, "z": None}
LEVELS = {
    "a": ["a0", "a1", "a2"],
    "b": ["(-inf, 2)", "[2, 4)", "[4, inf)"],
    "c": ["7", "8", "9"],
    "flag": ["false", "true"],
    "z": ["z0", "z1"],
}
MIDDLES = {"(-inf, 2)": 1, "[2, 4)": 3, "[4, inf)": 5}


def text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    return LEVELS["b"][(value >= 2) + (value >= 4)] if name == "b" else str(value).lower()


class ByHand:
    """p(x, y) of the model, for rows with gaps."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.classes = sorted({row["y"] for row in rows})
        self.rows = Counter(row["y"] for row in rows)
        self.values = Counter((name, row["y"], text(name, row[name])) for row in rows for name in LEVELS)
        self.pairs = Counter(
            (name, row["y"], text(name, row[name]), text(parent, row[parent]))
            for row in rows
            for name, parent in PARENTS.items()
            if parent
        )
        self.numbers = {label: [row["x"] for row in rows if row["y"] == label] for label in self.classes}

    def likelihood(self, name: str, label: str, value: str, given: str | None) -> float:
        k = len(LEVELS[name])
        alone = (self.values[name, label, value] + 1) / (self.rows[label] + k)
        if given is None:
            return alone
        of_pair = self.pairs[name, label, value, given]
        of_parent = sum(self.pairs[name, label, each, given] for each in LEVELS[name])
        return (of_pair + 2 * alone) / (of_parent + 2) if name == "c" else (of_pair + 1) / (of_parent + k)

    def joint(self, row: dict[str, Any], label: str) -> float:
        found = self.rows[label] / sum(self.rows.values())
        for name, parent in PARENTS.items():
            if (value := text(name, row.get(name))) is not None:
                found *= self.likelihood(name, label, value, text(parent, row.get(parent)) if parent else None)
        if row.get("x") is not None:
            mean = sum(self.numbers[label]) / len(self.numbers[label])
            variance = sum((x - mean) ** 2 for x in self.numbers[label]) / len(self.numbers[label])
            found *= math.exp(-((row["x"] - mean) ** 2) / variance / 2) / math.sqrt(2 * math.pi * variance)
        return found

    def distribution(self, row: dict[str, Any], name: str, known: str | None) -> dict[str, float]:
        masses = {}
        for level in LEVELS[name]:
            value: Any = MIDDLES[level] if name == "b" else level
            masses[level] = sum(self.joint({**row, name: value}, label) for label in ([known] if known else self.classes))
        return {level: mass / sum(masses.values()) for level, mass in masses.items()}


def dicts(query: Any) -> list[dict[str, Any]]:
    columns = query.columns  # which are asked of the database each time
    return [dict(zip(columns, row, strict=True)) for row in query.fetchall()]


@pytest.fixture
def model(con: duckdb.DuckDBPyConnection) -> nbsql.Model:
    con.execute(f"CREATE TABLE data AS {ROWS}")
    gaps = ", ".join(
        f"CASE WHEN (id * 7 + {i}) % {2 + i % 3} > 0 THEN {n} END AS {n}"
        for i, n in enumerate(["a", "b", "c", "flag", "x", "z"])
    )
    con.execute(f"CREATE TABLE gaps AS SELECT id, CASE WHEN id % 4 > 0 THEN y END AS y, {gaps} FROM data WHERE id < 24")
    return nbsql.fit(con, "data", target="y", exclude=["id"], families=FAMILIES, name="m")


@pytest.fixture
def rows(con: duckdb.DuckDBPyConnection, model: nbsql.Model) -> tuple[ByHand, list[dict[str, Any]]]:
    return ByHand(dicts(con.sql("FROM data"))), dicts(con.sql("FROM gaps ORDER BY id"))


@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
def test_gaps_are_filled_as_enumeration_has_it(
    form: str, model: nbsql.Model, rows: tuple[ByHand, list[dict[str, Any]]]
) -> None:
    by_hand, given = rows
    filled = 0
    for labelled, features in product((False, True), (None, ["c"], ["b", "x"])):
        query = model.impute("SELECT * FROM gaps ORDER BY id", labelled=labelled, features=features)
        assert {f"probability_{name}" for name in LEVELS} & {*query.columns} == {
            f"probability_{name}" for name in features or LEVELS if name != "x"
        }
        for before, after in zip(given, dicts(query), strict=True):
            for name in set(features or LEVELS) - {"x"}:
                probability = after[f"probability_{name}"]
                if before[name] is not None:
                    assert (after[name], probability) == (before[name], None)
                    continue
                told = by_hand.distribution(before, name, before["y"] if labelled else None)
                assert probability == pytest.approx(max(told.values()), rel=1e-9)
                assert told[text(name, after[name])] == pytest.approx(probability, rel=1e-9)
                filled += 1
    assert filled > 100


@pytest.mark.slow
def test_any_column_is_predicted_from_the_others(model: nbsql.Model, rows: tuple[ByHand, list[dict[str, Any]]]) -> None:
    by_hand, given = rows
    for name, absent in product(["a", "b", "c", "flag"], (False, True)):
        source = f"SELECT * {f'EXCLUDE ({name})' if absent else ''} FROM gaps ORDER BY id"  # what it holds is not looked at
        found = dicts(model.predict(source, target=name, top_k=9, columns=["id"]))
        for row in given:
            told = by_hand.distribution({**row, name: None}, name, None)
            mine = [each for each in found if each["id"] == row["id"]]
            assert [each["rank"] for each in mine] == [*range(1, len(LEVELS[name]) + 1)]
            assert {str(each["prediction"]).lower(): each["probability"] for each in mine} == pytest.approx(told, rel=1e-9)
    labelled = dicts(model.predict("SELECT * EXCLUDE (a) FROM gaps ORDER BY id", target="a", labelled=True))
    for row, after in zip(given, labelled, strict=True):
        told = by_hand.distribution({**row, "a": None}, "a", row["y"])
        assert (after["prediction"], after["probability"]) == (
            max(told, key=lambda v: told[v]),
            pytest.approx(max(told.values())),
        )


def test_a_tree_that_was_found_fills_gaps(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(
        con, "data", target="y", exclude=["id", "x"], method="tan", families={"b": "categorical", "c": "categorical"}
    )
    assert any(family.name == "conditional" for family in model.families.values())
    found = dicts(model.impute("SELECT * REPLACE (CASE WHEN id % 2 = 0 THEN a END AS a, NULL AS c) FROM data"))
    assert all(row["a"] in LEVELS["a"] and row["c"] in (7, 8, 9) and 0.3 < row["probability_c"] <= 1 for row in found)
    assert {row["probability_a"] is None for row in found if row["id"] % 2 == 0} == {True}


def test_what_others_read_as_it_is(con: duckdb.DuckDBPyConnection, refused: Refused) -> None:
    con.execute(f"CREATE TABLE data AS {ROWS}")
    families = {"b": nbsql.Conditional("c"), "c": "gaussian"}
    model = nbsql.fit(con, "data", target="y", exclude=["id"], families=families, name="m")
    with refused(nbsql.InputError, "impute does not take 'c', which 'b' reads, too; fit it without"):
        model.impute("data", features=["c"])
    columns = "'b', 'c', 'flag', 'x', 'z'"
    model = nbsql.fit(
        con, "data", target="y", exclude=["id", "a"], families={"b": nbsql.Conditional("a")}, name="m", replace=True
    )
    with refused(nbsql.InputError, f"model 'm' has no feature of a column 'a'; its columns are {columns}"):
        model.impute("data", features=["a"])
