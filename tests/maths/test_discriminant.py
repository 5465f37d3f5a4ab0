"""Linear and quadratic discriminant analysis, against scikit-learn and numpy."""

import math

import duckdb
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from support.matrices import load

import nbsql
from nbsql.plan import VERBS
from nbsql.sklearn import to_sklearn


@pytest.fixture(params=["columns", "lists"])
def elements(request, layout):
    """Score with the elements of the matrices as columns, and as lists."""
    layout(matrix_columns=10 if request.param == "columns" else 1)


def answers(model, verb, source="rows"):
    """The numbers of every class, rows by i, classes in the order of their labels."""
    k = len(model.classes)
    rows = sorted(getattr(model, verb)(f"SELECT * FROM {source}").fetchall())
    return np.array([row[-k:] for row in rows], dtype=float)


def log_density(x, mean, covariance):
    _, height = np.linalg.slogdet(2 * np.pi * covariance)
    d = x - mean
    return np.asarray(-0.5 * (height + np.einsum("ij,ij->i", d, np.linalg.solve(covariance, d.T).T)))


def by_hand(x, y, shared, lost=0):
    labels = np.unique(y)
    within = sum(np.cov(x[y == k].T, ddof=0) * (y == k).sum() for k in labels) / (len(y) - lost * len(labels))
    columns = [
        np.log((y == k).mean()) + log_density(x, x[y == k].mean(axis=0), within if shared else np.cov(x[y == k].T, ddof=lost))
        for k in labels
    ]
    return np.array(columns).T


def data(name):
    x, y = (load_iris if name == "iris" else load_wine)(return_X_y=True)
    keep = np.arange(len(y)) % 7 != 0  # so that the priors differ
    return x[keep], y[keep]


@pytest.mark.parametrize("name", ["iris", "wine"])
@pytest.mark.parametrize("shrinkage", [None, 0.3, "ledoit-wolf"])
@pytest.mark.usefixtures("form")
def test_linear_posteriors_are_those_of_scikit_learn(con, name, shrinkage):
    x, y = data(name)
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method=nbsql.LDA(shrinkage=shrinkage))
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto" if shrinkage == "ledoit-wolf" else shrinkage)
    np.testing.assert_allclose(answers(model, "predict_proba"), theirs.fit(x, y).predict_proba(x), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["iris", "wine"])
@pytest.mark.usefixtures("form")
def test_quadratic_posteriors_are_those_of_scikit_learn(con, name):
    x, y = data(name)
    load(con, x, y)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(x, y)
    population = np.allclose(theirs.covariance_[0], np.cov(x[y == 0].T, ddof=0), rtol=1e-9)  # versions before 1.8: sample
    columns = [f"x{j + 1}" for j in range(x.shape[1])]
    family = nbsql.MultivariateGaussian(columns, shared=False, variance="population" if population else "sample")
    model = nbsql.fit(con, "rows", target="y", id="i", families={"all": family})
    np.testing.assert_allclose(answers(model, "predict_proba"), theirs.predict_proba(x), rtol=0, atol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("variance", "lost"), [("population", 0), ("sample", 1)])
def test_the_joint_log_likelihood_is_the_density(con, shared, variance, lost):
    x, y = data("iris")
    load(con, x, y)
    family = nbsql.MultivariateGaussian(["x1", "x2", "x3", "x4"], shared=shared, variance=variance)
    model = nbsql.fit(con, "rows", target="y", id="i", families={"all": family})
    expected = by_hand(x, y, shared, lost)
    np.testing.assert_allclose(answers(model, "joint_log_likelihood"), expected, rtol=1e-9, atol=1e-9)
    evidence = [row[-1] for row in sorted(model.log_evidence("rows").fetchall())]
    np.testing.assert_allclose(evidence, np.log(np.exp(expected).sum(axis=1)), rtol=1e-9, atol=1e-9)
    sums = con.execute(f"SELECT sum(contribution) FROM ({model.explain('rows').sql}) GROUP BY i, class ORDER BY i, class")
    np.testing.assert_allclose([row[0] for row in sums.fetchall()], expected.ravel(), rtol=1e-9, atol=1e-9)
    variances = {row[2]: row[6] for row in model.likelihoods if row[0] == 0}
    within = sum(np.cov(x[y == k].T, ddof=0) * (y == k).sum() for k in range(3)) / (len(y) - lost * 3)
    covariance = within if shared else np.cov(x[y == 0].T, ddof=lost)
    assert variances["x1"] == pytest.approx(covariance[0, 0], rel=1e-9)
    assert variances['["x1","x3"]'] == pytest.approx(covariance[0, 2], rel=1e-9)


@pytest.mark.parametrize(("variance", "lost"), [("population", 0), ("sample", 1)])
@pytest.mark.usefixtures("form")
def test_regularised_discriminant_analysis(con, variance, lost):
    """Friedman's of 1989 with gamma 0: the covariance of a class, shrunk toward that within classes, in any units."""
    x, y = data("iris")
    x[:, 1] *= 1000
    load(con, x, y)
    method = nbsql.QDA(shrinkage=0.2, toward="pooled")
    columns = ["x1", "x2", "x3", "x4"]
    family = nbsql.MultivariateGaussian(columns, shared=False, shrinkage=0.2, toward="pooled", variance=variance)
    options = {"families": {"all": family}} if lost else {"method": method}
    model = nbsql.fit(con, "rows", target="y", id="i", **options)
    within = sum(np.cov(x[y == k].T, ddof=0) * (y == k).sum() for k in range(3)) / (len(y) - lost * 3)
    densities = [
        np.log((y == k).mean()) + log_density(x, x[y == k].mean(axis=0), 0.8 * np.cov(x[y == k].T, ddof=lost) + 0.2 * within)
        for k in range(3)
    ]
    np.testing.assert_allclose(answers(model, "joint_log_likelihood"), np.array(densities).T, rtol=1e-9, atol=1e-9)
    if not lost:
        numbers = con.execute("SELECT x1, x2, x3, x4 FROM rows ORDER BY i").df()
        found = to_sklearn(model).predict_proba(numbers)
        np.testing.assert_allclose(found, answers(model, "predict_proba"), rtol=0, atol=1e-9)


def test_shrunk_wholly_toward_the_pooled_covariance_it_is_linear(con):
    load(con, *data("wine"))
    options = {"target": "y", "id": "i"}
    found = answers(nbsql.fit(con, "rows", method=nbsql.QDA(1, "pooled"), **options), "joint_log_likelihood")
    linear = answers(nbsql.fit(con, "rows", method="lda", replace=True, **options), "joint_log_likelihood")
    np.testing.assert_allclose(found, linear, rtol=1e-9)


@pytest.mark.slow
def test_beside_categories_and_other_numbers(con):
    x, y = data("iris")
    load(con, x, y, colour=np.where(np.arange(len(y)) % 3 == y, "red", "blue"))
    together = {"petal": nbsql.MultivariateGaussian(["x3", "x4"])}
    model = nbsql.fit(con, "rows", target="y", id="i", families=together)
    assert [(name, family.name) for name, family in model.families.items()] == [
        ("x1", "gaussian"),
        ("x2", "gaussian"),
        ("petal", "multivariate_gaussian"),
        ("colour", "categorical"),
    ]
    parts = [["colour"], ["x1"], ["x2"]]
    scores = [answers(nbsql.fit(con, "rows", target="y", id="i", features=part), "joint_log_likelihood") for part in parts]
    prior = np.log([(y == k).mean() for k in range(3)])
    expected = sum(scores) - 3 * prior + by_hand(x[:, 2:], y, True)
    np.testing.assert_allclose(answers(model, "joint_log_likelihood"), expected, rtol=1e-9)
    assert nbsql.fit(con, "rows", target="y", id="i", method="lda").families.keys() == {"lda", "colour"}


@pytest.mark.usefixtures("elements")
def test_two_groups_of_numbers_beside_each_other(con):
    x, y = data("iris")
    load(con, x, y)
    groups = {
        "sepal": nbsql.MultivariateGaussian(["x1", "x2"], shared=False),
        "petal": nbsql.MultivariateGaussian(["x3", "x4"]),
    }
    model = nbsql.fit(con, "rows", target="y", id="i", families=groups)
    prior = np.log([(y == k).mean() for k in range(3)])
    expected = by_hand(x[:, :2], y, False) + by_hand(x[:, 2:], y, True) - prior
    np.testing.assert_allclose(answers(model, "joint_log_likelihood"), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_far_means_and_very_different_scales(con, method):
    rng = np.random.default_rng(1)
    y = np.arange(600) % 2
    z = rng.normal(size=(600, 3)) @ np.array([[1, 0.5, -0.3], [0, 1, 0.7], [0, 0, 1]]) + y[:, None] * [1, -0.5, 0.2]
    x = np.stack([1e9 + z[:, 0], 1e8 * z[:, 1], 1e-6 * z[:, 2]], axis=1)
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method=method)
    exact = x - [1e9, 0, 0]  # the numbers as they were rounded, without the offset
    expected = by_hand(exact / [1, 1e8, 1e-6], y, method == "lda") - math.log(1e8 * 1e-6)
    np.testing.assert_allclose(answers(model, "joint_log_likelihood"), expected, rtol=1e-6)


@pytest.mark.parametrize("far", [1e6, 1e9])
@pytest.mark.usefixtures("elements")
def test_a_class_far_away_leaves_the_others_their_digits(con, far):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [290, 290, 20])
    x = rng.normal(size=(600, 2)) + np.where(y == 2, far, 2.0 * y)[:, None]
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method="lda")
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y).predict_proba(x)
    found = answers(model, "predict_proba")
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    joint = answers(model, "joint_log_likelihood")[y < 2, :2]
    np.testing.assert_allclose(joint, by_hand(x, y, True)[y < 2, :2], rtol=1e-9)
    query = f"SELECT sum(contribution) FROM ({model.explain('rows').sql}) WHERE class < 2 GROUP BY i, class ORDER BY i, class"
    sums = np.array(con.execute(query).fetchall()).reshape(-1, 2)
    np.testing.assert_allclose(sums[y < 2], joint, rtol=1e-12)


@pytest.mark.parametrize("method", ["lda", "qda"])
@pytest.mark.usefixtures("elements")
def test_rows_without_a_number_are_left_out_and_counted(con, method):
    x, y = data("iris")
    load(con, x, y)
    con.execute("UPDATE rows SET x2 = NULL WHERE i IN (3, 50); UPDATE rows SET x4 = 'NaN' WHERE i = 90")
    line = f"3 rows without one of the numbers of {method!r}, and so left out of its estimates"
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        model = nbsql.fit(con, "rows", target="y", id="i", method=method)
    assert [str(warning.message) for warning in caught] == [line]
    keep = ~np.isin(np.arange(len(y)), [3, 50, 90])
    prior = np.log([(y == k).mean() for k in range(3)])
    kept_prior = np.log([(y[keep] == k).mean() for k in range(3)])
    found = answers(model, "joint_log_likelihood")
    np.testing.assert_allclose(found[keep], by_hand(x[keep], y[keep], method == "lda") - kept_prior + prior, rtol=1e-9)
    np.testing.assert_allclose(found[~keep], np.tile(prior, (3, 1)), rtol=1e-12)
    query = f"SELECT sum(contribution) FROM ({model.explain('rows').sql}) GROUP BY i, class ORDER BY i, class"
    np.testing.assert_allclose(np.array(con.execute(query).fetchall()).reshape(-1, 3), found, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.usefixtures("elements")
def test_missing_numbers_imputed_with_the_mean_over_all_classes(con):
    x, y = data("iris")
    gone = np.arange(len(y)) % 10 == 3
    filled = x.copy()
    filled[gone, 1] = x[~gone, 1].mean()
    load(con, filled, y, "filled")
    load(con, x, y)
    con.execute("UPDATE rows SET x2 = NULL WHERE i % 10 = 3")
    for shrinkage in (None, "ledoit-wolf"):
        options = {"shared": True, "shrinkage": shrinkage}
        columns = ["x1", "x2", "x3", "x4"]
        model = nbsql.fit(
            con, "rows", target="y", id="i", families={"k": nbsql.MultivariateGaussian(columns, impute=True, **options)}
        )
        other = nbsql.fit(con, "filled", target="y", id="i", families={"k": nbsql.MultivariateGaussian(columns, **options)})
        expected = answers(other, "joint_log_likelihood", "filled")
        np.testing.assert_allclose(answers(model, "joint_log_likelihood"), expected, rtol=1e-9)


def test_weights_of_a_linear_model_are_those_of_scikit_learn(con):
    x, y = data("iris")
    x, y = x[y < 2], y[y < 2]
    load(con, x, y)
    weights = nbsql.fit(con, "rows", target="y", id="i", method="lda").linear().fetchall()
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    assert [row[:4] for row in weights] == [(1, None, None, "1"), *[(1, "lda", f"x{j}", "x") for j in range(1, 5)]]
    np.testing.assert_allclose([row[-1] for row in weights], [theirs.intercept_[0], *theirs.coef_[0]], rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_quadratic_form_is_the_difference_of_the_densities(con, classes):
    x, y = data("iris")
    x, y = x[y < classes], y[y < classes]
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method="qda")
    scores = {label: np.zeros(len(y)) for label in range(classes)}
    columns = {f"x{j + 1}": x[:, j] for j in range(4)}
    for label, _, value, other, times, weight in model.quadratic():
        scores[label] += weight * (
            1 if times == "1" else columns[value] * {"x": 1, "x^2": columns[value], "x y": columns.get(other)}[times]
        )
    joint = answers(model, "joint_log_likelihood")
    assert set(model.quadratic().df()["times"]) == {"1", "x", "x^2", "x y"}
    if classes == 2:
        np.testing.assert_allclose(scores[1], joint[:, 1] - joint[:, 0], rtol=1e-8, atol=1e-8)
    else:
        np.testing.assert_allclose(scores[2] - scores[0], joint[:, 2] - joint[:, 0], rtol=1e-8, atol=1e-8)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("method", ["lda", "qda"])
@pytest.mark.usefixtures("elements")
def test_scored_in_sql_evaluated_loaded_and_frozen(con, method):
    x, y = data("iris")
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", name="flowers", method=method)
    rows = sorted(model.predict("rows").fetchall())
    assert sorted(con.execute("FROM flowers.predict('rows')").fetchall()) == rows
    assert sorted(nbsql.load(con, "flowers").predict("rows").fetchall()) == rows
    expected = by_hand(x, y, method == "lda")
    assert model.evaluate("rows").accuracy == (expected.argmax(axis=1) == y).mean()
    with duckdb.connect() as fresh:
        load(fresh, x, y)
        for verb in VERBS:
            found = sorted(fresh.execute(model.sql(verb, "rows", inline=True)).fetchall(), key=repr)
            assert found == sorted(con.execute(model.sql(verb, "rows")).fetchall(), key=repr)
    assert [row[0] for row in model.relevance()] == [method]
    script = nbsql.fit_sql(con, "rows", target="y", id="i", name="again", method=method)
    con.execute(script)
    again = sorted(con.execute("FROM again.predict_proba('rows')").fetchall())
    np.testing.assert_allclose(np.array([row[-3:] for row in again]), answers(model, "predict_proba"), rtol=0, atol=1e-9)


NO_NUMBER = "needs a number among the features, without a family of its own"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"method": "qda", "features": ["s"]}, f"method='qda' {NO_NUMBER}"),
        ({"method": "lda", "families": {"x": "gaussian"}}, f"method='lda' {NO_NUMBER}"),
        (
            {"families": {"k": nbsql.MultivariateGaussian(["s"])}},
            "column 's' is VARCHAR, which family 'multivariate_gaussian' does not take "
            "(it takes integer, float, decimal columns); cast it, or choose another family",
        ),
    ],
)
def test_wrong_options(con, refused, options, line):
    con.execute("CREATE TABLE rows AS SELECT unnest([1, 2, 3]) AS x, 'u' AS s, unnest(['a', 'b', 'a']) AS y")
    with refused(nbsql.InputError, line):
        nbsql.fit(con, "rows", target="y", **options)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"shared": 1}, "shared must be True or False, not 1"),
        (
            {"shared": True, "shrinkage": 0.2, "toward": "pooled"},
            "toward='pooled' shrinks the matrices of the classes, and shared=True has one; leave it out",
        ),
        ({"variance": "pop"}, "variance must be one of 'population', 'sample', not 'pop'"),
        ({"estimate": "mode"}, "estimate='mode' needs a prior, which 'multivariate_gaussian' does not have; use shrinkage"),
    ],
)
def test_wrong_options_of_the_family(options, line):
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.MultivariateGaussian(["x1"], **options)
    assert str(caught.value) == line


def test_a_covariance_of_its_own_has_no_linear_form(con, refused):
    load(con, *data("iris"))
    model = nbsql.fit(con, "rows", target="y", id="i", method="qda")
    line = (
        "the model has no linear form: 'qda' is multivariate_gaussian with a covariance matrix of its own in every class; "
        "use quadratic(), or fit it with method='lda'"
    )
    with refused(nbsql.ModelError, line):
        model.linear()
