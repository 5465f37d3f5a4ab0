"""The queue of the rows to label next: against numpy on a real table, by hand, and a loop of questions and answers."""

import math
import re

import numpy as np
import pytest

import nbsql

ADULT = "SELECT * EXCLUDE split FROM read_csv('{}/adult.csv.gz') WHERE split = '{}'"
DAYS = """(VALUES (5, 'sun', 'calm'), (3, 'sun', 'calm'), (1, 'hail', 'calm'), (2, 'hail', NULL), (4, 'rain', 'gale'),
    (6, NULL, 'calm')) AS t(id, sky, wind)"""

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def weather(con):
    days = """SELECT * FROM (VALUES ('sun', 'calm', 'no'), ('sun', 'calm', 'no'), ('rain', 'storm', 'yes'),
        ('sun', 'storm', 'yes'), ('rain', 'calm', 'yes')) AS t(sky, wind, play)"""
    return nbsql.fit(con, days, target="play", name="weather")


@pytest.mark.nightly
def test_the_queue_of_a_real_table(con, data):
    """Census incomes: a model of few rows asks for others."""
    con.execute(f"CREATE TABLE pool AS SELECT row_number() OVER () AS id, * FROM ({ADULT.format(data, 'test')}) LIMIT 3000")
    model = nbsql.fit(con, f"{ADULT.format(data, 'train')} LIMIT 300", target="income", exclude=["fnlwgt"])
    features = [*model.families]
    scored = model.predict_proba("pool").df().merge(model.log_evidence("pool", columns=["id"]).df(), on="id")
    patterns = scored.groupby(features, dropna=False)["id"].agg(["min", "count"])
    first = scored.set_index("id").loc[patterns["min"]].reset_index()
    stands_for = dict(zip(patterns["min"], patterns["count"], strict=True))
    p = first[["probability_<=50K", "probability_>50K"]].to_numpy()
    costs = np.minimum(p[:, 1] * 1, p[:, 0] * 4)  # of predicting the one and the other
    measures = {
        "margin": (np.abs(p[:, 0] - p[:, 1]), 1),
        "evidence": (first["log_evidence"].to_numpy(), 1),
        "expected cost": (costs, -1),
    }
    for by, (measure, sign) in measures.items():
        options = {"costs": {("<=50K", ">50K"): 4}} if by == "expected cost" else {}
        query = model.review("pool", 40, by=by, columns=["id"], **options)
        assert query.columns == ["id", "prediction", "probability", query.columns[3], "stands_for", "reason"]
        found = query.fetchall()
        expected = dict(zip(first["id"], measure, strict=True))
        assert [row[3] for row in found] == pytest.approx(sorted(measure, key=lambda x: sign * x)[:40], rel=1e-9, abs=1e-9)
        assert [row[3] for row in found] == pytest.approx([expected[row[0]] for row in found], rel=1e-9, abs=1e-9)
        assert [row[4] for row in found] == [stands_for[row[0]] for row in found]
        assert len({row[0] for row in found}) == 40
        assert query.limit(5).fetchall() == found[:5]
    met = con.execute(f"SELECT DISTINCT native_country FROM ({ADULT.format(data, 'train')} LIMIT 300)").fetchall()
    new = set(scored["native_country"].dropna()) - {country for (country,) in met}
    found = model.review("pool", 3000, by="novelty", columns=["id", "native_country"]).fetchall()
    countries = {row[1] for row in found if f"native_country = {row[1]}" in row[-1]}
    assert countries == new
    assert len({row[-1] for row in found}) == len(found)  # one pattern a set of what is new
    assert [row[4] for row in found] == sorted((row[4] for row in found), reverse=True)


def test_what_a_person_is_told(con, weather):
    asked = weather.review(f"SELECT * FROM {DAYS}", columns=["id", "sky", "wind"]).fetchall()
    likely = {row[0]: row[1:] for row in weather.predict_proba(f"SELECT * FROM {DAYS}", columns=["id"])}
    for identifier, *_, prediction, probability, margin, stands_for, reason in asked:
        said, _, no, yes = likely[identifier]
        assert (prediction, probability, margin) == pytest.approx((said, max(no, yes), abs(no - yes)))
        assert stands_for == (2 if identifier == 3 else 1)
        first, second = sorted((("no", no), ("yes", yes)), key=lambda item: -item[1])
        percents = [f"{label} {math.floor(100 * p + 0.5)} %" for label, p in (first, second)]
        assert reason == ", ".join(percents)
    assert sorted(row[0] for row in asked) == [1, 2, 3, 4, 6]  # of the two sunny days the one that sorts first
    rows = weather.review(f"SELECT * FROM {DAYS}", by="novelty").fetchall()
    assert [(row[0], *row[5:]) for row in rows] == [
        (1, 1, 2, "never seen: sky = hail"),  # with and without a wind: one pattern
        (4, 1, 1, "never seen: wind = gale"),
    ]
    reasons = {row[0]: row[-1] for row in weather.review(f"SELECT * FROM {DAYS}", by="evidence")}
    patterns = weather.explain(f"SELECT DISTINCT ON (sky, wind) * FROM {DAYS}").df().dropna(subset="value")
    best = patterns.groupby(["row_id", "feature", "value"])["contribution"].max()
    beside = (
        (best - best.groupby("feature").mean()).groupby(["feature", "value"]).first()
    )  # all five patterns are the usual ones
    ranked = sorted((("sky", "sun"), ("wind", "calm")), key=lambda pair: (round(beside[pair], 9), pair))
    assert reasons[3] == "least likely: " + "; ".join(f"{feature} = {value}" for feature, value in ranked)
    dear = weather.review(f"SELECT * FROM {DAYS}", 1, by="expected cost", costs={("no", "yes"): 100}).fetchall()
    assert dear[0][-1].startswith("cheapest is no; ")
    text = nbsql.fit(
        con, "SELECT 'a b' AS m, 1 AS y UNION ALL SELECT 'c', 0", target="y", families={"m": nbsql.Text(min_length=1)}
    )
    (row,) = text.review("SELECT 'z a y y x w v' AS m UNION ALL SELECT 'a'", by="novelty").fetchall()
    assert row[3:] == (5, 1, "never seen: m = v; m = w; m = x and 2 more")


def test_no_posterior_is_rounded_to_none_or_all(con):
    likelihoods = {"a": {"x": {"u": 0.9, "v": 0.1}}, "b": {"x": {"u": 0.001, "v": 0.0}}}
    given = nbsql.from_tables(con, priors={"a": 0.9, "b": 0.1}, likelihoods=likelihoods)
    reasons = [row[-1] for row in given.review("SELECT unnest(['u', 'v']) AS x")]
    assert reasons == ["a > 99 %, b < 1 %", "a 100 %, b 0 %"]


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_calibrated_posteriors_rank_the_queue(con, method):
    con.execute("CREATE TABLE t AS SELECT i AS id, i * 7 % 10 // 4 y, 'v' || i * 3 % 4 AS v, i % 9 AS x FROM range(90) AS t(i)")
    model = nbsql.fit(con, "t", target="y", id="id")
    model.calibrate("t", method=method, folds=None)
    top = {row[0]: sorted(row[3:], reverse=True) for row in model.predict_proba("t", calibrated=True, columns=["id"])}
    for by, measure in {"margin": lambda p: p[0] - p[1], "expected cost": lambda p: 1 - p[0]}.items():
        found = {row[0]: row[3] for row in model.review("t", 90, by=by, calibrated=True, columns=["id"])}
        assert found == pytest.approx({row: measure(top[row]) for row in found}, rel=1e-9, abs=1e-9)


def test_rows_of_two_segments_are_two_patterns(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i * 3 % 4 AS v, i % 3 = 0 AS g FROM range(48) AS r(i)")
    model = nbsql.fit(con, "t", target="y", features=["v"], segment_by="g")
    found = model.review("t", columns=["v", "g"]).fetchall()
    assert {row[:2] for row in found} == {(f"v{k}", g) for k in range(4) for g in (False, True)}
    assert sum(row[5] for row in found) == 48


def test_the_answers_are_learnt_and_asked_no_more(con, weather):
    con.execute(f"CREATE TABLE days AS SELECT *, CAST(NULL AS VARCHAR) AS play FROM {DAYS}")
    queue = weather.review("SELECT * FROM days WHERE play IS NULL", by="novelty")
    asked = queue.fetchall()
    con.executemany("UPDATE days SET play = 'yes' WHERE id = ?", [[row[0]] for row in asked])
    weather.update("SELECT sky, wind, play FROM days WHERE play IS NOT NULL")
    assert queue.fetchall() == []  # hail and gale are known, of the row with hail that nobody was asked for, too


def test_what_cannot_be_reviewed_is_said(con, weather):
    numbers = nbsql.fit(con, "SELECT i % 2 AS y, i AS x FROM range(9) AS t(i)", target="y", name="numbers")
    one = nbsql.fit(con, "SELECT 'a' AS y, 'b' AS x", target="y", name="one")
    source = f"SELECT * FROM {DAYS}"
    lines = [
        (
            nbsql.InputError,
            "by must be one of 'margin', 'evidence', 'novelty', 'expected cost', not 'margins'; did you mean 'margin'?",
            weather, source, {"by": "margins"},
        ),
        (nbsql.InputError, "n must be a whole number of at least 1, not 0", weather, source, {"n": 0}),
        (nbsql.InputError, "costs go with by='expected cost', not with by='margin'", weather, source, {"costs": {}}),
        (
            nbsql.InputError,
            "calibrated is about posteriors, which by='novelty' does not ask; leave it out",
            weather, source, {"by": "novelty", "calibrated": True},
        ),
        (
            nbsql.InputError,
            "the query has a column 'reason' already, which review with margin adds; choose what comes back by columns=[...]",
            weather, f"SELECT *, 1 AS reason FROM {DAYS}", {},
        ),
        (
            nbsql.ModelError,
            "model 'numbers' has numbers alone, which are never new; review by='evidence'",
            numbers, "SELECT 1 AS x", {"by": "novelty"},
        ),
        (
            nbsql.ModelError,
            "model 'one' has one class only, and is never in doubt; review by='evidence'",
            one, "SELECT 'b' AS x", {},
        ),
    ]  # fmt: skip
    for error, message, model, rows, options in lines:
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            model.review(rows, **options)
