"""Calibrations and comparisons of models in a dbt project are those of Python."""

import pytest
from support.dbt_projects import OF_ROWS, Project, equal, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

# Classes that overlap, in a table without maps and lists.
ROWS = """
  CREATE TABLE rows AS SELECT
    i AS id, (ARRAY['a', 'b', 'c'])[1 + i * 7 % 11 % 3] AS y,
    CASE WHEN i % 30 > 0 THEN 'v' || (i * 5 % 4) END AS category, i % 5 = 0 AS flag,
    CASE WHEN i % 30 > 0 THEN (i * 37 % 23) / CAST(4 AS DOUBLE PRECISION) + i * 7 % 11 % 3 END AS x,
    i * 13 % 7 AS w1, i % 3 AS w2, 1 + i % 4 AS weight
  FROM generate_series(0, 89) AS t(i)
"""
METHODS = ("temperature", "platt", "isotonic")
DECIDED = "source('raw', 'rows'), calibration=ref('certain'), certain=0.5"
FEATURES = {"v1": ["category", "x"], "v2": ["flag", "twice"], "other": ["x"], "two": ["x"], "words": ["category", "x"]}
HELD_OUT = "source('raw', 'rows'), weight='weight', where='id >= 50'"
CALLS = {
    **{name: f"fitted_calibration(ref('v1'), {HELD_OUT}, method='{name}')" for name in METHODS},
    **{f"by_{name}": f"probabilities(ref('v1'), source('raw', 'rows'), calibration=ref('{name}'))" for name in METHODS},
    "certain": f"fitted_calibration(ref('v1'), {HELD_OUT}, method='certain', confidence=0.5)",
    "decided": f"predictions(ref('v1'), {DECIDED})",
    "decided_by_class": f"predictions(ref('v1'), {DECIDED}, by_class=true, columns='id')",
    "decided_by_both": f"predictions(ref('v1'), {DECIDED.replace('certain', 'both', 1)}, columns='id')",
    "known": f"fitted_calibration(ref('words'), {HELD_OUT}, method='certain', confidence=0.5)",
    "decided_by_words": "predictions(ref('words'), source('raw', 'rows'), calibration=ref('known'), certain=0.1, columns='id')",
    "of_nothing_known": "fitted_calibration(ref('v1'), source('raw', 'rows'), where='id = 60', method='certain')",
    "predictions": "predictions(ref('v1'), source('raw', 'rows'), columns='id', calibration=ref('platt'))",
    "metrics": "evaluation(ref('v1'), source('raw', 'rows'), where='id >= 50', calibration=ref('isotonic'))",
    "plain": f"comparison(ref('v1'), ref('v2'), {HELD_OUT})",
    "of_no_rows": "fitted_calibration(ref('v1'), source('raw', 'rows'), where='id < 0')",
    "calibrated": f"comparison(ref('v1'), ref('v2'), {HELD_OUT}, calibration=ref('isotonic'))",
}
REFUSED = {
    "sets": (
        "fitted_calibration(ref('v1'), source('raw', 'rows'), 'conformal')",
        "method of 'nbsql.fitted_calibration' must be one of 'temperature', 'platt', 'isotonic', 'certain', not conformal",
    ),
    "of_promises": (
        "predictions(ref('v1'), source('raw', 'rows'), calibration=ref('platt'), certain=0.5)",
        "platt promises no certainty; build it by nbsql.fitted_calibration(..., method='certain')",
    ),
    "of_a_share": (
        "predictions(ref('v1'), source('raw', 'rows'), certain=95)",
        "certain must be a number between 0 and 1, such as 0.9, not 95",
    ),
    "of_no_relation": (
        "predictions(ref('v1'), source('raw', 'rows'), certain=0.9)",
        "certain goes with calibration=ref('...')",
    ),
    "of_no_posteriors": (
        "predictions(ref('v1'), source('raw', 'rows'), calibration=ref('certain'))",
        "certain has no calibration of posteriors; build it by nbsql.fitted_calibration",
    ),
    "of_classes": ("predictions(ref('two'), source('raw', 'rows'), calibration=ref('certain'), certain=0.5)", "build it again"),
    "of_no_share": ("predictions(ref('v1'), source('raw', 'rows'), by_class=true)", "by_class goes with certain"),
    "of_a_confidence": (
        "fitted_calibration(ref('v1'), source('raw', 'rows'), confidence=0.9)",
        "confidence goes with method='certain'",
    ),
    "of_a_weight": (
        "fitted_calibration(ref('v1'), source('raw', 'rows'), weight='nothing')",
        "no column 'nothing' in rows, the weight",
    ),
    "of_others": (
        "probabilities(ref('two'), source('raw', 'rows'), calibration=ref('platt'))",
        "platt was fitted with other classes than 'two' has; build it again",
    ),
    "of_targets": (
        "comparison(ref('v1'), ref('other'), source('raw', 'rows'))",
        "'v1' predicts 'y' and 'other' 'flag'; compare models of one target",
    ),
    "of_no_calibration": (
        "predictions(ref('v1'), source('raw', 'rows'), calibration=ref('v2'))",
        "no column 'method' in v2, which a calibration has",
    ),
}


@pytest.fixture(scope="module", params=OF_ROWS)
def project(request, tmp_path_factory):
    engine, version = request.param
    with server(engine, version) as address:
        counted = "{{ nbsql.statistics(source('raw', 'rows'), where=\"id < 50\") }}"
        models = dict.fromkeys(FEATURES, counted) | {"two": counted.replace("id < 50", "y <> 'a'")}
        refused = {name: call for name, (call, _) in REFUSED.items()}
        models |= {name: f"{{{{ nbsql.{call} }}}}" for name, call in (CALLS | refused).items()}
        meta = {name: {"target": "y", "features": features} for name, features in FEATURES.items()}
        meta["v2"]["derive"] = {"twice": "w1 * 2 + w2"}
        meta["other"]["target"] = "flag"
        meta["words"]["families"] = {"category": {"family": "text", "min_known": 1}}
        models["both"] = "SELECT * FROM {{ ref('isotonic') }} UNION ALL SELECT * FROM {{ ref('certain') }}"
        tables = (*FEATURES, *METHODS, "certain", "known", "of_no_rows", "of_nothing_known")
        config = {name: {"materialized": "table"} for name in tables}
        found = Project(tmp_path_factory.mktemp("calibrations"), models, meta, config, address=address, version=version)
        found.run(ROWS)
        found.dbt("build")
        yield found


@pytest.mark.nightly
def test_calibrations_and_comparisons_are_those_of_python(project):
    with project.connect() as con:
        rows = "SELECT *, w1 * 2 + w2 AS twice FROM rows"
        counted, held_out = (f"{rows} WHERE id {side} 50" for side in ("<", ">="))
        first = nbsql.fit(con, counted, target="y", features=FEATURES["v1"])
        second = nbsql.fit(con, counted, target="y", features=FEATURES["v2"])
        statuses, messages = project.statuses(), project.messages()

        def same(name, query):
            assert statuses[name] == "success", messages[name]
            columns, rows = read(con, f"SELECT * FROM {name}")
            assert columns == query.columns, name
            equal(rows, query.fetchall(), name)

        same("plain", first.compare(second, held_out, weight="weight"))
        for method in METHODS:
            same(method, first.calibrate(held_out, method=method, weight="weight", folds=None).parameters)
            same(f"by_{method}", first.predict_proba("rows"))
            if method == "platt":
                same("predictions", first.predict("rows", columns=["id"]))
        kept = first.calibrate(held_out, method="certain", weight="weight", folds=None, confidence=0.5).parameters
        columns, rows = read(con, "SELECT * FROM certain")
        equal(rows, [row for row in kept if row[0] == "certain"], "certain")
        assert columns == kept.columns
        same("decided", first.predict("rows", certain=0.5, calibrated=False))
        same("decided_by_class", first.predict("rows", certain=0.5, by_class=True, columns=["id"], calibrated=False))
        same("decided_by_both", first.predict("rows", certain=0.5, columns=["id"]))
        decided = first.predict("rows", certain=0.5, columns=["id"]).fetchall()
        assert {row[1] is None for row in decided} == {True, False}
        assert {row[3] for row in decided if row[0] % 30 == 0} == {"nothing known tells the classes apart"}
        words = {"category": nbsql.Text(min_known=1)}
        third = nbsql.fit(con, counted, target="y", features=FEATURES["words"], families=words)
        third.calibrate(held_out, method="certain", weight="weight", folds=None, confidence=0.5)
        same("decided_by_words", third.predict("rows", certain=0.1, columns=["id"]))
        assert {row[-1] for row in third.predict("rows", certain=0.1) if row[0] % 30 == 0} == {"too few known words"}
        same("metrics", first.evaluate(held_out).metrics)
        same("calibrated", first.compare(second, held_out, weight="weight"))


def test_what_cannot_be_calibrated_or_compared_is_refused(project):
    messages = project.messages()
    for name, (_, message) in REFUSED.items():
        assert message in messages[name], name
    done = project.dbt("run", "--select", "of_no_rows", "of_nothing_known")
    said = " ".join((done.stdout + done.stderr).split())
    assert "no row of rows has a class that 'v1' knows and can explain; nothing to calibrate on" in said
    assert "'v1' knows nothing of the rows of rows; nothing to calibrate on" in said
