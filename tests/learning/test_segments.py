"""A model a segment, shrunk toward the whole: against Python's own arithmetic, and against fits of each segment."""

import math
from collections import Counter

import pandas
import pytest

import nbsql
from nbsql import InputError, ModelError

near = pytest.approx

FAMILIES = {"calls": nbsql.Poisson(a=0.5, b=1), "words": nbsql.Multinomial(["w1", "w2"]), "note": nbsql.Text(alpha=0.5)}
OPTIONS = {"target": "y", "families": FAMILIES, "segment_by": "region"}
ALPHA = {"sky": 1.0, "warm": 1.0, "words": 1.0, "note": 0.5}


@pytest.fixture
def rows(con):
    """Rows of three regions and of none; region c has no row of class 'z', and many values that the others lack."""
    con.execute("""
        CREATE TABLE t AS SELECT
            CASE WHEN i % 13 = 0 THEN NULL ELSE ['a', 'b', 'c'][1 + (hash(i) % 3)::INT] END AS region,
            CASE WHEN hash(i, 1) % 10 < 4 THEN 'x' WHEN hash(i, 1) % 10 < 8 OR hash(i) % 3 = 2 THEN 'y' ELSE 'z' END AS y,
            CASE WHEN i % 11 = 0 THEN NULL ELSE 'v' || (hash(i, 2) % (3 + hash(i) % 3)) END AS sky,
            CASE WHEN i % 7 > 0 THEN hash(i, 3) % 3 = 0 END AS warm,
            CASE WHEN i % 9 > 0 THEN (hash(i, 4) % 1000) / 100.0 + (hash(i) % 3)::INT END AS wind,
            (hash(i, 5) % 6)::INT AS calls, (hash(i, 6) % 4)::INT AS w1, (hash(i, 7) % 3)::INT AS w2,
            CASE WHEN i % 5 > 0 THEN concat_ws(' ', 'n' || (hash(i, 8) % 4), 'm' || (hash(i, 9) % 3)) END AS note
        FROM range(120) AS t(i)
    """)
    cursor = con.execute("FROM t")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def values_of(row, feature):
    """The values of a counted feature in a row, and how often."""
    if feature == "words":
        return Counter({"w1": row["w1"], "w2": row["w2"]})
    if feature == "note":
        return Counter((row["note"] or "").split())
    return Counter([row[feature]] if row[feature] is not None else [])


class Whole:
    """The whole's estimates, and those of a segment, by the book."""

    def __init__(self, rows, s):
        self.rows, self.s = rows, s
        self.labels = sorted({row["y"] for row in rows})
        self.levels = {name: sorted({v for row in rows for v in values_of(row, name)}) for name in ALPHA}

    def of(self, label, region=None):
        return [row for row in self.rows if row["y"] == label and (region is None or row["region"] == region)]

    def prior(self, label, region):
        p = len(self.of(label)) / len(self.rows)
        if region is None:
            return p
        n = sum(len(self.of(other, region)) for other in self.labels)
        return (len(self.of(label, region)) + self.s * p) / (n + self.s)

    def p(self, feature, value, label, region):
        def estimate(rows, prior, weight):
            counts = sum((values_of(row, feature) for row in rows), Counter())
            return (counts[value] + prior) / (counts.total() + weight)

        alpha = ALPHA[feature]
        whole = estimate(self.of(label), alpha, alpha * len(self.levels[feature]))
        return whole if region is None else estimate(self.of(label, region), self.s * whole, self.s)

    def moments(self, feature, label, region):
        def of(rows):
            x = [float(row[feature]) for row in rows if row[feature] is not None]
            mean = sum(x) / len(x) if x else 0.0
            return len(x), mean, sum((value - mean) ** 2 for value in x)

        n, mean, m2 = of(self.of(label))
        if region is None:
            return n, mean, m2
        a, b = of(self.of(label, region)), (self.s, mean, self.s * m2 / n)
        total = a[0] + b[0]
        pooled = (a[0] * a[1] + b[0] * b[1]) / total
        return total, pooled, a[2] + a[0] * (a[1] - pooled) ** 2 + b[2] + b[0] * (b[1] - pooled) ** 2

    def joint(self, row, label, region):
        found = math.log(self.prior(label, region))
        for feature, levels in self.levels.items():
            for value, times in values_of(row, feature).items():
                if value in levels and times:
                    found += times * math.log(self.p(feature, value, label, region))
        if row["wind"] is not None:
            n, mean, m2 = self.moments("wind", label, region)
            found -= 0.5 * math.log(2 * math.pi * m2 / n) + (float(row["wind"]) - mean) ** 2 / (2 * m2 / n)
        n, mean, _ = self.moments("calls", label, region)
        rate = (n * mean + 0.5) / (n + 1)
        return found + row["calls"] * math.log(rate) - rate - math.lgamma(row["calls"] + 1)


def query(region):
    """Rows to score: those of the table with another region, and values never met."""
    return f"SELECT * REPLACE ({region} AS region) FROM t UNION ALL BY NAME SELECT {region} AS region, 'new' AS sky, 2 AS calls"


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("shrinkage", [0.5, 10])
def test_segments_are_those_worked_out_by_hand(con, rows, form, joint, shrinkage):
    model = nbsql.fit(con, "t", name="m", **{**OPTIONS, "segment_by": nbsql.Segments("region", shrinkage=shrinkage)})
    assert "region" not in model.families
    whole = Whole(rows, shrinkage)
    for row, found in zip(rows, joint(model, "t"), strict=True):
        expected = {label: whole.joint(row, label, row["region"]) for label in whole.labels}
        assert found == {label: near(value, rel=1e-9, abs=1e-9) for label, value in expected.items()}
    # A region never met, and none, are scored by the whole.
    plain = nbsql.fit(con, "SELECT * EXCLUDE (region) FROM t", target="y", families=FAMILIES)
    for region in ("'nowhere'", "NULL::VARCHAR"):
        for found, expected in zip(joint(model, query(region)), joint(plain, query(region)), strict=True):
            assert found == {label: near(value, rel=1e-12) for label, value in expected.items()}
    # The other verbs say the same.
    scores = joint(model, "t")
    evidence = [math.log(sum(math.exp(value) for value in score.values())) for score in scores]
    assert [row[-1] for row in model.log_evidence("t").fetchall()] == near(evidence, rel=1e-9)
    for predicted, posteriors, score, mass in zip(model.predict("t"), model.predict_proba("t"), scores, evidence, strict=True):
        best = max(score, key=lambda label: score[label])
        assert predicted[-2:] == (best, near(math.exp(score[best] - mass), rel=1e-9))
        assert posteriors[-3:] == tuple(near(math.exp(score[label] - mass), rel=1e-9) for label in sorted(score))
    sums = Counter()
    for row_id, label, _, _, contribution in model.explain("t"):
        sums[row_id, label] += contribution
    for row_id, score in enumerate(scores, start=1):
        assert {label: sums[row_id, label] for label in score} == {k: near(v, rel=1e-9, abs=1e-9) for k, v in score.items()}
    for verb in ("predict", "joint_log_likelihood", "explain"):
        in_sql = con.execute(f"FROM m.{verb}('t')").fetchall()
        assert in_sql == getattr(model, verb)("t").fetchall()
    assert nbsql.load(con, "m").predict("t").fetchall() == model.predict("t").fetchall()


@pytest.mark.slow
def test_without_shrinkage_a_segment_is_a_fit_of_its_own(con, form, joint):
    con.execute("""CREATE TABLE t AS SELECT 'r' || (i % 3) AS region, CASE WHEN hash(i) % 3 = 0 THEN 'no' ELSE 'yes' END AS y,
        'v' || (hash(i, 1) % (3 + i % 2)) AS sky, hash(i, 2) % 2 = 0 AS warm, hash(i, 3) % 97 + 10.0 * (i % 3) AS wind,
        'a' || (hash(i, 4) % 3) || ' b' AS note FROM range(300) AS t(i)""")
    for prior in ("empirical", "smoothed", "uniform", {"no": 0.3, "yes": 0.7}):
        options = {"target": "y", "families": {"note": nbsql.Text()}, "prior": prior, "unseen": "smooth"}
        model = nbsql.fit(con, "t", segment_by=nbsql.Segments("region", shrinkage=0), **options)
        for number in range(3):
            part = f"SELECT * FROM t WHERE region = 'r{number}'"
            alone = nbsql.fit(con, part, exclude=["region"], **options)
            new = f"{part} UNION ALL BY NAME SELECT 'r{number}' AS region, 'new' AS sky, 'newer' AS note"
            for found, expected in zip(joint(model, new), joint(alone, new), strict=True):
                assert found == {label: near(value, rel=1e-9) for label, value in expected.items()}


NUMBERS = {
    "a floor": nbsql.Gaussian(floor=0.5),
    "a shared variance": nbsql.Gaussian(shared_variance=True),
    "a shared sample variance": nbsql.Gaussian(shared_variance=True, variance="sample", floor=0.01),
    "a prior of the data": nbsql.Gaussian(prior=nbsql.NormalInverseGamma()),
    "a prior that is given": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(mean=3.0, b=2.0), floor=0.9),
    "logarithms": nbsql.LogNormal(shared_variance=True),
    "a density of shares": nbsql.Beta(floor=0.3),
    "rates": nbsql.Exponential(),
    "counts": nbsql.Geometric(),
}


@pytest.mark.few
@pytest.mark.parametrize("family", NUMBERS.values(), ids=NUMBERS)
def test_without_shrinkage_nothing_of_a_number_is_of_other_segments(con, form, joint, family):
    """Class 'maybe' has no value in one segment, and each segment numbers of its own size and spread."""
    x = (
        "1 + floor((hash(i, 2) % 97) / 10.0)"
        if family.name == "geometric"
        else "(1 + hash(i, 2) % 97) * 1.25 ** (3 * (i % 3)) / 400"
    )
    con.execute(f"""CREATE TABLE t AS SELECT 'r' || (i % 3) AS region,
        ['no', 'yes', 'maybe'][1 + CAST(hash(i) % 3 AS INTEGER)] AS y,
        CASE WHEN NOT (y = 'maybe' AND i % 3 = 1) THEN {x} END AS x FROM range(300) AS t(i)""")
    options = {"target": "y", "families": {"x": family}}
    model = nbsql.fit(con, "t", segment_by=nbsql.Segments("region", shrinkage=0), **options)
    for number in range(3):
        part = f"SELECT * FROM t WHERE region = 'r{number}'"
        alone = nbsql.fit(con, part, exclude=["region"], **options)
        for found, expected in zip(joint(model, part), joint(alone, part), strict=True):
            assert found == {label: near(value, rel=1e-9) for label, value in expected.items()}


def test_missing_and_unseen_values_lean_on_the_whole_too(con, form):
    con.execute("""CREATE TABLE t AS FROM (VALUES
        (1, 'a', 'u'), (1, 'a', NULL), (1, 'a', 'v'), (1, 'b', 'u'), (2, 'a', NULL), (2, 'b', 'v'), (2, 'b', 'v')
    ) AS t(shop, y, s)""")
    options = {"target": "y", "segment_by": nbsql.Segments("shop", shrinkage=2), "nulls": "category", "unseen": "smooth"}
    model = nbsql.fit(con, "t", name="m", **options)
    source = "SELECT * FROM (VALUES (1, NULL), (1, 'new'), (2, NULL), (2, 'new'), (2, 'u')) AS t(shop, s)"
    # Of the whole, with alpha 1 and K = 3 (u, v, missing): a has 2 of 4 missing, 1 u, 1 v; b has 2 of 3 v, 1 u.
    whole = {"a": {None: 3 / 7, "new": 1 / 7, "u": 2 / 7}, "b": {None: 1 / 6, "new": 1 / 6, "u": 2 / 6}}
    n = {(1, "a"): 3, (1, "b"): 1, (2, "a"): 1, (2, "b"): 2}
    seen = {(1, "a", None): 1, (2, "a", None): 1}
    prior = {"a": 4 / 7, "b": 3 / 7}
    found = model.joint_log_likelihood(source).fetchall()
    assert len(found) == 5
    for shop, s, *scores in found:
        rows = n[shop, "a"] + n[shop, "b"]
        for label, score in zip("ab", scores, strict=True):
            p = (n[shop, label] + 2 * prior[label]) / (rows + 2)
            q = (seen.get((shop, label, s), 0) + 2 * whole[label][s]) / (n[shop, label] + 2)
            assert score == near(math.log(p) + math.log(q), rel=1e-12)
    assert nbsql.load(con, "m").families["s"].nulls == "category"


def test_a_frame_with_gaps_finds_the_segments_of_whole_numbers(con, joint):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS shop, (i // 2) % 2 AS y, 'v' || (i % 5) AS s FROM range(40) AS t(i)")
    model = nbsql.fit(con, "t", target="y", segment_by=nbsql.Segments("shop", shrinkage=0))
    frame = pandas.DataFrame({"shop": [0, 1, None], "s": ["v1", "v2", "v3"]})
    assert str(frame["shop"].dtype) == "float64"
    whole = "SELECT * FROM (VALUES (0, 'v1'), (1, 'v2'), (NULL, 'v3')) AS t(shop, s)"
    assert joint(model, frame) == joint(model, whole)
    model.update(pandas.DataFrame({"shop": [0.0, None], "y": [1, 0], "s": ["v1", "v1"]}))
    assert model.segments.fetchall() == [("0", 21.0), ("1", 20.0), (None, 1.0)]


@pytest.mark.nightly
def test_a_thousand_segments_from_one_statement(con):
    statement = {}
    for count in (3, 1000):
        con.execute(f"""CREATE OR REPLACE TABLE t AS SELECT i % {count} AS shop, (hash(i) + i % {count}) % 2 AS y,
            'v' || (hash(i, 1) % 5) AS sky, hash(i, 2) % 100 + y * (i % {count}) AS wind FROM range(20000) AS t(i)""")
        model = nbsql.fit(con, "t", target="y", segment_by=nbsql.Segments("shop", shrinkage=5))
        statement[count] = model.sql("predict", "t").replace("nbsql 1 ", "").replace("nbsql 2 ", "")
        assert model.segments.fetchall() == sorted((str(i), near(20000 / count, abs=1)) for i in range(count))
        assert model.evaluate("t").accuracy > nbsql.fit(con, "t", target="y", exclude=["shop"]).evaluate("t").accuracy
    assert abs(len(statement[3]) - len(statement[1000])) < 20


@pytest.mark.slow
def test_segments_are_any_expression_and_are_weighed(con, rows, joint):
    con.execute("CREATE TABLE w AS SELECT t.*, n FROM t, LATERAL (SELECT 1 + (hash(t) % 3)::INT AS n)")
    options = {
        **OPTIONS,
        "segment_by": nbsql.Segments("coalesce(upper(region), 'none') || (calls > 2)", shrinkage=3),
        "exclude": ["region"],
    }
    weighed = nbsql.fit(con, "w", weight="n", **options)
    repeated = nbsql.fit(con, "SELECT * EXCLUDE (n, k) FROM w, LATERAL (SELECT unnest(range(n)) AS k)", **options)
    assert weighed.segments.fetchall() == repeated.segments.fetchall()
    assert [row[0] for row in weighed.segments][:2] == ["Afalse", "Atrue"]
    for one, other in zip(joint(weighed, "t"), joint(repeated, "t"), strict=True):
        assert one == {label: near(value, rel=1e-9) for label, value in other.items()}


@pytest.mark.slow
def test_update_and_forget_are_a_fit_of_what_is_left(con, rows, form, joint):
    once = nbsql.fit(con, "t", **OPTIONS)
    model = nbsql.fit(con, "SELECT * FROM t WHERE region = 'a' OR region IS NULL", name="m", **OPTIONS)
    model.update("SELECT * FROM t WHERE region IN ('b', 'c')", batch="more")  # segments and classes that are new
    extra = "SELECT * REPLACE ('d' AS region) FROM t LIMIT 20"
    model.update(extra)
    assert "d" in [row[0] for row in model.segments]
    model.forget(extra)
    assert model.segments.fetchall() == once.segments.fetchall()
    model.compact()
    for one, other in zip(joint(model, "t"), joint(once, "t"), strict=True):
        assert one == {label: near(value, rel=1e-9) for label, value in other.items()}
    in_sql = con.execute("SELECT prediction FROM m.predict('t')").fetchall()
    assert in_sql == [row[-2:-1] for row in once.predict("t")]


@pytest.mark.slow
def test_frames_keep_their_order_and_judging_its_sums(con, rows, form):
    model = nbsql.fit(con, "t", **OPTIONS)
    frame = con.execute("FROM t ORDER BY hash(t)").df()
    predicted = model.predict(frame).df()
    assert predicted["calls"].tolist() == frame["calls"].tolist()
    assert predicted["region"].isna().tolist() == frame["region"].isna().tolist()
    evaluation = model.evaluate("t")
    right = sum(row[-2] == row[1] for row in model.predict("t"))
    assert (evaluation.rows, evaluation.accuracy) == (120, near(right / 120))
    assert sum(row[2] for row in evaluation.confusion) == 120
    cheapest = model.predict("t", costs={("x", "y"): 5}).fetchall()
    assert len(cheapest) == 120


@pytest.mark.slow
def test_merged_and_exported_models_have_their_segments(con, rows, joint, tmp_path):
    once = nbsql.fit(con, "t", **OPTIONS)
    parts = [nbsql.fit(con, f"SELECT * FROM t WHERE calls % 2 = {k}", **OPTIONS) for k in (0, 1)]
    merged = nbsql.merge(con, parts)
    merged.export(tmp_path / "m.parquet")
    for model in (merged, nbsql.import_(con, tmp_path / "m.parquet")):
        for one, other in zip(joint(model, "t"), joint(once, "t"), strict=True):
            assert one == {label: near(value, rel=1e-9) for label, value in other.items()}
    with pytest.raises(ModelError) as refused:
        nbsql.merge(con, [once, nbsql.fit(con, "t", **{**OPTIONS, "segment_by": nbsql.Segments("region", shrinkage=1)})])
    assert str(refused.value) == (
        "the model and the model cannot be merged: "
        "one has segment_by 'region' (shrinkage 10), the other segment_by 'region' (shrinkage 1)"
    )


def test_what_cannot_have_segments_is_refused(con, rows, refused):
    for options, message in [
        ({"segment_by": "regoin"}, None),
        ({"segment_by": ""}, "segment_by must be one SQL expression over the columns of t, not ''"),
        ({"segment_by": "unnest([1, 2])"}, "segment_by must have one value a row, and 'unnest([1, 2])' makes rows of its own"),
        (
            {"segment_by": "max(calls) OVER ()"},
            "segment_by must read one row, and 'max(calls) OVER ()' has a window of others; compute it in the source",
        ),
        ({"segment_by": "sum(calls)"}, "segment_by must have one value a row, and 'sum(calls)' is an aggregate of many"),
        ({"segment_by": 3}, "segment_by must be one SQL expression over the columns, not 3"),
    ]:
        if message is None:
            with pytest.raises(InputError, match=r"^segment_by must be one SQL expression over the columns of t: "):
                nbsql.fit(con, "t", **{**OPTIONS, **options}, name="m")
            continue
        with refused(InputError, message):
            nbsql.fit(con, "t", **{**OPTIONS, **options}, name="m")


@pytest.mark.slow
def test_what_has_no_segments_says_so(con, rows, refused):
    model = nbsql.fit(con, "t", **OPTIONS)
    with pytest.raises(
        InputError, match=r"^segment_by of the model must be one SQL expression over the columns of the query: "
    ):
        model.predict("SELECT * EXCLUDE (region) FROM t")
    plain = nbsql.fit(con, "t", target="y", families=FAMILIES, name="plain")
    for act, message in (
        (lambda: plain.segments, "model 'plain' has no segments; fit it with segment_by=\"region\", for example"),
        (lambda: model.slice_names, "the model has no slices; fit it with slice_by=\"date_trunc('month', sent_at)\", say"),
    ):
        with refused(ModelError, message):
            act()
    assert not any(hasattr(plain, name) for name in ("segments", "slice_names", "components"))
