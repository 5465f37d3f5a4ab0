"""Tables of every kind of column, models of them, and how to hold two of them together."""

import math
from typing import Any

import duckdb
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from support.inserted import insert

import nbsql

COLUMNS = {
    "sky": "VARCHAR", "warm": "BOOLEAN", "wind": "DOUBLE", "calls": "INTEGER", "w1": "INTEGER", "w2": "INTEGER",
    "bag": "VARCHAR[]", "note": "VARCHAR", "play": "VARCHAR", "times": "INTEGER",
}  # fmt: skip
FAMILIES = {
    "calls": nbsql.Poisson(a=0.5, b=1),
    "words": nbsql.Multinomial(["w1", "w2"]),
    "note": nbsql.Text(event="bernoulli", alpha=0.5),
}
Row = tuple[Any, ...]

count = st.none() | st.integers(0, 5)
word = st.sampled_from(["a", "b", "c", "d"])
row = st.tuples(
    st.none() | word,
    st.none() | st.booleans(),
    st.none() | st.floats(-100, 100).map(lambda x: round(x, 3)),
    count,
    count,
    count,
    st.none() | st.lists(word, max_size=4),
    st.none() | st.lists(word, max_size=4).map(" ".join),
    st.sampled_from(["no", "yes", "maybe"]),
    st.integers(0, 3),
)
tables = st.lists(row, min_size=2, max_size=12).filter(lambda rows: any(row[-1] for row in rows))
unweighted = st.lists(row, min_size=2, max_size=12)


def examples(most: int) -> settings:
    """How many examples are tried, each of which may fit several models: all by night, and a third by day."""
    return settings(max_examples=max(2, most // 3) if settings().derandomize else most, deadline=None)


few = examples(6)


def connect(**relations: list[Row]) -> duckdb.DuckDBPyConnection:
    """A database with tables of a few rows, for which one thread is the least work."""
    con = duckdb.connect(config={"threads": 1})
    for name, rows in relations.items():
        con.execute(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in COLUMNS.items())})")
        if rows:
            insert(con, name, rows)
    return con


def fit(con: duckdb.DuckDBPyConnection, source: Any, **options: Any) -> nbsql.Model:
    return nbsql.fit(con, source, **{"target": "play", "families": FAMILIES, "exclude": ["times"], **options})


def cells(model: nbsql.Model) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """The statistics by slice, class, feature and value."""
    rows = model.statistics.fetchall()
    found = {row[:4]: row[4:7] for row in rows}
    assert len(found) == len(rows), "a cell comes twice"
    return found


def near(x: Any, y: Any, off: float = 1e-9) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return x == y or math.isclose(x, y, rel_tol=1e-12, abs_tol=off)
    return bool(x == y)


def same(left: list[Row], right: list[Row], off: list[float] | None = None) -> None:
    """Equal rows but for rounding; `off` says by how much more than 1e-9 the numbers of each row may differ."""
    assert len(left) == len(right)
    for one, other, more in zip(left, right, off or [0.0] * len(left), strict=True):
        assert all(near(x, y, 1e-9 + more) for x, y in zip(one, other, strict=True)), (one, other)


def rounding(model: nbsql.Model, source: str) -> list[float]:
    """
    How far the posteriors of each row may be off because its likelihoods are rounded: a log-likelihood of -5e7, of a number far
    from classes in which it hardly varies, is known to 7e-9, and so is the logarithm of the posterior.
    """
    joints = [row[-len(model.classes) :] for row in model.joint_log_likelihood(source).fetchall()]
    return [8 * math.ulp(best) if math.isfinite(best := max(row)) else 0.0 for row in joints]


def alike(left: list[Row], right: list[Row]) -> None:
    """The same rows in any order, but for rounding: sums are added in any order."""

    def key(row: Row) -> list[str]:
        return [repr(value) for value in row if not isinstance(value, float)]

    same(sorted(left, key=key), sorted(right, key=key))


def same_cells(left: dict[Row, Row], right: dict[Row, Row]) -> None:
    """Counts are equal to the bit; means and squared deviations but for rounding."""
    counted = {key: cell for key, cell in left.items() if cell[0]}
    other = {key: cell for key, cell in right.items() if cell[0]}
    assert counted.keys() == other.keys()
    for key, (n, mean, m2) in counted.items():
        assert n == other[key][0], key
        assert near(mean, other[key][1]), (key, mean, other[key][1])
        assert near(m2, other[key][2]), (key, m2, other[key][2])


def refitted(
    con: duckdb.DuckDBPyConnection, source: str, fold: str, weight: str | None = None, play: str = "play", **options: Any
) -> tuple[float, float]:
    """Accuracy and log loss of a fit for every fold."""
    right = loss = total = 0.0
    labels = [row[0] for row in con.execute(f"SELECT DISTINCT {fold} FROM {source}").fetchall()]
    for label in labels:
        rest, part = (f"SELECT * FROM {source} WHERE {fold} {sign} {label}" for sign in ("<>", "="))
        model = nbsql.fit(con, rest, **{"target": play, "exclude": [fold], "weight": weight, **options})
        rows = model.predict_proba(part).df()
        for row in rows.to_dict("records"):
            w = row[weight] if weight else 1
            p = row.get(f"probability_{row[play]}", 0.0)
            p = min(max(0.0 if p is None or np.isnan(p) else p, 2.0**-52), 1 - 2.0**-52)
            right, loss, total = right + w * (row["prediction"] == row[play]), loss - w * np.log(p), total + w
    return right / total, loss / total
