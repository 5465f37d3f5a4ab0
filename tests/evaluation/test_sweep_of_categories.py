"""Sweeps over categories: each setting has the numbers of a cross-validation of its own."""

import warnings

import pytest

import nbsql
from nbsql import NbsqlWarning

near = pytest.approx

JOINED = {"both": nbsql.Joint(["sky", "warm"], nulls="category")}
FAMILIES = [
    {},
    {"sky": nbsql.Categorical(nulls="category", unseen="smooth", levels=["fog"]), "wind": nbsql.Binned(by=[2, 5])},
    {"sky": nbsql.Categorical(unseen="smooth"), "wind": nbsql.Binned(bins=3, unseen="smooth"), "calls": "poisson"},
    {**JOINED, "note": nbsql.Categorical(nulls="category")},
    {"calls": "poisson", "note": nbsql.Categorical(alpha={"x": 2, "y": 0.5}), "wind": nbsql.Binned(by=[4])},
]


@pytest.fixture
def con(con):
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


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(("families", "weight"), [(1, None), (2, "times"), (3, "times"), (4, None)])
def test_settings_are_judged_as_by_themselves(con, families, weight):
    options = {"target": "play", "fold": "part", "weight": weight, "exclude": [] if weight else ["times"]}
    tried = [FAMILIES[families], FAMILIES[0]]
    priors = ["uniform", {"no": 0.2, "yes": 0.4, "maybe": 0.3, "never": 0.1}]
    found = nbsql.sweep(con, "days", alpha=[0, 0.5], prior=priors, families=tried, **options)
    left = con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    assert [name.split()[-1] for (name,) in left] == ["cells"]
    for row, setting in list(zip(found.ranking.fetchall(), found.settings, strict=True))[::3]:
        own = nbsql.cross_validate(con, "days", **options, **setting)
        assert (found.rows, *row[4:]) == (own.rows, near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


@pytest.mark.slow
def test_settings_without_categories_stand_beside_others(con):
    con.execute("CREATE TABLE counts AS SELECT wind, calls, play FROM days")
    binned = nbsql.Binned(bins=3)
    tried = [{}, {"wind": binned}, {"calls": binned}, {"wind": binned, "calls": binned}, {"calls": "poisson"}]
    found = nbsql.sweep(con, "counts", target="play", families=tried, folds=4)
    for row, setting in zip(found.ranking.fetchall(), found.settings, strict=True):
        own = nbsql.cross_validate(con, "counts", target="play", folds=4, families=setting["families"])
        assert row[4:] == (near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"alpha": [1, 2]},
        {"families": [{"note": nbsql.Text(alpha=a)} for a in (1, 2, 3)]},
        {"families": [{"both": nbsql.Joint(["sky", "warm"], backoff="naive", alpha=a)} for a in (1, 2, 3)]},
        {"alpha": [1, 2, 3], "folds": "loo"},
        {"alpha": [2.0, 1e-9], "prior": ["empirical", "uniform"], "folds": 5},  # by which the classes have another order
    ],
)
def test_words_backoffs_priors_and_folds_of_all_kinds(con, options):
    shared = {"target": "play", "exclude": ["part", "times"], "folds": options.get("folds", 3)}
    found = nbsql.sweep(con, "days", **{**shared, **options})
    for row, setting in zip(found.ranking.fetchall(), found.settings, strict=True):
        own = nbsql.cross_validate(con, "days", **shared, **setting)
        assert row[4:] == (near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


@pytest.mark.nightly
def test_many_settings_of_many_categories(con):
    columns = ", ".join(f"'v' || hash(i, {number}) % 5 AS c{number}" for number in range(10))
    con.execute(f"CREATE TABLE wide AS SELECT i % 2 AS y, {columns} FROM range(100) AS t(i)")
    found = nbsql.sweep(con, "wide", target="y", alpha=[2.0**step for step in range(30)], folds=2)
    assert len(found.settings) == 30
