"""The mean and the mode of posterior distributions: by hand, and against a search for the most probable parameters."""

from functools import partial
from math import log

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import beta, dirichlet, gamma, invgamma, norm

import nbsql

near = partial(pytest.approx, rel=1e-13, abs=1e-15)

COLOURS = "FROM (VALUES ('a', 'red'), ('a', 'red'), ('a', 'blue'), ('b', 'green'), ('c', NULL)) AS rows(y, x)"
ALPHA = {"red": 2, "blue": 1.5, "grey": 3}  # green is left to the fit's alpha of 1.25
ADDED = {"red": 2, "blue": 1.5, "green": 1.25, "grey": 3}


def likelihoods(model, label, column=3):
    return {row[2]: row[column] for row in model.likelihoods if row[0] == label}


def moments(model):
    return {row[0]: row[5:7] for row in model.likelihoods}


@pytest.mark.parametrize("estimate", ["mean", "mode"])
def test_a_pseudo_count_a_category(con, joint, estimate):
    family = nbsql.Categorical(alpha=ALPHA, estimate=estimate, unseen="smooth")
    model = nbsql.fit(con, COLOURS, target="y", alpha=1.25, families={"x": family})
    less = estimate == "mode"
    total = sum(ADDED.values()) - 4 * less
    for label, counts in {"a": {"red": 2, "blue": 1}, "b": {"green": 1}, "c": {}}.items():
        n = sum(counts.values())
        expected = {value: (counts.get(value, 0) + alpha - less) / (n + total) for value, alpha in ADDED.items()}
        assert likelihoods(model, label) == near(expected)
        assert sum(expected.values()) == near(1)
        posterior = [counts.get(value, 0) + alpha for value, alpha in ADDED.items()]
        if estimate == "mean":
            assert list(expected.values()) == near(dirichlet(posterior).mean())
        else:  # the density is lower all around
            peak = dirichlet.logpdf(list(expected.values()), posterior)
            for up in range(4):
                for down in range(4):
                    moved = np.array(list(expected.values()))
                    moved[[up, down]] += [1e-4, -1e-4] if up != down else [0, 0]
                    assert dirichlet.logpdf(moved, posterior) <= peak
    unseen = joint(model, "SELECT 'pink' AS x")[0]
    assert unseen["a"] == near(log(3 / 5) + log((1.25 - less) / (3 + total)))


def test_the_alphas_of_categories_are_kept_with_the_model(con):
    family = nbsql.Categorical(alpha={1: 2, False: 3}, levels=[2])
    model = nbsql.fit(
        con, "FROM (VALUES ('a', '1'), ('b', '2')) AS rows(y, x)", target="y", name="kept", families={"x": family}
    )
    kept = nbsql.load(con, "kept").families["x"]
    assert kept == model.families["x"]
    assert (kept.alpha, kept.other_alpha) == ({"1": 2.0, "false": 3.0}, 1.0)
    assert likelihoods(nbsql.load(con, "kept"), "a") == likelihoods(model, "a")


def test_columns_without_a_pseudo_count_take_that_of_the_fit(con):
    source = "FROM (VALUES ('a', 3, 1, 0), ('b', 0, 4, 0)) AS rows(y, w1, w2, w3)"
    family = nbsql.Multinomial(["w1", "w2", "w3"], alpha={"w1": 2})
    model = nbsql.fit(con, source, target="y", alpha=0.5, families={"words": family})
    assert likelihoods(model, "a") == near({"w1": 5 / 7, "w2": 1.5 / 7, "w3": 0.5 / 7})
    explained = [row[-1] for row in model.explain("SELECT 1 AS w1, 2 AS w2, 0 AS w3") if row[1] == "a"]
    assert explained == near([log(1 / 2), log(5 / 7), 2 * log(1.5 / 7), 0])


@pytest.mark.parametrize("column", ["x", "x::INTEGER"])
def test_the_mode_of_yes_and_no_is_that_of_a_beta_distribution(con, column):
    source = f"SELECT y, {column} AS x FROM (VALUES ('a', TRUE), ('a', TRUE), ('a', FALSE), ('b', NULL)) AS rows(y, x)"
    family = nbsql.Bernoulli(3, 1.5, estimate="mode")
    model = nbsql.fit(con, source, target="y", families={"x": family})
    assert likelihoods(model, "a") == near({"true": (2 + 3 - 1) / (3 + 4.5 - 2), "false": (1 + 1.5 - 1) / (3 + 4.5 - 2)})
    assert likelihoods(model, "b") == near({"true": 2 / 2.5, "false": 0.5 / 2.5})
    peak = likelihoods(model, "a")["true"]
    assert all(beta.pdf(peak, 5, 2.5) > beta.pdf(peak + step, 5, 2.5) for step in (-1e-4, 1e-4))


def test_the_mode_with_pseudo_counts_of_1_is_the_maximum_likelihood_estimate(con):
    source = """FROM (VALUES ('a', 'u', TRUE, ['s', 't'], 'one two', 1, 4), ('a', 'v', TRUE, ['s'], 'one', 2, 0),
        ('b', 'u', FALSE, ['t', 't'], 'two three', 0, 3), ('b', 'v', TRUE, [], '', 3, 3)) AS t(y, c, f, bag, words, m1, m2)"""

    def fitted(alpha, estimate):
        families = {
            "c": nbsql.Categorical(estimate=estimate),
            "f": nbsql.Bernoulli(estimate=estimate),
            "bag": nbsql.Tokens(estimate=estimate),
            "words": nbsql.Text(estimate=estimate),
            "m": nbsql.Multinomial(["m1", "m2"], estimate=estimate),
        }
        return nbsql.fit(con, source, target="y", alpha=alpha, families=families)

    mode, mean = fitted(1, "mode"), fitted(0, "mean")
    assert mode.likelihoods.fetchall() == mean.likelihoods.fetchall()
    assert mode.joint_log_likelihood(source).fetchall() == mean.joint_log_likelihood(source).fetchall()


def test_the_mode_of_the_presence_of_words(con, joint):
    source = "FROM (VALUES ('a', 'one two'), ('a', 'one'), ('b', 'two')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", alpha=1.5, families={"x": nbsql.Text(event="bernoulli", estimate="mode")})
    assert likelihoods(model, "a") == near({"one": 2.5 / 3, "two": 1.5 / 3})
    assert joint(model, "SELECT 'one' AS x")[0]["a"] == near(log(2 / 3) + log(2.5 / 3) + log(1 - 1.5 / 3))


@pytest.mark.parametrize(("estimate", "less"), [("mean", 0), ("mode", 1)])
def test_the_rate_of_counts_is_the_mean_or_the_mode_of_a_gamma_distribution(con, estimate, less):
    source = "FROM (VALUES ('a', 3), ('a', 1), ('b', 0), ('c', NULL)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Poisson(2.5, 0.5, estimate=estimate)})
    rates = {row[0]: row[7] for row in model.likelihoods}
    assert rates == near({"a": (4 + 2.5 - less) / 2.5, "b": (2.5 - less) / 1.5, "c": (2.5 - less) / 0.5})
    posterior = gamma(4 + 2.5, scale=1 / (2 + 0.5))
    if estimate == "mean":
        assert rates["a"] == near(posterior.mean())
    else:
        assert all(posterior.pdf(rates["a"]) > posterior.pdf(rates["a"] + step) for step in (-1e-4, 1e-4))


@pytest.mark.parametrize("estimate", ["mean", "mode"])
def test_without_a_prior_a_rate_is_the_maximum_likelihood_estimate(con, estimate):
    source = "FROM (VALUES ('a', 3), ('a', 1), ('b', 0)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Poisson(estimate=estimate)})
    assert {row[0]: row[7] for row in model.likelihoods} == near({"a": 2, "b": 0})


NUMBERS = {"a": [1.0, 2.0, 6.0], "b": [5.0, 9.0], "c": [4.0], "d": []}
ROWS = ", ".join(f"('{label}', {value}::DOUBLE)" for label, values in NUMBERS.items() for value in values or ["NULL"])
EVERY = [value for values in NUMBERS.values() for value in values]


@pytest.mark.parametrize("estimate", ["mean", "mode"])
@pytest.mark.parametrize(
    "prior",
    [
        nbsql.NormalInverseGamma(),
        nbsql.NormalInverseGamma(mean=3, kappa=0.5, a=1.5, b=7),
        nbsql.NormalInverseGamma(kappa=0, b=2.5),
    ],
    ids=["from all classes", "given", "nothing about the mean"],
)
def test_mean_and_variance_with_a_prior(con, prior, estimate):
    family = nbsql.Gaussian(prior=prior, estimate=estimate)
    model = nbsql.fit(con, f"FROM (VALUES {ROWS}) AS rows(y, x)", target="y", families={"x": family})
    shift = 1.5 if estimate == "mode" else -1
    centre = np.mean(EVERY) if prior.mean is None else prior.mean
    scale = (prior.a + shift) * np.var(EVERY) if prior.b is None else prior.b
    for label, values in NUMBERS.items():
        n, x = len(values), np.mean(values) if values else 0.0
        kappa, a = prior.kappa + n, prior.a + n / 2
        m = (prior.kappa * centre + n * x) / kappa if kappa else centre
        b = scale + sum((value - x) ** 2 for value in values) / 2
        b += prior.kappa * n * (x - centre) ** 2 / (2 * kappa) if kappa else 0
        assert moments(model)[label] == (near(m), near(b / (a + shift)))
    if prior.mean is None and prior.b is None:
        assert moments(model)["d"] == (near(np.mean(EVERY)), near(np.var(EVERY)))


def log_posterior(mean, variance, values, prior):
    """The log density of a mean and a variance, but for a constant, straight from the definitions."""
    density = invgamma.logpdf(variance, prior.a, scale=prior.b) + norm.logpdf(mean, prior.mean, np.sqrt(variance / prior.kappa))
    return density + sum(norm.logpdf(value, mean, np.sqrt(variance)) for value in values)


@pytest.mark.slow
def test_the_variance_with_a_prior_is_that_of_the_posterior_distribution(con):
    prior = nbsql.NormalInverseGamma(mean=3, kappa=0.5, a=4, b=7)
    values = NUMBERS["a"]

    def found(estimate):
        family = nbsql.Gaussian(prior=prior, estimate=estimate)
        model = nbsql.fit(con, f"FROM (VALUES {ROWS}) AS rows(y, x)", target="y", families={"x": family})
        return moments(model)["a"]

    best = minimize(lambda at: -log_posterior(at[0], np.exp(at[1]), values, prior), [3, 1], tol=1e-12)
    assert found("mode") == pytest.approx((best.x[0], np.exp(best.x[1])), rel=1e-5)
    means, logs = np.meshgrid(np.linspace(-30, 36, 2001), np.linspace(-3, 9, 2001))
    mass = np.exp(log_posterior(means, np.exp(logs), values, prior) + logs)  # a grid of ln v: dv = v d(ln v)
    assert found("mean") == pytest.approx(
        (np.sum(mass * means) / np.sum(mass), np.sum(mass * np.exp(logs)) / np.sum(mass)), rel=1e-6
    )


def test_a_prior_of_numbers_is_kept_with_the_model_and_stands_beside_others(con, joint):
    source = f"SELECT y, x, x AS z FROM (VALUES {ROWS}) AS rows(y, x)"
    families = {"x": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(mean=3, b=2))}
    model = nbsql.fit(con, source, target="y", name="kept", families=families)
    assert nbsql.load(con, "kept").families == model.families
    rows = {(row[0], row[1]): row[5:7] for row in model.likelihoods}
    scores = joint(model, "SELECT 2.5 AS x, 4.5 AS z")[0]
    for label, prior in {"a": 3 / 7, "b": 2 / 7}.items():
        (m, v), (m2, v2) = rows[label, "x"], rows[label, "z"]
        expected = log(prior) + norm.logpdf(2.5, m, np.sqrt(v)) + norm.logpdf(4.5, m2, np.sqrt(v2))
        assert scores[label] == pytest.approx(expected, rel=1e-12)


def test_a_mode_that_the_alpha_of_the_fit_rules_out(con):
    with pytest.raises(nbsql.InputError, match=r"alpha = 0\.5 has no mode"):
        nbsql.fit(con, COLOURS, target="y", alpha=0.5, families={"x": nbsql.Categorical(estimate="mode")})
    family = nbsql.Gaussian(prior=nbsql.NormalInverseGamma(), estimate="mode")  # alpha has no part in it
    with pytest.warns(nbsql.NbsqlWarning, match="alpha changes nothing"):
        nbsql.fit(con, f"FROM (VALUES {ROWS}) AS rows(y, x)", target="y", alpha=0.5, families={"x": family})
