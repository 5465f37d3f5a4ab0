"""The package on Snowflake, BigQuery and Trino, by what runs their SQL here: every table is that of Python on DuckDB.

Snowflake by fakesnow and Trino by sqlglot, both on DuckDB; BigQuery by ZetaSQL, the reference implementation of its dialect.
"""

import json
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from engines.servers import absent
from support import dbt_versions
from support.dbt_projects import ALL, Project, equal, module_on, needs_dbt, scores, scores_in_python

import nbsql

pytestmark = needs_dbt

# Numbers, categories and Booleans, with gaps, texts that are quoted, a backslash, and a class whose numbers are whole.
ROWS = r"""
  SELECT
    i AS id, ['b', 'a', 'it''s'][1 + i % 7 % 3] AS y, i % 3 AS k, 'v''\"' || (i * 5 % 4) AS kind,
    CASE WHEN i % 6 > 0 THEN i % 4 = 0 END AS flag,
    CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / 4 + i % 7 % 3 END AS x,
    (i * 11 % 17 + 1) / 4 AS above, i * 11 % 5 AS events, (i * 7 % 6) * (i % 2) AS often, i % 4 AS w1, i % 3 AS w2,
    0.5e0 + i % 4 AS weight, i // 30 AS day,
    ['', 'Ein freier Preis, claim', 'été sur le Straßenfest', 'no prize: 2 pills', 'Free! free pills',
      'привет, free-prize', NULL][1 + i % 7]
      || ' ' || ['lunch', 'Prize', 'a b'][1 + i % 3] AS said
  FROM range(90) AS t(i)
"""
FAMILIES = {
    "flag": {"family": "bernoulli", "nulls": "category"},
    "events": {"family": "poisson", "a": 2, "b": 1},
    "x": {"family": "gaussian", "prior": {"kappa": 1, "a": 2}},
    "words": {"family": "complement", "columns": ["w1", "w2"]},
    "kind": {"family": "categorical", "unseen": "smooth", "levels": ["none"]},
}
IN_PYTHON = {
    "flag": nbsql.Bernoulli(nulls="category"),
    "events": nbsql.Poisson(2, 1),
    "x": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(kappa=1, a=2)),
    "words": nbsql.Complement(["w1", "w2"]),
    "kind": nbsql.Categorical(unseen="smooth", levels=["none"]),
}
OTHERS = {"x": "gaussian", "above": "gamma", "often": {"family": "zero_inflated", "of": "gamma"}, "events": "geometric"}
META = {
    "counted": {
        "target": "y",
        "id": "id",
        "weight": "weight",
        "exclude": ["k", "above", "often", "day"],
        "families": FAMILIES,
        "prior": {"a": 0.5, "b": 0.3, "it's": 0.2},
    },
    "numbered": {"target": "k", "features": [*OTHERS, "twice", "w1"], "families": OTHERS, "derive": {"twice": "w1 * 2 + w2"}},
    "ordered": {"target": "y", "features": ["kind", "flag"], "families": {"flag": "bernoulli"}, "classes": ["it's", "b", "a"]},
    "by_day": {"target": "y", "features": ["x", "kind"], "slice_by": "day"},
    "worded": {"target": "y", "features": ["kind"], "missing": ["v0"]},
    "aged": {"target": "y", "features": ["x"], "weight": {"half_life": 5, "at": "id"}},
}
WORDS = {"ngrams": 2, "min_length": 2, "stop_words": ["auf", "on"]}
# Snowflake's patterns know the letters of ASCII alone.
ASCII = {"pattern": "[a-z0-9]+", "normal_form": None, "event": "bernoulli"}
SCORES = {
    **scores("ordered"),
    "metrics": f"evaluation(ref('ordered'), {ALL})",
    "intervals": f"evaluation(ref('counted'), {ALL}, table='intervals', weight='weight')",
    "slices": f"evaluation(ref('counted'), {ALL}, table='slices', weight='weight', by='day')",
    "moved": "feature_drift(ref('by_day'))",
    "text_likelihoods": "feature_likelihoods(ref('texts'))",
    "text_predict": f"probabilities(ref('texts'), {ALL}, columns='id')",
    "text_explain": f"explanation(ref('texts'), {ALL})",
}
REFUSED = {
    "lift": f"evaluation(ref('ordered'), {ALL}, table='lift')",
    "monitor": f"monitoring(ref('ordered'), {ALL})",
    "review": f"review_queue(ref('ordered'), {ALL})",
}
PLACE = {"host": "127.0.0.1", "threads": 1}
TARGETS = {
    "snowflake": {
        **PLACE,
        "account": "fakesnow",
        "user": "fake",
        "password": "snow",  # pragma: allowlist secret
        "protocol": "http",
        "database": "db",
        "schema": "public",
    },
    "bigquery": {"method": "oauth-secrets", "token": "none", "project": "p", "dataset": "d", "threads": 1},
    "trino": {**PLACE, "method": "none", "user": "user", "database": "memory", "schema": "default", "cert": False},
}
TABLES = {"snowflake": "db.public.{}", "bigquery": "`p`.`d`.`{}`", "trino": '"default".{}'}


class Warehouse(Project):
    """A project on what stands for a warehouse, a server that also answers statements on its input."""

    def __init__(self, folder, name):
        self.name = name
        self.words = ASCII if name == "snowflake" else WORDS
        script = Path(dbt_versions.__file__).with_name(f"{name}_server.py")
        command = [str(dbt_versions.python("warehouses")), str(script)]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = int(self.server.stdout.readline())
        target = {"type": name, **TARGETS[name]}
        target |= {"api_endpoint": f"http://127.0.0.1:{port}"} if name == "bigquery" else {"port": port}
        texts = {"target": "y", "features": ["said"], "families": {"said": {"family": "text", **self.words}}}
        meta = {**META, "texts": texts}
        models = dict.fromkeys(meta, f"{{{{ nbsql.statistics({ALL}, where=var('rows', 'TRUE')) }}}}")
        models |= {name: f"{{{{ nbsql.{call} }}}}" for name, call in (SCORES | REFUSED).items()}
        config = {name: {"materialized": "table"} for name in (*meta, *SCORES)}
        config["priors"] = {
            "materialized": "table" if name == "trino" else "view"
        }  # whose view sqlglot does not write for DuckDB
        # BigQuery's adapter replaces no slices.
        replaced = {"unique_key": "slice", "incremental_strategy": "delete+insert"} if name != "bigquery" else {}
        config["by_day"] = {"materialized": "incremental", **replaced}
        drift = {"nbsql.nbsql_drift_below": {"arguments": {"maximum": 9}}}
        tests = {"counted": ["nbsql.nbsql_statistics_not_negative"], "by_day": [drift]}
        super().__init__(folder, models, meta, config, tests, target=target, version="warehouses")

    def ask(self, sql):
        """The columns and rows that a statement returns."""
        assert self.server.stdin is not None
        print(json.dumps(sql), file=self.server.stdin, flush=True)
        columns, rows = json.loads(self.server.stdout.readline())
        return columns, [tuple(row) for row in rows]

    def read(self, name):
        columns, rows = self.ask(f"SELECT * FROM {TABLES[self.name].format(name)}")
        return [name.lower() if self.name == "snowflake" and name.isupper() else name for name in columns], rows

    def create_rows(self):
        found = duckdb.sql(ROWS)
        big = self.name == "bigquery"
        types = {"VARCHAR": "STRING" if big else "VARCHAR", "DOUBLE": "FLOAT64" if big else "DOUBLE", "BOOLEAN": "BOOL"}
        columns = [
            (name, types.get(str(kind), "INT64" if big else "BIGINT"))
            for name, kind in zip(found.columns, found.types, strict=True)
        ]
        described = ", ".join(f"{name} {kind}" for name, kind in columns)
        rows = ", ".join(f"({', '.join(map(self.literal, row))})" for row in found.fetchall())
        if big:
            self.ask(f"create table `p`.`d`.`rows` as (SELECT * FROM UNNEST(ARRAY<STRUCT<{described}>>[{rows}]))")
            return
        self.ask(f"CREATE TABLE {TABLES[self.name].format('rows')} ({described.replace('BOOL,', 'BOOLEAN,')})")
        self.ask(f"INSERT INTO {TABLES[self.name].format('rows')} VALUES {rows}")

    def literal(self, value):
        if isinstance(value, str):
            escaped = value.replace("\\", "\\\\") if self.name != "trino" else value
            return "'" + escaped.replace("'", "''" if self.name != "bigquery" else "\\'") + "'"
        return "NULL" if value is None else repr(value)


@contextmanager
def served(folder, name):
    """A project on a server of its own, which ends with it."""
    made = Warehouse(folder, name)
    with made.server:
        try:
            if name == "snowflake":
                made.ask("CREATE DATABASE db")
                made.ask("CREATE SCHEMA IF NOT EXISTS db.public")
            yield made
        finally:
            made.server.terminate()


# By day SQLite is tried of the engines without lists.
@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.nightly) for name in TARGETS])
def project(request, tmp_path_factory):
    why = dbt_versions.missing("warehouses")
    if why:
        absent(why)
    with served(tmp_path_factory.mktemp(request.param), request.param) as made:
        made.create_rows()
        made.dbt("build", "--vars", "rows: day < 2")
        yield made


def test_every_table_is_that_of_python(project):
    here = duckdb.connect()
    here.execute(f"CREATE TABLE rows AS SELECT * FROM ({ROWS}) WHERE day < 2")
    here.execute(f"CREATE TABLE everything AS {ROWS}")
    model = nbsql.fit(here, "rows", **{**META["counted"], "families": IN_PYTHON})
    in_python = {**OTHERS, "often": nbsql.ZeroInflated(of="gamma")}
    numbered = nbsql.fit(here, "rows", **{**META["numbered"], "families": in_python})
    ordered = nbsql.fit(here, "rows", **{key: value for key, value in META["ordered"].items() if key != "classes"})
    by_day = nbsql.fit(here, "rows", **META["by_day"])
    texts = nbsql.fit(here, "rows", target="y", features=["said"], families={"said": nbsql.Text(**project.words)})
    judged, weighted = ordered.evaluate("everything"), model.evaluate("everything", weight="weight", by="day")
    messages = project.messages()
    expected = {
        **scores_in_python(model, ordered, ordered, numbered, "everything"),
        "metrics": judged.metrics,
        "intervals": weighted.intervals,
        "slices": weighted.slices,
        "moved": by_day.drift(0, 1),
        "text_likelihoods": texts.likelihoods,
        "text_predict": texts.predict_proba("everything", columns=["id"]),
        "text_explain": texts.explain("everything"),
    }
    assert expected.keys() == SCORES.keys()
    for name, query in expected.items():
        assert project.statuses()[name] == "success", messages[name]
        columns, rows = project.read(name)
        wanted = [query.columns.index(column) for column in columns]
        rows_wanted = [tuple(row[place] for place in wanted) for row in query.fetchall()]
        if "explain" in name:  # whose rows have numbers of their own
            rows, rows_wanted = ([row[1:] for row in each] for each in (rows, rows_wanted))
        equal(rows, rows_wanted, name)
    passed = ("nbsql_nbsql_statistics_not_negative_counted_", "nbsql_nbsql_drift_below_by_day_9")
    assert [project.statuses()[name] for name in passed] == ["pass", "pass"]


def test_what_the_package_lacks_is_refused_by_name(project):
    messages = {name: text for name, text in project.messages().items() if text.startswith("nbsql: ")}
    lists = "where the package computes without lists"
    lacking = {
        "worded": ("missing of 'worded'", "where the package reads no patterns of numbers"),
        "aged": ("the half-life of 'aged'", "where the package lets no rows age"),
        "lift": ("nbsql.evaluation with table='lift'", lists),
        "monitor": ("nbsql.monitoring", lists),
        "review": ("nbsql.review_queue", lists),
    }
    assert messages == {
        name: f"nbsql: {what} cannot be had on {project.name}, {lack}; leave it out, or use DuckDB, PostgreSQL or Spark"
        for name, (what, lack) in lacking.items()
    }


def test_a_column_of_small_letters_in_quotes_is_refused(project):
    if project.name != "snowflake":
        pytest.skip("names without quotes are capitals on Snowflake only")
    project.ask('CREATE TABLE db.public.others (y VARCHAR, _1 BIGINT, "abc" BIGINT)')
    sql = "{{ config(meta={'nbsql': {'target': 'y'}}) }} {{ nbsql.statistics(source('raw', 'others')) }}"
    (project.folder / "models" / "quoted.sql").write_text(sql, encoding="utf-8")
    project.dbt("run", "--select", "quoted")
    assert project.messages() == {
        "quoted": "nbsql: column 'abc' was made in quotes, in small letters, which here is another than abc without quotes; "
        "rename it, or select it under another name in a staging model"
    }


def test_new_slices_are_added(project):
    done = project.dbt("run", "--select", "by_day")
    assert project.statuses() == {"by_day": "success"}, done.stdout
    here = duckdb.connect()
    model = nbsql.fit(here, ROWS, **META["by_day"])
    cells = project.read("by_day")[1]
    equal([row[:7] for row in cells], [row[:7] for row in model.statistics])
    assert len({(row[0], row[7]) for row in cells}) == 3  # each slice was counted once


def test_the_page_says_what_the_tests_execute_and_what_is_refused():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "dbt.md").read_text(encoding="utf-8")
    header, _, *lines = page.partition("## What was executed where\n\n")[2].partition("\n\n")[0].splitlines()
    engines = [cell.strip().lower() for cell in header.split("|")[2:-1]]
    said = {engine: {} for engine in engines}
    for line in lines:
        first, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        for macro in re.findall(r"`(\w+)(\(table='\w+'\))?`", first):
            for engine, cell in zip(engines, cells, strict=True):
                said[engine]["".join(macro)] = cell
    known = dict.fromkeys(TARGETS, (SCORES, REFUSED))
    known |= {engine: (module_on(engine).SCORES, module_on(engine).REFUSED) for engine in ("sqlite", "clickhouse")}
    for engine, tables in known.items():
        executed, refused = ({called(call) for call in table.values()} for table in tables)
        cell = "stand-in" if engine in TARGETS else "yes"
        cells = said[engine]
        assert {macro for macro, word in cells.items() if word == cell} == executed | {"statistics"}, engine
        assert refused <= {macro for macro, word in cells.items() if word == "no"}, engine


def called(call):
    """The macro of a call as the page writes it."""
    apart = re.search("table='(confusion|lift)'", call)
    return call.partition("(")[0] + (f"({apart[0]})" if apart else "")
