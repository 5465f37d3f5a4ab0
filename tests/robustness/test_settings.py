"""Answers do not depend on the settings of a session: what a model is fitted, changed, judged and read under.

Labels, categories, tokens, slices, keys and names of features differ here by their case, by an accent or by an umlaut alone,
most numbers are whole, and classes tie, so that a text compared by a collation, a list in another order or a quotient of
integers shows.
"""

import random
from dataclasses import fields, replace
from functools import cache
from operator import itemgetter
from pathlib import Path

import duckdb
import pytest
from golden.test_golden import OPTIONS as GOLDEN_OPTIONS
from golden.test_golden import statements
from support.inserted import insert

import nbsql
from nbsql.plan import VERBS
from nbsql.rendering.renderer import Renderer

GOLDEN = Path(__file__).parents[1] / "golden" / "duckdb"

ALL = {
    "default_order": "DESC",
    "default_null_order": "NULLS_FIRST",
    "default_collation": "nocase.noaccent",
    "integer_division": "true",
    "preserve_insertion_order": "false",
    "preserve_identifier_case": "false",
    "ieee_floating_point_ops": "false",
    "old_implicit_casting": "true",
    "TimeZone": "Asia/Kathmandu",
}
ALONE = {
    "descending": {"default_order": "DESC"},
    "nulls first": {"default_null_order": "NULLS_FIRST"},
    "nocase": {"default_collation": "nocase"},
    "noaccent": {"default_collation": "noaccent"},
    "German": {"default_collation": "de"},
    "integer division": {"integer_division": "true"},
    "not IEEE": {"ieee_floating_point_ops": "false"},
    "any order of rows": {"preserve_insertion_order": "false"},
    "names in lower case": {"preserve_identifier_case": "false"},
    "old casts": {"old_implicit_casting": "true"},
    "a time zone": {"TimeZone": "Asia/Kathmandu"},
}
# All at once in every run. One at a time, which tells what a failure hangs on, by `pytest -m nightly tests/robustness`: when
# all fail, when DuckDB has a new setting, or when the SQL of a room is written anew.
SETTINGS = [
    pytest.param(ALL, id="all"),
    *(pytest.param(settings, id=name, marks=pytest.mark.nightly) for name, settings in ALONE.items()),
]

LABELS = ("No", "no", "nö", "Yes", "yes")
COLOURS = ("Red", "red", "RED", "réd", "blau", "Blau", None)
WORDS = ("Free", "free", "prize", "Prize", "café", "cafe", "CAFE", "lunch", "the")
SHOPS = (("Ä", "cheap", 3), ("A", "dear", 5), ("a", "Cheap", 9), ("ä", None, 1))


def rows(n=120):
    """Rows of `people`, the same ones every time."""
    rng = random.Random(21)  # noqa: S311
    found = []
    for i in range(n):
        y = i % len(LABELS)
        near = (y + rng.choice((0, 0, 0, 1, 2))) % len(LABELS)
        words = [WORDS[(near + rng.randrange(3)) % len(WORDS)] for _ in range(rng.randrange(6))]
        found.append((
            i,
            LABELS[y],
            COLOURS[(near + rng.randrange(2)) % len(COLOURS)],
            ("a", "A", "á")[near % 3] if rng.random() < 0.9 else None,
            near % 2 == 0 if rng.random() < 0.9 else None,
            20 + 7 * near + rng.randrange(10),
            near + rng.randrange(4),
            (near % 3) + rng.randrange(3),
            rng.randrange(3),
            round(near * 1.5 + rng.random(), 3) if rng.random() < 0.9 else None,
            round(rng.random() * 3 - near, 3),
            " ".join(words),
            words,
            1 + i % 3,
            ("jan", "Jan", "feb")[i // 40],
            ("Süd", "sud", "Sud", "nord")[i % 4],
            SHOPS[(near + i) % 4][0],
        ))  # fmt: skip
    return found


COLUMNS = """id INTEGER, label VARCHAR, colour VARCHAR, "é" VARCHAR, member BOOLEAN, age INTEGER, visits INTEGER, plain INTEGER,
    html INTEGER, length DOUBLE, e DOUBLE, body VARCHAR, tags VARCHAR[], weight INTEGER, month VARCHAR, region VARCHAR,
    shop VARCHAR"""
TABLES = ("people", "more", "held_out")


def fill(con):
    """Three tables of people, and one of shops."""
    found = rows()
    for table, part in zip(TABLES, (found[:80], found[80:], found[40:100]), strict=True):
        con.execute(f"CREATE TABLE {table} ({COLUMNS})")
        insert(con, table, part)
    con.execute("CREATE TABLE shops (shop VARCHAR, price VARCHAR, size INTEGER)")
    insert(con, "shops", SHOPS)


@pytest.fixture
def instance():
    """One for each test, with settings of its own."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def put(con, settings):
    for name, value in settings.items():
        con.execute(f"SET {name} = '{value}'")


def keyed(found):
    """Rows by what is no float in them, which tells each from the others: the floats."""
    known = {}
    for row in found:
        key = tuple(repr(value) for value in row if not isinstance(value, float))
        assert key not in known, f"two rows are {key}"
        known[key] = [value for value in row if isinstance(value, float)]
    return known


def scored(model, source):
    """What a model says of the rows of a table."""
    yield "classes", model.classes
    yield "predict_proba", keyed(model.predict_proba(source).fetchall())
    yield "joint_log_likelihood", keyed(model.joint_log_likelihood(source).fetchall())


def numbers(evaluation):
    for each in fields(evaluation):
        value = getattr(evaluation, each.name)
        if isinstance(value, (int, float)):
            yield each.name, value
    for each in evaluation.classes:
        yield (
            f"class {each.label}",
            [getattr(each, name) for name in ("support", "precision", "recall", "roc_auc", "average_precision")],
        )
    for name in ("metrics", "confusion"):
        yield name, keyed(getattr(evaluation, name).fetchall())
    for name in ("calibration", "lift", "roc", "precision_recall", "thresholds"):
        yield name, getattr(evaluation, name).fetchall()


MIXED = {
    "target": "label",
    "id": "id",
    "weight": "weight",
    "exclude": ["month", "region", "shop"],
    "slice_by": "month",
    "families": {
        "colour": nbsql.Categorical(levels=["Green", "green"], nulls="category", unseen="smooth"),
        "visits": "poisson",
        "age": nbsql.Binned(bins=4, by="quantile"),
        "body": nbsql.Text(stop_words=["the"], ngrams=2, lower=False),
        "parts": nbsql.Multinomial(["plain", "html"]),
    },
}


def learning(con, folder):
    """A mixed model, read, changed, taken back, cut into slices, and taken to another place."""
    model = nbsql.fit(con, "people", name="mixed", **MIXED)
    yield from scored(model, "held_out")
    for name in ("statistics", "priors", "likelihoods"):
        yield name, keyed(getattr(model, name).fetchall())
    yield "explain", keyed(model.explain("held_out").fetchall())
    yield "in SQL", keyed(con.execute("SELECT * FROM mixed.predict('held_out')").fetchall())
    yield "explain in SQL", keyed(con.execute("FROM mixed.explain('held_out')").fetchall())
    yield "evidence", keyed(con.execute("SELECT id, log_evidence FROM mixed.log_evidence('held_out')").fetchall())
    yield "top 3", keyed(model.predict("held_out", top_k=3).fetchall())
    yield "relevance", keyed(model.relevance().fetchall())
    yield "values", keyed(model.relevance(values=True).fetchall())
    yield "slices", model.slice_names
    yield "drift", keyed(model.drift("jan", ["Jan"]).fetchall())
    yield from scored(model.slices(["jan"]), "held_out")
    yield from scored(model.window(last=1, decay=0.5), "held_out")
    model.update("more", batch="more")
    model.update("held_out", batch="More")
    yield from scored(model, "held_out")
    yield "as it was", dict(scored(model.as_of("more"), "held_out"))
    model.forget(batch="More")
    model.forget("more")
    yield "forgotten", dict(scored(model, "held_out"))
    model.rollback("more")
    model.compact()
    yield "compacted", dict(scored(model, "held_out"))
    yield "statistics after", keyed(model.statistics.fetchall())
    model.export(folder / "model")
    yield "imported", dict(scored(nbsql.import_(con, folder / "model", name="again"), "held_out"))
    merged = nbsql.merge(con, ["mixed", "again"], name="merged")
    yield "merged", dict(scored(merged, "held_out"))
    row = {"colour": "red", "é": "A", "member": True, "age": 30, "visits": 2, "plain": 1, "html": 0, "length": 2.0, "e": 1.0}
    answer = model.predict_one({**row, "body": "café free", "tags": ["free", "Free"]})
    yield "one row", sorted(answer["probabilities"].items(), key=itemgetter(0))


def judging(con, folder):
    """Evaluation, costs, folds, leave-one-out, sweeps and calibration."""
    options = {
        "target": "label",
        "exclude": ["id", "month", "region", "shop", "weight"],
        "families": {"age": "poisson", "body": "text"},
    }
    model = nbsql.fit(con, "people", name="judged", **options)
    for name, value in numbers(model.evaluate("held_out")):
        yield f"evaluation: {name}", value
    costs = {a: {b: abs(i - j) for j, b in enumerate(LABELS)} for i, a in enumerate(LABELS)}
    yield "cost", model.evaluate("held_out", costs=costs).cost
    yield "at least cost", keyed(model.predict("held_out", costs=costs).fetchall())
    yield "text", keyed(con.execute(model.evaluate_sql("held_out")).fetchall())
    for folds in (3, "loo"):
        found = nbsql.cross_validate(con, "people", folds=folds, **options)
        for name, value in numbers(found.evaluation):
            yield f"{folds} folds: {name}", value
    given = nbsql.cross_validate(con, "people", fold="month", **{**options, "exclude": ["id", "region", "shop"]})
    yield "given folds", given.folds.fetchall() if hasattr(given.folds, "fetchall") else given.folds
    swept = nbsql.sweep(con, "people", folds=3, alpha=[0.1, 1, 10], prior=["empirical", "uniform"], **options)
    yield "ranking", swept.ranking.fetchall()
    for method in ("temperature", "platt", "isotonic"):
        yield method, repr_numbers(model.calibrate("people", method=method, folds=3))
        yield f"calibrated by {method}", keyed(con.execute("FROM judged.predict_proba('held_out')").fetchall())
    best = nbsql.fit(con, "people", features=nbsql.Best(3), **{k: v for k, v in options.items() if k == "target"})
    yield "best", sorted(best.families)


def repr_numbers(calibration):
    return [
        getattr(calibration, each.name)
        for each in fields(calibration)
        if isinstance(getattr(calibration, each.name), (int, float, str))
    ]


OTHERS = {
    "joint": {"features": ["colour", "é", "member"], "method": nbsql.JointBayes(backoff="naive")},
    "semi-naive": {"features": ["colour", "é", "member", "age"], "families": {"k": nbsql.Joint(["colour", "é"])}},
    "lda": {"features": ["age", "visits", "length", "e", "colour"], "method": nbsql.LDA(shrinkage=0.1)},
    "qda": {"features": ["age", "visits", "e"], "method": nbsql.QDA(shrinkage="ledoit-wolf")},
    "logistic": {"features": ["age", "visits", "colour", "é", "member", "e"], "method": "logistic"},
    "components": {"features": ["age", "visits", "e", "colour"], "method": nbsql.Mixture(2)},
    "segments": {"features": ["age", "colour", "é"], "segment_by": "region"},
    "tags": {"features": ["tags", "body"], "families": {"body": nbsql.Text(event="bernoulli"), "tags": nbsql.Tokens()}},
    "complement": {"features": ["body"], "families": {"body": nbsql.Text(event="complement", tfidf=True, min_length=1)}},
    "binned": {"features": ["age", "e", "length"], "families": {"age": nbsql.Binned(by="mdl"), "e": "kernel"}},
    "rates": {
        "features": ["age", "visits", "plain"],
        "families": {"age": "lognormal", "visits": "geometric", "plain": "exponential"},
    },
    "prior": {"features": ["age", "e"], "prior": dict(zip(LABELS, (0.1, 0.2, 0.3, 0.2, 0.2), strict=True))},
    "accents": {"features": ["é", "e"], "nulls": "category"},
    "joined": {"features": ["shop", "price", "size", "age"], "joins": nbsql.Join("shops", on="shop")},
}


def others(con, folder):
    """Every method, and the families that are not in the mixed model."""
    for name, options in OTHERS.items():
        model = nbsql.fit(con, "people", target="label", name=name, **options)
        for what, value in scored(model, "held_out"):
            yield f"{name}: {what}", value
        yield f"{name}: priors", keyed(model.priors.fetchall())
        yield f"{name}: likelihoods", keyed(model.likelihoods.fetchall())
        if name in ("lda", "logistic"):
            yield f"{name}: linear", keyed(model.linear().fetchall())
        if name == "components":
            yield f"{name}: components", keyed(model.components.fetchall())
        elif name == "segments":
            yield f"{name}: segments", keyed(model.segments.fetchall())
        else:
            yield f"{name}: explain", model.explain("held_out").fetchall()
        if name == "semi-naive":
            yield f"{name}: sample", model.sample(20, seed=3).fetchall()
        if name == "lda":
            yield f"{name}: relevance", keyed(model.relevance().fetchall())
    priors = {"No": 0.3, "no": 0.7}
    likelihoods = {"No": {"wind": {"weak": 0.2, "Weak": 0.8}}, "no": {"wind": {"weak": 0.9, "Weak": 0.1}}}
    given = nbsql.from_tables(con, name="given", priors=priors, likelihoods=likelihoods)
    yield "given", keyed(given.joint_log_likelihood("SELECT unnest(['weak', 'Weak', 'WEAK']) AS wind").fetchall())


CASES = {"learning": learning, "judging": judging, "others": others}


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The answers under the settings that DuckDB begins with."""

    @cache
    def answers(case):
        with duckdb.connect() as con:
            fill(con)
            return list(CASES[case](con, tmp_path_factory.mktemp("usual")))

    return answers


def same(found, expected):
    """Whether two answers are the same, floats to a relative 1e-9."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True))
    return bool(found == expected)


@pytest.fixture
def people(con):
    fill(con)
    return con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("case", ["learning", *(pytest.param(case, marks=pytest.mark.slow) for case in ("judging", "others"))])
@pytest.mark.parametrize("settings", SETTINGS)
def test_answers_do_not_depend_on_a_setting(settings, case, usual, con, tmp_path):
    expected = usual(case)
    put(con, settings)
    fill(con)
    different = []
    for (name, value), (expected_name, expected_value) in zip(CASES[case](con, tmp_path), expected, strict=True):
        assert name == expected_name
        if not same(value, expected_value):
            different.append(name)
    assert not different


def read(con, updated):
    """What the macros of a model say to a session, and a model after an update in it."""
    for macro in ("predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain"):
        yield keyed(con.execute(f"FROM mixed.{macro}('held_out')").fetchall())
    yield keyed(con.execute("FROM mixed.likelihoods").fetchall())
    yield keyed(con.execute("FROM mixed.likelihood_ratios('No', 'no')").fetchall())
    yield keyed(con.execute("FROM mixed.evaluate('held_out')").fetchall())
    yield con.execute("FROM mixed.features").fetchall()
    updated.update("more")
    yield keyed(updated.predict_proba("held_out").fetchall())


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_model_answers_a_session_of_other_settings(settings, people):
    expected = list(read(people, nbsql.fit(people, "people", name="mixed", **MIXED)))
    model = nbsql.fit(people, "people", name="mixed", replace=True, **MIXED)
    put(people, settings)
    assert same(list(read(people, model)), expected)
    model = nbsql.fit(people, "people", name="mixed", replace=True, **MIXED)
    for name in settings:
        people.execute(f"RESET {name}")
    assert same(list(read(people, model)), expected)


MAILS = """CREATE TABLE inbox AS SELECT
    i AS id,
    CASE WHEN i % 2 = 0 THEN 'ham' ELSE 'spam' END AS label,
    ['Freund', 'freund', 'Colléague', 'Colleague', NULL][i % 5 + 1] AS sender,
    i % 3 = 0 AS replied,
    CAST(10 * i % 7 AS DOUBLE) + 100.5 AS length,
    i % 4 AS links,
    ['cafe', 'Café', 'free lunch', 'of the prize', 'the Émile'][i % 5 + 1] || ['', ' émile'][i % 2 + 1] AS body,
    i % 3 AS plain,
    i % 2 AS html,
    1 + i % 2 AS trust
FROM range(40) AS t(i)"""
READ = (
    *(f"{verb}('inbox')" for verb in VERBS), "evaluate('inbox')", "likelihood_ratios('ham', 'spam')",
    "priors", "likelihoods", "statistics", "features", "parameters", "lookups",
)  # fmt: skip


def said(con):
    """The rows of every golden statement, and of every macro and view of the model that those of the golden fit make."""
    con.execute(MAILS)
    for sql in statements(con).values():
        con.execute(sql)
    found = {file.stem: con.execute(file.read_text(encoding="utf-8")).fetchall() for file in sorted(GOLDEN.glob("score_*.sql"))}
    found |= {relation: con.execute(f"FROM spam.{relation}").fetchall() for relation in READ}
    found = {name: rows if name == "parameters" else keyed(rows) for name, rows in found.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Renderer, "layout", replace(Renderer.layout, wide_classes=0))
        nbsql.fit(con, "inbox", name="spam", replace=True, **GOLDEN_OPTIONS)
    long = (GOLDEN / "long_score_predict.sql").read_text(encoding="utf-8")
    found["long form"] = keyed(con.execute(long).fetchall())
    return found


@cache
def usually():
    with duckdb.connect() as con:
        return said(con)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("settings", SETTINGS)
def test_golden_statements_say_the_same(settings, con):
    put(con, settings)
    found = said(con)
    assert found.keys() == usually().keys()
    assert [name for name, value in found.items() if not same(value, usually()[name])] == []


@pytest.mark.forms("collation")
@pytest.mark.slow
@pytest.mark.parametrize("collation", ["nocase", "noaccent", "de"])
def test_texts_of_a_column_with_a_collation_are_compared_by_their_bytes(people, collation):
    """What is looked up by a label, category or key may have a collation of its own; and what the user compares keeps it."""
    options = {**MIXED, "exclude": ["month", "region"], "joins": nbsql.Join("shops", on="shop")}
    expected = list(read(people, nbsql.fit(people, "people", name="mixed", **options)))
    for table, columns in (
        ("shops", ["shop", "price"]),
        *((table, ["label", "colour", '"é"', "body", "month", "shop"]) for table in TABLES),
    ):
        for column in columns:
            people.execute(f"ALTER TABLE {table} ALTER {column} TYPE VARCHAR COLLATE {collation}")
    assert same(list(read(people, nbsql.fit(people, "people", name="mixed", replace=True, **options))), expected)
    right = "SELECT count(*) FROM mixed.predict('people') WHERE prediction = label"
    assert people.execute(right).fetchone()[0] > 0


@pytest.mark.slow
def test_times_with_a_zone_are_those_of_utc_in_every_session():
    moments = "TIMESTAMPTZ '2026-01-01 22:00:00.5+00' + i % 2 * INTERVAL 1 DAY AS moment, CAST(i % 3 AS VARCHAR) AS k"
    found = []
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS SELECT i AS id, i % 2 = 0 AS y, {moments} FROM range(40) AS r(i)")
        for zone in ("UTC", "Asia/Kathmandu", "America/St_Johns"):
            con.execute(f"SET TimeZone = '{zone}'")
            for name, method in (("m", "naive"), ("pairs", "tan")):
                if zone == "UTC":
                    nbsql.fit(con, "t", target="y", id="id", name=name, families={"moment": "categorical"}, method=method)
                model = nbsql.load(con, name)
                rows = model.predict_proba("t", columns=["id"]).fetchall()
                told = con.execute(f"SELECT id, prediction, probability FROM {name}.predict('t') ORDER BY id").fetchall()
                moment = con.execute("SELECT moment FROM t WHERE id = 1").fetchall()[0][0]
                one = model.predict_one({"moment": moment, "k": "1"})["prediction"]
                found.append((model.evaluate("t").accuracy, sorted(rows), told, one))
            again = nbsql.fit(con, "t", target="y", families={"moment": "categorical"})
            values = {row[2] for row in again.likelihoods.fetchall() if row[1] == "moment"}
            assert values == {"2026-01-01 22:00:00.5+00", "2026-01-02 22:00:00.5+00"}
    assert found[0][0] == found[1][0] == 1
    assert found == found[:2] * 3
