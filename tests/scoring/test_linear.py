"""The weights of a model, times what a row holds, are its joint log-likelihoods."""

import math
import random
from collections import Counter
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from support.inserted import insert

import nbsql

SHARED = nbsql.Gaussian(shared_variance=True)
FAMILIES = {
    "sky": nbsql.Categorical(nulls="category", unseen="smooth"),
    "calm": nbsql.Bernoulli(nulls="category"),
    "wind": SHARED,
    "calls": nbsql.Poisson(a=1, b=1),
    "wait": nbsql.Exponential(),
    "fails": nbsql.Geometric(a=1, b=1),
    "height": nbsql.Binned(by=[3, 6]),
    "words": nbsql.Multinomial(["w1", "w2"]),
    "others": nbsql.Complement(["v1", "v2"]),
    "bag": nbsql.Tokens(unseen="smooth"),
    "note": nbsql.Text(tfidf=True),
    "memo": nbsql.Text(event="bernoulli"),
}


def table(seed, rows, classes, unseen=False):
    dice = random.Random(seed)  # noqa: S311
    words = [*"abcdef", "new"] if unseen else list("abcdef")

    def row():
        y = dice.randrange(classes)
        return {
            "sky": dice.choice([None, *words[: 3 + y], words[-1]]),
            "calm": dice.choice([None, True, y > 0]),
            "wind": dice.gauss(y, 1),
            "calls": dice.randrange(1 + 2 * y + 3),
            "wait": dice.expovariate(1 + y),
            "fails": dice.randrange(4),
            "height": dice.choice([None, 1.0 + y, 4.0, 7.0]),
            "w1": dice.randrange(4),
            "w2": dice.randrange(4 + y),
            "v1": dice.randrange(4),
            "v2": dice.randrange(4 + y),
            "bag": dice.choices(words, k=dice.randrange(5)),
            "note": " ".join(dice.choices(words, k=dice.randrange(5))),
            "memo": " ".join(dice.choices(words, k=dice.randrange(1, 5))),
            "y": f"class {y}",
        }

    return [row() for _ in range(rows)]


def relation(con, name, rows):
    kinds = {"sky": "VARCHAR", "calm": "BOOLEAN", "bag": "VARCHAR[]", "note": "VARCHAR", "memo": "VARCHAR", "y": "VARCHAR"}
    whole = {"i", "calls", "fails", "w1", "w2", "v1", "v2"}
    columns = ", ".join(f"{key} {kinds.get(key, 'INTEGER' if key in whole else 'DOUBLE')}" for key in rows[0])
    con.execute(f"CREATE TABLE {name} ({columns})")
    insert(con, name, [list(row.values()) for row in rows])


def factor(row, known, feature, value, other, times):
    """What a weight is multiplied with."""
    if times == "1":
        assert feature is None
        return 1.0
    assert feature is not None
    if times in ("x", "x^2", "x y"):
        x = row[value or feature]
        return float({"x": 1.0, "x^2": x, "x y": row.get(other)}[times] * x)
    if times in ("count", "has"):
        tokens = Counter(row[feature] if isinstance(row[feature], list) else row[feature].split())
        return float(tokens[value]) if times == "count" else float(tokens[value] > 0)
    held = row[feature]
    if feature == "height" and held is not None:
        held = "(-inf, 3)" if held < 3 else "[3, 6)" if held < 6 else "[6, inf)"
    texts = [token for token in held if token not in known] if isinstance(held, list) else None
    if times == "unseen":
        return float(len(texts)) if texts is not None else float(held is not None and held not in known)
    assert times == "is"
    held = str(held).lower() if isinstance(held, bool) else held
    return float(held == value)


def scores(weights, row):
    found = {}
    for label, feature, value, *between, times, weight in weights:
        known = {w[2] for w in weights if w[1] == feature and w[2] is not None}
        other = between[0] if between else None
        found[label] = found.get(label, 0.0) + weight * factor(row, known, feature, value, other, times)
    return found


def hold(con, model, weights, rows):
    """The scores are the joint log-likelihoods, of two classes their difference, of more all but for one number a row."""
    labels = sorted(model.classes)
    relation(con, "new", [{"i": number, **row} for number, row in enumerate(rows)])
    joints = [row[-len(labels) :] for row in sorted(model.joint_log_likelihood("new").fetchall(), key=itemgetter(0))]
    predicted = [row[-2] for row in sorted(model.predict("new").fetchall(), key=itemgetter(0))]
    for row, joint, prediction in zip(rows, joints, predicted, strict=True):
        found = scores(weights, row)
        if len(labels) == 2:
            assert found == {labels[1]: pytest.approx(joint[1] - joint[0], rel=1e-9, abs=1e-9)}
            assert prediction == labels[found[labels[1]] > 0] or found[labels[1]] == pytest.approx(0, abs=1e-9)
        else:
            shift = joint[0] - found[labels[0]]
            assert found == {
                label: pytest.approx(j - shift, rel=1e-9, abs=1e-9) for label, j in zip(labels, joint, strict=True)
            }
            assert prediction in {label for label in labels if found[label] >= max(found.values()) - 1e-9}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.usefixtures("form")
def test_the_linear_form_of_every_family_that_has_one(con, classes):
    relation(con, "rows", table(1, 80, classes))
    rows = table(2, 25, classes, unseen=True)
    model = nbsql.fit(con, "rows", target="y", families=FAMILIES)
    weights = model.linear().fetchall()
    assert model.linear().columns == ["class", "feature", "value", "times", "weight"]
    assert {row[3] for row in weights} == {"1", "x", "is", "unseen", "count", "has"}
    assert sum(row[1] is None for row in weights) == (1 if classes == 2 else 3)
    hold(con, model, weights, rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.usefixtures("form")
def test_the_quadratic_form_of_numbers_with_variances_of_their_own(con, classes):
    relation(con, "rows", table(3, 80, classes))
    rows = table(4, 25, classes)
    families = {"wind": nbsql.Gaussian(), "wait": nbsql.Gaussian(prior=nbsql.NormalInverseGamma()), "fails": SHARED}
    model = nbsql.fit(con, "rows", target="y", features=["sky", *families], families=families)
    weights = model.quadratic().fetchall()
    assert model.quadratic().columns == ["class", "feature", "value", "other", "times", "weight"]
    assert {row[1] for row in weights if row[4] == "x^2"} == {"wind", "wait"}
    hold(con, model, weights, rows)


def test_the_posterior_of_a_shared_variance_is_the_logistic_function(con):
    data = "SELECT * FROM (VALUES ('a', 1.0), ('a', 2.0), ('a', 6.0), ('b', 5.0), ('b', 9.0)) AS rows(y, x)"
    model = nbsql.fit(con, data, target="y", families={"x": SHARED})
    variance = (4 + 1 + 9 + 4 + 4) / 5
    assert {row[0]: row[5:7] for row in model.likelihoods} == {
        "a": (pytest.approx(3.0), pytest.approx(variance)),
        "b": (pytest.approx(7.0), pytest.approx(variance)),
    }
    bias, slope = (row[-1] for row in model.linear())
    assert slope == pytest.approx((7 - 3) / variance, rel=1e-13)
    assert bias == pytest.approx(math.log(2 / 3) - (49 - 9) / (2 * variance), rel=1e-13)
    for x in (-3.0, 4.0, 5.5, 40.0):
        ((*_, probability),) = model.predict_proba(f"SELECT {x!r}::DOUBLE AS x").fetchall()
        assert probability == pytest.approx(1 / (1 + math.exp(-(slope * x + bias))), rel=1e-12)


@pytest.mark.parametrize(("variance", "lost"), [("population", 0), ("sample", 1)])
def test_a_shared_variance_is_pooled_over_batches_and_follows_them(con, variance, lost):
    numbers = np.random.default_rng(5).normal(1e9, 1, 300)
    con.register("numbers", pa.table({"x": numbers, "i": np.arange(300)}))
    con.execute("CREATE TABLE parts AS SELECT x, i % 3 AS y, i // 100 AS part FROM numbers")
    family = nbsql.Gaussian(shared_variance=True, variance=variance)
    model = nbsql.fit(con, "SELECT x, y FROM parts WHERE part = 0", target="y", families={"x": family})
    model.update("SELECT x, y FROM parts WHERE part = 1")
    model.update("SELECT x, y FROM parts WHERE part = 2", batch="last")
    model.forget(batch="last")
    within = sum(((g - g.mean()) ** 2).sum() for g in (numbers[:200][np.arange(200) % 3 == k] for k in range(3)))
    assert [row[6] for row in model.likelihoods] == [pytest.approx(within / (200 - 3 * lost), rel=1e-7)] * 3


def test_a_class_without_a_number_and_the_floor(con):
    data = "SELECT * FROM (VALUES ('a', 2.0), ('a', 2.0), ('b', 6.0), ('c', NULL)) AS rows(y, x)"
    family = nbsql.Gaussian(shared_variance=True, floor=0.5)
    model = nbsql.fit(con, data, target="y", families={"x": family})
    total = (2 * (2 - 10 / 3) ** 2 + (6 - 10 / 3) ** 2) / 3
    assert {row[0]: row[5:7] for row in model.likelihoods} == {
        label: (pytest.approx(mean), pytest.approx(0.5 * total)) for label, mean in [("a", 2.0), ("b", 6.0), ("c", 10 / 3)]
    }


def test_the_same_line_as_the_logistic_regression_of_a_saturated_model(con):
    """With one category, naive Bayes without smoothing and unpenalised logistic regression are the same model."""
    con.execute("""CREATE TABLE sky AS FROM (VALUES ('sun', 'no', 6), ('sun', 'yes', 2), ('rain', 'no', 3), ('rain', 'yes', 9))
        AS rows(sky, play, n)""")
    model = nbsql.fit(con, "sky", target="play", weight="n", alpha=0)
    weights = {(row[1], row[2]): row[-1] for row in model.linear()}
    x = np.array([[0], [0], [1], [1]])
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(x, [0, 1, 0, 1], sample_weight=[6, 2, 3, 9])
    ours = weights[None, None] + weights["sky", "sun"], weights["sky", "rain"] - weights["sky", "sun"]
    assert ours == (pytest.approx(theirs.intercept_[0], abs=1e-6), pytest.approx(theirs.coef_[0, 0], abs=1e-6))


NO_POLYNOMIAL = "no polynomial of its number; cut it into bins, families={'x': nbsql.Binned()}"


@pytest.mark.parametrize(
    ("families", "degree", "reason"),
    [
        (
            {},
            "linear",
            "'x' is gaussian with a variance of its own in every class; "
            "use quadratic(), or fit it with nbsql.Gaussian(shared_variance=True)",
        ),
        ({"x": "lognormal"}, "linear", f"'x' is lognormal, {NO_POLYNOMIAL}"),
        ({"x": "lognormal"}, "quadratic", f"'x' is lognormal, {NO_POLYNOMIAL}"),
        ({"x": "kernel"}, "linear", f"'x' is kernel, {NO_POLYNOMIAL}"),
        ({"w": "gaussian", "x": "lognormal"}, "linear", f"'x' is lognormal, {NO_POLYNOMIAL}"),  # the quadratic form is no cure
        (
            {"j": nbsql.Joint(["x", "t"], backoff="naive")},
            "linear",
            "what 'j' adds depends on whether its values were ever seen together; fit it without the backoff",
        ),
        ({"x": SHARED, "t": nbsql.Text(norm="l2")}, "linear", "'t' divides by the length of the text with norm='l2'"),
    ],
)
def test_a_feature_without_such_a_form_is_named(con, refused, families, degree, reason):
    data = "SELECT *, x AS w FROM (VALUES ('a', 2.0, 'u v'), ('a', 3.0, 'u'), ('b', 6.0, 'v')) AS rows(y, x, t)"
    model = nbsql.fit(con, data, target="y", exclude=[] if "w" in families else ["w"], families=families)
    with refused(nbsql.ModelError, f"the model has no {degree} form: {reason}"):
        getattr(model, degree)()


def test_a_degree_is_1_or_2(con, refused):
    model = nbsql.fit(con, "SELECT i % 2 AS y, i * i % 7 AS x FROM range(20) AS t(i)", target="y", families={"x": "poisson"})
    for degree in (0, 3, True, "1"):
        with refused(nbsql.InputError, f"degree must be 1 or 2, not {degree!r}"):
            model.weights(degree)
    assert model.weights().columns == model.linear().columns
    assert "other" in model.weights(2).columns


def test_one_class_has_no_weights(con, refused):
    with pytest.warns(nbsql.NbsqlWarning):
        model = nbsql.fit(con, "SELECT 'a' AS y, 'u' AS x", target="y")
    with refused(nbsql.ModelError, "the model has one class only; weights tell two or more apart"):
        model.linear()


def test_the_weights_are_those_of_the_model_as_it_is_when_they_are_read(con):
    data = "SELECT * FROM (VALUES ('a', 'u'), ('a', 'v'), ('b', 'v')) AS rows(y, x)"
    model = nbsql.fit(con, data, target="y", name="m")
    weights = model.linear()
    before = weights.fetchall()
    nbsql.load(con, "m").update("SELECT 'c' AS y, 'u' AS x")
    assert {row[0] for row in before} == {"b"}
    assert {row[0] for row in weights.fetchall()} == {"a", "b", "c"}


def test_the_weights_are_computed_once_when_they_are_read(con, monkeypatch):
    model = nbsql.fit(con, "SELECT i % 2 AS y, 'v' || i % 3 AS x FROM range(60) AS t(i)", target="y")
    sent = []
    send = model.state.engine._send
    monkeypatch.setattr(model.state.engine, "_send", lambda sql: sent.append(sql) or send(sql))
    for query in (model.linear(), model.scorecard().lines):
        text = query.sql
        sent.clear()
        assert query.fetchall()
        assert sent.count(text) == 1
