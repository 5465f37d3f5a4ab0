"""An evaluation by slices: against that of the slice alone, scikit-learn and scipy, and the rates of fairness by hand."""

import math
import re
from datetime import date, datetime

import numpy as np
import pytest
from evaluation.test_evaluate import CLOSE, rows
from scipy import stats
from scipy.stats import contingency
from sklearn import metrics

import nbsql

ADULT = "SELECT * EXCLUDE split FROM read_csv('{}/adult.csv.gz') WHERE split = '{}'"
RATES = ("precision", "recall", "selection_rate", "false_positive_rate", "false_negative_rate")

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def wilson(right):
    interval = stats.binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson")
    return float(right.mean()), interval.low, interval.high


def shares(y, prediction, label):
    """What is true or not of each row that a share counts."""
    of, chosen = y == label, prediction == label
    return {
        "accuracy": y == prediction, "precision": of[chosen], "recall": chosen[of], "selection_rate": chosen,
        "false_positive_rate": chosen[~of], "false_negative_rate": ~chosen[of],
    }  # fmt: skip


@pytest.mark.nightly
def test_the_slices_of_a_real_table(con, data):
    """Census incomes by occupation, which some rows lack, and by race and sex."""
    train, test = (ADULT.format(data, part) for part in ("train", "test"))
    model = nbsql.fit(con, train, target="income", exclude=["fnlwgt"])
    scored = model.predict_proba(test).df()
    y, prediction = scored["income"].to_numpy(), scored["prediction"].to_numpy()
    p, label = scored["probability_>50K"].to_numpy(), ">50K"
    both = scored[["probability_<=50K", "probability_>50K"]].to_numpy()  # 1 - p would cancel
    low, sure = both.min(axis=1), p > 0.5  # both classes in one order, as by log-odds
    far = np.where(sure, 1, -1) * (1 - np.log(np.maximum(low, 1e-320)))
    ranks = np.where(low < 1e-8, far, np.where(sure, p, 1 - both[:, 0]))
    found = model.evaluate(test, by="occupation").slices
    assert found.columns == [
        "occupation", "rows", "weight", "accuracy", "low", "high", "log_loss", "brier", "roc_auc", "precision",
        "selection_rate", "false_positive_rate", "false_negative_rate",
    ]  # fmt: skip
    lines = found.fetchall()
    assert len(lines) == 15
    for value, *numbers in lines:
        here = (scored["occupation"].isna() if value is None else scored["occupation"] == value).to_numpy()
        truth, said = y[here], ranks[here]
        expected = shares(truth, prediction[here], label)
        assert numbers[:5] == pytest.approx([here.sum(), here.sum(), *wilson(expected["accuracy"])], **CLOSE)
        losses = metrics.log_loss(truth == label, both[here]), metrics.brier_score_loss(truth == label, p[here])
        assert numbers[5:8] == pytest.approx([*losses, metrics.roc_auc_score(truth == label, said)], **CLOSE)
        assert numbers[8:] == pytest.approx([expected[rate].mean() for rate in RATES if rate != "recall"], **CLOSE)
    ends = [line[5] + 1e-12 * place for place, line in enumerate(lines)]  # equal ones may differ in the last digit
    assert ends == sorted(ends)
    smallest = min(lines, key=lambda line: (line[1], str(line[0])))
    assert smallest[1] < 20  # Armed-Forces
    assert lines.index(smallest) > 5

    slices = model.evaluate(test, by=["sex", "race"]).slices
    sides = ("Female", "Black"), ("Male", "White")
    groups = [(scored["sex"] == sex) & (scored["race"] == race) for sex, race in sides]
    ours, theirs = (shares(y[group], prediction[group], label) for group in groups)
    compared = slices.compare(*sides).fetchall()
    assert [line[0] for line in compared] == ["accuracy", *RATES]
    for metric, value, other, difference, low, high, ratio, ratio_low, ratio_high in compared:
        (one, one_low, one_high), (two, two_low, two_high) = wilson(ours[metric]), wilson(theirs[metric])
        assert (value, other, difference, ratio) == pytest.approx((one, two, one - two, one / two), **CLOSE)
        newcombe = (
            one - two - math.hypot(one - one_low, two_high - two),
            one - two + math.hypot(one_high - one, two - two_low),
        )
        assert (low, high) == pytest.approx(newcombe, **CLOSE)
        counts = [int(side[metric].sum()) for side in (ours, theirs)]
        katz = contingency.relative_risk(counts[0], len(ours[metric]), counts[1], len(theirs[metric])).confidence_interval()
        assert (ratio_low, ratio_high) == pytest.approx((katz.low, katz.high), **CLOSE)
    for mine, turned in zip(compared, slices.compare(*sides, label="<=50K"), strict=True):
        assert mine[1:] == pytest.approx(turned[1:]) if mine[0] == "accuracy" else mine[1:] != turned[1:]


@pytest.mark.nightly
@pytest.mark.few
@pytest.mark.parametrize("classes", [2, 3])
def test_a_slice_is_as_an_evaluation_of_its_rows_alone(con, classes):
    con.execute(f"CREATE TABLE t AS SELECT *, i % 3 < 2 AS half FROM ({rows(classes)})")
    model = nbsql.fit(con, "t", target="label", exclude=["i", "w", "half"], name="m")
    found = model.evaluate("t", weight="w", by=["a", "half"]).slices
    wide = {line[:2]: line[2:] for line in found}
    long = {}
    for a, half, label, metric, *numbers in found.intervals:
        long.setdefault((a, half), {})[label, metric] = numbers
    assert {a for a, _ in wide} > {None, "level 1"}
    assert wide.keys() == long.keys()
    for (a, half), numbers in wide.items():
        here = "a IS NULL" if a is None else f"a = '{a}'"
        alone = model.evaluate(f"SELECT * FROM t WHERE {here} AND half = {half}", weight="w")
        expected = {(label, metric): values for label, metric, *values in alone.intervals}
        assert long[a, half].keys() == expected.keys()
        for key, values in expected.items():
            assert long[a, half][key] == pytest.approx(values, **CLOSE)
        assert numbers[:3] == pytest.approx((alone.rows, alone.weight, alone.accuracy), **CLOSE)
        assert numbers[5:8] == pytest.approx((alone.log_loss, alone.brier, alone.roc_auc), **CLOSE)
        rates = [
            expected["1", rate][0] if classes == 2 and ("1", rate) in expected else None for rate in RATES if rate != "recall"
        ]
        assert numbers[8:] == pytest.approx(rates, **CLOSE)


def test_slices_as_good_as_each_other_come_by_their_values_and_few_rows_do_not_lead(con):
    data = """
        SELECT i % 2 AS y, i % 2 AS x, CASE WHEN i < 40 THEN 'B' WHEN i < 80 THEN 'a' WHEN i < 120 THEN NULL ELSE 'c' END AS s
        FROM range(160) AS t(i)
        UNION ALL SELECT 0, 1, 'few' UNION ALL SELECT i % 2, 1, 'many' FROM range(40) AS t(i)"""
    model = nbsql.fit(con, "SELECT i % 2 AS y, i % 2 AS x FROM range(99) AS t(i)", target="y")
    found = model.evaluate(data, by="s").slices
    assert [(line[0], line[1], line[3]) for line in found] == [
        ("many", 40, 0.5), ("few", 1, 0.0), ("B", 40, 1.0), ("a", 40, 1.0), ("c", 40, 1.0), (None, 40, 1.0),
    ]  # fmt: skip
    assert found.compare(None, "few").fetchall()[0][1:4] == (1.0, 0.0, 1.0)  # the accuracy


@pytest.mark.slow
def test_the_picture_has_the_values_of_features_that_are_surely_worst(con):
    con.execute("""CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 6 AS a, CASE WHEN i % 9 > 0 THEN i % 4 < 2 END AS b
        FROM range(90) AS t(i)""")
    model = nbsql.fit(con, "t", target="y", name="m")
    figure = model.plot.slices("t", least=3).figure
    expected = []
    for column in "ab":
        slices = model.evaluate("t", by=column).slices
        assert slices is not None
        expected += [(line[5], column, None if line[0] is None else str(line[0]).lower(), line[1], line[3]) for line in slices]
    expected.sort(key=lambda line: (round(line[0], 9), line[1], line[2] is None, line[2] or ""))
    found = [(row["high"], row["feature"], row["slice"], row["n"], row["accuracy"]) for row in figure.tables["rows"]]
    assert len(found) == len(expected) == 9
    for ours, theirs in zip(found, expected, strict=True):
        assert ours[1:3] == theirs[1:3]
        assert (ours[0], *ours[3:]) == pytest.approx((theirs[0], *theirs[3:]), rel=1e-8)
    assert figure.finding == "No value is clearly worse than the accuracy of 100.0 % overall, on rows that the model has learnt"
    assert con.execute(figure.sql).fetchone()[:3] == (*expected[0][1:3], expected[0][3])
    numbers = nbsql.fit(con, "SELECT y, y + 1.5 AS x FROM t", target="y", name="n")
    with pytest.raises(nbsql.ModelError, match=r"^model 'n' has no categorical feature to slice by$"):
        numbers.plot.slices("SELECT y, y + 1.5 AS x FROM t")


def test_what_cannot_be_sliced_is_said(con):
    source = rows(3)
    model = nbsql.fit(con, source, target="label", exclude=["i", "w"])
    lines = {
        "no column 'region' in the query, by which to slice; its columns are 'i', 'label', 'w', 'a', 'b'": lambda: (
            model.evaluate(source, by="region")
        ),
        "no column 'w % 2' in the query, by which to slice (of an expression make a column: SELECT *, w % 2 AS part FROM ...); "
        "its columns are 'i', 'label', 'w', 'a', 'b'": lambda: model.evaluate(source, by="w % 2"),
        "by must be the name of a column, or a list of them, not 3": lambda: model.evaluate(source, by=3),
        "by names a column twice: 'a', 'A'": lambda: model.evaluate(source, by=["a", "A"]),
        "column 'rows' of the query has the name of a column of the slices; rename it": lambda: model.evaluate(
            source, by="rows"
        ),
        "the table 'slices' is of slices; say by which column, by='region'": lambda: model.evaluate_sql(source, table="slices"),
    }
    slices = model.evaluate(source, by="a").slices
    lines |= {
        "the query has no slice 'level 9' by 'a'; did you mean 'level 4'?": lambda: slices.compare("level 1", "level 9"),
        "a slice has a value for each of 'a', and ('x', 'y') has 2": lambda: slices.compare(("x", "y"), "level 1"),
        "the model has 3 classes; say which is selected, label='0'": lambda: slices.compare("level 1", "level 2"),
        "the model has no class 7; it has '0', '1', '2'": lambda: slices.compare("level 1", "level 2", label=7),
    }
    for message, act in lines.items():
        with pytest.raises(nbsql.InputError, match=f"^{re.escape(message)}$"):
            act()


def test_a_day_suggests_the_slice_of_that_day(con):
    times = (
        "SELECT TIMESTAMP '2024-01-01 10:00:00' + INTERVAL (i % 31) DAY AS s, i % 5 AS x, i % 2 AS y FROM range(310) AS r(i)"
    )
    model = nbsql.fit(con, times, target="y", features=["x"], slice_by="s")
    for day in (date(2024, 1, 1), "2024-01-01"):
        with pytest.raises(nbsql.InputError, match=r"^no slice '2024-01-01' in the model; did you mean '2024-01-01 10:00:00'"):
            model.slices([day])
    model = nbsql.fit(con, times, target="y", features=["x"], slice_by="s::DATE")
    with pytest.raises(nbsql.InputError, match=r"^no slice '2024-01-15 10:00:00' in the model; did you mean '2024-01-15'"):
        model.slices([datetime(2024, 1, 15, 10)])


def test_a_column_that_is_not_there_is_looked_for_among_those_of_the_source(con):
    con.execute("CREATE TABLE days AS SELECT i % 2 AS y, DATE '2024-01-01' + CAST(i AS INTEGER) AS d FROM range(60) AS r(i)")
    model = nbsql.fit(con, "days", target="y", derive={"late": "month(d) > 1"})
    with pytest.raises(nbsql.InputError, match=r"^no column 'zone' in days, by which to slice; its columns are 'y', 'd'$"):
        model.evaluate("days", by="zone")
