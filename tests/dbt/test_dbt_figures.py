"""The second dbt project in examples/, on several engines: each model has one log loss, that of Python on DuckDB.

`pytest -s -n 0 -m "" tests/dbt/test_dbt_figures.py` prints the figures, which docs/reference/dbt.md shows.
"""

import json
import math
import re
import shutil
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import duckdb
import pytest
from engines.servers import absent
from jinja2 import Environment
from support import dbt_versions
from support.dbt_projects import ENGINES, Project, module_on, needs_dbt, read, server

import nbsql

pytestmark = [
    *needs_dbt,
    # dbt on Spark, which runs in this process, leaves its log open.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SHOP = Path(__file__).parents[2] / "examples" / "dbt_shop"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "dbt.md"
# For each model: its rows, its target, those that it has learnt, and its options in Python.
MODELS = {
    "team": (
        "messages",
        "team",
        "message_id <= 60",
        {
            "id": "message_id",
            "families": {
                "message": nbsql.Text(stop_words="english", pattern="[a-z0-9]+", normal_form=None),
                "photos": "poisson",
            },
        },
    ),
    "churn": (
        "customers",
        "churned",
        "customer_id <= 80",
        {"id": "customer_id", "families": {"joined_on": nbsql.Calendar(["month", "weekday"]), "orders": "poisson"}},
    ),
    "purchase": (
        "visits",
        "bought",
        "visit_id % 4 > 0",
        {"id": "visit_id", "exclude": ["day"], "families": {"pages": "poisson"}},
    ),
}
# What is left out there: SQLite cuts no texts and has no dates, which what stands for BigQuery does not hold either.
LEFT_OUT = {
    "duckdb": (),
    "postgres": (),
    "clickhouse": (),
    "spark": (),
    "sqlite": ("team", "churn"),
    "bigquery": ("churn",),
    "snowflake": (),
    "trino": (),
}
# The versions of dbt; that of Spark is the tests' own, and what stands for warehouses has one for all.
VERSION = {"duckdb": "2.0", "postgres": "2.0", "sqlite": "sqlite", "clickhouse": "clickhouse", "spark": None}


@contextmanager
def place(engine, folder):
    """A project on an engine, and what reads a table there."""
    if engine in ("duckdb", "postgres", "sqlite"):
        with server(engine) if engine != "sqlite" else nullcontext() as address:
            if engine == "sqlite":
                found = module_on(engine).OnSQLite(folder)
            else:
                found = Project(folder, {}, {}, address=address, version=VERSION[engine])

            def reads(name):
                with closing(found.connect()) as con:
                    return read(con, f"SELECT * FROM {name}")[1]

            yield found, reads
    elif engine == "clickhouse":
        with module_on(engine).served(folder) as made:
            yield made, lambda name: made.read(name)[1]
    elif engine == "spark":
        of_spark = module_on(engine)
        with of_spark.session() as session:
            yield of_spark.OnSpark(folder, {}, {}, target=of_spark.TARGET), lambda name: of_spark.table(session, name)[1]
    else:
        with module_on("warehouses").served(folder, engine) as made:
            yield made, lambda name: made.read(name)[1]


@pytest.fixture(
    scope="module",
    params=[engine if engine in ENGINES else pytest.param(engine, marks=pytest.mark.nightly) for engine in LEFT_OUT],
)
def built(request, tmp_path_factory):
    """The engine, and the probabilities of each model that it takes."""
    engine = request.param
    version = VERSION.get(engine, "warehouses")
    if why := version and dbt_versions.missing(version):
        absent(why)
    with place(engine, tmp_path_factory.mktemp(engine)) as (project, reads):
        shutil.rmtree(project.folder / "models")
        kept = shutil.ignore_patterns(
            *("profiles.yml", "packages.yml", "target", "logs", "dbt_packages", "*.duckdb*", "*.lock.yml"),
            *("spark-warehouse", "metastore_db", "derby.log"),
        )
        shutil.copytree(SHOP, project.folder, ignore=kept, dirs_exist_ok=True)
        (output,) = json.loads((project.folder / "profiles.yml").read_text(encoding="utf-8")).values()
        project.write("profiles.yml", {"nbsql_shop": output})
        models = [name for name in MODELS if name not in LEFT_OUT[engine]]
        left_out = [part for name in LEFT_OUT[engine] for part in (f"{name}_*", MODELS[name][0])]
        project.build(*(["--exclude", *left_out] if left_out else []), "--vars", "last_day: 4")
        project.build("--select", "visits", "purchase_statistics", "purchase_probabilities")
        yield engine, {name: reads(f"{name}_probabilities") for name in models}


def expected():
    """The columns and rows of the probabilities in Python, on DuckDB."""
    macros = (SHOP / "macros" / "made_up.sql").read_text(encoding="utf-8")
    found = {}
    with duckdb.connect() as con:
        for name, (rows, target, learnt, options) in MODELS.items():
            text = macros + (SHOP / "models" / "rows" / f"{rows}.sql").read_text(encoding="utf-8")
            con.execute(f"CREATE TABLE {rows} AS {Environment(autoescape=False).from_string(text).render(var=lambda _: 6)}")  # noqa: S701
            model = nbsql.fit(con, f"SELECT * FROM {rows} WHERE {learnt}", target=target, **options)
            scored = model.predict_proba(f"SELECT * FROM {rows} WHERE NOT ({learnt})", columns=[options["id"], target])
            found[name] = (scored.columns, scored.fetchall())
    return found


def log_loss(columns, rows):
    """Of the probabilities of the rows, whose second column is the class."""
    return -math.fsum(math.log(row[columns.index(f"probability_{row[1]}")]) for row in rows) / len(rows)


@pytest.mark.nightly
def test_each_engine_comes_to_the_log_loss_of_python(built):
    engine, tables = built
    cells, largest = [], 0.0
    for name, (columns, wanted) in expected().items():
        if name not in tables:
            cells.append("")
            continue
        places = [place for place, column in enumerate(columns) if column.startswith("probability_")]
        for row, other in zip(sorted(tables[name]), sorted(wanted), strict=True):
            assert row[:2] == other[:2]
            largest = max(largest, *(abs(row[place] - other[place]) for place in places))
        cells.append(f"{log_loss(columns, tables[name]):.9f}")
        assert math.isclose(log_loss(columns, tables[name]), log_loss(columns, wanted), rel_tol=1e-9), name
    print(f"\n| {engine} | {' | '.join(cells)} | {largest:.0e} |")
    assert largest < 1e-9


def test_the_page_shows_these_figures():
    losses = {name: f"{log_loss(*table):.9f}" for name, table in expected().items()}
    lines = re.findall(
        r"^\| (\w+)[\w ()]* \| ([\d. ]*) \| ([\d. ]*) \| ([\d. ]*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {{"postgresql": "postgres"}.get(engine.lower(), engine.lower()): tuple(cells) for engine, *cells in lines} == {
        engine: tuple("" if name in left_out else losses[name] for name in MODELS) for engine, left_out in LEFT_OUT.items()
    }
