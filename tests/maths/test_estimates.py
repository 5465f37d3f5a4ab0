"""Pseudo-counts, variances, weights and priors, each worked by hand."""

from functools import partial
from math import lgamma, log, pi

import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")


near = partial(pytest.approx, rel=1e-13, abs=1e-15)

NUMBERS = "FROM (VALUES ('a', 1.0), ('a', 2.0), ('a', 6.0), ('b', 5.0), ('b', 9.0)) AS rows(y, x)"


def normal(x, mean, variance):
    return -0.5 * log(2 * pi * variance) - (x - mean) ** 2 / (2 * variance)


def moments(model):
    """Mean and variance by class."""
    return {row[0]: row[5:7] for row in model.likelihoods}


def test_declared_levels_count_though_no_row_has_them(con, likelihood, joint):
    source = "FROM (VALUES ('a', 'u'), ('a', 'u'), ('a', 'v'), ('b', 'v')) AS rows(y, x)"
    family = nbsql.Categorical(levels=["v", "w"])
    model = nbsql.fit(con, source, target="y", families={"x": family})
    expected = {
        ("a", "u"): 3 / 6,
        ("a", "v"): 2 / 6,
        ("a", "w"): 1 / 6,
        ("b", "u"): 1 / 4,
        ("b", "v"): 2 / 4,
        ("b", "w"): 1 / 4,
    }
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(expected)
    scores = {"a": near(log(3 / 4) + log(1 / 6)), "b": near(log(1 / 4) + log(1 / 4))}
    assert joint(model, "SELECT 'w' AS x") == [scores]


def test_alpha_of_a_family_stands_before_that_of_the_fit(con, likelihood):
    source = "FROM (VALUES ('a', 'u', 'p', TRUE), ('a', 'u', 'q', TRUE), ('b', 'v', 'p', FALSE)) AS rows(y, x, z, flag)"
    families = {"x": nbsql.Categorical(alpha=3), "flag": nbsql.Bernoulli(0)}
    model = nbsql.fit(con, source, target="y", alpha=0.5, families=families)
    assert likelihood(model, "a", "x", "u") == near((2 + 3) / (2 + 6))
    assert likelihood(model, "a", "z", "p") == near((1 + 0.5) / (2 + 1))
    assert likelihood(model, "b", "flag", "true") == 0
    assert {name: family.alpha for name, family in model.families.items()} == {"x": 3, "z": 0.5, "flag": 0}


@pytest.mark.parametrize("column", ["x", "x::INTEGER", "x::DOUBLE", "x::DECIMAL(3, 1)"])
def test_bernoulli_takes_a_pseudo_count_for_each_side(con, likelihood, joint, column):
    source = "FROM (VALUES ('a', TRUE), ('a', TRUE), ('a', FALSE), ('b', FALSE), ('b', NULL)) AS rows(y, x)"
    model = nbsql.fit(con, f"SELECT y, {column} AS x {source}", target="y", families={"x": nbsql.Bernoulli(2, 0.5)})
    true = {"a": (2 + 2) / (3 + 2.5), "b": (0 + 2) / (1 + 2.5)}
    for label, p in true.items():
        assert likelihood(model, label, "x", "true") == near(p)
        assert likelihood(model, label, "x", "false") == near(1 - p)
    scores = joint(model, f"SELECT {column} AS x FROM (VALUES (TRUE), (FALSE)) AS rows(x)")
    assert scores[0] == {"a": near(log(3 / 5) + log(true["a"])), "b": near(log(2 / 5) + log(true["b"]))}
    assert scores[1] == {"a": near(log(3 / 5) + log(1 - true["a"])), "b": near(log(2 / 5) + log(1 - true["b"]))}


def test_multinomial_takes_a_pseudo_count_for_each_column(con, likelihood, joint):
    source = "FROM (VALUES ('a', 3, 1, 0), ('a', 2, NULL, 0), ('b', 0, 4, 0)) AS rows(y, w1, w2, w3)"
    family = nbsql.Multinomial(["w1", "w2", "w3"], alpha={"w1": 0.5, "w2": 2, "w3": 1})
    model = nbsql.fit(con, source, target="y", families={"words": family})
    expected = {("a", "w1"): 5.5 / 9.5, ("a", "w2"): 3 / 9.5, ("a", "w3"): 1 / 9.5}
    expected |= {("b", "w1"): 0.5 / 7.5, ("b", "w2"): 6 / 7.5, ("b", "w3"): 1 / 7.5}
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(expected)
    scores = joint(model, "SELECT 2 AS w1, 0 AS w2, NULL::INTEGER AS w3")
    assert scores == [{"a": near(log(2 / 3) + 2 * log(5.5 / 9.5)), "b": near(log(1 / 3) + 2 * log(0.5 / 7.5))}]


def test_multinomial_without_smoothing_takes_0_ln_0_as_0(con, joint):
    source = "FROM (VALUES ('a', 3, 1), ('b', 0, 4)) AS rows(y, w1, w2)"
    model = nbsql.fit(con, source, target="y", alpha=0, families={"words": nbsql.Multinomial(["w1", "w2"])})
    first, second = joint(model, "FROM (VALUES (0, 2), (1, 0)) AS rows(w1, w2)")
    assert first == {"a": near(log(1 / 2) + 2 * log(1 / 4)), "b": near(log(1 / 2))}
    assert second == {"a": near(log(1 / 2) + log(3 / 4)), "b": float("-inf")}


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1.5, 0.5)])
def test_poisson_rate(con, joint, a, b):
    source = "FROM (VALUES ('a', 3), ('a', 1), ('a', NULL), ('b', 0), ('b', 0)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Poisson(a, b)})
    rates = {"a": (4 + a) / (2 + b), "b": (0 + a) / (2 + b)}
    assert {row[0]: row[7] for row in model.likelihoods} == near(rates)
    zero, four = joint(model, "FROM (VALUES (0), (4)) AS rows(x)")
    assert zero == {"a": near(log(3 / 5) - rates["a"]), "b": near(log(2 / 5) - rates["b"])}
    assert four["a"] == near(log(3 / 5) + 4 * log(rates["a"]) - rates["a"] - lgamma(5))
    assert four["b"] == (near(log(2 / 5) + 4 * log(rates["b"]) - rates["b"] - lgamma(5)) if a else float("-inf"))


@pytest.mark.parametrize(("variance", "lost"), [("population", 0), ("sample", 1)])
def test_variance_of_the_population_or_of_a_sample(con, joint, variance, lost):
    model = nbsql.fit(con, NUMBERS, target="y", families={"x": nbsql.Gaussian(variance=variance)})
    expected = {"a": (3, 14 / (3 - lost)), "b": (7, 8 / (2 - lost))}
    assert {label: near(pair) for label, pair in moments(model).items()} == expected
    scores = joint(model, "SELECT 4.5 AS x")
    assert scores == [
        {"a": near(log(3 / 5) + normal(4.5, *expected["a"])), "b": near(log(2 / 5) + normal(4.5, *expected["b"]))}
    ]


@pytest.mark.parametrize("floor", [None, 1e-9, 0.01])
def test_variance_never_falls_under_the_floor(con, floor):
    source = "FROM (VALUES ('a', 1.0), ('a', 1.0), ('b', 3.0), ('b', 7.0)) AS rows(y, x)"
    family = nbsql.Gaussian() if floor is None else nbsql.Gaussian(floor=floor)
    model = nbsql.fit(con, source, target="y", families={"x": family})
    total = ((1 - 3) ** 2 * 2 + 0 + 16) / 4  # the feature's own variance over all classes
    assert moments(model) == {"a": (1.0, near((1e-9 if floor is None else floor) * total)), "b": (5.0, 4.0)}
    assert [row[5:7] for row in model.statistics if row[1] == "a" and row[2] == "x"] == [(1.0, 0.0)]


def test_sample_variance_of_one_value_is_the_floor(con):
    source = "FROM (VALUES ('a', 1.0), ('b', 3.0), ('b', 5.0)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Gaussian(variance="sample")})
    assert moments(model) == {"a": (1.0, near(1e-9 * 8 / 3)), "b": (4.0, near(2.0))}


@pytest.mark.parametrize("prior", ["empirical", "uniform", "smoothed"])
def test_priors(con, prior):
    source = (
        "SELECT CASE WHEN i < 6 THEN 'a' WHEN i < 9 THEN 'b' ELSE 'c' END AS y, 'u' || i % 2 AS x FROM range(10) AS rows(i)"
    )
    model = nbsql.fit(con, source, target="y", alpha=2, prior=prior)
    expected = {
        "empirical": {"a": 6 / 10, "b": 3 / 10, "c": 1 / 10},
        "uniform": dict.fromkeys("abc", 1 / 3),
        "smoothed": {"a": 8 / 16, "b": 5 / 16, "c": 3 / 16},
    }[prior]
    assert model.priors.columns == ["class", "n", "prior", "log_prior"]
    found = {row[0]: row for row in model.priors}
    assert {label: row[1] for label, row in found.items()} == {"a": 6, "b": 3, "c": 1}
    assert {label: row[2] for label, row in found.items()} == near(expected)
    assert {label: row[3] for label, row in found.items()} == near({label: log(p) for label, p in expected.items()})
    assert sum(row[2] for row in found.values()) == near(1)


def test_smoothed_prior_takes_a_pseudo_count_of_its_own(con, likelihood):
    source = "FROM (VALUES ('a', 'u'), ('a', 'v'), ('a', 'v'), ('b', 'v')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", alpha=1, prior=nbsql.Smoothed(0.5))
    assert {row[0]: row[2] for row in model.priors} == near({"a": 3.5 / 5, "b": 1.5 / 5})
    assert likelihood(model, "a", "x", "u") == near(2 / 5)


def test_a_model_without_features_predicts_by_its_priors(con):
    source = "FROM (VALUES ('a', 1), ('b', 1), ('b', 2)) AS rows(y, x)"
    with pytest.warns(nbsql.NbsqlWarning, match="no features; it predicts the most frequent class"):
        model = nbsql.fit(con, source, target="y", features=[])
    assert model.predict_proba("SELECT 5 AS whatever").fetchall() == [(5, "b", near(2 / 3), near(1 / 3), near(2 / 3))]
    assert model.likelihoods.fetchall() == []
    assert [row[1:] for row in model.explain("SELECT 5 AS whatever")] == [
        ("a", None, None, near(log(1 / 3))),
        ("b", None, None, near(log(2 / 3))),
    ]


@pytest.mark.parametrize(
    ("column", "message"),
    [("7", "one value only in 'z'"), ("'k'", "one value only in 'z'"), ("NULL", "nothing but NULL in 'z'")],
)
def test_a_column_that_tells_nothing_warns_and_changes_no_posterior(con, column, message):
    with pytest.warns(nbsql.NbsqlWarning, match=message):
        model = nbsql.fit(con, f"SELECT *, {column} AS z {NUMBERS}", target="y")
    plain = nbsql.fit(con, NUMBERS, target="y")
    row = f"SELECT 4.5 AS x, {column} AS z"
    prediction, probability = plain.predict(row).fetchall()[0][-2:]
    assert model.predict(row).fetchall()[0][-2:] == (prediction, near(probability))


def test_without_a_floor_a_class_without_variance_explains_its_own_value_alone(con):
    train = "FROM (VALUES ('a', 1.0), ('a', 1.0), ('b', 3.0), ('b', 7.0)) AS t(y, x)"
    model = nbsql.fit(con, train, target="y", families={"x": nbsql.Gaussian(floor=0)})
    assert [row[1] for row in model.predict("SELECT unnest([1.0, 1.1, 5.0]) AS x")] == ["a", "b", "b"]
