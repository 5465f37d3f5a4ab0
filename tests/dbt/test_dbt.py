"""The package in a dbt project: every table is that of the Python API on the same engine."""

import json

import pytest
from support.dbt_projects import OF_ROWS, Project, equal, needs_dbt, read, server

import nbsql
from nbsql.family import FAMILIES

pytestmark = needs_dbt

# Both engines read it; PostgreSQL has no maps.
ROWS = """
  CREATE TABLE rows AS SELECT
    i AS id, (ARRAY['a', 'b', 'c'])[1 + i % 7 % 3] AS y, 'v' || (i * 5 % 4) AS category,
    CASE WHEN i % 6 > 0 THEN i % 4 = 0 END AS flag,
    CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / CAST(4 AS DOUBLE PRECISION) + i % 7 % 3 END AS x, i * 11 % 5 AS events,
      0.5 + i * 13 % 7 AS wait, CASE WHEN i % 7 < 3 THEN i * 13 % 5 + 0.5 ELSE 0 END AS rain,
      (i * 7 % 11 + 1) / CAST(13 AS DOUBLE PRECISION) AS share,
    CASE WHEN i % 8 > 0 THEN 'The cat ' || (i % 5) || E' sat\nhere' || CASE WHEN i % 3 = 0 THEN ' Mat''s' ELSE '' END END
      AS note,
    CASE WHEN i % 10 > 0 THEN ARRAY['u' || (i % 4), 'v', 'v'] END AS bag{counts},
    i % 3 AS w1, i * 7 % 5 AS w2, 0.5 + i % 4 AS weight, i % 3 AS grade, DATE '2026-01-01' + CAST(i % 4 AS INTEGER) AS day
  FROM generate_series(0, 89) AS t(i)
"""
COUNTS = {"duckdb": ", MAP(['k', 'l'], [i % 3, 2]) AS counts", "postgres": ""}
LEFT_OUT = ["id", "weight", "grade", "day"]

# The options in YAML.
CASES = {
    "inferred": {},
    "named": {
        "id": "id",
        "exclude": ["grade", "day"],
        "weight": "weight",
        "families": {
            "events": "poisson",
            "wait": "lognormal",
            "note": {"family": "text", "stop_words": "english", "ngrams": 2, "min_length": 2},
            "words": {"family": "multinomial", "columns": ["w1", "w2"], "alpha": {"w1": 0.5}},
        },
    },
    "smoothed": {
        "alpha": 0.25,
        "nulls": "category",
        "unseen": "smooth",
        "prior": "smoothed",
        "prior_alpha": 2,
        "families": {
            "note": {"family": "text", "characters": [2, 4], "within_words": True, "accents": False},
            "category": {"family": "categorical", "min_count": 60},
            "events": {"family": "poisson", "a": 2, "b": 1},
            "wait": "exponential",
            "share": "beta",
            "x": {"family": "binned", "by": [-1.5e-5, 8.533045e-05, 1, 2.5, 1e6]},
        },
    },
    "given": {
        "prior": {"a": 0.2, "b": 0.3, "c": 0.5},
        "families": {
            "note": {"family": "text", "event": "bernoulli", "min_count": 3, "pattern": "[a-z]+"},
            "bag": {"family": "tokens", "tfidf": True},
            "counts": {"family": "token_counts", "event": "complement", "weight_norm": True},
            "x": {"family": "gaussian", "shared_variance": True, "variance": "sample"},
            "events": "geometric",
            "category": {"family": "categorical", "alpha": {"v0": 2, "v9": 1}, "other_alpha": 0.5, "levels": ["v8"]},
            "flag": {"family": "bernoulli", "alpha": 2, "beta": 3},
            "rain": {"family": "zero_inflated", "of": "exponential"},
            "words": {"family": "complement", "columns": ["w1", "w2"], "norm": True},
        },
    },
    "modes": {
        "prior": "uniform",
        "features": ["x", "events", "flag", "category", "note", "wait", "share", "rain"],
        "families": {
            "x": {"family": "gaussian", "estimate": "mode", "prior": {"kappa": 0.5, "a": 1.5}},
            "events": {"family": "poisson", "estimate": "mode", "a": 2, "b": 1},
            "flag": {"family": "bernoulli", "estimate": "mode", "alpha": 2, "beta": 3},
            "category": {"family": "categorical", "estimate": "mode", "alpha": 1.5},
            "wait": {"family": "gaussian", "floor": 0.9},
            "share": {"family": "gamma", "floor": 0.01},
            "rain": {"family": "zero_inflated", "alpha": 2},
            "note": {"family": "text", "norm": "l2", "tfidf": True, "min_count": 2},
        },
    },
    "numbered": {"target": "grade", "exclude": ["id", "weight", "day", "y"]},
}

TABLES = ("intervals", "confusion", "roc", "precision_recall", "calibration", "lift", "thresholds")
SLICES = {
    "sliced": "'slices', by=['flag', 'note']", "sliced_intervals": "'slice_intervals', weight='weight', by='flag'",
    "side_by_side": "by='flag', between=['true', none], label='b'",
}  # fmt: skip
REVIEWS = {
    "margin": "n=4", "evidence": "n=4, by='evidence'", "novelty": "by='novelty', where='id < 30'",
    "expected cost": "n=4, by='expected cost', costs={'a': {'b': 7}}",
}  # fmt: skip
DRIFTS = {"drift_of_newest": "", "drift_between": ", a=2, b=[0, 1]", "drift_from_itself": ", against=ref('by_grade')"}
DRIFTS["drift_from_nothing"] = ", slices=3"  # of three, so that none is older
# One verb more a case is a statement that dbt takes its time to render; these say the same as predict_proba and explain.
ONCE = ("predict", "joint_log_likelihood", "log_evidence")
VERBS = {
    "priors": "{{ nbsql.class_priors(ref('NAME')) }}",
    "likelihoods": "{{ nbsql.feature_likelihoods(ref('NAME')) }}",
    "predict": "{{ nbsql.predictions(ref('NAME'), source('raw', 'rows')) }}",
    "predict_proba": "{{ nbsql.probabilities(ref('NAME'), source('raw', 'rows')) }}",
    "joint_log_likelihood": "{{ nbsql.joint_log_likelihoods(ref('NAME'), source('raw', 'rows')) }}",
    "log_evidence": "{{ nbsql.evidence(ref('NAME'), source('raw', 'rows')) }}",
    "explain": "{{ nbsql.explanation(ref('NAME'), source('raw', 'rows')) }}",
    "metrics": "{{ nbsql.evaluation(ref('NAME'), source('raw', 'rows'), weight='weight') }}",
}


def verbs_of(name):
    return [verb for verb in VERBS if verb not in ONCE or name == "named"]


def options_of(name, engine):
    """The options in YAML."""
    return _options(CASES[name], engine)


def _options(given, engine):
    options = {"target": "y", "exclude": LEFT_OUT, **given}
    families = options.get("families", {})
    return {**options, "families": {key: family for key, family in families.items() if key != "counts" or COUNTS[engine]}}


@pytest.fixture(scope="module", params=OF_ROWS)
def project(request, tmp_path_factory):
    """A project with all cases and all verbs, built on an engine."""
    with server(*request.param) as address:
        yield built(tmp_path_factory.mktemp("dbt"), address, request.param[1])


def built(folder, address, version):
    models = dict.fromkeys(CASES, "{{ config(materialized='table') }} {{ nbsql.statistics(source('raw', 'rows')) }}")
    for name in CASES:
        models |= {f"{name}_{verb}": sql.replace("NAME", name) for verb, sql in VERBS.items() if verb in verbs_of(name)}
    for table in TABLES:
        models[f"inferred_{table}"] = f"{{{{ nbsql.evaluation(ref('inferred'), source('raw', 'rows'), '{table}') }}}}"
    for name, arguments in (*SLICES.items(), *REVIEWS.items()):
        macro = "evaluation" if name in SLICES else "review_queue"
        counted = "inferred" if name in SLICES else "few"
        models[name.replace(" ", "_")] = f"{{{{ nbsql.{macro}(ref('{counted}'), source('raw', 'rows'), {arguments}) }}}}"
    models["few"] = "{{ config(materialized='table') }} {{ nbsql.statistics(source('raw', 'rows'), where='id < 8') }}"
    models["two_classes"] = (
        "{{ config(materialized='table') }} {{ nbsql.statistics(source('raw', 'rows'), where=\"y <> 'c'\") }}"
    )
    models["in_order"] = "{{ nbsql.probabilities(ref('two_classes'), source('raw', 'rows'), where='id < 30') }}"
    models["card"] = "{{ config(materialized='table') }} {{ nbsql.statistics(source('raw', 'rows')) }}"
    models["card_lines"] = "{{ nbsql.scorecard(ref('card'), points=500, target='b') }}"
    models["card_rounded"] = "{{ nbsql.scorecard(ref('card'), points=500, target='b', digits=1) }}"
    models["by_grade"] = models["card"]
    models |= {name: f"{{{{ nbsql.feature_drift(ref('by_grade'){arguments}) }}}}" for name, arguments in DRIFTS.items()}
    engine = "duckdb" if address is None else "postgres"
    meta = {name: options_of(name, engine) for name in CASES}
    meta["few"] = {"target": "y", "exclude": LEFT_OUT}
    meta["two_classes"] = {"target": "y", "exclude": LEFT_OUT, "classes": ["c", "b", "a"]}
    bins = {"x": {"family": "binned", "by": [1, 2.5]}}
    meta["card"] = {
        "target": "y",
        "features": ["category", "flag", "x"],
        "nulls": "category",
        "weight": "weight",
        "families": bins,
    }
    meta["by_grade"] = {**meta["card"], "features": ["category", "flag", "x", "wait", "events"], "slice_by": "grade"}
    found = Project(folder, models, meta, address=address, version=version)
    found.run(ROWS.format(counts=COUNTS[engine]))
    found.build()
    return found


@pytest.fixture(scope="module")
def con(project):
    with project.connect() as connection:
        yield connection


def in_python(family):
    """A family in YAML as nbsql.fit takes it."""
    if isinstance(family, str):
        return family
    kind, options = FAMILIES[family["family"]], {key: option for key, option in family.items() if key != "family"}
    if "prior" in options:
        options["prior"] = nbsql.NormalInverseGamma(**options["prior"])
    return kind(**options)


def fitted(con, name, engine):
    options = options_of(name, engine)
    options["families"] = {key: in_python(family) for key, family in options["families"].items()}
    if alpha := options.pop("prior_alpha", None):
        options["prior"] = nbsql.Smoothed(alpha)
    return nbsql.fit(con, "rows", **options)


# A test is a module here, not a case, because every process that runs some of them builds the project.
def test_every_table_is_that_of_python(con, project):
    for name in CASES:
        _compare(con, name, fitted(con, name, project.engine))


def _compare(con, name, model):
    _, cells = read(con, f"SELECT slice, class, feature, value, n, mean, m2 FROM {name}")
    equal(cells, [row[:7] for row in model.statistics], name)
    for verb in verbs_of(name):
        columns, found = read(con, f"SELECT * FROM {name}_{verb}")
        if verb == "metrics":
            query = model.evaluate("rows", weight="weight").metrics
        else:
            query = getattr(model, verb) if verb in ("priors", "likelihoods") else getattr(model, verb)("rows")
        assert columns == query.columns, (name, verb)
        equal(found, query.fetchall(), f"{name} {verb}")


def test_the_tables_of_an_evaluation_are_those_of_python(con, project):
    evaluation = fitted(con, "inferred", project.engine).evaluate("rows")
    for table in TABLES:
        columns, found = read(con, f"SELECT * FROM inferred_{table}")
        query = getattr(evaluation, table)
        assert columns == query.columns
        equal(found, query.fetchall(), table)


def test_slices_and_the_queue_are_those_of_python(con, project):
    model = fitted(con, "inferred", project.engine)
    few = nbsql.fit(con, "SELECT * FROM rows WHERE id < 8", target="y", exclude=LEFT_OUT)
    pair = model.evaluate("rows", by=["flag", "note"]).slices
    flags = model.evaluate("rows", by="flag").slices
    weighed = model.evaluate("rows", by="flag", weight="weight").slices
    assert pair is not None
    queries = {
        "sliced": pair, "sliced_intervals": weighed.intervals, "side_by_side": flags.compare(True, None, label="b"),
        "margin": few.review("rows", 4), "evidence": few.review("rows", 4, by="evidence"),
        "novelty": few.review("SELECT * FROM rows WHERE id < 30", by="novelty"),
        "expected_cost": few.review("rows", 4, by="expected cost", costs={("a", "b"): 7}),
    }  # fmt: skip
    for name, query in queries.items():
        columns, found = read(con, f"SELECT * FROM {name}")
        assert columns == query.columns
        equal(found, query.fetchall(), name)


def test_a_scorecard_is_that_of_python(con):
    options = {"features": ["category", "flag", "x"], "nulls": "category", "weight": "weight"}
    model = nbsql.fit(con, "rows", target="y", families={"x": nbsql.Binned(by=[1, 2.5])}, **options)
    for name, digits in (("card_lines", None), ("card_rounded", 1)):
        columns, found = read(con, f"SELECT * FROM {name}")
        card = model.scorecard(points=500, target="b", digits=digits)
        assert columns == card.lines.columns
        equal(found, card.lines.fetchall(), name)


def test_drift_is_that_of_python(con):
    features = ["category", "flag", "x", "wait", "events"]
    families = {"x": nbsql.Binned(by=[1, 2.5])}
    options = {"features": features, "nulls": "category", "weight": "weight", "families": families}
    model = nbsql.fit(con, "rows", target="y", slice_by="grade", **options)
    pairs = {"drift_of_newest": ([0, 1], 2), "drift_between": (2, [0, 1]), "drift_from_itself": ([0, 1, 2], [0, 1, 2])}
    assert read(con, "SELECT * FROM drift_from_nothing")[1] == []
    assert pairs.keys() == DRIFTS.keys() - {"drift_from_nothing"}
    for name, sides in pairs.items():
        columns, found = read(con, f"SELECT * FROM {name}")
        expected = model.drift(*sides)
        assert columns == expected.columns
        equal(found, expected.fetchall(), name)


def test_given_classes_have_columns_in_their_order_and_one_not_counted_has_none_of_the_probability(con):
    columns, found = read(con, "SELECT * FROM in_order")
    assert columns[-3:] == ["probability_c", "probability_b", "probability_a"]
    model = nbsql.fit(con, "SELECT * FROM rows WHERE y <> 'c'", target="y", exclude=LEFT_OUT)
    expected = model.predict_proba("SELECT * FROM rows WHERE id < 30").fetchall()
    equal(found, [(*row[:-2], 0.0, row[-1], row[-2]) for row in expected])


def test_no_macro_has_the_name_of_one_of_dbt(project):
    """By such a name dbt would call it instead of its own."""
    done = project.dbt("ls", "--quiet", "--resource-type", "model")
    assert done.returncode == 0, done.stdout
    macros = json.loads((project.folder / "target" / "manifest.json").read_text(encoding="utf-8"))["macros"].values()
    packages = {}
    for macro in macros:
        packages.setdefault(macro["package_name"], set()).add(macro["name"])
    assert {name for package, names in packages.items() if package != "nbsql" for name in names} & packages["nbsql"] == set()
    assert "predictions" in packages["nbsql"]
    assert "scored_wide" in packages["nbsql"]
    assert "create_schema" not in packages["nbsql"]
