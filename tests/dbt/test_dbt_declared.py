"""Classes, priors and levels that dbt declares are values of their column's type, as those of a fit are."""

import pytest
from support.dbt_projects import OF_ROWS, Project, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

STATISTICS = "{{ nbsql.statistics(source('raw', 'rows')) }}"
ROWS = """
  SELECT i AS id, i % 2 AS y, CASE i % 2 WHEN 1 THEN 'Yes' ELSE 'yes' END AS word, i % 2 = 0 AS holds,
    CAST(CAST(i % 3 AS NUMERIC(4, 2)) / 4 + 0.5 AS NUMERIC(4, 2)) AS price,
    DATE '2026-01-01' + CAST(i % 4 AS INTEGER) AS day, i % 5 AS part
  FROM generate_series(0, 59) AS t(i)
"""
FAMILIES = {
    "price": {"family": "categorical", "levels": ["0.500", "0.75", 1.25]},
    "day": {"family": "categorical", "levels": ["2026-01-01", "2026-01-09"]},
    "part": {"family": "categorical", "alpha": {"1.0": 3}, "levels": [2, "7.0"]},
    "holds": {"family": "categorical", "levels": [True]},
}
OPTIONS = {"target": "y", "id": "id", "exclude": ["word"], "families": FAMILIES}
FORMS = {"declared": {**OPTIONS, "classes": [1.0, "0", "2"]}, "given": {**OPTIONS, "prior": {"0.0": 0.25, "1": 0.75}}}
FOREIGN = {
    "level": (
        {**OPTIONS, "families": {**FAMILIES, "part": {"family": "categorical", "levels": ["0.5"]}}},
        "levels of 'part' must be values of 'part', which is ",
        ": '0.5' is none",
    ),
    "label": ({**OPTIONS, "classes": ["0.5", 1]}, "classes of 'label' must be labels of 'y', which is ", ": '0.5' is none"),
    "word": (
        {**OPTIONS, "prior": {"no": 0.5, "yes": 0.5}},
        "priors of 'word' must be labels of 'y', ",
        ": 'no', 'yes' are none",
    ),
    "twice": ({**OPTIONS, "prior": {"1": 0.5, "1.0": 0.5}}, "prior of 'twice' names '1' twice; name it once", ""),
}


@pytest.mark.parametrize("build", OF_ROWS)
def test_declared_values_are_those_that_the_type_of_the_column_writes(build, tmp_path):
    models = dict.fromkeys([*FORMS, *FOREIGN], STATISTICS)
    models |= {f"{name}_likely": "{{ nbsql.feature_likelihoods(ref('%s')) }}" % name for name in FORMS}  # noqa: UP031
    models |= {f"{name}_priors": "{{ nbsql.class_priors(ref('%s')) }}" % name for name in FORMS}  # noqa: UP031
    models["scored"] = "{{ nbsql.probabilities(ref('declared'), source('raw', 'rows')) }}"
    models |= {"cased": STATISTICS, "cased_scored": "{{ nbsql.probabilities(ref('cased'), source('raw', 'rows')) }}"}
    meta = {**FORMS, **{name: given for name, (given, *_) in FOREIGN.items()}}
    meta["cased"] = {**OPTIONS, "target": "word", "exclude": ["y"], "classes": ["yes", "Yes"]}
    families = {
        "price": nbsql.Categorical(levels=["0.5", "0.75", "1.25"]),
        "day": nbsql.Categorical(levels=["2026-01-01", "2026-01-09"]),
        "part": nbsql.Categorical(alpha={"1": 3}, levels=["2", "7"]),
        "holds": nbsql.Categorical(levels=["true"]),
    }
    with server(*build) as address:
        project = Project(tmp_path, models, meta, address=address, version=build[1])
        with project.connect() as con:
            con.execute(f"CREATE TABLE rows AS {ROWS}")
        assert project.dbt("build").returncode == 1
        said = project.messages()
        for name, (_, begins, ends) in FOREIGN.items():
            assert said[name].startswith(f"nbsql: {begins}"), said[name]
            assert said[name].endswith(ends), said[name]
        with project.connect() as con:
            for name, prior in (("declared", "empirical"), ("given", {0: 0.25, 1: 0.75})):
                model = nbsql.fit(con, "rows", **{**OPTIONS, "families": families, "prior": prior})
                for table, query, keys in (("likely", model.likelihoods, 3), ("priors", model.priors, 1)):
                    expected = {tuple(map(str, row[:keys])): row[keys:] for row in query.fetchall()}
                    found = {tuple(map(str, row[:keys])): row[keys:] for row in read(con, f"SELECT * FROM {name}_{table}")[1]}
                    assert {*found} == {*expected}
                    for key, numbers in found.items():
                        assert numbers == pytest.approx(expected[key], rel=1e-12), (name, table, key)
            model = nbsql.fit(con, "rows", **{**OPTIONS, "families": families})
            assert read(con, "SELECT * FROM cased_scored")[0][-2:] == ["probability_yes", "probability_Yes_2"]
            names, rows = read(con, "SELECT * FROM scored ORDER BY id")
            assert names[-3:] == ["probability_1", "probability_0", "probability_2"]
            proba = [row[-2:] for row in model.predict_proba("SELECT * FROM rows ORDER BY id").fetchall()]
            assert [row[-3:] for row in rows] == [pytest.approx((one, zero, 0.0), rel=1e-12) for zero, one in proba]
