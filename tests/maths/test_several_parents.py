"""Categories that depend on several others: the order, the parents and the scores in plain Python, and what goes with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log
from random import Random
from typing import Any

import duckdb
import pytest
from support.matrices import scores
from support.refused import Refused

import nbsql

Connection = duckdb.DuckDBPyConnection
Row = dict[str, Any]
NAMES = "abcd"
PARITY = """SELECT i, 'a' || h % 2 AS a, 'b' || h // 2 % 2 AS b, 'c' || h // 4 % 2 AS c,
      h % 2 + h // 2 % 2 + h // 4 % 2 IN (1, 3) AS y
    FROM (SELECT i, hash(i) AS h FROM range(600) AS r(i))"""


def rows(seed: int, count: int = 300) -> list[Row]:
    """Rows in which d follows from the class, a and b together, with gaps and weights."""
    random, found = Random(seed), []  # noqa: S311
    for _ in range(count):
        y, a = random.choice("kkm"), random.choice("uvw")
        b = a if random.random() < 0.5 else random.choice("uvw")
        c = random.choice([b + y, "x", "z"])
        d = str(("uvw".index(a) + "uvw".index(b) + (y == "k") + (random.random() < 0.2)) % 3)
        values = {"a": a, "b": b, "c": c, "d": d}
        gaps = {name: None for name in NAMES if random.random() < 0.06}
        found.append({"y": y, **values, **gaps, "w": random.choice([0.5, 1.0, 2.0])})
    return found


def table(con: Connection, name: str, values: Sequence[Row]) -> None:
    con.execute(f"CREATE TABLE {name} (i INTEGER, y VARCHAR, a VARCHAR, b VARCHAR, c VARCHAR, d VARCHAR, w DOUBLE)")
    con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)", [[i, *row.values()] for i, row in enumerate(values)])


class Reference:
    """The model by the formulas: I(X; C), I(X; Y | C), and estimates level by level."""

    def __init__(self, learnt: Sequence[Row], k: int, shrinkage: float | None, *, weight: bool) -> None:
        self.rows = [(row["w"] if weight else 1.0, row) for row in learnt]
        self.shrinkage = shrinkage
        self.values = {x: {row[x] for row in learnt} - {None} for x in NAMES}
        order = sorted(NAMES, key=lambda x: -self.information(x))
        self.parents = {
            x: sorted(order[:place], key=lambda z: -self.information(x, z))[:k] for place, x in enumerate(order)
        }  # fmt: skip

    def count(self, **wanted: Any) -> float:
        return sum(w for w, row in self.rows if all(row[x] == value for x, value in wanted.items()))

    def information(self, x: str, z: str | None = None) -> float:
        """n I(X; C), or n I(X; Z | C)."""
        cells: Counter[Any] = Counter()
        for w, row in self.rows:
            if row[x] is not None and (z is None or row[z] is not None):
                cells[(row["y"], row[x], row[z]) if z else (0, row[x], row["y"])] += w
        sums: Counter[Any] = Counter()
        for (y, u, v), n in cells.items():
            sums.update({(y,): n, (y, u, "x"): n, (y, v, "z"): n})
        return sum(n * log(n * sums[y,] / (sums[y, u, "x"] * sums[y, v, "z"])) for (y, u, v), n in cells.items())

    def likelihood(self, y: str, x: str, v: str, known: list[tuple[str, str]]) -> float:
        given, k = dict(known), len(self.values[x])
        of_values = {value: self.count(y=y, **{x: value}, **given) for value in self.values[x]}
        n, total = of_values[v], sum(of_values.values())
        if not known:
            return (n + 1) / (total + k)
        before = self.likelihood(y, x, v, known[:-1])
        if not any(self.count(**{x: value}, **given) for value in self.values[x]):
            return before
        return (n + 1) / (total + k) if self.shrinkage is None else (n + self.shrinkage * before) / (total + self.shrinkage)

    def joint(self, row: Row) -> dict[str, float]:
        found = {}
        for y in "km":
            found[y] = log(self.count(y=y) / sum(w for w, _ in self.rows))
            for x in NAMES:
                known = []
                for parent in self.parents[x]:
                    if row[parent] not in self.values[parent]:
                        break
                    known.append((parent, row[parent]))
                if row[x] in self.values[x]:
                    found[y] += log(self.likelihood(y, x, row[x], known))
        return found


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("method", "options"),
    [(nbsql.KDB(k=2, shrinkage=5), {}), (nbsql.KDB(k=3, shrinkage=2), {"weight": "w"}), (nbsql.KDB(k=2), {"alpha": 1})],
)
def test_parents_and_scores_are_those_of_the_formulas(con: Connection, method: nbsql.KDB, options: dict[str, Any]) -> None:
    learnt, asked = rows(1), rows(2, 30)
    asked += [asked[0] | {"a": "new"}, asked[1] | {"b": "new", "c": "new"}, asked[2] | dict.fromkeys(NAMES)]
    table(con, "learnt", learnt)
    table(con, "asked", asked)
    given: dict[str, Any] = {"target": "y", "exclude": ["i"] if "weight" in options else ["i", "w"], **options}
    model = nbsql.fit(con, "learnt", method=method, **given)
    shrinkage = None if "alpha" in options else method.shrinkage
    if shrinkage is None:  # smoothed by alpha at each level
        families = {x: replace(each, shrinkage=None) if each.parent else each for x, each in model.families.items()}
        model = nbsql.fit(con, "learnt", families=families, **given)
    assert method.k is not None
    reference = Reference(learnt, method.k, shrinkage, weight="weight" in options)
    assert {x: list(model.families[x].parent_names) for x in NAMES} == reference.parents
    expected = {i: pytest.approx(reference.joint(row), abs=1e-9) for i, row in enumerate(asked)}
    assert scores(model, "asked") == expected


def test_what_is_missing_is_a_category_like_others(con: Connection) -> None:
    learnt, asked = rows(3), rows(4, 30)
    told_learnt, told_asked = (
        [{x: "none" if v is None else v for x, v in row.items()} for row in some] for some in (learnt, asked)
    )
    for name, values in (("learnt", learnt), ("asked", asked), ("told_learnt", told_learnt), ("told_asked", told_asked)):
        table(con, name, values)
    options: dict[str, Any] = {"target": "y", "exclude": ["i", "w"], "method": nbsql.KDB(k=2)}
    model, told = nbsql.fit(con, "learnt", nulls="category", **options), nbsql.fit(con, "told_learnt", **options)
    for i, row in scores(told, "told_asked").items():
        assert scores(model, f"FROM asked WHERE i = {i}")[i] == pytest.approx(row, abs=1e-9)


def test_two_parents_tell_the_parity_of_three_and_folds_find_their_number(con: Connection) -> None:
    con.execute(f"CREATE TABLE parity AS {PARITY}")
    options: dict[str, Any] = {"target": "y", "exclude": ["i"], "folds": 5}
    one, two, found = (
        nbsql.cross_validate(con, "parity", method=method, **options).log_loss
        for method in (nbsql.KDB(k=1), nbsql.KDB(k=2), "kdb")
    )
    assert one > 0.68 > 0.2 > two == pytest.approx(found, rel=1e-9)
    model = nbsql.fit(con, "parity", target="y", exclude=["i"], method="kdb")
    assert sorted(len(family.parent_names) for family in model.families.values()) == [0, 1, 2]
    assert found == pytest.approx(model.evaluate("parity", folds=5).log_loss, rel=1e-9)  # depth and parents are found anew


def test_counts_of_several_parents_add_up_and_every_form_scores_alike(con: Connection) -> None:
    learnt = rows(5)
    table(con, "learnt", learnt)
    options: dict[str, Any] = {"target": "y", "exclude": ["w"], "id": "i"}
    whole = nbsql.fit(con, "learnt", method=nbsql.KDB(k=2), name="whole", **options)
    parts = [
        nbsql.fit(con, f"FROM learnt WHERE i {sign} 150", families=dict(whole.families), name=name, **options)
        for sign, name in (("<", "early"), (">=", "late"))
    ]
    expected = {i: pytest.approx(row, abs=1e-9) for i, row in scores(whole, "learnt").items()}
    assert scores(nbsql.merge(con, parts), "learnt") == expected
    parts[0].update("FROM learnt WHERE i >= 150", batch="late")
    assert scores(nbsql.load(con, "early"), "learnt") == expected
    parts[0].forget(batch="late")
    assert scores(parts[0], "learnt") != expected
    explained: Counter[Any] = Counter()
    for _, i, label, _, _, contribution in whole.explain("FROM learnt WHERE i < 20"):
        explained[i, label] += contribution
    found = scores(whole, "FROM learnt WHERE i < 20")
    assert {(i, y): score for i, row in found.items() for y, score in row.items()} == pytest.approx(explained, abs=1e-9)
    for row in con.execute("FROM whole.predict('learnt') ORDER BY i LIMIT 20").fetchall():
        one = whole.predict_one(dict(zip("abcd", row[2:6], strict=True)))
        assert (one["prediction"], one["probability"]) == (row[-2], pytest.approx(row[-1], abs=1e-9))


def test_what_several_parents_cannot_be(con: Connection, refused: Refused) -> None:
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 3 AS a, 'b' || i % 5 AS b FROM range(60) AS r(i)")
    with refused(nbsql.InputError, "column 'a' is twice a parent of 'b'; name it once"):
        nbsql.fit(con, "t", target="y", families={"b": nbsql.Conditional("a", further=["A"])})
    with refused(nbsql.InputError, "a parent is the name of a column, not 3"):
        nbsql.Conditional("a", further=[3])
    with refused(nbsql.InputError, "a search over settings does not choose the number of parents, too; name it, such as k=2"):
        nbsql.sweep(con, "t", target="y", method="kdb", alpha=[1, 2])
