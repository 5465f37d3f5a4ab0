"""How sure the numbers of an evaluation are, and the difference of two models: against scipy, and DeLong et al. row by row."""

import math

import duckdb
import numpy as np
import pytest
from evaluation.test_evaluate import Oracle, rows
from scipy import stats

import nbsql

CLOSE = {"rel": 1e-9, "abs": 1e-12}
Z = stats.norm.ppf(0.975)

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def intervals_of(evaluation):
    return {(label, metric): numbers for label, metric, *numbers in evaluation.intervals}


def wins(positive, p):
    """Which rows of the class beat which of the others, a tie counting half."""
    here, there = p[positive], p[~positive]
    return np.array((here[:, None] > there[None, :]) + 0.5 * (here[:, None] == there[None, :]))


def delong(beaten):
    """The area, or the difference of two, and its standard error, from `wins`."""
    error = beaten.mean(1).var(ddof=1) / beaten.shape[0] + beaten.mean(0).var(ddof=1) / beaten.shape[1]
    return float(beaten.mean()), math.sqrt(error)


def losses(oracle):
    """What an evaluation takes the means of, a row each."""
    true = oracle.p[np.arange(len(oracle.y)), [oracle.labels.index(label) for label in oracle.y]]
    squares = (oracle.p**2).sum(1) - true**2 + (1 - true) ** 2
    right = np.array(oracle.y) == np.array(oracle.prediction)
    return {"accuracy": right * 1.0, "log_loss": -np.log(true), "brier": squares / (2 if len(oracle.labels) == 2 else 1)}


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_are_those_of_wilson_and_delong(con, classes):
    source = rows(classes)
    model = nbsql.fit(con, source, target="label", exclude=["i", "w"], name="m")
    evaluation = model.evaluate(source)
    oracle, found = Oracle(model, source), intervals_of(evaluation)
    y, prediction = np.array(oracle.y), np.array(oracle.prediction)
    means = losses(oracle)
    shares = {(None, "accuracy"): means.pop("accuracy")}
    for label in oracle.labels:
        shares[label, "precision"] = (y == prediction)[prediction == label]
        shares[label, "recall"] = (y == prediction)[y == label]
        shares[label, "selection_rate"] = prediction == label
        shares[label, "false_positive_rate"] = (prediction == label)[y != label]
        shares[label, "false_negative_rate"] = (prediction != label)[y == label]
    for key, right in shares.items():
        value, error, low, high = found.pop(key)
        wilson = stats.binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson")
        assert (value, low, high) == pytest.approx((right.mean(), wilson.low, wilson.high), **CLOSE)
        assert error == pytest.approx(math.sqrt(value * (1 - value) / len(right)), **CLOSE)
    areas = {label: delong(wins(*oracle.one(label))) for label in oracle.labels}
    if classes == 2:
        areas[None] = areas[oracle.labels[1]]
    for label, (area, error) in areas.items():
        low, high = max(area - Z * error, 0), min(area + Z * error, 1)
        assert found.pop((label, "roc_auc")) == pytest.approx([area, error, low, high], **CLOSE)
    for metric, values in means.items():
        mean, error = values.mean(), stats.sem(values)
        expected = [mean, error, max(mean - Z * error, 0), mean + Z * error]
        assert found.pop((None, metric)) == pytest.approx(expected, **CLOSE)
        assert getattr(evaluation, metric) == pytest.approx(mean, **CLOSE)
    assert not found


def test_a_weight_counts_as_so_many_rows(con):
    source = rows(3)
    model = nbsql.fit(con, source, target="label", exclude=["i", "w"], name="m")
    weighed = intervals_of(model.evaluate(source, weight="w"))
    copied = intervals_of(model.evaluate(f"SELECT source.* FROM ({source}) AS source, range(w)"))
    assert weighed.keys() == copied.keys()
    for key, numbers in weighed.items():
        assert numbers == pytest.approx(copied[key], **CLOSE)


def test_one_row_of_a_class_says_nothing_of_how_sure_an_area_is(con):
    model = nbsql.fit(con, "SELECT i % 2 AS y, i AS x FROM range(10) AS t(i)", target="y", name="m")
    found = intervals_of(model.evaluate("SELECT i // 4 AS y, i AS x FROM range(5) AS t(i)"))
    assert found[1, "roc_auc"][0] == 1.0
    assert found[1, "roc_auc"][1:] == [None, None, None]
    alone = intervals_of(model.evaluate("SELECT 0 AS y, 0 AS x"))
    assert alone[None, "log_loss"][1:] == [None, None, None]
    assert (0, "roc_auc") not in alone
    assert alone[None, "accuracy"][0] in (0.0, 1.0)


@pytest.mark.parametrize("weight", [0.2, 0.15])  # which are 1 together, and less
def test_a_weight_of_one_or_less_says_nothing_of_how_sure_a_mean_is(con, weight):
    source = f"SELECT i % 2 AS y, i % 3 + i % 2 AS x, {weight} AS w FROM range(5) AS t(i)"
    model = nbsql.fit(con, "SELECT i % 2 AS y, i % 3 + i % 2 AS x FROM range(30) AS t(i)", target="y", name="m")
    evaluation = model.evaluate(source, weight="w")
    found = intervals_of(evaluation)
    for label, metric in [(None, "log_loss"), (None, "brier"), (None, "roc_auc"), (0, "roc_auc"), (1, "roc_auc")]:
        assert found[label, metric][0] is not None
        assert found[label, metric][1:] == [None, None, None]
    compared = model.compare(model, source, weight="w").fetchall()
    assert [row[5:] for row in compared] == [(None, None, None)] * 6


@pytest.mark.parametrize("wrong", ["-1", "NULL", "'inf'", "'nan'", "1e308"])
@pytest.mark.forms("wrong")
def test_weights_that_an_evaluation_refuses_are_refused_by_a_comparison(con, wrong):
    """What only a sum shows is refused by `monitor`, too, which leaves rows without a weight out."""
    model = nbsql.fit(con, "SELECT i % 2 AS y, i % 3 AS x FROM range(30) AS t(i)", target="y", name="m")
    weight = f"CASE WHEN i < 2 THEN {wrong}::DOUBLE ELSE 1 END"
    source = f"SELECT i % 2 AS y, i % 3 AS x, {weight} AS w FROM range(1, 5) AS t(i)"
    source += f" UNION ALL SELECT NULL, 1, {wrong}::DOUBLE" if wrong != "1e308" else f" UNION ALL {source}"
    asked = [lambda: model.evaluate(source, weight="w"), lambda: model.compare(model, source, weight="w")]
    for ask in [*asked, *([lambda: model.monitor(source, weight="w")] if wrong == "1e308" else [])]:
        with pytest.raises(nbsql.InputError) as caught:
            ask()
        assert str(caught.value) == (
            "the weights 'w' sum to inf, and must sum to 1e-150 to 1e+150; multiply all weights by one number"
            if wrong == "1e308"
            else "1 value of the weight column 'w' is negative, NULL or not finite; weights must be at least 0"
        )
    if wrong != "1e308":
        found = {metric: value for *_, metric, value, _, _, _ in model.monitor(source, weight="w").fetchall()}
        assert (found["rows"], found["labelled"]) == (3, 1)


@pytest.mark.slow
def test_a_class_that_the_model_does_not_know_is_one_of_three(con):
    """The sum of the squares is then over three classes, in an evaluation, its intervals, slices and a comparison."""
    model = nbsql.fit(con, rows(2), target="label", features=["a", "b"], name="m")
    label = "CASE WHEN i % 10 = 3 THEN 'other' ELSE label END AS label"
    source = f"SELECT * REPLACE ({label}), i // 2 % 2 AS part FROM ({rows(2)})"
    evaluation = model.evaluate(source, by="part")
    oracle = Oracle(model, source)
    known = np.array([[y == label for label in oracle.labels] for y in oracle.y])
    brier = ((oracle.p - known) ** 2).sum(1).mean() + np.mean([y == "other" for y in oracle.y])
    found, slices = intervals_of(evaluation), evaluation.slices
    assert slices is not None
    assert evaluation.brier == pytest.approx(brier, **CLOSE)
    assert found[None, "brier"][0] == pytest.approx(brier, **CLOSE)
    assert sum(row[1] * row[7] for row in slices) / evaluation.rows == pytest.approx(brier, **CLOSE)
    assert evaluation.classes[1].roc_auc is not None
    assert all(row[8] is not None for row in slices)  # that of the larger class of the model
    compared = {(label, metric): value for label, metric, value, *_ in model.compare(model, source)}
    assert compared[None, "brier"] == pytest.approx(brier, **CLOSE)
    assert (None, "roc_auc") not in found  # roc_auc is then a mean over the classes
    assert (None, "roc_auc") not in compared


@pytest.mark.parametrize("classes", [2, 3])
def test_two_models_are_compared_row_by_row(con, classes):
    source = rows(classes)
    models = [nbsql.fit(con, source, target="label", features=names, name=names[0]) for names in (["a", "b"], ["b"])]
    found = {(label, metric): numbers for label, metric, *numbers in models[0].compare(models[1], source)}
    oracles = [Oracle(model, source) for model in models]
    expected = {}
    one, other = map(losses, oracles)
    for metric in one:
        expected[None, metric] = (one[metric].mean(), other[metric].mean(), stats.sem(one[metric] - other[metric]))
    for label in oracles[0].labels:
        beaten = [wins(*oracle.one(label)) for oracle in oracles]
        expected[label, "roc_auc"] = (beaten[0].mean(), beaten[1].mean(), delong(beaten[0] - beaten[1])[1])
    if classes == 2:
        expected[None, "roc_auc"] = expected[oracles[0].labels[1], "roc_auc"]
    assert found.keys() == expected.keys()
    for key, (value, theirs, error) in expected.items():
        difference = value - theirs
        reach = Z * error
        assert found[key] == pytest.approx([value, theirs, difference, error, difference - reach, difference + reach], **CLOSE)


def test_two_models_are_compared_by_weight(con):
    source = rows(3)
    one, other = (nbsql.fit(con, source, target="label", features=[name], name=name) for name in "ab")
    weighed = one.compare(other, source, weight="w").fetchall()
    copied = one.compare(other, f"SELECT source.* FROM ({source}) AS source, range(w)").fetchall()
    assert [row[:2] for row in weighed] == [row[:2] for row in copied]
    for mine, theirs in zip(weighed, copied, strict=True):
        assert mine[2:] == pytest.approx(theirs[2:], **CLOSE)


def test_a_model_beside_itself_is_no_better(con):
    model = nbsql.fit(con, rows(2), target="label", features=["a"], name="m")
    for *_, difference, error, low, high in model.compare(model, rows(2)):
        assert (difference, error, low, high) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.slow
def test_what_cannot_be_compared_is_said(con):
    model = nbsql.fit(con, rows(2), target="label", features=["a"], name="m")
    with pytest.raises(nbsql.InputError, match=r"^other must be a model, as nbsql.load returns it, not 'm'$"):
        model.compare("m", rows(2))
    another = nbsql.fit(con, rows(2), target="a", features=["b"], name="n")
    message = "model 'm' predicts 'label' and the other 'a'; compare models of one target"
    with pytest.raises(nbsql.InputError, match=f"^{message}$"):
        model.compare(another, rows(2))
    twice, thrice = (
        nbsql.fit(con, f"SELECT label, w FROM ({rows(2)}) AS source", target="label", derive={"more": f"w * {n}"}, name=f"m{n}")
        for n in (2, 3)
    )
    with pytest.raises(
        nbsql.InputError, match=r"^the models derive 'more' by different expressions; fit one of them by another"
    ):
        twice.compare(thrice, rows(2))
    with duckdb.connect() as elsewhere:
        far = nbsql.fit(elsewhere, rows(2), target="label", features=["a"], name="m")
        message = "the models are not in one connection; load both of them with the same one"
        with pytest.raises(nbsql.InputError, match=f"^{message}$"):
            model.compare(far, rows(2))


@pytest.mark.slow
def test_intervals_of_a_cross_validation_are_of_its_out_of_fold_predictions(con):
    con.execute(
        "CREATE OR REPLACE TABLE dealt AS SELECT i % 3 AS fold, CASE WHEN hash(i) % 5 < 3 THEN 'a' ELSE 'b' END AS y, "
        "'v' || hash(i * 7) % 3 AS v, hash(i) % 5 + hash(i * 11) % 9 / 3.0 AS x FROM range(90) AS t(i)"
    )
    found = intervals_of(nbsql.cross_validate(con, "dealt", target="y", fold="fold").evaluation)
    lost, right = [], 0
    for fold in range(3):
        model = nbsql.fit(con, f"SELECT * FROM dealt WHERE fold <> {fold}", target="y", exclude=["fold"])
        for y, *_, a, b in model.predict_proba(f"SELECT * FROM dealt WHERE fold = {fold}", columns=["y"]):
            lost.append(-math.log(a if y == "a" else b))
            right += (a > b) == (y == "a")
    n, z, p = 90, 1.959963984540054, right / 90
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert found[None, "accuracy"][2:] == pytest.approx((middle - reach, middle + reach), rel=1e-9)
    mean = sum(lost) / n
    error = math.sqrt(sum((loss - mean) ** 2 for loss in lost) / (n - 1) / n)
    assert found[None, "log_loss"] == pytest.approx((mean, error, mean - z * error, mean + z * error), rel=1e-9)


@pytest.fixture
def makers(con):
    """Models of the same rows that derive or join other columns."""
    con.execute("""CREATE TABLE t AS SELECT i AS id, if(hash(i) % 3 = 0, 'p', 'q') AS y,
        (10 + hash(i, 3) % 50)::VARCHAR || ' €' AS price,
        if(hash(i, 1) % 4 = 0, 'NA', 'k' || hash(i, 2) % 4) AS x, hash(i, 4) % 9 AS v,
        DATE '2024-01-01' + (hash(i, 5) % 300)::INT AS d
        FROM range(300) AS r(i)""")
    con.execute("CREATE TABLE sizes AS SELECT 'k' || i AS x, i * 1.5 AS size FROM range(4) AS r(i)")
    number = "CAST(replace(price, ' €', '') AS DOUBLE)"
    options = {
        "plain": {"features": ["x", "v"]}, "words": {"features": ["x", "v"], "missing": ["NA"]},
        "derived": {"features": ["x", "p"], "derive": {"p": number}},
        "replaced": {"features": ["price"], "derive": {"price": number}}, "text": {"features": ["price"]},
        "dates": {"features": ["d", "v"]}, "joined": {"features": ["size", "v"], "joins": [nbsql.Join("sizes", on="x")]},
    }  # fmt: skip
    return {name: nbsql.fit(con, "FROM t WHERE id < 200", target="y", **each) for name, each in options.items()}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_models_that_derive_or_join_columns_are_compared_as_each_is_evaluated(makers):
    rest = "FROM t WHERE id >= 200"
    losses = {name: model.evaluate(rest).log_loss for name, model in makers.items()}
    pairs = [("plain", "derived"), ("plain", "dates"), ("plain", "joined"), ("text", "derived"), ("derived", "dates")]
    for one, other in [*pairs, *(pair[::-1] for pair in pairs)]:
        ((value, against),) = (row[2:4] for row in makers[one].compare(makers[other], rest).fetchall() if row[1] == "log_loss")
        assert (value, against) == pytest.approx((losses[one], losses[other]), abs=1e-9)
    reads = "one of the models replaces {}, which the other reads as it is; fit both with the same missing and derive"
    each = "each of the models joins columns that the other does not; compare what evaluate says of each"
    for one, other, line in (
        ("words", "plain", reads.format("'x'")), ("replaced", "text", reads.format("'price'")),
        ("dates", "joined", each), ("replaced", "derived", reads.format("'price'")),
    ):  # fmt: skip
        for first, second in ((one, other), (other, one)):
            with pytest.raises(nbsql.InputError) as caught:
                makers[first].compare(makers[second], rest)
            assert str(caught.value) == line
