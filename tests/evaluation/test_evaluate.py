"""Judging a model: held against scikit-learn's metrics, and worked by hand where scikit-learn has no answer."""

import itertools
import json
import math
import re

import duckdb
import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

import nbsql
import nbsql.rendering.renderer

EPSILON = np.finfo(float).eps
RATES = ("precision", "recall", "f1")
CLOSE = {"rel": 1e-9, "abs": 1e-9}

# Few categories and whole numbers, so that many rows have the same posterior; 5 rows lack the class, 3 a feature.
ROWS = """
    SELECT i, {label} AS label, 1 + i * 7 % 4 AS w,
        CASE WHEN i % 97 = 3 THEN NULL ELSE 'level ' || (i * i + i // 3) % 5 END AS a,
        CAST((i * 31 + i % {classes}) % 11 AS DOUBLE) + (i % {classes}) AS b
    FROM range({rows}) AS t(i)
"""


def rows(classes, label="CAST(i % {classes} AS VARCHAR)", count=300):
    known = label.format(classes=classes)
    return ROWS.format(classes=classes, rows=count, label=f"CASE WHEN i % 61 = 7 THEN NULL ELSE {known} END")


class Oracle:
    """The posteriors of a model for the rows that have a class, and what scikit-learn makes of them."""

    def __init__(self, model, source, target="label", weight=None):
        query = model.predict_proba(f"SELECT * FROM ({source}) AS t WHERE {target} IS NOT NULL")
        columns, found = query.columns, sorted(query.fetchall(), key=repr)  # by what the rows begin with, whatever the model
        self.labels = sorted(model.classes)
        self.y = [row[columns.index(target)] for row in found]
        self.prediction = [row[columns.index("prediction")] for row in found]
        names = [f"probability_{str(label).lower() if isinstance(label, bool) else label}" for label in self.labels]
        self.p = np.array([[row[columns.index(name)] for name in names] for row in found])  # a column a class, by label
        if len(names) == 2:  # both classes in one order: the larger posterior hides how the smaller was rounded
            self.p = np.where(self.p > 0.5, self.p, 1 - self.p[:, ::-1])
        self.w = np.ones(len(found)) if weight is None else np.array([float(row[columns.index(weight)]) for row in found])

    def one(self, label):
        """Whether a row is of the class, and its posterior."""
        return np.array([y == label for y in self.y]), self.p[:, self.labels.index(label)]

    def hold(self, found):
        """Every number against scikit-learn's."""
        y, prediction, w = self.y, self.prediction, self.w
        weighted = {"sample_weight": w}
        hot = np.array([[y == label for label in self.labels] for y in self.y])
        expected = {
            "rows": len(y),
            "weight": w.sum(),
            "accuracy": metrics.accuracy_score(y, prediction, **weighted),
            "majority": max(w[[a == label for a in y]].sum() for label in self.labels) / w.sum(),
            "balanced_accuracy": metrics.balanced_accuracy_score(y, prediction, **weighted),
            "log_loss": metrics.log_loss(y, self.p, labels=self.labels, **weighted),
        }
        for average in ("macro", "weighted"):
            rates = metrics.precision_recall_fscore_support(y, prediction, average=average, zero_division=0, **weighted)
            expected |= {f"{rate}_{average}": value for rate, value in zip(RATES, rates[:3], strict=True)}
            for area, score in (("roc_auc", metrics.roc_auc_score), ("average_precision", metrics.average_precision_score)):
                expected[f"{area}_{average}"] = score(hot, self.p, average=average, **weighted)
        if len(self.labels) == 2:
            positive, p = self.one(self.labels[1])
            expected["roc_auc"] = metrics.roc_auc_score(positive, p, **weighted)
            expected["average_precision"] = metrics.average_precision_score(positive, p, **weighted)
            expected["brier"] = metrics.brier_score_loss(positive, p, **weighted)
        else:
            expected["roc_auc"] = metrics.roc_auc_score(y, self.p, multi_class="ovr", labels=self.labels, **weighted)
            expected["average_precision"] = expected["average_precision_macro"]
            expected["brier"] = np.average(((self.p - hot) ** 2).sum(axis=1), weights=w)
        numbers = found.to_dict()
        assert {name: numbers[name] for name in expected} == pytest.approx(expected, **CLOSE)

        per_class = metrics.precision_recall_fscore_support(y, prediction, labels=self.labels, zero_division=0, **weighted)
        assert [item.label for item in found.classes] == self.labels
        for number, item in enumerate(found.classes):
            positive, p = self.one(item.label)
            areas = metrics.roc_auc_score(positive, p, **weighted), metrics.average_precision_score(positive, p, **weighted)
            false_positive_rate, true_positive_rate, _ = metrics.roc_curve(positive, p, drop_intermediate=False, **weighted)
            ks = abs(true_positive_rate - false_positive_rate).max()
            theirs = [*(part[number] for part in per_class), *areas, ks]
            ours = [item.precision, item.recall, item.f1, item.support, item.roc_auc, item.average_precision, item.ks]
            assert ours == pytest.approx(theirs, **CLOSE)


def both(con, source, **options):
    con.execute(f"CREATE TABLE data AS {source}")
    return nbsql.fit(con, "SELECT * FROM data WHERE label IS NOT NULL", target="label", exclude=["i", "w"], **options)


# Against scikit-learn. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.forms("weight")
def test_every_number_is_that_of_scikit_learn(con, form, classes, weight):
    model = both(con, rows(classes))
    found = model.evaluate("data", weight=weight)
    oracle = Oracle(model, "FROM data", weight=weight)
    assert len(np.unique(oracle.p[:, 0])) < len(oracle.y) / 2  # there are ties
    oracle.hold(found)
    assert (found.left_out, found.unknown, found.unexplained) == (5, 0, 0)


@pytest.mark.parametrize(("weight", "total"), [("1e308", "inf"), ("1e200", "1e+201"), ("5e-324", "4.94066e-323")])
def test_weights_that_no_sum_holds_are_refused(con, weight, total):
    model = nbsql.fit(con, "FROM (VALUES ('a', 1e0), ('a', 2), ('b', 5)) AS t(y, x)", target="y")
    message = f"the weights 'w' sum to {total}, and must sum to 1e-150 to 1e+150; multiply all weights by one number"
    with pytest.raises(nbsql.InputError, match=re.escape(message)):
        model.evaluate(
            f"SELECT 'a' AS y, CAST(i AS DOUBLE) AS x, CAST({weight} AS DOUBLE) AS w FROM range(10) AS r(i)", weight="w"
        )


@pytest.mark.few
@pytest.mark.parametrize(
    "label",
    ["i % 3 = 0", "CAST(i % 3 AS UTINYINT)", "DATE '2024-02-28' + CAST(i % 3 AS INTEGER)", "(i % 3) / 2",
     "CAST('b' || i % 2 AS ENUM ('b1', 'b0'))", "CAST(i % 3 AS DECIMAL(4, 1))"],
)  # fmt: skip
def test_labels_of_any_type(con, label):
    model = both(con, rows(3, label))
    found = model.evaluate("data")
    oracle = Oracle(model, "FROM data")
    assert found.accuracy == pytest.approx(np.mean([a == b for a, b in zip(oracle.y, oracle.prediction, strict=True)]))
    assert sorted(item.label for item in found.classes) == oracle.labels
    assert {type(item.label) for item in found.classes} == {type(model.classes[0])}
    for item in found.classes:
        assert item.roc_auc == pytest.approx(metrics.roc_auc_score(*oracle.one(item.label)), **CLOSE)
    assert json.loads(json.dumps(found.to_dict()))["accuracy"] == found.accuracy


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")  # of classes that are too many to be learnt
def test_three_hundred_classes(con):
    model = both(con, rows(300, count=3000))
    Oracle(model, "FROM data").hold(model.evaluate("data"))


@pytest.mark.few
@pytest.mark.parametrize("file", ["mushroom.csv.gz", "house_votes_84.csv", "iris.csv"])
def test_real_data(con, data, file):
    target = {"mushroom.csv.gz": "class", "house_votes_84.csv": "party", "iris.csv": "species"}[file]
    con.execute(f"CREATE TABLE data AS SELECT *, row_number() OVER () % 5 + 1 AS w FROM '{data / file}'")
    model = nbsql.fit(
        con, "SELECT * FROM data WHERE w < 3", target=target, exclude=["w", "veil_type"] if "mushroom" in file else ["w"]
    )
    Oracle(model, "FROM data WHERE w > 2", target=target, weight="w").hold(
        model.evaluate("SELECT * FROM data WHERE w > 2", weight="w")
    )


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "w"])
def test_curves_are_those_of_scikit_learn(con, form, weight):
    model = both(con, rows(3))
    found, oracle = model.evaluate("data", weight=weight), Oracle(model, "FROM data", weight=weight)
    roc, precision_recall = by_class(found.roc), by_class(found.precision_recall)
    thresholds, confusion = (
        by_class(found.thresholds),
        metrics.confusion_matrix(oracle.y, oracle.prediction, sample_weight=oracle.w),
    )
    for label in oracle.labels:
        positive, p = oracle.one(label)
        false, true, at = metrics.roc_curve(positive, p, sample_weight=oracle.w, drop_intermediate=False)
        assert roc[label] == approximately(at, false, true)
        precision, recall, at = metrics.precision_recall_curve(positive, p, sample_weight=oracle.w)
        assert precision_recall[label] == approximately(at[::-1], precision[-2::-1], recall[-2::-1])
        for threshold, *counts, _, _, _, f1, accuracy in thresholds[label]:
            hits = p >= threshold
            (tn, fp), (fn, tp) = metrics.confusion_matrix(positive, hits, sample_weight=oracle.w, labels=[False, True])
            assert counts == pytest.approx([tp, fp, tn, fn], **CLOSE)
            assert f1 == pytest.approx(metrics.f1_score(positive, hits, sample_weight=oracle.w, zero_division=0), **CLOSE)
            assert accuracy == pytest.approx(metrics.accuracy_score(positive, hits, sample_weight=oracle.w), **CLOSE)
    ours = {(label, prediction): n for label, prediction, n in found.confusion}
    assert [[ours.get((a, b), 0) for b in oracle.labels] for a in oracle.labels] == confusion.tolist()


def by_class(query):
    return {label: [row[1:] for row in group] for label, group in itertools.groupby(query, key=lambda row: row[0])}


def approximately(*columns):
    return [pytest.approx(row, **CLOSE) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 49])
@pytest.mark.forms("bins")
def test_calibration_is_that_of_scikit_learn(con, bins):
    model = both(con, rows(3))
    found, oracle = model.evaluate("data", bins=bins), Oracle(model, "FROM data")
    table = by_class(found.calibration)
    for label in oracle.labels:
        frequency, probability = calibration_curve(*oracle.one(label), n_bins=bins)
        assert [row[5] for row in table[label]] == pytest.approx(frequency, **CLOSE)
        assert [row[4] for row in table[label]] == pytest.approx(probability, **CLOSE)
        assert all(lower <= p <= upper for _, lower, upper, _, p, _ in table[label])
    gap = sum(n * abs(p - frequency) for *_, n, p, frequency in table[None]) / found.weight
    confidence = oracle.p.max(axis=1)
    right = np.array([a == b for a, b in zip(oracle.y, oracle.prediction, strict=True)])
    number = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence)
    expected = sum(abs((right[number == b] - confidence[number == b]).sum()) for b in range(bins)) / len(right)
    assert found.calibration_error == pytest.approx(gap, **CLOSE) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("bins", [1, 3, 10, 49, 1000])
def test_a_posterior_on_the_edge_of_a_bin_is_in_the_bin_below(con, bins):
    edges = np.linspace(0, 1, bins + 1)
    values = np.unique(
        np.concatenate([edges, np.nextafter(edges, -1), np.nextafter(edges, 2), [i / bins for i in range(bins + 1)]])
    )
    values = values[(values >= 0) & (values <= 1)]
    renderer = nbsql.rendering.renderer.Renderer("duckdb")
    con.execute("CREATE TABLE points AS SELECT unnest($1) AS p", [values.tolist()])
    found = con.execute(
        f"SELECT p, {renderer.statement('bin', renderer.dialect.word('p'), bins)} FROM points ORDER BY p"
    ).fetchall()
    assert [bin_ for _, bin_ in found] == np.searchsorted(edges[1:-1], values).tolist()


# Worked by hand. ---------------------------------------------------------------------------------------------------------

# P(yes) = 1/2; P(rain|yes) = (1 + 1)/(2 + 2) = 1/2, P(rain|no) = (0 + 1)/(2 + 2) = 1/4, so P(yes|rain) = 2/3, P(yes|sun) = 2/5.
SKY = "(VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"


@pytest.fixture
def sky(con):
    con.execute(f"CREATE TABLE sky AS FROM {SKY}")
    return nbsql.fit(con, "sky", target="play", name="weather")


def test_four_days(sky):
    found = sky.evaluate("sky")
    assert (found.rows, found.accuracy, found.majority, found.balanced_accuracy) == (4, 0.75, 0.5, 0.75)
    assert found.log_loss == pytest.approx(-(2 * math.log(3 / 5) + math.log(2 / 3) + math.log(2 / 5)) / 4, rel=1e-14)
    assert found.brier == pytest.approx((2 * (2 / 5) ** 2 + (1 / 3) ** 2 + (3 / 5) ** 2) / 4, rel=1e-14)
    assert found.calibration_error == pytest.approx((3 * (2 / 3 - 3 / 5) + (1 - 2 / 3)) / 4, rel=1e-14)
    assert found.roc_auc == 0.75  # of the four pairs of a yes and a no, two are in order and two are ties
    assert found.average_precision == 0.5 * 1 + 0.5 * 0.5
    assert found.ks == found.classes[0].ks == 0.5  # at 2/3: one of two yes and no no is above
    no, yes = found.classes
    assert (no.label, no.support, no.precision, no.recall, no.f1) == ("no", 2, 2 / 3, 1, 0.8)
    assert (yes.label, yes.support, yes.precision, yes.recall, yes.f1) == ("yes", 2, 1, 0.5, 2 / 3)
    assert found.confusion.fetchall() == [("no", "no", 2), ("yes", "no", 1), ("yes", "yes", 1)]


def test_lift_spreads_ties_evenly(sky):
    lift = by_class(sky.evaluate("sky", bins=4).lift)
    assert lift["yes"] == approximately([1 / 4, 1 / 2, 3 / 4, 1], [1 / 2, 2 / 3, 5 / 6, 1], [2, 4 / 3, 10 / 9, 1])
    assert lift["no"] == approximately([1 / 4, 1 / 2, 3 / 4, 1], [1 / 3, 2 / 3, 1, 1], [4 / 3, 4 / 3, 4 / 3, 1])


@pytest.mark.slow
def test_lift_has_every_depth_once_whatever_the_weights():
    con = duckdb.connect()
    con.execute("CREATE TABLE data AS SELECT i % 2 = 0 AS y, i * 37 % 11 AS x, i AS id FROM range(40) AS r(i)")
    model = nbsql.fit(con, "data", target="y", features=["x"])
    for seed in range(1, 20):
        source = f"SELECT *, (1 + id * {seed} % 7) / 10 AS share FROM data"
        for points in by_class(model.evaluate(source, weight="share").lift).values():
            assert [depth for depth, *_ in points] == [step / 10 for step in range(1, 11)]
    con.close()


@pytest.mark.slow
def test_a_weight_counts_as_copies(con, form):
    model = both(con, rows(3))
    source = "SELECT * REPLACE (w - 1 AS w) FROM data"  # some of weight 0
    weighted = model.evaluate(source, weight="W", bins=7)
    copies = model.evaluate(f"SELECT *, unnest(range(w)) FROM ({source}) AS t", bins=7)
    assert weighted.rows < copies.rows == weighted.weight
    ours, theirs = ({**each.to_dict(), "learnt": None, "share_learnt": 0} for each in (weighted, copies))
    for different in ("rows", "left_out"):
        del ours[different], theirs[different]
    for ours_of_class, theirs_of_class in zip(ours.pop("classes"), theirs.pop("classes"), strict=True):
        assert ours_of_class.pop("label") == theirs_of_class.pop("label")
        assert ours_of_class == pytest.approx(theirs_of_class, **CLOSE)
    assert ours == pytest.approx(theirs, **CLOSE)
    for name in ("confusion", "roc", "precision_recall", "calibration", "lift", "thresholds"):
        first, second = getattr(weighted, name).fetchall(), getattr(copies, name).fetchall()
        assert [row[0] for row in first] == [row[0] for row in second]
        assert [number for row in first for number in row[1 + (name == "confusion") :]] == pytest.approx(
            [number for row in second for number in row[1 + (name == "confusion") :]], **CLOSE
        )


def test_a_class_that_the_model_does_not_know_is_wrong_and_has_a_probability_of_0(sky):
    source = f"FROM {SKY} UNION ALL SELECT 'rain', 'storm' UNION ALL SELECT 'sun', NULL"
    found = sky.evaluate(source)
    y, prediction = ["no", "no", "yes", "yes", "storm"], ["no", "no", "yes", "no", "yes"]
    p = np.array([[0.6, 0, 0.4], [0.6, 0, 0.4], [1 / 3, 0, 2 / 3], [0.6, 0, 0.4], [1 / 3, 0, 2 / 3]])
    hot = np.array([[label == known for known in ("no", "storm", "yes")] for label in y])
    assert (found.rows, found.left_out, found.unknown) == (5, 1, 1)
    assert found.accuracy == metrics.accuracy_score(y, prediction)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, prediction), **CLOSE)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p, labels=["no", "storm", "yes"]), **CLOSE)
    assert found.brier == pytest.approx(((p - hot) ** 2).sum(axis=1).mean(), **CLOSE)
    assert found.roc_auc == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovr"), **CLOSE)
    assert found.average_precision == pytest.approx(metrics.average_precision_score(hot, p), **CLOSE)
    assert found.f1_macro == pytest.approx(metrics.f1_score(y, prediction, average="macro", zero_division=0), **CLOSE)
    storm = found.classes[1]
    assert storm == nbsql.ClassEvaluation("storm", 1, 0, 0, 0, 0.5, 0.2, 0)
    assert ("storm", "yes", 1) in found.confusion.fetchall()
    assert "1 row of a class that the model does not know, counted as wrong" in str(found)


def test_a_row_that_no_class_can_explain_is_wrong(con, form):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 'x', 'no'), ('b', 'y', 'yes')) AS t(a, b, y)")
    model = nbsql.fit(con, "t", target="y", alpha=0)
    found = model.evaluate("FROM (VALUES ('a', 'x', 'no'), ('a', 'y', 'no'), ('b', 'y', 'yes')) AS t(a, b, y)")
    assert (found.rows, found.unexplained, found.accuracy) == (3, 1, 2 / 3)
    assert found.log_loss == pytest.approx((-math.log(EPSILON) - 2 * math.log(1 - EPSILON)) / 3, **CLOSE)
    assert found.brier == pytest.approx(1 / 2 / 3, **CLOSE)
    assert found.classes[0] == nbsql.ClassEvaluation(
        "no", 2, 1, 0.5, pytest.approx(2 / 3), 0.75, pytest.approx(0.5 + 0.5 * 2 / 3), 0.5
    )
    assert found.confusion.fetchall() == [("no", "no", 1), ("no", None, 1), ("yes", "yes", 1)]
    assert found.calibration_error == 0


def test_what_is_undefined_is_none_and_in_no_mean(con, sky):
    found = sky.evaluate("SELECT 'sun' AS sky, 'no' AS play")
    no, yes = found.classes
    assert (no.precision, no.recall, no.roc_auc, no.average_precision, no.ks) == (1, 1, None, 1, None)
    assert yes == nbsql.ClassEvaluation("yes", 0, None, None, None, None, None, None)
    assert (found.precision_macro, found.f1_weighted, found.roc_auc, found.average_precision) == (1, 1, None, None)
    assert json.loads(json.dumps(found.to_dict()))["roc_auc"] is None
    assert "ROC AUC" in str(found)


def test_labels_are_printed_as_everywhere(con):
    rows = "SELECT i % 3 = 0 AS y, i % 2 = 0 AS x FROM range(40) AS r(i)"
    printed = repr(nbsql.fit(con, rows, target="y").evaluate(rows))
    assert {"false", "true"} <= set(printed.split())
    assert not {"False", "True"} & set(printed.split())


@pytest.mark.slow
def test_both_of_two_classes_have_one_area_where_posteriors_become_1(con):
    """Rows are ranked as by log-odds, in areas, intervals, the comparison and curves; scikit-learn has the area."""
    columns = ", ".join(f"x AS x{i}" for i in range(30))  # one piece of evidence, thirty times
    con.execute(f"CREATE TABLE sure AS SELECT y, {columns} FROM (SELECT i % 2 AS y, i % 2 * 12.0 + hash(i) % 400 / 10.0 "
                "AS x FROM range(300) AS t(i))")  # fmt: skip
    model = nbsql.fit(con, "sure", target="y")
    joints = np.array(model.joint_log_likelihood("sure", columns=["y"]).fetchall())
    odds = joints[:, 2] - joints[:, 1]
    assert len({row[-1] for row in model.predict("sure").fetchall()}) < 250  # many are 1
    area = metrics.roc_auc_score(joints[:, 0], odds)
    assert metrics.roc_auc_score(joints[:, 0], 1 / (1 + np.exp(-odds))) != pytest.approx(area, abs=1e-6)
    evaluation = model.evaluate("sure")
    areas = [row[2] for row in evaluation.metrics.fetchall() if row[1].startswith("roc_auc")]
    areas += [row[2] for row in evaluation.intervals.fetchall() if row[1] == "roc_auc"]
    areas += [row[2] for row in model.compare(model, "sure").fetchall() if row[1] == "roc_auc"]
    assert areas == [pytest.approx(area, abs=1e-12)] * len(areas)
    assert len(areas) == 11
    for label in (0, 1):
        points = np.array([row[2:] for row in evaluation.roc.fetchall() if row[0] == label])
        assert metrics.auc(points[:, 0], points[:, 1]) == pytest.approx(area, abs=1e-12)
        precision = metrics.average_precision_score(joints[:, 0] == label, odds if label else -odds)
        assert (label, "average_precision", pytest.approx(precision, abs=1e-12)) in evaluation.metrics.fetchall()
    thresholds = [row[1] for row in evaluation.thresholds.fetchall() if row[0] == 1]
    assert len(thresholds) == len(set(thresholds))  # which are posteriors


def test_rows_of_other_classes_than_the_models_alone_are_warned_of(con):
    con.execute("CREATE TABLE t AS SELECT 'c' || i % 2 || '  ' AS y, 'k' || i % 3 AS k FROM range(30) AS r(i)")
    model = nbsql.fit(con, "t", target="y")
    line = "no row is of a class that the model knows, 'c0  ', 'c1  '; the rows have 'c0', 'c1': cast or trim them"
    with pytest.warns(nbsql.NbsqlWarning, match=f"^{line}$"):
        found = model.evaluate("SELECT trim(y) AS y, k FROM t")
    assert (found.unknown, found.accuracy, found.cautions()) == (30, 0, [line])
