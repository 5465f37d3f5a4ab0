"""The dbt project in examples/ and the lines of the page on dbt, built as a user builds them."""

import json
import re
import shutil
from pathlib import Path

import duckdb
import pytest
from support.dbt_projects import BUILDS, Project, dbt, equal, needs_dbt, output, read, server

import nbsql
from nbsql.dbt.mirror import fill_mirror
from nbsql.rendering.renderer import macro_path

pytestmark = needs_dbt


@pytest.mark.nightly
def test_a_stranger_who_follows_the_readme_of_the_mirror_is_green(tmp_path):
    mirror, project = tmp_path / "mirror", tmp_path / "shop"
    mirror.mkdir()
    fill_mirror(mirror)
    readme = (mirror / "README.md").read_text(encoding="utf-8")
    for name, block in re.findall(r"```\w+\n(?:# |\{# )(models/[\w.]+)(.*?)```", readme, flags=re.DOTALL):
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.partition("\n")[2], encoding="utf-8")
    assert len(list((project / "models").iterdir())) == 4
    (project / "seeds").mkdir()
    rows = [f"{i},{'free' if i % 3 else 'pro'},{i % 7},{str(i % 3 > 0 and i % 5 > 0).lower()}" for i in range(90)]
    for seed in ("customers", "prospects", "customers_of_may"):
        (project / "seeds" / f"{seed}.csv").write_text("\n".join(["customer_id,plan,visits,churned", *rows]), encoding="utf-8")
    (project / "dbt_project.yml").write_text("name: shop\nversion: '1.0'\nprofile: shop\n", encoding="utf-8")
    output = {"type": "duckdb", "path": str(project / "shop.duckdb")}
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "dev", "outputs": {"dev": output}}}), encoding="utf-8")
    (project / "packages.yml").write_text(json.dumps({"packages": [{"local": str(mirror)}]}), encoding="utf-8")
    for command in ("deps", "build"):
        done = dbt(project, command)
        assert done.returncode == 0, done.stdout + done.stderr
    with duckdb.connect(str(project / "shop.duckdb")) as con:
        assert con.execute("SELECT count(prediction) FROM churn_scored").fetchone() == (90,)


ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "dbt_project"
HELD_BACK = "SELECT * FROM departures WHERE day > 20"

# The tables of the flights, and what they are in Python.
TABLES = {
    "delay_priors": lambda model: model.priors,
    "delay_likelihoods": lambda model: model.likelihoods,
    "delay_predictions": lambda model: model.predict_proba(HELD_BACK),
    "delay_explanation": lambda model: model.explain("SELECT * FROM departures WHERE month = 6 AND day = 28"),
    "delay_evaluation": lambda model: model.evaluate(HELD_BACK).metrics,
    "delay_confusion": lambda model: model.evaluate(HELD_BACK).confusion,
}


class Example:
    """The example, built up to May, and then again with June, on an engine.

    Attributes:
        folder: of the project.
        con: a connection to its database, which is in the schema of its tables.
    """

    def __init__(self, folder, address, version):
        self.folder = folder / "dbt_project"
        left_out = shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb*", "package-lock.yml")
        shutil.copytree(EXAMPLE, self.folder, ignore=left_out)
        packages = self.folder / "packages.yml"
        assert "local: ../../sql" in packages.read_text(encoding="utf-8")
        package = macro_path()
        if version is not None:  # as the hub has it
            package = folder / "mirror"
            package.mkdir()
            fill_mirror(package)
        packages.write_text(json.dumps({"packages": [{"local": str(package)}]}), encoding="utf-8")
        target, variables = [], {}
        if address is not None:
            place = output(address)
            target = ["--target", "postgres"]
            variables = {f"PG{key.upper()}": str(place[key]) for key in ("host", "port", "user", "password")}
            variables["PGDATABASE"] = place["dbname"]
        if address is not None and version == "2.0":
            target += ["--exclude-resource-type", "unit_test"]  # dbt 2.0.0a4 has none on PostgreSQL yet
        for arguments in (["deps"], ["build", *target, "--vars", "last_month: 5"], ["build", *target]):
            done = dbt(self.folder, *arguments, version=version, **variables)
            assert done.returncode == 0, done.stdout + done.stderr
            said = done.stdout.replace("WARN=0", "").replace("0 warnings", "")
            assert "warn" not in said.lower(), said
        if address is None:
            self.con = duckdb.connect(str(self.folder / "example.duckdb"))
        else:
            import psycopg

            self.con = psycopg.connect(address, autocommit=True, options="-c search_path=nbsql_example")


@pytest.fixture(scope="module", params=BUILDS)
def example(request, tmp_path_factory):
    with server(*request.param) as address:
        found = Example(tmp_path_factory.mktemp("example"), address, request.param[1])
        yield found
        found.con.close()


@pytest.mark.nightly
def test_tables_of_the_flights_are_those_of_python(example):
    options = {"target": "arrival", "exclude": ["month", "day"], "families": {"hour": "categorical"}}
    model = nbsql.fit(example.con, "SELECT * FROM departures WHERE day <= 20", **options)
    for table, query in TABLES.items():
        columns, rows = read(example.con, f"SELECT * FROM {table}")
        assert columns == query(model).columns, table
        equal(rows, query(model).fetchall(), table)


def test_a_slice_of_the_statistics_is_a_month(example):
    options = {"target": "arrival", "exclude": ["month", "day"], "families": {"hour": "categorical"}}
    for month in range(1, 7):
        model = nbsql.fit(example.con, f"SELECT * FROM departures WHERE day <= 20 AND month = {month}", **options)
        _, rows = read(example.con, f"SELECT class, feature, value, n, mean, m2 FROM delay_statistics WHERE slice = '{month}'")
        equal(rows, [row[1:7] for row in model.statistics], f"month {month}")


def test_june_was_added_and_may_counted_again(example):
    _, batches = read(
        example.con, "SELECT slice, min(batch), count(DISTINCT batch) FROM delay_statistics GROUP BY slice ORDER BY slice"
    )
    assert [(part, count) for part, _, count in batches] == [(str(month), 1) for month in range(1, 7)]
    assert len({batch for part, batch, _ in batches if part < "5"}) == 1
    assert len({batch for part, batch, _ in batches if part >= "5"}) == 1
    assert batches[0][1] < batches[-1][1]


def test_tickets_go_to_the_team_that_python_says(example):
    families = {"message": nbsql.Text(stop_words="english", min_length=3), "screenshots": nbsql.Poisson(a=1, b=1)}
    known = "SELECT * FROM tickets WHERE team IS NOT NULL"
    model = nbsql.fit(
        example.con, known, target="team", id="ticket", exclude=["opened_on"], prior="uniform", alpha=0.5, families=families
    )
    equal(read(example.con, "SELECT * FROM ticket_likelihoods")[1], model.likelihoods.fetchall())
    _, found = read(example.con, "SELECT * FROM ticket_teams")
    equal(found, model.predict("SELECT * FROM tickets WHERE team IS NULL").fetchall())
    assert [row[-2] for row in sorted(found)] == ["billing", "technical", "shipping"]


def test_docs_blocks_describe_the_models(example):
    nodes = json.loads((example.folder / "target" / "manifest.json").read_text(encoding="utf-8"))["nodes"]
    description = nodes["model.nbsql_example.delay_statistics"]["description"]
    assert description.startswith("A naive Bayes model as counts that add up")


def test_the_lines_of_its_page_build_a_project(tmp_path):
    text = (ROOT / "docs" / "reference" / "dbt.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:yaml|jinja)\n(?:# |\{# )(\S+?)(?: #\})?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    files = dict(blocks)
    assert list(files) == [
        "packages.yml",
        "models/churn.yml",
        "models/churn_statistics.sql",
        "models/churn_scored.sql",
        "models/churn_promises.sql",
        "models/churn_decided.sql",
        "models/churn_history.sql",
        "models/spam.yml",
    ]
    project = Project(tmp_path, {}, {}, version="2.0")
    for name, content in files.items():
        if name != "packages.yml":
            (tmp_path / name).write_text(content, encoding="utf-8")
    people = """SELECT i AS customer_id, i % 3 = 0 AS churned, i % 5 + i % 3 AS visits, 'note ' || i % 3 AS notes
      FROM range(30) AS t(i)"""
    mails = """SELECT i % 3 AS sent_on, CASE WHEN i % 2 = 0 THEN 'spam' ELSE 'ham' END AS label,
      CASE WHEN i % 2 = 0 THEN 'free prize' ELSE 'lunch' END AS message FROM range(30) AS t(i)"""
    for name, sql in {
        "customers": people,
        "prospects": people,
        "customers_of_may": people,
        "mails": mails,
        "spam_statistics": "{{ nbsql.statistics(ref('mails')) }}",
        "churn_evaluation": "{{ nbsql.evaluation(ref('churn_statistics'), ref('customers')) }}",
        "spam_scored": "{{ nbsql.predictions(ref('spam_statistics'), ref('mails')) }}",
    }.items():
        (tmp_path / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
    with server("duckdb", project.version):
        project.build()
    with project.connect() as con:
        families = {"visits": "poisson", "notes": nbsql.Text(stop_words="english")}
        model = nbsql.fit(con, "customers", target="churned", id="customer_id", families=families)
        equal(con.sql("FROM churn_scored").fetchall(), model.predict("prospects").fetchall())
