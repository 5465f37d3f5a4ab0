"""Numbers that are often 0: what is their own (test_moments.py has the rest)."""

import math
from statistics import fmean, pvariance

import pytest
from scipy import stats
from support.nearly import near

import nbsql

RAIN = """CREATE TABLE rain AS SELECT i % 2 AS y, i % 3 AS part, CASE WHEN i * 7 % 10 < 4 + 2 * (i % 2) THEN 0.0
    ELSE 0.5 + (i * 37 % 23) / 4 + i % 2 END AS x FROM range(120) AS r(i)"""


def test_classes_without_zeros_and_without_other_numbers(con):
    """Of b there is no number but 0, and of c a single one; d has no number at all."""
    con.execute("""CREATE TABLE rows AS FROM (VALUES
        ('a', 2.0), ('a', 4.0), ('b', 0.0), ('b', 0.0), ('c', 3.0), ('c', 0.0), ('d', NULL)) AS t(y, x)""")
    model = nbsql.fit(con, "rows", target="y", families={"x": nbsql.ZeroInflated(of="gaussian", floor=0.1)}, name="m")
    found = con.execute("SELECT class, mean, variance, rate FROM m.likelihoods ORDER BY class").fetchall()
    pooled = [2.0, 4.0, 3.0]
    expected = [("a", 3.0, 1.0, 1 / 4), ("b", 3.0, pvariance(pooled), 3 / 4), ("c", 3.0, 0.1 * pvariance(pooled), 2 / 4)]
    assert found == [(label, *map(near, numbers)) for label, *numbers in [*expected, ("d", 3.0, pvariance(pooled), 1 / 2)]]
    (zero,) = model.joint_log_likelihood("SELECT 0 AS x").fetchall()
    assert zero[-4:] == near(tuple(math.log(n / 7 * p) for n, p in ((2, 1 / 4), (2, 3 / 4), (2, 1 / 2), (1, 1 / 2))))
    (other,) = model.joint_log_likelihood("SELECT 3.5 AS x").fetchall()
    for joint, n, (_, mean, variance, rate) in zip(other[-4:], (2, 2, 2, 1), found, strict=True):
        assert joint == near(math.log(n / 7 * (1 - rate)) + float(stats.norm.logpdf(3.5, mean, math.sqrt(variance))))


def test_without_pseudo_counts_what_a_class_never_has_is_impossible(con):
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 2), ('a', 4), ('b', 0), ('b', 0)) AS t(y, x)")
    model = nbsql.fit(con, "rows", target="y", families={"x": nbsql.ZeroInflated(alpha=0)})
    rows = model.joint_log_likelihood("FROM (VALUES (0), (3), (-1), (NULL)) AS t(x)").fetchall()
    half, inf = math.log(0.5), -math.inf
    assert rows[0][-2:] == (inf, near(half))
    assert rows[1][-1] == inf
    assert math.isfinite(rows[1][-2])
    assert [row[-2:] for row in rows[2:]] == [near((half, half))] * 2  # -1 is outside, and says nothing


def test_a_number_that_does_not_vary_says_whether_it_is_0(con):
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 5), ('a', 0), ('b', 5), ('b', 5)) AS t(y, x)")
    model = nbsql.fit(con, "rows", target="y", families={"x": "zero_inflated"})
    assert model.joint_log_likelihood("SELECT 5 AS x").fetchall()[0][-2:] == near((math.log(1 / 4), math.log(3 / 8)))


def test_options_and_rows_that_are_refused(con, refused):
    with refused(nbsql.InputError, "of must be one of 'lognormal', 'gamma', 'exponential', 'gaussian', not 'poisson'"):
        nbsql.ZeroInflated(of="poisson")
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 0.2), ('a', -1.0), ('b', 0.0)) t(y, x)")
    message = "1 value of column 'x' is negative; zero_inflated numbers must be at least 0"
    with refused(nbsql.InputError, message):
        nbsql.fit(con, "rows", target="y", families={"x": "zero_inflated"}, name="m")
    moments = {label: {"x": {"mean": 1.0, "variance": 1.0}} for label in "ab"}
    message = "family 'zero_inflated' of 'x' needs counts, which probabilities have not; fit it to rows"
    with refused(nbsql.InputError, message):
        nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=moments, families={"x": "zero_inflated"})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_what_it_tells_and_how_it_drifts_are_those_of_both_parts(con):
    """I(x; C) = I(zero; C) + P(other) I(x; C | other), and so for divergences."""
    con.execute(RAIN)
    options = {"target": "y", "exclude": ["part"], "slice_by": "part"}
    model = nbsql.fit(con, "rain", families={"x": nbsql.ZeroInflated(of="gamma")}, **options)
    parts = "SELECT y, part, x = 0 AS zero, CASE WHEN x <> 0 THEN x END AS other FROM rain"
    apart = nbsql.fit(con, parts, **options)
    share = con.execute("SELECT avg((x <> 0)::INT) FROM rain").fetchone()
    told = {row[0]: row[1] for row in apart.relevance().fetchall()}
    assert [row[:2] for row in model.relevance().fetchall()] == [("x", near(told["zero"] + share[0] * told["other"]))]
    sides = [[row[0] for row in con.execute(f"SELECT x FROM rain WHERE part = {part}").fetchall()] for part in (0, 1)]
    counts = [(sum(x == 0 for x in side), sum(x != 0 for x in side)) for side in sides]
    (a, b) = [[(n + 0.5) / (sum(pair) + 1) for n in pair] for pair in counts]
    of_zeros = sum((q - p) * math.log(q / p) for p, q in zip(a, b, strict=True))
    moments = [(fmean(x), pvariance(x)) for x in ([x for x in side if x != 0] for side in sides)]

    def kl(old, new):
        return 0.5 * (math.log(old[1] / new[1]) + (new[1] + (new[0] - old[0]) ** 2) / old[1] - 1)

    q = [pair[1] / sum(pair) for pair in counts]
    expected = of_zeros + q[1] * kl(moments[0], moments[1]) + q[0] * kl(moments[1], moments[0])
    assert {row[0]: row[1] for row in model.drift(0, 1).fetchall()}["x"] == near(expected)
    first = nbsql.fit(con, "SELECT y, x FROM rain WHERE part = 0", target="y", families=model.families)
    monitored = first.monitor("SELECT * FROM rain WHERE part = 1", by="part")
    assert [row[4] for row in monitored.fetchall() if row[1] == "x" and row[3] == "psi"] == [near(expected)]


def test_segments_borrow_zeros_as_numbers(con):
    """A segment has 5 rows more, of which the class's share are 0."""
    con.execute(RAIN)
    family = nbsql.ZeroInflated(of="exponential", alpha=0)
    model = nbsql.fit(con, "rain", target="y", segment_by=nbsql.Segments("part", shrinkage=5), families={"x": family})
    found = model.joint_log_likelihood("SELECT 0 AS x, 1 AS part").fetchall()[0][-2:]
    for y, joint in enumerate(found):
        (own,) = con.execute(f"SELECT count(*), sum((x = 0)::INT) FROM rain WHERE y = {y} AND part = 1").fetchall()
        (all_of,) = con.execute(f"SELECT avg((x = 0)::INT), count(*) FROM rain WHERE y = {y}").fetchall()
        zero = (own[1] + 5 * all_of[0]) / (own[0] + 5)
        prior = (own[0] + 5 * all_of[1] / 120) / (40 + 5)
        assert joint == near(math.log(prior * zero))


@pytest.mark.slow
def test_rows_are_drawn_and_gaps_filled(con):
    con.execute(RAIN)
    for of in ("lognormal", "exponential", "gaussian"):
        model = nbsql.fit(
            con, "rain", target="y", exclude=["part"], families={"x": nbsql.ZeroInflated(of=of)}, name="m", replace=True
        )
        told = con.execute("SELECT mean, variance, rate FROM m.likelihoods ORDER BY class").fetchall()
        drawn = model.sample(20_000, seed=3)
        for y, (mean, variance, rate) in enumerate(told):
            x = [row[0] for row in drawn.fetchall() if row[1] == y]
            assert sum(value == 0 for value in x) / len(x) == pytest.approx(rate, abs=0.02)
            others = [math.log(value) if of == "lognormal" else value for value in x if value != 0]
            assert fmean(others) == pytest.approx(mean, abs=4 * math.sqrt(variance / len(others)))
            if of == "lognormal":
                mean, variance = math.exp(mean + variance / 2), (math.exp(variance) - 1) * math.exp(2 * mean + variance)
            value, deviation = model.impute(f"SELECT NULL::DOUBLE AS x, {y}::BIGINT AS y", labelled=True).fetchall()[0][::2]
            assert value == near((1 - rate) * mean)
            assert deviation == near(math.sqrt((1 - rate) * (variance + mean**2) - value**2))


def test_cells_of_other_tools_and_of_a_file(con, tmp_path):
    con.execute(RAIN)
    families = {"x": nbsql.ZeroInflated(of="lognormal")}
    model = nbsql.fit(con, "rain", target="y", exclude=["part"], families=families, name="m")
    expected = [row[-2:] for row in model.predict_proba("rain").fetchall()]
    cells = "SELECT class, feature, value, n, mean, m2 FROM m.statistics"
    counted = nbsql.from_statistics(con, cells, target="y", families=families, name="counted")
    model.export(tmp_path / "m.parquet")
    for again in (counted, nbsql.import_(con, tmp_path / "m.parquet", name="again")):
        assert [row[-2:] for row in again.predict_proba("rain").fetchall()] == [near(row) for row in expected]
    with_none = "SELECT class, feature, value, n, mean, NULL::DOUBLE AS m2 FROM m.statistics"
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.from_statistics(con, with_none, target="y", families=families, name="none")
    assert str(caught.value) == "family 'zero_inflated' of 'x' needs a mean and m2 in every cell"


def test_a_profile_begins_at_0_with_its_probability(con):
    con.execute(RAIN)
    model = nbsql.fit(con, "rain", target="y", exclude=["part"], families={"x": nbsql.ZeroInflated(of="exponential")}, name="m")
    rates = con.execute("SELECT mean, rate FROM m.likelihoods ORDER BY class").fetchall()
    for y, (mean, rate) in enumerate(rates):
        rows = [row for row in model.profile("x").fetchall() if row[0] == y]
        assert [row[2:] for row in rows if row[1] == "probability"] == [(0.0, None, None, near(rate))]
        places = {row[2]: row[-1] for row in rows if row[1] == "density"}
        assert len(places) == 99
        assert list(places.values()) == [near((1 - rate) * float(stats.expon.pdf(x, scale=mean))) for x in places]
