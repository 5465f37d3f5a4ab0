"""Sweeps over categories, which are scored by numbers in their place: the answers of a cross-validation of each setting."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import nbsql
from nbsql import NbsqlWarning
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.tuning import coded

Connection = duckdb.DuckDBPyConnection
near = pytest.approx

JOINED = {"both": nbsql.Joint(["sky", "warm"], nulls="category")}
FAMILIES: list[dict[str, Any]] = [
    {},
    {"sky": nbsql.Categorical(nulls="category", unseen="smooth", levels=["fog"]), "wind": nbsql.Binned(by=[2, 5])},
    {"sky": nbsql.Categorical(unseen="smooth"), "wind": nbsql.Binned(bins=3, unseen="smooth"), "calls": "poisson"},
    {**JOINED, "note": nbsql.Categorical(nulls="category")},
    {"calls": "poisson", "note": nbsql.Categorical(alpha={"x": 2, "y": 0.5}), "wind": nbsql.Binned(by=[4])},
]


@pytest.fixture
def con(con: Connection) -> Iterator[Connection]:
    """Missing values, ones that a single fold has, a class of a single fold, weights of 0, and folds named by texts."""
    con.execute("CREATE MACRO drawn(i, salt, low, size) AS CAST(low + hash(i, salt) % size AS INTEGER)")
    con.execute("""
        CREATE TABLE days AS
        SELECT
          CASE WHEN drawn(i, 1, 0, 5) > 0 THEN ['sun', 'rain', 'snow', 'only ' || i][drawn(i, 2, 1, 4)] END AS sky,
          CASE WHEN drawn(i, 11, 0, 6) > 0 THEN drawn(i, 3, 0, 3) = 0 END AS warm,
          CASE WHEN drawn(i, 4, 0, 8) > 0 THEN CAST(drawn(i, 5, 0, 100) / 10 + i % 3 AS DOUBLE) END AS wind,
          drawn(i, 6, 0, 5) AS calls,
          ['x', 'y', 'z', NULL][drawn(i, 8, 1, 4)] AS note,
          CASE WHEN i < 3 THEN 'never' ELSE ['no', 'yes', 'maybe'][1 + i % 3] END AS play,
          drawn(i, 10, 0, 4) AS times,
          CASE WHEN i = 40 THEN NULL WHEN i < 3 THEN 'part 1' ELSE 'part ' || i % 4 END AS part
        FROM range(70) AS t(i)
    """)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NbsqlWarning)
        yield con


@pytest.mark.parametrize(("families", "weight"), [(1, None), (2, "times"), (3, "times"), (4, None)])
def test_settings_are_judged_as_by_themselves(con: Connection, families: int, weight: str | None) -> None:
    options: dict[str, Any] = {"target": "play", "fold": "part", "weight": weight, "exclude": [] if weight else ["times"]}
    names: list[str] = []
    tried = [FAMILIES[families], FAMILIES[0]]
    priors = ["uniform", {"no": 0.2, "yes": 0.4, "maybe": 0.3, "never": 0.1}]
    engine = DuckDB(con, watch=names.append)
    found = nbsql.sweep(engine, "days", alpha=[0, 0.5], prior=priors, families=tried, **options)
    assert names.count("coded rows") == 1
    assert names.count("scores of settings") == len(priors)
    left = con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    assert [name.split()[-1] for (name,) in left] == ["cells"]
    for row, setting in list(zip(found.ranking.fetchall(), found.settings, strict=True))[::3]:
        own = nbsql.cross_validate(con, "days", **options, **setting)
        assert (found.rows, *row[4:]) == (own.rows, near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


def test_folds_that_are_dealt_and_classes_in_the_order_of_their_priors(con: Connection) -> None:
    options: dict[str, Any] = {"target": "play", "exclude": ["times", "part"], "folds": 5}
    priors = ["empirical", "uniform"]
    found = nbsql.sweep(con, "days", alpha=[2.0, 1e-9], prior=priors, **options)
    for row, setting in zip(found.ranking.fetchall(), found.settings, strict=True):
        own = nbsql.cross_validate(con, "days", **options, **setting)
        assert row[4:] == (near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


def test_settings_without_categories_stand_beside_others(con: Connection) -> None:
    con.execute("CREATE TABLE counts AS SELECT wind, calls, play FROM days")
    binned = nbsql.Binned(bins=3)
    tried: list[dict[str, Any]] = [
        {},
        {"wind": binned},
        {"calls": binned},
        {"wind": binned, "calls": binned},
        {"calls": "poisson"},
    ]
    names: list[str] = []
    found = nbsql.sweep(DuckDB(con, watch=names.append), "counts", target="play", families=tried, folds=4)
    assert names.count("coded rows") == 1
    for row, setting in zip(found.ranking.fetchall(), found.settings, strict=True):
        own = nbsql.cross_validate(con, "counts", target="play", folds=4, families=setting["families"])
        assert row[4:] == (near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": [1, 2]},
        {"families": [{"note": nbsql.Text(alpha=a)} for a in (1, 2, 3)]},
        {"families": [{"both": nbsql.Joint(["sky", "warm"], backoff="naive", alpha=a)} for a in (1, 2, 3)]},
        {"alpha": [1, 2, 3], "folds": "loo"},
    ],
)
def test_few_settings_and_those_of_words_are_scored_as_they_are(con: Connection, options: dict[str, Any]) -> None:
    names: list[str] = []
    options = {"target": "play", "exclude": ["part", "times"], "folds": 3, **options}
    nbsql.sweep(DuckDB(con, watch=names.append), "days", **options)
    assert "coded rows" not in names


def test_settings_that_are_too_many_for_a_statement_take_several(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"target": "play", "exclude": ["part", "times"], "folds": 3, "alpha": [1, 2, 3, 4, 5]}
    expected = nbsql.sweep(con, "days", **options)
    assert expected.rows == 70
    cells = con.execute("SELECT max(estimated_size) FROM duckdb_tables() WHERE temporary").fetchall()[0][0]
    monkeypatch.setattr(coded, "MAX_CELLS", 3 * cells)
    names: list[str] = []
    found = nbsql.sweep(DuckDB(con, watch=names.append), "days", **options)
    assert names.count("coded rows") == 1
    assert names.count("scores of settings") > 1
    for one, other in zip(found.ranking.fetchall(), expected.ranking.fetchall(), strict=True):
        assert one[:4] == other[:4]
        assert one[4:] == near(other[4:], rel=1e-9)
