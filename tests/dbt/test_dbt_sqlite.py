"""The package on SQLite, which has no lists: every table is that of Python, and what SQLite lacks is refused by name."""

import shutil
import sqlite3
from pathlib import Path

import duckdb
import pytest
from engines.servers import absent
from support import dbt_versions
from support.dbt_projects import ALL, Project, dbt, equal, needs_dbt, read, scores, scores_in_python

import nbsql

pytestmark = [*needs_dbt, pytest.mark.nightly]  # an environment of its own, and a build of dbt 1

EXAMPLE = Path(__file__).parents[2] / "examples" / "dbt_project"
# Numbers, categories and Booleans, with gaps, texts that are quoted, and a class whose numbers are whole.
ROWS = """
  SELECT
    i AS id, ['b', 'a', 'it''s'][1 + i % 7 % 3] AS y, i % 3 AS k, 'v''"' || (i * 5 % 4) AS "a, b",
    CASE WHEN i % 6 > 0 THEN CAST(i % 4 = 0 AS INTEGER) END AS flag,
    CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / 4 + i % 7 % 3 END AS x,
    (i * 11 % 17 + 1) / 4 AS above, (i * 13 % 19 + 1) / 32 AS share,
    i * 11 % 5 AS events, (i * 7 % 6) * (i % 2) AS some, i % 4 AS w1, i % 3 AS w2, 0.5e0 + i % 4 AS weight
  FROM range(90) AS t(i)
"""
CREATE = (
    'CREATE TABLE rows (id INTEGER, y TEXT, k INTEGER, "a, b" TEXT, flag BOOLEAN, x REAL, above REAL, share, events, some, '
    "w1, w2, weight)"
)
FAMILIES = {
    "flag": {"family": "bernoulli", "nulls": "category"},
    "events": {"family": "poisson", "a": 2, "b": 1},
    "some": {"family": "zero_inflated", "of": "gamma"},
    "x": {"family": "gaussian", "prior": {"kappa": 1, "a": 2}},
    "above": "lognormal",
    "share": "beta",
    "words": {"family": "complement", "columns": ["w1", "W2"]},
    "a, b": {"family": "categorical", "unseen": "smooth", "levels": ["none"]},
}
IN_PYTHON = {
    "flag": nbsql.Bernoulli(nulls="category"),
    "events": nbsql.Poisson(2, 1),
    "some": nbsql.ZeroInflated(of="gamma"),
    "x": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(kappa=1, a=2)),
    "above": "lognormal",
    "share": "beta",
    "words": nbsql.Complement(["w1", "w2"]),
    "a, b": nbsql.Categorical(unseen="smooth", levels=["none"]),
}
OTHERS = {"x": {"family": "gaussian", "smoothing": 0.1}, "above": "gamma", "some": "exponential", "events": "geometric"}
META = {
    "counted": {
        "target": "y",
        "id": "id",
        "weight": "weight",
        "families": FAMILIES,
        "prior": {"a": 0.5, "b": 0.3, "it's": 0.2},
    },
    "numbered": {"target": "k", "features": [*OTHERS, "twice", "w1"], "families": OTHERS, "derive": {"twice": "w1 * 2 + w2"}},
    "ordered": {
        "target": "y",
        "features": ["a, b", "flag", "x"],
        "families": {"flag": "bernoulli", "x": {"family": "binned", "by": [1, 2.5]}},
        "classes": ["it's", "b", "a"],
    },
    "drifting": {"target": "y", "features": ["x"]},
    "texts": {"target": "y", "features": ["a, b"], "families": {"a, b": "text"}},
    "worded": {"target": "y", "features": ["a, b"], "missing": ["v0"]},
    "aged": {"target": "y", "features": ["x"], "weight": {"half_life": 5, "at": "id"}},
}
SCORES = {**scores("counted"), "ordered_predict_proba": f"probabilities(ref('ordered'), {ALL}, columns='id')"}
REFUSED = {
    "metrics": f"evaluation(ref('counted'), {ALL})",
    "monitor": f"monitoring(ref('counted'), {ALL})",
    "review": f"review_queue(ref('counted'), {ALL})",
}


class OnSQLite(Project):
    """A project on a file of SQLite, by the dbt that goes with dbt-sqlite."""

    def __init__(self, folder):
        self.file = folder / "project.sqlite"
        target = {
            "type": "sqlite",
            "threads": 1,
            "database": "database",
            "schema": "main",
            "schemas_and_paths": {"main": str(self.file)},
            "schema_directory": str(folder),
        }
        models = dict.fromkeys(META, f"{{{{ nbsql.statistics({ALL}) }}}}")
        models |= {name: f"{{{{ nbsql.{call} }}}}" for name, call in (SCORES | REFUSED).items()}
        config = {"priors": {"materialized": "view"}} | {name: {"materialized": "table"} for name in META}
        drift = {"nbsql.nbsql_drift_below": {"arguments": {"maximum": 9}}}
        tests = {"counted": ["nbsql.nbsql_statistics_not_negative"], "drifting": [drift]}
        super().__init__(folder, models, META, config, tests, target=target, version="sqlite")

    def connect(self):
        return sqlite3.connect(self.file)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    why = dbt_versions.missing("sqlite")
    if why:
        absent(why)
    made = OnSQLite(tmp_path_factory.mktemp("sqlite"))
    rows = duckdb.sql(ROWS).fetchall()
    with made.connect() as con:
        con.execute(CREATE)
        con.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(rows[0]))})", rows)
    made.dbt("build")
    return made


@pytest.fixture(scope="module")
def con(project):
    found = project.connect()
    yield found
    found.close()


def test_every_table_is_that_of_python(project, con):
    here = duckdb.connect()
    here.execute(f"CREATE TABLE rows AS {ROWS}")
    model = nbsql.fit(
        here, "rows", target="y", id="id", weight="weight", families=IN_PYTHON, prior={"a": 0.5, "b": 0.3, "it's": 0.2}
    )
    others = {**OTHERS, "x": nbsql.Gaussian(smoothing=0.1)}
    numbered = nbsql.fit(
        here, "rows", target="k", features=[*others, "twice", "w1"], families=others, derive={"twice": "w1 * 2 + w2"}
    )
    families = {"flag": "bernoulli", "x": nbsql.Binned(by=[1, 2.5])}
    ordered = nbsql.fit(here, "rows", target="y", features=["a, b", "flag", "x"], families=families)
    messages = project.messages()
    expected = {
        **scores_in_python(model, model, ordered, numbered, "rows"),
        "ordered_predict_proba": ordered.predict_proba("rows", columns=["id"]),
    }
    assert expected.keys() == SCORES.keys()
    for name, query in expected.items():
        assert project.statuses()[name] == "success", messages[name]
        columns, rows = read(con, f'SELECT * FROM "{name}"')
        wanted = query.columns
        if name == "ordered_predict_proba":
            assert (
                columns == [*wanted[:3], *wanted[:2:-1]] == [*wanted[:3], "probability_it's", "probability_b", "probability_a"]
            )
            rows = [(*row[:3], *row[:2:-1]) for row in rows]
        else:
            assert columns == wanted, name
        equal(rows, query.fetchall(), name)


def test_what_sqlite_lacks_is_refused_by_name(project):
    messages = {name: text for name, text in project.messages().items() if text.startswith("nbsql: ")}
    lacking = {
        "texts": ("family 'text' of 'a, b'", "no function that cuts a text into words"),
        "worded": ("missing of 'worded'", "no regular expressions"),
        "aged": ("the half-life of 'aged'", "no types of times"),
        "metrics": ("nbsql.evaluation with table='metrics'", "a parser that reads no query of that depth"),
        "monitor": ("nbsql.monitoring", "no lists"),
        "review": ("nbsql.review_queue", "no lists"),
        "nbsql_nbsql_drift_below_drifting_9": ("nbsql_drift_below", "a parser that reads no query of that depth"),
    }
    assert messages == {
        name: f"nbsql: {what} cannot be had on sqlite, which has {lack}; leave it out, or use DuckDB, PostgreSQL or Spark"
        for name, (what, lack) in lacking.items()
    }


def test_the_example_is_built_as_its_profile_says(tmp_path):
    why = dbt_versions.missing("sqlite")
    if why:
        absent(why)
    folder = tmp_path / "dbt_project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb*"))
    (folder / "packages.yml").write_text(
        (folder / "packages.yml").read_text().replace("../../sql", str(EXAMPLE.parents[1] / "sql"))
    )
    left_out = ["--exclude", "tickets", "delay_evaluation", "test_name:nbsql_drift_below"]
    for arguments in (
        ["deps"],
        *(["build", "--target", "sqlite", *left_out, "--vars", f"last_month: {month}"] for month in (5, 6)),
    ):
        done = dbt(folder, *arguments, version="sqlite", NBSQL_EXAMPLE_FOLDER=str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
    here = duckdb.connect()
    here.execute(f"CREATE TABLE seed AS FROM read_csv('{folder}/seeds/flights_seed.csv')")
    here.execute(
        "CREATE TABLE departures AS SELECT month, day, hour, carrier, origin, dest, distance, dep_delay, "
        "CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival FROM seed WHERE month <= 6"
    )
    options = {"exclude": ["month", "day"], "families": {"hour": "categorical"}}
    model = nbsql.fit(here, "SELECT * FROM departures WHERE day <= 20", target="arrival", **options)
    con = sqlite3.connect(tmp_path / "example.sqlite")
    equal(read(con, "SELECT * FROM delay_likelihoods")[1], model.likelihoods.fetchall())
    expected = model.predict_proba("SELECT * FROM departures WHERE day > 20").fetchall()
    equal(read(con, "SELECT * FROM delay_predictions")[1], expected)
    batches = read(con, "SELECT slice, count(DISTINCT batch) FROM delay_statistics GROUP BY slice")[1]
    assert batches == [(str(month), 1) for month in range(1, 7)]  # May was counted again, and June added
    con.close()
