"""A model watched over time: each number beside one worked out from the rows, with numpy and by hand."""

import math
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest

import nbsql

FEATURES = ["carrier", "origin", "hour", "distance", "dep_delay"]


def psi(a, b):
    """Of the counts of the reference and of a period, with half a count added to each value of both."""
    keys = [key for key in {**a, **b} if a[key] > 0 or b[key] > 0]
    p, q = (np.array([side[key] + 0.5 for key in keys]) / (sum(side.values()) + len(keys) / 2) for side in (a, b))
    return float(((q - p) * np.log(q / p)).sum())


def kl(a, b):
    """Kullback and Leibler's, of the normal distribution with the moments of one sample from that of another."""
    return float((np.log(b.var() / a.var()) + (a.var() + (a.mean() - b.mean()) ** 2) / b.var() - 1) / 2)


def jeffreys(a, b):
    """Of the normal distributions with the moments of two samples."""
    (m, v), (n, w) = ((side.mean(), side.var()) for side in (a, b))
    return float(((v + (m - n) ** 2) / w + (w + (m - n) ** 2) / v) / 2 - 1)


@pytest.fixture(scope="module")
def con():
    """Flights of the first quarter, which the model learns from, and of the rest; some have no delay, carrier or month."""
    con = duckdb.connect()
    path = Path(str(nbsql.__file__)).with_name("data") / "flights.parquet"
    con.execute(f"""
        CREATE TABLE flights AS
        SELECT row_number() OVER () AS row, CASE WHEN row % 97 > 0 THEN month END AS "the month", origin,
            CASE WHEN row % 11 > 0 THEN carrier END AS carrier, CASE WHEN row % 7 > 0 THEN dep_delay END AS dep_delay,
            hour, distance, CASE WHEN month = 12 THEN NULL WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival,
            row % 4 AS weight
        FROM (SELECT *, row_number() OVER () AS row FROM '{path}') WHERE arr_delay IS NOT NULL
    """)
    con.execute('CREATE TABLE past AS FROM flights WHERE "the month" <= 3')
    con.execute('CREATE TABLE later AS FROM flights WHERE "the month" > 3 OR "the month" IS NULL')
    yield con
    con.close()


@pytest.fixture(scope="module")
def model(con):
    families = {"hour": "categorical", "distance": nbsql.Binned(bins=5)}
    return nbsql.fit(con, "past", target="arrival", name="late", features=FEATURES, families=families)


def found(query):
    rows = {tuple(row[:4]): tuple(row[4:]) for row in query.fetchall()}
    assert len(rows) == len(query.fetchall())
    return rows


def columns(con, sql):
    cursor = con.execute(sql)
    return dict(zip([name for name, *_ in cursor.description], zip(*cursor.fetchall(), strict=True), strict=True))


def counts(values, weights):
    total = Counter()
    for value, weight in zip(values, weights, strict=True):
        if value is not None:
            total[value] += weight
    return total


@pytest.mark.slow
def test_each_number_against_the_counts_of_the_model(con, model):
    rows = found(model.monitor("later", by="the month"))
    assert [period for period, *_, metric in rows if metric == "rows"] == [*map(str, range(4, 13)), None]
    past = columns(con, "FROM past")
    edges = [-math.inf, *model.families["distance"].edges, math.inf]
    for period in ("7", None):
        where = '"the month" IS NOT DISTINCT FROM ' + (period or "NULL")
        now = columns(con, f"FROM (FROM later WHERE {where})")
        size, ones, before = len(now["row"]), [1] * len(now["row"]), [1] * len(past["row"])
        for name in ("carrier", "origin", "hour"):
            a, b = counts(past[name], before), counts(now[name], ones)
            value, reference, _, by_chance = rows[period, name, None, "psi"]
            assert value == pytest.approx(psi(a, b), rel=1e-9)
            assert reference is None
            assert by_chance == pytest.approx((len({**a, **b}) - 1) * (1 / sum(a.values()) + 1 / sum(b.values())), rel=1e-9)
            unseen = sum(n for key, n in b.items() if key not in a) / sum(b.values())
            assert rows[period, name, None, "unseen"][:2] == (pytest.approx(unseen, abs=1e-12), 0)
            missing = [sum(value is None for value in side[name]) / len(side[name]) for side in (now, past)]
            assert rows[period, name, None, "nulls"][:2] == (pytest.approx(missing[0]), pytest.approx(missing[1]))
        cut = [counts(np.searchsorted(edges, side["distance"], "right"), n) for side, n in ((past, before), (now, ones))]
        assert rows[period, "distance", None, "psi"][0] == pytest.approx(psi(*cut), rel=1e-9)
        delays = [np.array([x for x in side["dep_delay"] if x is not None], float) for side in (past, now)]
        assert rows[period, "dep_delay", None, "psi"][0] == pytest.approx(jeffreys(*delays), rel=1e-9)
        assert rows[period, "dep_delay", None, "psi"][3] == pytest.approx(2 * sum(1 / len(side) for side in delays), rel=1e-9)
        said = model.predict_proba(f"FROM later WHERE {where}").fetchall()
        names = model.predict_proba("later").columns
        late = np.array([row[names.index("probability_late")] for row in said])
        predicted = Counter(row[names.index("prediction")] for row in said)
        priors = {label: (n, prior) for label, n, prior, *_ in model.priors}
        assert rows[period, None, "late", "posterior"][:2] == (pytest.approx(late.mean(), rel=1e-9), priors["late"][1])
        assert rows[period, None, "late", "predicted"][:2] == (pytest.approx(predicted["late"] / size), None)
        mix = Counter({"late": late.sum(), "punctual": size - late.sum()})
        expected = Counter({label: n for label, (n, _) in priors.items()})
        assert rows[period, None, None, "posterior_psi"][0] == pytest.approx(psi(expected, mix), rel=1e-9)
        labels = counts(now["arrival"], ones)
        assert rows[period, None, None, "label_psi"][0] == pytest.approx(psi(expected, labels), rel=1e-9)
        evidence = [row[-1] for row in model.log_evidence(f"FROM later WHERE {where}").fetchall()]
        assert rows[period, None, None, "log_evidence"][:2] == (pytest.approx(np.mean(evidence), rel=1e-9), None)
        assert rows[period, None, None, "rows"][0] == size
        evaluation = model.evaluate(f"FROM later WHERE {where}")
        for metric in ("accuracy", "log_loss"):
            assert rows[period, None, None, metric][0] == pytest.approx(getattr(evaluation, metric), rel=1e-9)
        assert rows[period, None, None, "psi"] == (None, None, None, None)  # counts do not say how scores are distributed


@pytest.mark.slow
def test_a_period_without_labels(model):
    december = '{} FROM later WHERE "the month" = 12'
    rows = found(model.monitor(december.format("SELECT *"), by="The Month"))
    for metric in ("accuracy", "log_loss", "label_psi", "unknown"):
        assert rows["12", None, None, metric][0] is None
    assert rows["12", None, None, "labelled"][0] == 0
    assert rows["12", "carrier", None, "psi"][0] > 0
    without = model.monitor(december.format("SELECT * EXCLUDE (arrival)"), by='"the month" + 0')
    untyped = model.monitor(december.format("SELECT * REPLACE (NULL::BLOB AS arrival)"), by="the month")
    for other in (without, untyped):
        assert {key: (pytest.approx(row[0], rel=1e-9), *row[2:3]) for key, row in rows.items()} == {
            key: (row[0], *row[2:3]) for key, row in found(other).items()
        }
    assert model.monitor("FROM later WHERE FALSE", by="the month").fetchall() == []


@pytest.mark.few
@pytest.mark.parametrize("by", ["the month", None])
def test_a_summary_has_one_row_per_period_with_the_feature_that_moved_most(model, by):
    every = model.monitor("later", by=by).fetchall()
    summary = model.monitor("later", by=by, summary=True)
    assert summary.columns == ["period", "rows", "labelled", "accuracy", "log_loss", "log_evidence", "feature", "psi", "moved"]
    lines = summary.fetchall()
    assert [line[0] for line in lines] == [*dict.fromkeys(row[0] for row in every)]
    for period, *whole, feature, psi, moved in lines:
        of_period = [row for row in every if row[0] == period]
        values = {row[3]: row[4] for row in of_period if row[1] is None and row[2] is None}
        expected = [values[name] for name in summary.columns[1:6]]
        assert whole == [None if value is None else pytest.approx(value, rel=1e-9) for value in expected]
        moves = [row for row in of_period if row[3] == "psi" and None not in (row[1], row[4])]
        drifts = {row[1]: (row[4], row[6]) for row in moves}
        assert psi == pytest.approx(max(value for value, _ in drifts.values()), rel=1e-9)
        assert (psi, moved) == (pytest.approx(drifts[feature][0], rel=1e-9), drifts[feature][1])


def tenths(values, weights):
    """The edges between bins with a tenth of the weight each, as far as ties allow."""
    order = np.argsort(values, kind="stable")
    values, up_to = np.array(values)[order], np.cumsum(np.array(weights)[order])
    edges = {values[int(np.argmax(up_to * 10 >= up_to[-1] * i))] for i in range(1, 10)}
    return sorted(edge for edge in edges if edge > values[0])


def counts_of_scores(past, other):
    """The weights by prediction and tenth of its probability in the past, of the past and of other rows.

    The edges are probabilities of the past themselves, and are lowered so that no last digit decides.
    """
    edges = np.multiply(tenths(past["probability"], past["weight"]), 1 - 1e-12)
    places = [(side, np.searchsorted(edges, side["probability"], "right")) for side in (past, other)]
    return [counts(zip(side["prediction"], place, strict=True), side["weight"]) for side, place in places]


@pytest.mark.slow
def test_rows_as_the_reference(con, model):
    rows = found(model.monitor("later", reference="past", by="the month", weight="weight"))
    july, past = (
        columns(con, f"FROM late.predict_proba('{name}')")
        for name in ("july", "past")
        if con.execute('CREATE OR REPLACE VIEW july AS FROM later WHERE "the month" = 7')
    )
    for name in ("carrier", "origin"):
        sides = [counts(side[name], side["weight"]) for side in (past, july)]
        assert rows["7", name, None, "psi"][0] == pytest.approx(psi(*sides), rel=1e-9)
    complete = [
        [(x, w) for x, w in zip(side["dep_delay"], side["weight"], strict=True) if x is not None] for side in (past, july)
    ]
    edges = tenths(*zip(*complete[0], strict=True))
    binned = [counts(*(np.searchsorted(edges, [x for x, _ in side], "right"), [w for _, w in side])) for side in complete]
    assert rows["7", "dep_delay", None, "psi"][0] == pytest.approx(psi(*binned), rel=1e-9)
    scores = counts_of_scores(past, july)
    assert rows["7", None, None, "psi"][0] == pytest.approx(psi(*scores), rel=1e-9)
    labels = [counts(side["arrival"], side["weight"]) for side in (past, july)]
    assert rows["7", None, None, "label_psi"][0] == pytest.approx(psi(*labels), rel=1e-9)
    for metric in ("accuracy", "log_loss"):
        of_sides = [getattr(model.evaluate(name, weight="weight"), metric) for name in ("july", "past")]
        assert rows["7", None, None, metric][:2] == (pytest.approx(of_sides[0]), pytest.approx(of_sides[1]))
    itself = found(model.monitor("past", reference="past", by="'p'"))
    assert {value for (*_, metric), (value, *_) in itself.items() if metric == "psi"} == {0}
    for (*_, metric), (value, reference, *_) in itself.items():
        assert metric.endswith("psi") or value == pytest.approx(reference, rel=1e-9)


@pytest.mark.slow
def test_the_score_of_a_model_with_segments_is_that_of_each_segment(con):
    model = nbsql.fit(con, "past", target="arrival", name="by_origin", features=["carrier", "distance"], segment_by="origin")
    rows = found(model.monitor("later", reference="past", weight="weight"))
    past, later = (columns(con, f"FROM by_origin.predict_proba('{name}')") for name in ("past", "later"))
    scores = counts_of_scores(past, later)
    assert rows[None, None, None, "psi"][0] == pytest.approx(psi(*scores), rel=1e-9)


@pytest.mark.slow
def test_columns_together_and_names_that_lie_in_wait():
    con = duckdb.connect()
    con.execute("""
        CREATE TABLE outcomes AS SELECT i % 3 AS "it's; --", CASE WHEN i % 2 = 0 THEN 'r' ELSE 'n' END AS slice, i * 1.0 AS a,
            (i * 7 % 90) * 1.0 AS b, CASE WHEN i = 89 THEN 'never met' WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS "y""y"
        FROM range(90) AS t(i)
    """)
    families = {"both": nbsql.MultivariateGaussian(["a", "b"]), "it's; --": "categorical"}
    learnt = "FROM outcomes WHERE a < 89"
    model = nbsql.fit(con, learnt, target='y"y', exclude=["slice"], families=families)
    rows = found(model.monitor("outcomes", by="slice"))
    assert {period for period, *_ in rows} == {"r", "n"}
    both = columns(con, learnt)
    half = columns(con, "FROM outcomes WHERE slice = 'n'")
    by_column = {name: jeffreys(*(np.array(side[name], float) for side in (both, half))) for name in "ab"}
    moved = max(by_column, key=by_column.__getitem__)
    assert rows["n", "both", None, "psi"][::2] == (pytest.approx(by_column[moved], rel=1e-9), moved)
    assert rows["n", None, "never met", "actual"][:2] == (pytest.approx(1 / 45), None)
    against = found(model.monitor("outcomes", by="slice", reference="FROM outcomes WHERE slice = 'n'"))
    assert against["n", "both", None, "psi"][0] == 0
    assert against["r", "both", None, "psi"][0] == pytest.approx(
        max(
            jeffreys(np.array(half[name], float), np.array(columns(con, "FROM outcomes WHERE slice = 'r'")[name], float))
            for name in "ab"
        )
    )
    assert rows["n", None, None, "unknown"][0] == pytest.approx(1 / 45)
    con.close()


def test_what_is_refused(con, model):
    lines = [
        ({"by": ["sent"]}, "by must be one SQL expression over the columns of later, not ['sent']"),
        ({"by": "nowhere"}, "by must be one SQL expression over the columns of later: "),
        ({"by": "max(hour)"}, "by must have one value a row, and 'max(hour)' is an aggregate of many"),
        ({"weight": "carrier"}, "weight column 'carrier' is VARCHAR; weights must be numbers"),
        ({"weight": "heft"}, "no column 'heft' in later, the weight; "),
        ({"reference": "SELECT hour FROM past"}, "no columns 'carrier', 'origin', 'distance', 'dep_delay' in the query, "),
        (
            {"reference": "SELECT * REPLACE (1 AS arrival) FROM past"},
            "column 'arrival' of the query is INTEGER, and the classes",
        ),
    ]
    for options, message in lines:
        with pytest.raises(nbsql.InputError) as caught:
            model.monitor("later", **options)
        assert str(caught.value).startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "outside"), [
    ("lognormal", 0.0), ("lognormal", -3.0), ("gamma", 0.0), ("beta", 1.5), ("exponential", -1.0), ("poisson", -1.0),
    ("geometric", -7.0),
])  # fmt: skip
@pytest.mark.forms("family", "outside")
def test_numbers_outside_of_a_distribution_are_one_value_and_the_others_are_compared(family, outside):
    scale = {"beta": 0.1, "poisson": 1.0, "geometric": 1.0}.get(family, 0.5)
    learnt = scale * np.array([1.0, 2, 3, 4, 5, 7] * 20)
    seen = np.append(learnt[:59] / 2 if family == "beta" else learnt[:59] * 1000, outside)
    with duckdb.connect() as con:
        for name, values in (("learnt", learnt), ("seen", seen)):
            rows = "SELECT generate_subscripts(list, 1) AS i, unnest(list) AS x FROM (SELECT ? AS list)"
            con.execute(f"CREATE TABLE {name} AS SELECT i % 2 AS y, x FROM ({rows})", [list(values)])
        model = nbsql.fit(con, "learnt", target="y", families={"x": family}, unseen="smooth")
        assert found(model.monitor("seen"))[None, None, None, "unexplained"][0] == pytest.approx(1 / 60)
        model = nbsql.fit(con, "learnt", target="y", families={"x": family})
        assert found(model.monitor("seen"))[None, None, None, "unexplained"][0] == 0
        value, _, moved, _ = found(model.monitor("seen"))[None, "x", None, "psi"]
    inside = seen[:59]
    if family == "lognormal":
        of_numbers = kl(np.log(inside), np.log(learnt)) * 59 / 60 + kl(np.log(learnt), np.log(inside))
    elif family in ("gamma", "beta"):
        of_numbers = kl(inside, learnt) * 59 / 60 + kl(learnt, inside)
    else:
        a, b = learnt.mean(), inside.mean()
        of_means = {
            "exponential": lambda a, b: math.log(a / b) + b / a - 1,
            "poisson": lambda a, b: b * math.log(b / a) - b + a,
            "geometric": lambda a, b: math.log((1 + a) / (1 + b)) + b * (math.log(b / a) + math.log((1 + a) / (1 + b))),
        }[family]
        of_numbers = of_means(a, b) * 59 / 60 + of_means(b, a)
    shares = psi(Counter({"other": 120}), Counter({"other": 59, "outside": 1}))
    assert value == pytest.approx(of_numbers + shares, rel=1e-9)
    assert moved == "outside"


@pytest.mark.slow
def test_what_cannot_be_compared_is_null_and_equal_constants_are_not_far_apart():
    with duckdb.connect() as con:
        con.execute("""CREATE TABLE learnt AS SELECT i % 2 AS y, 7.1 AS same, 7.1 AS moved, 1.0 * (i % 5) AS varied,
            0 AS counted, i % 5 AS gone,
            CASE WHEN i % 3 > 0 THEN 1.0 * (i % 5) ELSE 0 END AS inflated FROM range(40) AS t(i)""")
        families = {"counted": "poisson", "inflated": nbsql.ZeroInflated(of="gamma")}
        with pytest.warns(nbsql.NbsqlWarning):
            model = nbsql.fit(con, "learnt", target="y", families=families)
        later = "SELECT * REPLACE (7.2 AS moved, 3.0 AS varied, NULL::INTEGER AS gone, i AS inflated)"
        later = later.replace("i AS inflated", "CASE WHEN inflated > 0 THEN 900.0 ELSE 0 END AS inflated")
        indices = {key[1]: values[0] for key, values in found(model.monitor(f"{later} FROM learnt")).items() if key[3] == "psi"}
    assert indices == {None: None, "same": 0, "counted": 0, "moved": None, "varied": None, "gone": None, "inflated": None}


@pytest.mark.slow
def test_the_gaps_of_a_category_are_not_those_of_its_parent():
    con = duckdb.connect()
    con.execute("""
        CREATE TABLE gaps AS SELECT i % 2 AS y, CASE WHEN i % 3 > 0 THEN 'a' || i % 5 END AS a,
            CASE WHEN i % 4 > 0 THEN 'b' END AS b
        FROM range(60) AS r(i)
    """)
    model = nbsql.fit(con, "gaps", target="y", families={"b": nbsql.Conditional("a")})
    rows = found(model.monitor("gaps"))
    assert rows[None, "a", None, "nulls"][:2] == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert rows[None, "b", None, "nulls"][:2] == (pytest.approx(1 / 4), pytest.approx(1 / 4))
    model = nbsql.fit(con, "gaps", target="y", nulls="category", families={"b": nbsql.Conditional("a")})
    rows = found(model.monitor("gaps"))
    assert rows[None, "b", None, "nulls"][:2] == (pytest.approx(1 / 4), pytest.approx(1 / 4))
    con.close()


def test_rows_of_one_score_are_in_one_bin_however_their_terms_are_added():
    con = duckdb.connect()
    con.execute("""
        CREATE TABLE notes AS SELECT i % 2 AS y, 'w' || i % 5 || ' v' || i % 3 || ' u' || i % 7 || ' t' || i % 4 AS note
        FROM range(40) AS r(i)
    """)
    model = nbsql.fit(con, "notes", target="y", families={"note": "text"})
    reversed_words = (
        "SELECT y, array_to_string(list_reverse(string_split(note, ' ')), ' ') AS note FROM notes ORDER BY note DESC"
    )
    rows = found(model.monitor(reversed_words, reference="notes"))
    assert rows[None, None, None, "psi"][0] == 0
    con.close()


@pytest.mark.slow
def test_the_accuracy_to_expect_needs_no_label():
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT i % 2 AS y, i % 2 + i % 5 AS x, i % 7 AS z, 1 + i % 3 AS w FROM range(60) AS r(i)"
        )
        model = nbsql.fit(con, "FROM t", target="y", exclude=["w"])
        new = "SELECT x, z, w, x % 2 AS period FROM t"
        for _ in ("before", "after"):
            said = con.execute(f"SELECT period, sum(w * probability) / sum(w) FROM ({model.predict(new).sql}) GROUP BY period")
            expected = {str(period): share for period, share in said.fetchall()}
            monitored = found(model.monitor(new, by="period", weight="w"))
            for period, share in expected.items():
                assert monitored[period, None, None, "expected_accuracy"][0] == pytest.approx(share, abs=1e-12)
            model.calibrate("t", folds=None)
