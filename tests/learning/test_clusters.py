"""Clusters: rows without a class are divided among clusters by their posteriors, step by step."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, logsumexp
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore:method='clusters' has not converged")

# Two groups; a number, a count, a category, and missing values among all but the count.
ROWS = """CREATE TABLE t AS SELECT i,
    CASE WHEN i % 11 <> 0 THEN 'v' || (i % 2 + i * 7 % 4) % 4 END AS v,
    CASE WHEN i % 13 <> 0 THEN i % 2 * 2 + sin(i) END AS x,
    i % 2 * 3 + i * 5 % 4 AS events,
    1 + i % 3 AS w
  FROM range(90) AS r(i)"""
MIXED = {
    "target": None,
    "exclude": ["i"],
    "weight": "w",
    "families": {"events": "poisson", "x": nbsql.Gaussian(floor=0), "v": "categorical"},
}


@pytest.fixture
def table(con):
    con.execute(ROWS)
    return con


def joints(model, source="SELECT * FROM t ORDER BY i"):
    """The joint log-likelihoods, one row per row and one column per cluster."""
    found = model.joint_log_likelihood(source).df()
    return found[[name for name in found if name.startswith("joint_log_likelihood")]].to_numpy()


def step(rows, shares):
    """The joint log-likelihoods after a step from the posteriors of rows: Gaussian, Poisson and category with alpha 1."""
    shares = shares * rows.w.to_numpy()[:, None]
    joint = np.log(shares.sum(axis=0) / shares.sum()) + np.zeros_like(shares)
    x, events = rows.x.to_numpy(), rows.events.to_numpy()
    has = ~np.isnan(x)
    mean = (shares[has].T @ x[has]) / shares[has].sum(axis=0)
    variance = np.array([(shares[has, c] * (x[has] - mean[c]) ** 2).sum() / shares[has, c].sum() for c in range(len(mean))])
    joint[has] -= 0.5 * (np.log(2 * np.pi * variance) + (x[has, None] - mean) ** 2 / variance)
    rate = (shares.T @ events + 1 - 1) / shares.sum(axis=0)
    joint += events[:, None] * np.log(rate) - rate - gammaln(events + 1)[:, None]
    values = sorted(set(rows.v.dropna()))
    for value in values:
        of_value, known = (rows.v == value).to_numpy(), rows.v.notna().to_numpy()
        likelihood = (shares[of_value].sum(axis=0) + 1) / (shares[known].sum(axis=0) + len(values))
        joint[of_value] += np.log(likelihood)
    return joint


@pytest.mark.slow
def test_each_step_is_that_of_a_plain_em(table):
    rows = table.sql("SELECT * FROM t ORDER BY i").df()
    found = [
        joints(nbsql.fit(table, "t", method=nbsql.Clusters(2, starts=1, iterations=steps, tolerance=0), **MIXED))
        for steps in (1, 2, 3, 7, 8)
    ]
    for before, after in pairwise(found[:3]):
        posterior = np.exp(before - logsumexp(before, axis=1)[:, None])
        expected = step(rows, posterior)
        both = [expected, expected[:, ::-1]]  # the clusters are numbered by their size, which a step may change
        nearest = min(both, key=lambda each: np.abs(each - after).max())
        np.testing.assert_allclose(after, nearest, rtol=1e-9, atol=1e-9)
    posterior = np.exp(found[3] - logsumexp(found[3], axis=1)[:, None])
    np.testing.assert_allclose(found[4], step(rows, posterior), rtol=1e-9, atol=1e-9)


def test_the_first_step_by_hand(con):
    """Each cluster starts as half the whole and half one of the rows, of which each is one in turn."""
    con.execute("CREATE TABLE t AS FROM (VALUES ('a'), ('b')) AS t(v)")
    model = nbsql.fit(con, "t", target=None, method=nbsql.Clusters(2, starts=1, iterations=1))
    # At the start a cluster has 1/2 * (a 1/2 + b 1/2) * 2 and its own row once more: a 3/4 and b 1/4, which weigh 1 in all.
    # So P(a) = (3/4 + 1) / (1 + 2) in one, 5/12 in the other, and the posterior of the row in its own is 7/12.
    likelihood = {(label, value): p for label, _, value, p, *_ in model.likelihoods}
    own = {label: max("ab", key=lambda value: likelihood[label, value]) for label in model.classes}
    assert {*own.values()} == {"a", "b"}
    for (label, value), found in likelihood.items():
        assert found == pytest.approx(((7 if value == own[label] else 5) / 12 + 1) / 3, rel=1e-12)


@pytest.mark.nightly
def test_the_log_likelihood_never_falls(table):
    found = [
        nbsql.fit(
            table, "t", alpha=0, method=nbsql.Clusters(3, starts=1, iterations=steps, tolerance=0), **MIXED
        ).log_likelihood("t")
        for steps in (1, 2, 3, 4, 6)
    ]
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(found))
    assert found[-1] > found[0]


@pytest.mark.slow
def test_one_cluster_is_the_model_without_a_target(table):
    one = nbsql.fit(table, "t", method=nbsql.Clusters(1), **MIXED)
    whole = nbsql.fit(table, "t", **MIXED)
    expected = whole.log_evidence("SELECT * FROM t ORDER BY i").df().log_evidence
    np.testing.assert_allclose(one.log_evidence("SELECT * FROM t ORDER BY i").df().log_evidence, expected, rtol=1e-9)


@pytest.fixture(scope="module")
def iris():
    frame = load_iris(as_frame=True).frame
    return frame.set_axis(["a", "b", "c", "d", "kind"], axis=1)


@pytest.mark.nightly
def test_numbers_end_where_scikit_learn_does_from_the_same_start(con, iris):
    numbers = iris[["a", "b", "c", "d"]].assign(i=range(len(iris)))
    con.execute("CREATE TABLE t AS FROM numbers")
    options = {"target": None, "exclude": ["i"], "families": {"*": nbsql.Gaussian(floor=0)}}
    first, last = (
        nbsql.fit(con, "t", method=nbsql.Clusters(3, starts=1, iterations=steps, tolerance=tolerance), **options)
        for steps, tolerance in ((2, 0), (300, 1e-12))
    )
    moments = {(row[0], row[1]): row[5:7] for row in first.likelihoods}
    labels = sorted({label for label, _ in moments})
    means = np.array([[moments[label, name][0] for name in "abcd"] for label in labels])
    variances = np.array([[moments[label, name][1] for name in "abcd"] for label in labels])
    weights = [prior for _, _, prior, _ in sorted(first.priors)]
    mixture = GaussianMixture(
        3, covariance_type="diag", weights_init=weights, means_init=means, precisions_init=1 / variances,
        tol=1e-13, max_iter=2000, reg_covar=0,
    ).fit(numbers[list("abcd")])  # fmt: skip
    found = np.exp(np.sort(joints(last), axis=1))
    expected = np.sort(mixture.predict_proba(numbers[list("abcd")]), axis=1)
    np.testing.assert_allclose(found / found.sum(axis=1)[:, None], expected, atol=1e-4)
    assert last.log_likelihood("t") / len(numbers) == pytest.approx(mixture.score(numbers[list("abcd")]), rel=1e-7)


@pytest.mark.slow
def test_groups_are_found_and_named_by_their_size(con, iris):
    flowers = iris.drop(columns="kind")  # noqa: F841 - read by its name
    con.execute("CREATE TABLE flowers AS FROM flowers")
    method = nbsql.Clusters(3, starts=2)
    model = nbsql.fit(con, "flowers", target=None, method=method, name="kinds")
    found = [row[-2] for row in model.predict("flowers").fetchall()]
    assert adjusted_rand_score(iris.kind, found) > 0.7
    sizes = {label: n for label, n, *_ in model.priors}
    assert list(sizes) == ["cluster_1", "cluster_2", "cluster_3"]
    assert [*sizes.values()] == sorted(sizes.values(), reverse=True)
    again = nbsql.fit(con, "flowers", target=None, method=method, name="kinds", replace=True)
    assert [row[-2] for row in again.predict("flowers").fetchall()] == found
    assert con.execute("SELECT prediction FROM kinds.predict('flowers')").fetchall() == [(label,) for label in found]
    row = dict(zip("abcd", (5.1, 3.5, 1.4, 0.2), strict=True))
    assert model.predict_one(row)["prediction"] == found[0]
    assert {row[0] for row in model.explain("SELECT * FROM flowers LIMIT 1").df()[["class"]].to_numpy()} == {*sizes}
    assert model.unusual("flowers", 2).fetchall()
    loaded = nbsql.load(con, "kinds")
    assert loaded.state.spec.clusters == method
    assert loaded.evaluate("SELECT * FROM kinds.predict('flowers') AS p(a, b, c, d, cluster, certainty)").accuracy == 1


@pytest.mark.slow
def test_rows_of_known_clusters_are_learnt_and_forgotten(con, iris):
    flowers = iris.drop(columns="kind")  # noqa: F841 - read by its name
    con.execute("CREATE TABLE flowers AS FROM flowers")
    model = nbsql.fit(con, "flowers", target=None, method=nbsql.Clusters(2, starts=1))
    before = model.log_likelihood("flowers")
    model.update("SELECT *, 'cluster_2' AS cluster FROM flowers LIMIT 9", batch="told")
    assert {label: n for label, n, *_ in model.priors}["cluster_2"] > 9
    model.forget(batch="told")
    assert model.log_likelihood("flowers") == pytest.approx(before, rel=1e-9)


@pytest.mark.nightly
def test_numbers_that_are_far_apart_are_told_apart(con):
    generator = np.random.default_rng(5)
    rows = pd.DataFrame(generator.normal(size=(600, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 200, axis=0), columns=["x", "y"])
    model = nbsql.fit(con, rows, target=None, method=nbsql.Clusters(3))
    assert adjusted_rand_score(np.repeat([0, 1, 2], 200), model.predict(rows).df().prediction) > 0.99


ERRORS = {
    "a target": (
        {"target": "v"},
        "method='clusters' finds groups of rows that have no class; leave out the target: target=None",
    ),
    "no number": ({"method": "clusters"}, "say how many clusters there are, one or more: method=nbsql.Clusters(3)"),
    "few rows": (
        {"method": nbsql.Clusters(4), "features": ["half"]},
        "t has fewer than 4 different rows; ask for fewer clusters",
    ),
    "no features": ({"features": []}, "clusters need a feature by which rows differ"),
    "a prior": ({"prior": "uniform"}, "the prior of a cluster is its share of the rows; leave out prior"),
    "bins by the classes": (
        {"families": {"half": nbsql.Binned(monotone="peak")}},
        "method='clusters' does not support 'half', which is binned with monotone; leave that option out",
    ),
    "segments": (
        {"segment_by": "half"},
        "method='clusters' does not support segment_by; leave out segment_by, or fit a model for each segment",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_what_clusters_do_not_take_is_refused(con, case):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS half, 'v' || i % 3 AS v FROM range(30) AS r(i)")
    options, message = ERRORS[case]
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "t", **{"target": None, "method": nbsql.Clusters(2), **options})
    assert str(caught.value) == message


@pytest.mark.nightly
def test_what_needs_known_clusters_says_so(con):
    con.execute("CREATE TABLE t AS SELECT hash(i) % 10 / 10 + i % 2 AS x FROM range(30) AS r(i)")
    model = nbsql.fit(con, "t", target=None, method=nbsql.Clusters(2, starts=1))
    known = "known clusters to judge by (without them, there are log_likelihood and a report without a source)"
    with pytest.raises(nbsql.InputError) as caught:
        model.evaluate("t")
    assert str(caught.value) == f"no column 'cluster' in t, {known}; its columns are 'x'"
    with pytest.raises(nbsql.ModelError, match=r"fit it with families=\{'x': nbsql.Binned\(\)\}$"):
        model.scorecard()


@pytest.mark.slow
def test_a_column_with_the_name_of_the_clusters_is_no_feature(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS cluster, 'v' || i % 2 AS v FROM range(30) AS r(i)")
    with pytest.warns(nbsql.NbsqlWarning, match="the column 'cluster' of t is no feature, as the clusters have its name"):
        model = nbsql.fit(con, "t", target=None, method=nbsql.Clusters(2, starts=1))
    assert list(model.families) == ["v"]


@pytest.mark.slow
def test_too_few_steps_are_said(con):
    con.execute(ROWS)
    with pytest.warns(
        nbsql.NbsqlWarning, match=r"method='clusters' has not converged after 11 steps, the last of which changed"
    ):
        nbsql.fit(con, "t", method=nbsql.Clusters(3, starts=1, iterations=11, tolerance=0), **MIXED)
