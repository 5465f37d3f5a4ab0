"""What is rare in a dbt project: many columns, many classes, and names and values of any characters."""

import pytest
from support.dbt_projects import OF_ROWS, Project, equal, needs_dbt, read, server

import nbsql

pytestmark = [*needs_dbt, *map(pytest.mark.filterwarnings, ("ignore:'label' has 105 classes", "ignore:'n' counts rows"))]

COLUMNS = 45  # more than one star of joins takes
CLASSES = 105  # more than a column each takes
STRANGE = """
  CREATE TABLE others AS SELECT
    E'it''s\n"{{ one }}"' AS "la""bel\n'{% x %}'", E'va''l\r\n"ue' AS "a;b", 1.5 AS "select", TRUE AS "{{ no }}",
    E'a\u2028b c' AS "te xt"
  UNION ALL SELECT E'it''s\n"{{ one }}"', 'b', 2.5, FALSE, 'c c'
  UNION ALL SELECT 'Naïve', E'va''l\r\n"ue', -3, TRUE, 'a'
  UNION ALL SELECT '', '', 0, NULL, NULL
"""
STRANGE_TARGET = "la\"bel\n'{% x %}'"
# The models of statistics, each with the columns that it is not about.
MODELS = {
    "blocks": ("rows", {"target": "y", "exclude": ["label"]}),
    "long": ("rows", {"target": "label", "exclude": ["y"], "families": {"n": "poisson"}}),
    "strange": ("others", {"target": STRANGE_TARGET, "families": {"te*": "text"}}),
}


def models_on(engine):
    """PostgreSQL has a column a class, however many there are."""
    return {name: model for name, model in MODELS.items() if name != "long" or engine == "duckdb"}


@pytest.fixture(scope="module", params=OF_ROWS)
def con(request, tmp_path_factory):
    engine, version = request.param
    models = {}
    for name, (table, _) in models_on(engine).items():
        models[name] = f"{{{{ nbsql.statistics(source('raw', '{table}')) }}}}"
        for verb in ("probabilities", "explanation", "evaluation"):
            models[f"{name}_{verb}"] = f"{{{{ nbsql.{verb}(ref('{name}'), source('raw', '{table}')) }}}}"
    config = {name: {"materialized": "table"} for name in models}
    meta = {name: raw(options) for name, (_, options) in models_on(engine).items()}
    values = ", ".join(f"'v' || (CAST(floor(i / {j + 1}.0) AS INTEGER) % {j % 3 + 2}) AS c{j}" for j in range(COLUMNS))
    names = f"i % 3 AS y, 'label ' || i % {CLASSES} AS label, i % 4 AS n"
    with server(engine, version) as address:
        project = Project(tmp_path_factory.mktemp("dbt"), models, meta, config, address=address, version=version)
        project.run(f"CREATE TABLE rows AS SELECT {names}, {values} FROM generate_series(0, 209) AS t(i)", STRANGE)
        project.build()
        with project.connect() as con:
            yield con


def raw(options):
    """Options as YAML says them to dbt, which renders what stands in braces."""
    target = str(options["target"])
    return {**options, "target": f"{{% raw %}}{target}{{% endraw %}}" if "{%" in target else target}


def test_many_columns_many_classes_and_strange_names_are_as_in_python(con, request):
    for name, (table, options) in models_on(request.node.callspec.params["con"][0]).items():
        families = {"te xt": nbsql.Text()} if name == "strange" else options.get("families", {})
        model = nbsql.fit(con, table, **{**options, "families": families})
        queries = {
            "probabilities": model.predict_proba(table),
            "explanation": model.explain(table),
            "evaluation": model.evaluate(table).metrics,
        }
        for verb, query in queries.items():
            columns, found = read(con, f"SELECT * FROM {name}_{verb}")
            assert columns == query.columns, (name, verb)
            equal(found, query.fetchall(), f"{name} {verb}")
