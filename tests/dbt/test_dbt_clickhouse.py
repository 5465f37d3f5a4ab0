"""The package on ClickHouse: counts, likelihoods and scores are those of Python, and what it lacks is refused by name."""

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import duckdb
import pytest
from engines.servers import absent
from support import dbt_versions
from support.dbt_projects import Project, equal, needs_dbt

import nbsql

pytestmark = [*needs_dbt, pytest.mark.nightly]  # by day SQLite is tried of the engines without lists

# Nullable columns and others, whole numbers without a sign, and texts with quotes and a backslash.
ROWS = r"""
  SELECT
    i AS id, ['b', 'a', 'it''s'][1 + i % 7 % 3] AS y, 'v''\"' || (i * 5 % 4) AS "a, b",
    CASE WHEN i % 6 > 0 THEN i % 4 = 0 END AS flag, CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / 4 + i % 7 % 3 END AS x,
    i * 11 % 5 AS events, 0.5e0 + i % 4 AS weight,
    CASE WHEN i % 8 > 0 THEN 'Der CAFÉ ' || (i % 5) || E' Äßt\nthe ДОМ ' || (i * 37 % 11) || repeat(' Mat''s', i % 3) END
      AS note,
    [0e0, -0e0, 1.5e0][1 + i % 3] AS zero
  FROM range(90) AS t(i)
"""
TYPES = (
    'id Int32, y String, "a, b" LowCardinality(String), flag Nullable(Bool), x Nullable(Float64), events UInt8, '
    "weight Float64, note Nullable(String), zero Nullable(Float64)"
)
FAMILIES = {
    "flag": {"family": "bernoulli", "nulls": "category"},
    "events": {"family": "poisson", "a": 2, "b": 1},
    "x": {"family": "gaussian", "prior": {"kappa": 1, "a": 2}},
    "a, b": {"family": "categorical", "unseen": "smooth", "levels": ["none"]},
}
IN_PYTHON = {
    "flag": nbsql.Bernoulli(nulls="category"),
    "events": nbsql.Poisson(2, 1),
    "x": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(kappa=1, a=2)),
    "a, b": nbsql.Categorical(unseen="smooth", levels=["none"]),
}
WORDS = {"family": "text", "stop_words": "english", "ngrams": 2, "unseen": "smooth"}
RUNS = {"family": "text", "characters": [3, 4], "within_words": True, "accents": False, "event": "bernoulli"}
META = {
    "counted": {"target": "y", "id": "id", "weight": "weight", "exclude": ["note", "zero"], "families": FAMILIES},
    "zeros": {"target": "y", "features": ["zero"], "families": {"zero": "categorical"}},
    "few": {"target": "y", "features": ["flag", "x"]},
    "categories": {"target": "y", "features": ["a, b", "events"], "families": {"events": {"family": "binned", "by": [1, 2.5]}}},
    "by_event": {"target": "y", "features": ["flag", "x"], "slice_by": "events"},
    "words": {"target": "y", "features": ["note", "flag"], "families": {"note": WORDS}},
    "runs": {"target": "y", "features": ["note"], "families": {"note": RUNS}},
    "aged": {"target": "y", "features": ["x"], "weight": {"half_life": 5, "at": "id"}},
}
ALL = "source('raw', 'rows')"
SCORES = {
    "priors": "class_priors(ref('counted'))",
    "likelihoods": "feature_likelihoods(ref('counted'))",
    "predict_proba": f"probabilities(ref('few'), {ALL}, columns='id')",
    "log_evidence": f"evidence(ref('few'), {ALL}, columns='id')",
    "confusion": f"evaluation(ref('few'), {ALL}, table='confusion')",
    "explain": f"explanation(ref('categories'), {ALL})",
    "of_words": f"probabilities(ref('words'), {ALL}, columns='id')",
    "words_explained": f"explanation(ref('words'), {ALL})",
    "of_runs": f"probabilities(ref('runs'), {ALL}, columns='id')",
    "scorecard": "scorecard(ref('categories'), target='b')",
}
JUDGED = ("metrics", "intervals", "roc", "precision_recall", "calibration", "thresholds")
SCORES |= {table: f"evaluation(ref('few'), {ALL}, table='{table}')" for table in JUDGED}
SCORES["drifted"] = "feature_drift(ref('by_event'))"
SCORES["sliced"] = f"evaluation(ref('few'), {ALL}, table='slices', by='a, b')"
REFUSED = {
    "lifts": f"evaluation(ref('few'), {ALL}, table='lift')",
    "compared": f"comparison(ref('few'), ref('categories'), {ALL})",
}


class OnClickHouse(Project):
    """A project on a server of ClickHouse, by the dbt that goes with dbt-clickhouse."""

    def __init__(self, folder, port):
        self.url = f"http://127.0.0.1:{port}/"
        place = {"schema": "project", "host": "127.0.0.1", "port": port, "user": "default", "password": "", "driver": "http"}
        target = {"type": "clickhouse", "threads": 1, "check_exchange": False, **place}
        models = dict.fromkeys(META, f"{{{{ nbsql.statistics({ALL}) }}}}")
        models |= {name: f"{{{{ nbsql.{call} }}}}" for name, call in (SCORES | REFUSED).items()}
        config = {name: {"materialized": "table"} for name in (*META, *SCORES)} | {"priors": {"materialized": "view"}}
        tests = {"counted": ["nbsql.nbsql_statistics_not_negative"]}
        tests["by_event"] = [{"nbsql.nbsql_drift_below": {"arguments": {"maximum": 9}}}]
        super().__init__(folder, models, META, config, tests, target=target, version="clickhouse")

    def ask(self, sql):
        try:
            with urlopen(self.url, data=sql.encode(), timeout=100) as answer:  # noqa: S310
                return bytes(answer.read())
        except HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def read(self, name):
        """The columns and rows of a table."""
        settings = "SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 1"
        found = json.loads(self.ask(f'SELECT * FROM project."{name}" {settings} FORMAT JSONCompact'))
        is_float = ["Float64" in column["type"] for column in found["meta"]]
        rows = [
            tuple(float(value) if floats and value is not None else value for value, floats in zip(row, is_float, strict=True))
            for row in found["data"]
        ]
        return [column["name"] for column in found["meta"]], rows


@contextmanager
def served(folder):
    """A project on a server of its own, which ends with it."""
    script = Path(dbt_versions.__file__).with_name("clickhouse_server.py")
    command = [str(dbt_versions.python("clickhouse")), str(script), str(folder / "server")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            made = OnClickHouse(folder, int(server.stdout.readline()))
            made.ask("CREATE DATABASE project")
            yield made
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    why = dbt_versions.missing("clickhouse")
    if why:
        absent(why)
    with served(tmp_path_factory.mktemp("clickhouse")) as made:
        made.ask(f"CREATE TABLE project.rows ({TYPES}) ENGINE = MergeTree ORDER BY id")
        rows = ", ".join(f"({', '.join(map(literal, row))})" for row in duckdb.sql(ROWS).fetchall())
        made.ask(f"INSERT INTO project.rows SELECT * FROM (VALUES {rows})")
        made.dbt("build")
        yield made


def literal(value):
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "NULL" if value is None else repr(value)


def test_every_table_is_that_of_python(project):
    here = duckdb.connect()
    here.execute(f"CREATE TABLE rows AS {ROWS}")
    model = nbsql.fit(here, "rows", target="y", id="id", weight="weight", exclude=["note", "zero"], families=IN_PYTHON)
    few = nbsql.fit(here, "rows", **META["few"])
    categories = nbsql.fit(here, "rows", **{**META["categories"], "families": {"events": nbsql.Binned(by=[1, 2.5])}})
    words, runs = (
        nbsql.fit(here, "rows", **{**META[name], "families": {"note": family}})
        for name, family in (
            ("words", nbsql.Text(stop_words="english", ngrams=2, unseen="smooth")),
            ("runs", nbsql.Text(characters=(3, 4), within_words=True, accents=False, event="bernoulli")),
        )
    )
    columns, cells = project.read("zeros")
    assert {row[columns.index("value")] for row in cells} == {None, "0", "1.5"}  # 0 with either sign is one category
    messages, judged = project.messages(), few.evaluate("rows")
    expected = {
        "priors": model.priors,
        "likelihoods": model.likelihoods,
        "predict_proba": few.predict_proba("rows", columns=["id"]),
        "confusion": few.evaluate("rows").confusion,
        "explain": categories.explain("rows"),
        "of_words": words.predict_proba("rows", columns=["id"]),
        "words_explained": words.explain("rows"),
        "of_runs": runs.predict_proba("rows", columns=["id"]),
        "log_evidence": few.log_evidence("rows", columns=["id"]),
        "scorecard": categories.scorecard(target="b").lines,
        **{table: getattr(judged, table) for table in JUDGED},
        "drifted": nbsql.fit(here, "rows", **META["by_event"]).drift([0, 1, 2, 3], 4),
        "sliced": few.evaluate("rows", by="a, b").slices,
    }
    assert expected.keys() == SCORES.keys()
    for name, query in expected.items():
        assert project.statuses()[name] == "success", messages[name]
        columns, rows = project.read(name)
        assert columns == query.columns, name
        wanted = query.fetchall()
        if "explain" in name:  # whose rows have numbers of their own
            rows, wanted = ([row[1:] for row in each] for each in (rows, wanted))
        equal(rows, wanted, name)
    for name, counted in (("counted", model), ("words", words), ("runs", runs)):
        equal([row[:7] for row in project.read(name)[1]], [row[:7] for row in counted.statistics], name)
    for name in ("nbsql_nbsql_statistics_not_negative_counted_", "nbsql_nbsql_drift_below_by_event_9"):
        assert project.statuses()[name] == "pass", messages.get(name)


def test_what_the_package_lacks_on_clickhouse_is_refused_by_name(project):
    messages = {name: text for name, text in project.messages().items() if text.startswith("nbsql: ")}
    lists = "where the package computes without lists"
    lacking = {
        "aged": ("the half-life of 'aged'", "where the package lets no rows age"),
        "lifts": ("nbsql.evaluation with table='lift'", lists),
        "compared": ("nbsql.comparison", lists),
    }
    assert messages == {
        name: f"nbsql: {what} cannot be had on clickhouse, {lack}; leave it out, or use DuckDB, PostgreSQL or Spark"
        for name, (what, lack) in lacking.items()
    }
