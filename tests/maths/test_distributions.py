"""Log-normal, exponential and geometric numbers against scipy.stats, and what they do at the edges."""

from functools import partial
from math import inf, log

import numpy as np
import pytest
from scipy import stats

import nbsql

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


near = partial(pytest.approx, rel=1e-12, abs=1e-14)

NUMBERS = {"a": [0.5, 2.0, 8.0, 1.0], "b": [100.0, 300.0, 20.0], "c": []}
COUNTS = {"a": [0, 2, 8, 1], "b": [10, 0], "c": []}
N = {"a": 4 / 8, "b": 3 / 8, "c": 1 / 8}
CENTRE = {name: np.mean([x for values in table.values() for x in values]) for name, table in (("x", NUMBERS), ("k", COUNTS))}


def source(table, scale=1):
    rows = [f"('{label}', {x * scale!r}::DOUBLE)" for label, values in table.items() for x in values or [None] if x is not None]
    missing = [f"('{label}', NULL)" for label, values in table.items() if not values]
    return f"FROM (VALUES {', '.join(rows + missing)}) AS rows(y, x)"


def read(model, column):
    return {row[0]: row[column] for row in model.likelihoods}


def lognormal(values, lost=0):
    logs = np.log(values)
    return stats.lognorm(np.sqrt(np.var(logs, ddof=lost)), scale=np.exp(np.mean(logs)))


@pytest.mark.parametrize("scale", [1, 1e-200, 1e140], ids=["", "tiny", "huge"])
@pytest.mark.parametrize("variance", ["population", "sample"])
def test_lognormal_is_that_of_scipy(con, joint, variance, scale):
    family = nbsql.LogNormal(variance=variance)
    model = nbsql.fit(con, source(NUMBERS, scale), target="y", families={"x": family})
    assert read(model, 5)["a"] == near(np.mean(np.log(NUMBERS["a"])) + log(scale))
    every = [x for values in NUMBERS.values() for x in values]
    for x in (0.3, 2.0, 1e3):
        scores = joint(model, f"SELECT {x * scale!r}::DOUBLE AS x")[0]
        for label, values in NUMBERS.items():
            density = lognormal(values or every, lost=variance == "sample").logpdf(x) - log(scale)
            assert scores[label] == near(log(N[label]) + density)


def test_lognormal_takes_the_prior_of_a_normal_density(con):
    prior = nbsql.NormalInverseGamma(kappa=0.5, a=1.5)
    model = nbsql.fit(con, source(NUMBERS), target="y", families={"x": nbsql.LogNormal(prior=prior)})
    logs = f"SELECT y, ln(x) AS x {source(NUMBERS)}"
    plain = nbsql.fit(con, logs, target="y", families={"x": nbsql.Gaussian(prior=prior)})
    assert [near(row[5:7]) for row in model.likelihoods] == [row[5:7] for row in plain.likelihoods]


def test_a_lognormal_column_far_from_1_with_gaps_is_counted_as_exactly(con):
    values = [1e140 * (1 + i * 1e-9) for i in range(50)]
    rows = ", ".join(f"('a', {x!r}::DOUBLE)" for x in values)
    con.execute(f"CREATE TABLE far AS FROM (VALUES {rows}, ('a', 'nan'), ('a', 'inf'), ('b', 1), ('b', NULL)) AS rows(y, x)")
    model = nbsql.fit(con, "far", target="y", families={"x": "lognormal"})
    cell = next(row for row in model.statistics if row[1:3] == ("a", "x"))
    shifts = np.log1p(np.arange(50) * 1e-9)
    assert cell[4] == 50
    assert cell[5] == pytest.approx(log(1e140) + shifts.mean(), rel=1e-15)
    assert cell[6] / 50 == pytest.approx(shifts.var(), rel=1e-5)  # ln x itself has 13 digits after the point


OUTSIDE = {"lognormal": "0", "gamma": "0", "beta": "1", "exponential": "-1", "poisson": "-1", "geometric": "-1"}


@pytest.mark.few
@pytest.mark.parametrize("family", [*OUTSIDE, nbsql.ZeroInflated(of="gamma"), nbsql.ZeroInflated(of="lognormal")])
@pytest.mark.parametrize("unseen", ["skip", "smooth"])
@pytest.mark.forms("unseen")
def test_a_number_outside_of_the_distribution_says_nothing_or_is_impossible(con, family, unseen):
    table = NUMBERS if family in ("lognormal", "gamma", "beta") else COUNTS
    rows = f"SELECT y, {'x / 1000' if family == 'beta' else 'x'} AS x, y || x AS z FROM ({source(table)})"
    model = nbsql.fit(con, rows, target="y", families={"x": family}, unseen=unseen, name="m")
    outside = OUTSIDE[family] if isinstance(family, str) else "-1"
    new = f"FROM (VALUES ({outside}::DOUBLE, 'b2'), (NULL, 'b2'), ('nan', 'b2'), ('inf', 'b2')) AS rows(x, z)"
    found, missing, *others = [row[2:] for row in model.predict_proba(new)]
    assert others == [missing] * 2
    explained = [row[-1] for row in model.explain(f"SELECT {outside} AS x, 'b2' AS z") if row[2] == "x"]
    if unseen == "skip":
        assert found == missing
        assert [row[-1] for row in model.log_evidence(new)] == [near(model.log_evidence(new).fetchall()[1][-1])] * 4
        assert explained == [0] * 3
    else:
        assert {*found} == {None}
        assert next(row[-1] for row in model.log_evidence(new)) == -inf
        assert explained == [-inf] * 3


@pytest.mark.parametrize(("a", "b"), [(0, 0), (2.5, 0.5)])
@pytest.mark.parametrize(("estimate", "less"), [("mean", 0), ("mode", 1)])
def test_exponential_is_that_of_scipy(con, joint, a, b, estimate, less):
    model = nbsql.fit(con, source(NUMBERS), target="y", families={"x": nbsql.Exponential(a, b, estimate=estimate)})
    less = less if a else 0
    expected = {label: (len(xs) + a - less) / (sum(xs) + b) for label, xs in NUMBERS.items() if xs}
    expected["c"] = (a - less) / b if a else 1 / CENTRE["x"]
    assert read(model, 7) == near(expected)
    if a and estimate == "mean":
        assert expected["a"] == near(stats.gamma(4 + a, scale=1 / (sum(NUMBERS["a"]) + b)).mean())
    if a and estimate == "mode":
        posterior = stats.gamma(4 + a, scale=1 / (sum(NUMBERS["a"]) + b))
        assert all(posterior.pdf(expected["a"]) > posterior.pdf(expected["a"] + step) for step in (-1e-4, 1e-4))
    for x in (0, 1.5, 400):
        scores = joint(model, f"SELECT {x}::DOUBLE AS x")[0]
        assert scores == near({k: log(N[k]) + stats.expon(scale=1 / rate).logpdf(x) for k, rate in expected.items()})


def test_a_class_of_zeros_has_a_finite_exponential_density(con, joint):
    rows = "FROM (VALUES ('a', 0.0), ('a', 0.0), ('b', 3.0), ('b', 5.0)) AS rows(y, x)"
    model = nbsql.fit(con, rows, target="y", families={"x": "exponential"})
    assert read(model, 7) == near({"a": 1 / (2e-9), "b": 1 / 4})
    assert joint(model, "SELECT 0 AS x")[0]["a"] == near(log(1 / 2) - log(2e-9))
    assert [row[1] for row in model.predict("SELECT unnest([0, 0.1]) AS x")] == ["a", "b"]
    model = nbsql.fit(con, f"SELECT y, 0 AS x {rows}", target="y", families={"x": "exponential"})
    assert joint(model, "SELECT 1 AS x") == [near({"a": log(1 / 2), "b": log(1 / 2)})]


@pytest.mark.parametrize(("a", "b"), [(0, 0), (2.5, 1.5)])
@pytest.mark.parametrize(("estimate", "less"), [("mean", 0), ("mode", 1)])
def test_geometric_is_that_of_scipy(con, joint, a, b, estimate, less):
    model = nbsql.fit(con, source(COUNTS), target="y", families={"x": nbsql.Geometric(a, b, estimate=estimate)})
    less = less if a else 0
    n = {label: len(xs) for label, xs in COUNTS.items()}
    expected = {k: (n[k] + a - less) / (n[k] + sum(xs) + a + b - 2 * less) for k, xs in COUNTS.items() if xs or a}
    expected.setdefault("c", 1 / (1 + CENTRE["k"]))
    assert read(model, 7) == near(expected)
    assert read(model, 5) == near({label: (1 - p) / p for label, p in expected.items()})
    posterior = stats.beta(4 + a, 11 + b)
    if a and estimate == "mean":
        assert expected["a"] == near(posterior.mean())
    if a and estimate == "mode":
        assert all(posterior.pdf(expected["a"]) > posterior.pdf(expected["a"] + step) for step in (-1e-4, 1e-4))
    for x in (0, 1, 40):
        scores = joint(model, f"SELECT {x} AS x")[0]
        prior = {"a": 4 / 7, "b": 2 / 7, "c": 1 / 7}
        assert scores == near({k: log(prior[k]) + stats.geom(p, loc=-1).logpmf(x) for k, p in expected.items()})


def test_a_geometric_class_of_zeros_explains_zeros_alone(con, joint):
    rows = "FROM (VALUES ('a', 0), ('a', 0), ('b', 3), ('b', 1000000000)) AS rows(y, x)"
    model = nbsql.fit(con, rows, target="y", families={"x": "geometric"})
    zero, one = joint(model, "FROM (VALUES (0), (1)) AS rows(x)")
    assert (zero["a"], one["a"]) == (near(log(1 / 2)), -inf)
    p = 2 / (2 + 1000000003)
    assert one["b"] == near(log(1 / 2) + log(p) + np.log1p(-p))


@pytest.mark.slow
def test_drift_is_that_of_the_distribution(con):
    names = ["lognormal", "exponential", "geometric"]
    columns = ", ".join(f"x AS {name}" for name in names)
    numbers = "SELECT i, 1 + i * {} % 9 AS x, '{}' AS t FROM range(10) AS r(i)"
    rows = f"SELECT 'c' || i % 2 AS y, {columns}, t AS text FROM ({numbers})"
    families = {name: name for name in names}
    model = nbsql.fit(
        con, rows.format(7, "u"), target="y", families={**families, "text": nbsql.Text(tfidf=True)}, name="drifting"
    )
    model.update(rows.format(3, "v"), batch="more")
    old, new = ([1 + i * step % 9 for i in range(10)] for step in (7, 3))
    found = {row[0]: row[2] for row in model.drift("1", "more")}
    logs = [np.log(old), np.log(new)]
    (m, v), (m2, v2) = ((x.mean(), x.var()) for x in logs)
    assert found["lognormal"] == near(0.5 * (log(v / v2) + (v2 + (m - m2) ** 2) / v - 1))
    mean, mean2 = np.mean(old), np.mean(new)
    x = np.linspace(0, 2000, 2_000_001)
    density, density2 = (stats.expon(scale=at).logpdf(x) for at in (mean, mean2))
    assert found["exponential"] == pytest.approx(np.trapezoid(np.exp(density2) * (density2 - density), x), rel=1e-6, abs=1e-9)
    k = np.arange(4000)
    mass, mass2 = (stats.geom(1 / (1 + at), loc=-1).logpmf(k) for at in (mean, mean2))
    assert found["geometric"] == near(np.sum(np.exp(mass2) * (mass2 - mass)))
    assert found["text"] > 1
    assert min(found[name] for name in names) > 0


@pytest.mark.parametrize(
    ("family", "value", "message"),
    [
        ("lognormal", "0", "1 value of column 'x' is 0 or negative; lognormal numbers must be above 0"),
        ("exponential", "-1", "1 value of column 'x' is negative; exponential numbers must be at least 0"),
        ("geometric", "1.5", "1 value of column 'x' is not whole; geometric counts must be whole numbers"),
    ],
)
def test_a_value_that_the_family_cannot_have(con, refused, family, value, message):
    rows = f"FROM (VALUES ('a', 1.0::DOUBLE), ('b', {value}), ('b', NULL), (NULL, -9)) AS rows(y, x)"
    with refused(nbsql.InputError, message):
        nbsql.fit(con, rows, target="y", families={"x": family})
