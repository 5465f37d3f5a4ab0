"""What holds for every table: the algebra of the statistics, and how the verbs agree with one another."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbsql
import nbsql.plan
from nbsql import NbsqlWarning

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
few = settings(max_examples=12, deadline=None)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Small tables have constant and empty columns, and only one class at times; that is not the subject here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NbsqlWarning)
        yield


def connect(**relations: list[Row]) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    for name, rows in relations.items():
        con.execute(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in COLUMNS.items())})")
        if rows:
            con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    return con


def fit(con: duckdb.DuckDBPyConnection, source: Any, **options: Any) -> nbsql.Model:
    return nbsql.fit(con, source, **{"target": "play", "families": FAMILIES, "exclude": ["times"], **options})


def cells(model: nbsql.Model) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """The statistics by slice, class, feature and value."""
    rows = model.statistics.fetchall()
    found = {row[:4]: row[4:] for row in rows}
    assert len(found) == len(rows), "a cell comes twice"
    return found


def near(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return x == y or math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-9)
    return bool(x == y)


def same(left: list[Row], right: list[Row]) -> None:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert all(map(near, one, other)), (one, other)


def same_cells(left: dict[Row, Row], right: dict[Row, Row]) -> None:
    """Counts are equal to the bit; means and squared deviations but for rounding."""
    counted = {key: cell for key, cell in left.items() if cell[0]}
    other = {key: cell for key, cell in right.items() if cell[0]}
    assert counted.keys() == other.keys()
    for key, (n, mean, m2) in counted.items():
        assert n == other[key][0], key
        assert near(mean, other[key][1]), (key, mean, other[key][1])
        assert near(m2, other[key][2]), (key, m2, other[key][2])


@given(tables, unweighted)
@few
def test_a_weight_of_w_is_w_copies(rows: list[Row], others: list[Row]) -> None:
    copies = [row for row in rows for _ in range(row[-1])]
    con = connect(rows=rows, copies=copies, others=others)
    weighted, copied = fit(con, "rows", weight="times", exclude=[]), fit(con, "copies")
    same_cells(cells(weighted), cells(copied))
    same(weighted.predict("others").fetchall(), copied.predict("others").fetchall())
    same(sorted(weighted.priors, key=str), sorted(copied.priors, key=str))


@given(unweighted, st.randoms(use_true_random=False))
@few
def test_the_order_of_rows_and_columns_is_irrelevant(rows: list[Row], chance: random.Random) -> None:
    shuffled = chance.sample(rows, len(rows))
    names = chance.sample(list(COLUMNS), len(COLUMNS))
    con = connect(rows=rows, shuffled=shuffled)
    model, other = fit(con, "rows"), fit(con, f"SELECT {', '.join(names)} FROM shuffled")
    same_cells(cells(model), cells(other))
    same(model.predict_proba("rows").fetchall(), other.predict_proba("rows").fetchall())


@given(unweighted)
@few
def test_fitting_twice_gives_the_same_model(rows: list[Row]) -> None:
    con = connect(rows=rows)
    first, second = fit(con, "rows", name="first"), fit(con, "rows", name="second")
    same_cells(cells(first), cells(second))  # sums on several cores may differ in their last bit
    assert first.families == second.families
    assert con.execute("SELECT count(DISTINCT spec) FROM (FROM first.spec UNION ALL FROM second.spec)").fetchall() == [(1,)]
    same(first.predict_proba("rows").fetchall(), second.predict_proba("rows").fetchall())


@given(unweighted, unweighted)
@few
def test_the_verbs_agree_on_every_row(rows: list[Row], others: list[Row]) -> None:
    con = connect(rows=rows, others=others)
    model = fit(con, "rows", unseen="smooth", alpha=0.5)
    labels = sorted(model.classes)
    size = len(labels)
    joint = [row[-size:] for row in model.joint_log_likelihood("others")]
    evidence = [row[-1] for row in model.log_evidence("others")]
    explained: dict[tuple[int, Any], list[float]] = {}
    for row_id, label, _, _, contribution in model.explain("others"):
        explained.setdefault((row_id, label), []).append(contribution)
    for number, row in enumerate(model.predict_proba("others"), start=1):
        prediction, probability, posteriors = row[-size - 2], row[-size - 1], row[-size:]
        assert row[: -size - 2] == others[number - 1]
        assert math.fsum(posteriors) == pytest.approx(1, abs=1e-12)
        assert probability == pytest.approx(max(posteriors), abs=1e-12)
        assert posteriors[labels.index(prediction)] == pytest.approx(max(posteriors), abs=1e-12)
        total = max(joint[number - 1]) + math.log(sum(math.exp(x - max(joint[number - 1])) for x in joint[number - 1]))
        assert evidence[number - 1] == pytest.approx(total, abs=1e-9)
        for label, posterior, score in zip(labels, posteriors, joint[number - 1], strict=True):
            assert posterior == pytest.approx(math.exp(score - total), abs=1e-12)
            assert math.fsum(explained[number, label]) == pytest.approx(score, rel=1e-12, abs=1e-9)
    same(model.predict("others").fetchall(), [row[:-size] for row in model.predict_proba("others")])


@given(unweighted, unweighted, st.sampled_from(["skip", "smooth"]), st.sampled_from(["skip", "category"]))
@few
def test_every_form_of_scoring_gives_the_same_answers(rows: list[Row], others: list[Row], unseen: Any, nulls: Any) -> None:
    con = connect(rows=rows, others=others)
    answers: dict[str, list[list[Row]]] = {}
    for form, limits in {"wide": {}, "blocks": {"STAR_JOINS": 0}, "long": {"WIDE_CLASSES": 0}}.items():
        with pytest.MonkeyPatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(nbsql.plan, name, limit)
            model = fit(con, "rows", unseen=unseen, nulls=nulls)
            answers[form] = [getattr(model, verb)("others").fetchall() for verb in nbsql.plan.VERBS]
    for wide, blocks, long in zip(*answers.values(), strict=True):
        same(wide, blocks)
        same(wide, long)


@given(unweighted, unweighted)
@few
def test_the_statistics_of_a_union_are_the_statistics_combined(a: list[Row], b: list[Row]) -> None:
    con = connect(a=a, b=b, union_=a + b)
    combined = cells(fit(con, "a"))
    for key, (n_b, mean_b, m2_b) in cells(fit(con, "b")).items():
        n_a, mean_a, m2_a = combined.get(key, (0.0, None, None))
        n, mean, m2 = n_a + n_b, mean_b, m2_b
        if n_a and n_b and mean_a is not None:
            mean = mean_a + (mean_b - mean_a) * n_b / n
            if m2_a is not None:  # Chan, Golub and LeVeque (1983)
                m2 = m2_a + m2_b + (mean_b - mean_a) ** 2 * n_a * n_b / n
        elif n_a:
            mean, m2 = mean_a, m2_a
        combined[key] = (n, mean, m2)
    same_cells(combined, cells(fit(con, "union_")))


@given(unweighted, st.sampled_from(["sky", "warm", "wind", "calls", "bag", "note"]))
@few
def test_a_null_scores_as_if_the_feature_were_absent(rows: list[Row], column: str) -> None:
    con = connect(rows=rows)
    families = {name: family for name, family in FAMILIES.items() if name != column}
    whole, without = fit(con, "rows"), fit(con, "rows", exclude=["times", column], families=families)
    nulled = f"SELECT * REPLACE (CAST(NULL AS {COLUMNS[column]}) AS {column}) FROM rows"
    same(whole.joint_log_likelihood(nulled).fetchall(), without.joint_log_likelihood(nulled).fetchall())
