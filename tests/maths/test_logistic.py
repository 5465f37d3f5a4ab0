"""Logistic regression, against scikit-learn on the same columns, categories one-hot."""

from operator import itemgetter

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from support.algebra import alike, examples
from support.inserted import insert
from support.matrices import load

import nbsql
import nbsql.learning.logistic
from nbsql.plan import VERBS

DAYS = """CREATE TABLE days AS SELECT
    i, ['sun', 'rain', 'snow', NULL][1 + a % 4] AS sky, 20 + (b % 97) / 10 AS warmth, c % 3 = 0 AS windy,
    (a + c) % 4 AS guests, b % 5 AS calls, 1 + c % 3 AS w,
    CASE WHEN a % 4 + b % 6 + (a + c) % 4 > 7 THEN 'out' WHEN (a + b + c) % 3 = 0 THEN 'home' ELSE 'in' END AS place
    FROM (SELECT i, i * 7919 % 104729 AS a, i * 7907 % 1009 AS b, i * i % 211 AS c FROM range(200) AS t(i))"""


def theirs(x, y, penalty=0.5, weight=None):
    """scikit-learn's model, searched for as far as it goes."""
    solver = "newton-cholesky" if len(np.unique(y)) == 2 else "lbfgs"
    strength = 1 / (2 * penalty) if penalty else np.inf
    return LogisticRegression(C=strength, tol=1e-12, max_iter=100_000, solver=solver).fit(x, y, sample_weight=weight)


def weights(model):
    """By class, feature and value."""
    return {row[:3]: row[4] for row in model.linear()}


def coefficients(model, terms):
    """The weights of terms, a row a class as scikit-learn has them, and the biases."""
    found = weights(model)
    labels = sorted(model.classes) if len(model.classes) > 2 else [max(model.classes)]
    return (
        np.array([[found[(label, *term)] for term in terms] for label in labels]),
        np.array([found[(label, None, None)] for label in labels]),
    )


def posteriors(model, source="rows"):
    k = len(model.classes)
    return np.array([row[-k:] for row in sorted(model.predict_proba(f"SELECT * FROM {source}").fetchall())], dtype=float)


def numbers_of(x):
    return [(f"x{j}", None) for j in range(1, x.shape[1] + 1)]


def data(name):
    loader = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}[name]
    x, y = loader(return_X_y=True)
    keep = np.arange(len(y)) % 7 != 0  # so that the priors differ
    return x[keep][:, :10], y[keep]


def noisy():
    """Numbers that do not separate the classes."""
    x, y = data("iris")
    return x + np.random.default_rng(7).normal(size=x.shape), y


@pytest.mark.few
@pytest.mark.parametrize(
    ("name", "penalty"),
    [("iris", 0.5), *(pytest.param(*case, marks=pytest.mark.slow) for case in (("wine", 2.0), ("cancer", 0.05)))],
)
@pytest.mark.usefixtures("form")
def test_weights_and_posteriors_are_those_of_scikit_learn(con, name, penalty):
    x, y = data(name)
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method=nbsql.Logistic(penalty=penalty))
    other = theirs((x - x.mean(axis=0)), y, penalty)  # centred, where its search ends nearer to the optimum
    found, bias = coefficients(model, numbers_of(x))
    np.testing.assert_allclose(found, other.coef_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(bias + found @ x.mean(axis=0), other.intercept_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(posteriors(model), other.predict_proba(x - x.mean(axis=0)), rtol=0, atol=1e-5)


@pytest.mark.few
@pytest.mark.parametrize("name", ["wine", "cancer"])
def test_nothing_is_left_of_the_gradient(con, name):
    x, y = data(name)
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method=nbsql.Logistic(penalty=0.3))
    p = posteriors(model)
    found, _ = coefficients(model, numbers_of(x))
    errors = p - (y[:, None] == np.unique(y))
    if len(found) == 1:
        errors = errors[:, 1:]
    centred = x - x.mean(axis=0)
    np.testing.assert_allclose(errors.sum(axis=0), 0, atol=1e-9)
    scale = x.std(axis=0)
    np.testing.assert_allclose((errors.T @ centred + 0.6 * found) / scale, 0, atol=1e-8)


@pytest.mark.slow
def test_without_a_penalty_it_is_maximum_likelihood(con):
    x, y = noisy()
    load(con, x, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method=nbsql.Logistic(penalty=0))
    other = theirs(x - x.mean(axis=0), y, 0)
    found, _ = coefficients(model, numbers_of(x))
    np.testing.assert_allclose(found, other.coef_, rtol=0, atol=1e-5)


def test_passengers_of_the_titanic(con, data):
    """Numbers, categories and booleans, with gaps and weights."""
    con.execute(f"""CREATE TABLE rows AS SELECT row_number() OVER () AS i, Survived AS y, Pclass::VARCHAR AS class, Sex AS sex,
        Age::DOUBLE AS age, Fare::DOUBLE AS fare, Embarked AS port, CASE WHEN Age IS NOT NULL THEN SibSp > 0 END AS escorted,
        1 + Parch % 3 AS w FROM read_csv('{data / "titanic_train.csv"}')""")
    model = nbsql.fit(con, "rows", target="y", id="i", weight="w", method="logistic")
    frame = con.execute("FROM rows ORDER BY i").df()
    w = frame.w.to_numpy(dtype=float)
    columns = {}
    for name in ("age", "fare", "escorted"):
        column = frame[name].astype(float).to_numpy()
        known = ~np.isnan(column)
        columns[name, None] = np.where(known, column, (column * w)[known].sum() / w[known].sum())
    for name in ("class", "sex", "port"):
        for value in sorted(frame[name].dropna().unique()):
            columns[name, value] = (frame[name] == value).to_numpy(dtype=float)
    x = np.array(list(columns.values())).T
    other = theirs(x, frame.y, weight=w)
    found, bias = coefficients(model, list(columns))
    np.testing.assert_allclose(found, other.coef_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(bias, other.intercept_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(posteriors(model), other.predict_proba(x), rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.usefixtures("form")
def test_all_that_it_takes_in_one_model(con):
    con.execute(DAYS)
    con.execute("UPDATE days SET windy = NULL WHERE i % 9 = 0")
    families = {
        "warmth": nbsql.Binned(by=[23.0, 26.0]),
        "sky": nbsql.Categorical(nulls="category"),
        "windy": nbsql.Bernoulli(nulls="category"),
        "counts": nbsql.Multinomial(["guests", "calls"]),
    }
    model = nbsql.fit(con, "days", target="place", id="i", weight="w", families=families, method=nbsql.Logistic(penalty=0.1))
    frame = con.execute("SELECT * REPLACE (warmth::DOUBLE AS warmth) FROM days ORDER BY i").df()
    windy = frame.windy.astype(float).to_numpy()
    w = frame.w.to_numpy(dtype=float)
    known = ~np.isnan(windy)
    share = (windy * w)[known].sum() / w[known].sum()
    columns = [frame.guests, frame.calls, np.where(known, windy, share), ~known]
    columns += [frame.sky == value for value in ("rain", "snow", "sun")] + [frame.sky.isna()]
    columns += [frame.warmth < 23, (frame.warmth >= 23) & (frame.warmth < 26), frame.warmth >= 26]
    x = np.array([np.asarray(column, dtype=float) for column in columns]).T
    other = theirs(x, frame.place, 0.1, w)
    np.testing.assert_allclose(posteriors(model, "days"), other.predict_proba(x), rtol=0, atol=1e-5)
    terms = [("counts", "guests"), ("counts", "calls"), ("sky", None), ("warmth", "(-inf, 23)")]
    found, _ = coefficients(model, terms)
    np.testing.assert_allclose(found, other.coef_[:, [0, 1, 7, 8]], rtol=0, atol=1e-5)
    joint = nbsql.fit(
        con,
        "days",
        target="place",
        method="logistic",
        features=["sky", "windy"],
        families={"both": nbsql.Joint(["sky", "windy"])},
    )
    assert "both" in {row[1] for row in joint.linear()}


def test_means_of_a_billion(con):
    x, y = data("iris")
    load(con, x + 1e9, y)
    model = nbsql.fit(con, "rows", target="y", id="i", method="logistic")
    exact = (x + 1e9) - 1e9
    other = theirs(exact - exact.mean(axis=0), y)
    found, _ = coefficients(model, numbers_of(x))
    np.testing.assert_allclose(found, other.coef_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(posteriors(model), other.predict_proba(exact - exact.mean(axis=0)), rtol=0, atol=1e-5)


@pytest.mark.slow
def test_columns_of_very_different_sizes(con):
    x, y = noisy()
    load(con, x, y)
    plain = nbsql.fit(con, "rows", target="y", id="i", method=nbsql.Logistic(penalty=0))
    load(con, x * np.array([1e-6, 1.0, 1e6, 1e3]), y, name="scaled")
    scaled = nbsql.fit(con, "scaled", target="y", id="i", method=nbsql.Logistic(penalty=0))
    np.testing.assert_allclose(posteriors(scaled, "scaled"), posteriors(plain), rtol=0, atol=1e-9)


@pytest.mark.nightly
def test_a_large_table_is_begun_with_a_sample(con, layout):
    con.execute(DAYS.replace("range(200)", "range(2000)"))
    options = {"target": "place", "id": "i", "method": "logistic"}
    whole = weights(nbsql.fit(con, "days", **options))
    layout(sample_rows=100)
    assert weights(nbsql.fit(con, "days", **options)) == pytest.approx(whole, abs=1e-8)
    layout(sample_rows=2)  # one that knows nothing
    assert weights(nbsql.fit(con, "days", **options)) == pytest.approx(whole, abs=1e-8)


@pytest.mark.slow
def test_many_products_are_summed_by_block(con, layout):
    con.execute(DAYS)
    options = {"target": "place", "id": "i", "method": "logistic"}
    one_by_one = weights(nbsql.fit(con, "days", **options))
    layout(logistic_sums=0)
    assert weights(nbsql.fit(con, "days", **options)) == pytest.approx(one_by_one, abs=1e-8)


@pytest.mark.slow
@examples(8)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.integers(-3, 3)), min_size=4, max_size=25)
)
def test_probabilities_sum_to_one_whatever_the_rows(rows):
    con = duckdb.connect()
    con.execute("CREATE TABLE rows (label VARCHAR, kind VARCHAR, n INTEGER)")
    insert(con, "rows", rows)
    with pytest.warns(nbsql.NbsqlWarning) if _tells_nothing(rows) else _quiet():
        model = nbsql.fit(con, "rows", target="label", method="logistic")
    for row in model.predict_proba("rows").fetchall():
        assert sum(row[-len(model.classes) :]) == pytest.approx(1, abs=1e-12)
    shares = {row[0]: row[1] for row in model.priors}
    n = sum(shares.values())
    means = np.array([row[-len(model.classes) :] for row in model.predict_proba("rows").fetchall()]).sum(axis=0)
    assert means == pytest.approx([shares[label] for label in sorted(shares)], abs=1e-6 * n)  # the bias has no penalty


def _tells_nothing(rows):
    kinds, numbers = {kind for _, kind, _ in rows} - {None}, {n for _, _, n in rows}
    return len(kinds) < 2 or len(numbers) < 2 or len({label for label, _, _ in rows}) < 2


def _quiet():
    import contextlib

    return contextlib.nullcontext()


# Scoring. ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def spoken(con):
    con.execute(DAYS)
    return nbsql.fit(con, "days", target="place", name="places", id="i", weight="w", method="logistic")


@pytest.mark.usefixtures("form")
def test_contributions_sum_to_the_scores_and_the_weights_say_them_too(con):
    con.execute(DAYS)
    model = nbsql.fit(con, "days", target="place", id="i", weight="w", method="logistic")
    scores = np.array([row[-3:] for row in sorted(model.joint_log_likelihood("days").fetchall(), key=itemgetter(0))])
    sums = con.execute(f"SELECT sum(contribution) FROM ({model.explain('days').sql}) GROUP BY i, class ORDER BY i, class")
    np.testing.assert_allclose([row[0] for row in sums.fetchall()], scores.ravel(), rtol=0, atol=1e-12)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posteriors(model, "days"), p, rtol=0, atol=1e-12)
    found = weights(model)
    i, sky, warmth, windy, guests, calls = con.execute(
        "SELECT i, sky, warmth::DOUBLE, windy::DOUBLE, guests, calls FROM days WHERE sky IS NOT NULL ORDER BY i LIMIT 1"
    ).fetchall()[0]
    for k, label in enumerate(("home", "in", "out")):
        terms = {"warmth": warmth, "windy": windy, "guests": guests, "calls": calls}
        score = found[label, None, None] + found[label, "sky", sky]
        score += sum(found[label, name, None] * x for name, x in terms.items())
        assert score == pytest.approx(scores[i, k], abs=1e-9)
    assert sum(found[label, "sky", "sun"] for label in ("home", "in", "out")) == pytest.approx(0, abs=1e-12)


def test_a_value_never_met_or_missing_adds_nothing(spoken):
    row = "SELECT 1 AS i, {sky} AS sky, {warmth} AS warmth, NULL::BOOLEAN AS windy, NULL::INTEGER AS guests, 2 AS calls"
    rows = [
        row.format(sky=sky, warmth=warmth) for sky, warmth in [("'hail'", "NULL::DOUBLE"), ("NULL::VARCHAR", "'nan'::DOUBLE")]
    ]
    for source in rows:
        said = {(label, feature): c for _, _, label, feature, _, c in spoken.explain(source).fetchall()}
        assert {c for (_, feature), c in said.items() if feature not in (None, "calls")} == {0.0}
        assert spoken.predict(source).fetchall()[0][-1] == pytest.approx(
            max(np.exp(score) for score in _scores(said)) / sum(np.exp(score) for score in _scores(said)), abs=1e-12
        )


def _scores(said):
    return [sum(c for (label, _), c in said.items() if label == wanted) for wanted in ("home", "in", "out")]


@pytest.mark.slow
def test_it_is_a_model_like_others(con, spoken, tmp_path):
    expected = posteriors(spoken, "days")
    assert sorted(con.execute("FROM places.predict_proba('days')").fetchall()) == sorted(
        spoken.predict_proba("days").fetchall()
    )
    assert con.execute("SELECT DISTINCT log_evidence FROM places.log_evidence('days')").fetchall() == [(None,)]
    columns = con.execute("DESCRIBE FROM places.weights").fetchall()
    assert [column[0] for column in columns] == ["class", "feature", "value", "weight", "mean"]
    for verb in sorted({*VERBS} - {"log_evidence"}):
        inline = spoken.sql(verb, "days", inline=True)
        assert sorted(con.execute(inline).fetchall(), key=repr) == sorted(getattr(spoken, verb)("days").fetchall(), key=repr)
    found = nbsql.load(con, "places")
    assert weights(found) == weights(spoken)
    assert found.evaluate("days").log_loss == pytest.approx(spoken.evaluate("days").log_loss, abs=1e-12)
    spoken.export(tmp_path / "places.parquet")
    elsewhere = nbsql.import_(con, tmp_path / "places.parquet", name="elsewhere")
    np.testing.assert_allclose(posteriors(elsewhere, "days"), expected, rtol=0, atol=1e-15)
    alike(elsewhere.statistics.fetchall(), spoken.statistics.fetchall())
    transient = nbsql.import_(con, tmp_path / "places.parquet")
    np.testing.assert_allclose(posteriors(transient, "days"), expected, rtol=0, atol=1e-15)
    transient.drop()
    spoken.rollback("1")
    spoken.compact()
    np.testing.assert_allclose(posteriors(spoken, "days"), expected, rtol=0, atol=1e-15)
    spoken.calibrate("days", folds=None)
    assert spoken.evaluate("days", calibrated=True).rows == 200
    again = nbsql.fit(con, "days", target="place", exclude=["i"], name="places", replace=True)
    assert con.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'places' AND table_name = 'weights'"
    ).fetchall() == [(0,)]
    assert again.relevance().fetchall()
    elsewhere.drop()
    assert nbsql.models(con) == ["places"]


@pytest.mark.slow
def test_what_is_counted_is_there_as_in_naive_bayes(con, spoken):
    naive = nbsql.fit(con, "days", target="place", id="i", weight="w")
    for name in ("priors", "likelihoods", "statistics"):
        alike(getattr(spoken, name).fetchall(), getattr(naive, name).fetchall())
    assert spoken.families == naive.families
    alike(spoken.relevance().fetchall(), naive.relevance().fetchall())


@pytest.mark.slow
def test_slices_of_the_counts_drift(con):
    con.execute(DAYS)
    options = {"target": "place", "exclude": ["i", "w"]}
    sliced = nbsql.fit(con, "days", slice_by="i % 2", method="logistic", **options)
    assert weights(sliced) == pytest.approx(weights(nbsql.fit(con, "days", method="logistic", **options)), abs=1e-9)
    naive = nbsql.fit(con, "days", slice_by="i % 2", **options)
    alike(sliced.drift("0", "1").fetchall(), naive.drift("0", "1").fetchall())


@pytest.mark.slow
def test_features_that_tell_most(con):
    con.execute(DAYS)
    options = {"target": "place", "exclude": ["i", "w"], "method": "logistic"}
    best = nbsql.fit(con, "days", features=nbsql.Best(2), **options)
    assert len(best.families) == 2
    assert weights(best) == pytest.approx(weights(nbsql.fit(con, "days", features=list(best.families), **options)), abs=1e-9)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_little_to_learn(con):
    con.execute(
        "CREATE TABLE rows AS SELECT i % 4 = 0 AS y, 7 AS always, 'one' AS same, NULL::DOUBLE AS never FROM range(8) AS t(i)"
    )
    model = nbsql.fit(con, "rows", target="y", method="logistic")
    assert model.predict_proba("FROM rows LIMIT 1").fetchall()[0][-2:] == pytest.approx((0.75, 0.25), abs=1e-9)
    model = nbsql.fit(con, "rows", target="y", features=[], method="logistic")
    assert model.linear().fetchall()[0][-1] == pytest.approx(np.log(1 / 3), abs=1e-9)
    model = nbsql.fit(con, "FROM rows WHERE y", target="y", method="logistic")
    assert model.predict("FROM rows LIMIT 1").fetchall()[0][-2:] == (True, 1.0)


@pytest.mark.slow
def test_a_search_with_a_loose_tolerance_does_not_end_where_a_step_still_gains_much(con):
    columns = "i % 20 AS a, i % 20 + i % 3 AS b, i % 20 - i % 5 AS c"  # which naive Bayes counts three times
    rows = f"SELECT i % 20 + i % 7 > 14 AS y, {columns} FROM range(200) AS t(i)"
    losses = [
        nbsql.fit(con, rows, target="y", method=nbsql.Logistic(tolerance=tolerance)).evaluate(rows).log_loss
        for tolerance in (1e-8, 5)
    ]
    assert losses[1] - losses[0] < nbsql.learning.logistic.MOST_GAIN / 2  # by the change of the weights alone it is 0.023


def test_an_iteration_that_took_no_step_has_no_change_to_tell_of(con):
    data = "SELECT i % 2 AS y, i % 2 * 100.0 + i % 3 AS x, i % 2 * 50.0 + i % 5 AS z FROM range(300) AS t(i)"
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, data, target="y", method=nbsql.Logistic(iterations=1))
    assert str(caught.value) == "the weights are not found in 1 iteration; allow more iterations, or use a larger penalty"


# What it refuses. ----------------------------------------------------------------------------------------------------


REFUSED = [
    (
        {"unseen": "smooth"},
        "unseen='smooth' of 'sky' is of likelihoods, and method='logistic' has weights; leave it out",
    ),
    (
        {"families": {"sky": nbsql.Text()}},
        "method='logistic' takes numbers, categories, booleans and count columns, and 'sky' is text; "
        "leave it out with exclude=['sky']",
    ),
    (
        {"method": nbsql.Logistic(penalty=0)},
        "the weights of the values of 'sky' are not determined: one of them follows from the other features; "
        "use a larger penalty, such as 0.5",
    ),
    (
        {"method": nbsql.Logistic(iterations=2)},
        "the weights are not found in 2 iterations, the last of which changed one by 0.0018; "
        "allow more iterations, or use a larger penalty",
    ),
]  # fmt: skip


def test_refusals(con, refused):
    con.execute(DAYS)
    con.execute("UPDATE days SET sky = 'sun' WHERE sky IS NULL")
    for options, message in REFUSED:
        with refused(nbsql.InputError, message):
            nbsql.fit(con, "days", target="place", name="m", exclude=["i", "w"], **{"method": "logistic", **options})


def test_numbers_that_make_each_other_up_have_weights_by_a_penalty(con):
    x, y = data("iris")
    load(con, np.column_stack([x[:, 0], x[:, 1], x[:, 0] + 2 * x[:, 1]]), y % 2)
    model = nbsql.fit(con, "rows", target="y", id="i", method="logistic")
    other = theirs(np.column_stack([x[:, 0], x[:, 1], x[:, 0] + 2 * x[:, 1]]), y % 2)
    np.testing.assert_allclose(coefficients(model, [("x1", None), ("x2", None), ("x3", None)])[0], other.coef_, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        "(1.0, 'a'), (2.0, 'a'), (4.0, 'b'), (5.0, 'b')",
        "(1.0, 'a'), (2.0, 'a'), (3.0, 'a'), (3.0, 'b'), (4.0, 'b'), (5.0, 'b')",
        "(1.0, 'a'), (2.0, 'a'), (4.0, 'b'), (5.0, 'b'), (8.0, 'c'), (9.0, 'c')",
    ],
    ids=["wholly", "but for a tie", "three classes"],
)
def test_separable_classes_need_a_penalty(con, refused, rows):
    source = f"SELECT * FROM (VALUES {rows}) AS t(x, y)"
    with refused(
        nbsql.InputError,
        "the features separate the classes of 'y', so that weights without a penalty have no bounds; use penalty=0.5, say",
    ):
        nbsql.fit(con, source, target="y", name="m", method=nbsql.Logistic(penalty=0))
    assert nbsql.fit(con, source, target="y", method=nbsql.Logistic(penalty=1e-3)).evaluate(source).accuracy >= 5 / 6


@pytest.mark.filterwarnings("ignore:'y' has one class only:nbsql.NbsqlWarning")
def test_a_model_of_one_class_has_no_weights_of_values_and_is_loaded(con):
    rows = "SELECT 'a' AS y, 'w' || i % 4 AS c FROM range(20) AS t(i)"
    model = nbsql.fit(con, rows, target="y", method="logistic", name="one")
    assert con.execute("SELECT count(*) FROM one.lookups").fetchone() == (0,)
    assert nbsql.load(con, "one").predict(rows).fetchall() == model.predict(rows).fetchall()


def test_more_weights_than_can_be_learnt(con, refused):
    con.execute(
        "CREATE TABLE pages AS SELECT 'page ' || i % 600 AS url, i % 7 AS n, i % 3 = 0 AS read FROM range(2000) AS t(i)"
    )
    with refused(
        nbsql.InputError,
        "method='logistic' would learn 602 weights, and takes at most 500; 'url' alone has 600 a class: "
        "leave it out with exclude=['url'], or cut it into fewer values",
    ):
        nbsql.fit(con, "pages", target="read", name="m", method="logistic")


def test_a_label_that_is_missing_or_broken(con, refused):
    con.execute(DAYS)
    with refused(nbsql.InputError, "every row of the query has a NULL 'place'; a model needs rows with a class"):
        nbsql.fit(con, "SELECT * REPLACE (NULL::VARCHAR AS place) FROM days", target="place", method="logistic")
