"""The fourteen days of tennis from the lectures (Mitchell, Machine Learning, table 3.2), with the fractions of the book."""

from fractions import Fraction
from math import log

import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")

DAYS = """
  CREATE TABLE golf AS FROM (VALUES
    (1, 'sunny', 'hot', 'high', 'weak', 'no'), (2, 'sunny', 'hot', 'high', 'strong', 'no'),
    (3, 'overcast', 'hot', 'high', 'weak', 'yes'), (4, 'rain', 'mild', 'high', 'weak', 'yes'),
    (5, 'rain', 'cool', 'normal', 'weak', 'yes'), (6, 'rain', 'cool', 'normal', 'strong', 'no'),
    (7, 'overcast', 'cool', 'normal', 'strong', 'yes'), (8, 'sunny', 'mild', 'high', 'weak', 'no'),
    (9, 'sunny', 'cool', 'normal', 'weak', 'yes'), (10, 'rain', 'mild', 'normal', 'weak', 'yes'),
    (11, 'sunny', 'mild', 'normal', 'strong', 'yes'), (12, 'overcast', 'mild', 'high', 'strong', 'yes'),
    (13, 'overcast', 'hot', 'normal', 'weak', 'yes'), (14, 'rain', 'mild', 'high', 'strong', 'no')
  ) AS days(day, outlook, temperature, humidity, wind, play)"""
TODAY = "SELECT 'sunny' AS outlook, 'cool' AS temperature, 'high' AS humidity, 'strong' AS wind"

BOOK = {
    ("yes", "outlook"): {"sunny": (2, 9), "overcast": (4, 9), "rain": (3, 9)},
    ("no", "outlook"): {"sunny": (3, 5), "overcast": (0, 5), "rain": (2, 5)},
    ("yes", "temperature"): {"hot": (2, 9), "mild": (4, 9), "cool": (3, 9)},
    ("no", "temperature"): {"hot": (2, 5), "mild": (2, 5), "cool": (1, 5)},
    ("yes", "humidity"): {"high": (3, 9), "normal": (6, 9)},
    ("no", "humidity"): {"high": (4, 5), "normal": (1, 5)},
    ("yes", "wind"): {"strong": (3, 9), "weak": (6, 9)},
    ("no", "wind"): {"strong": (3, 5), "weak": (2, 5)},
}


@pytest.fixture
def golf(con):
    con.execute(DAYS)
    return con


@pytest.mark.parametrize("alpha", [0, 1, 0.5])
def test_likelihoods_are_the_fractions_of_the_book(golf, alpha):
    model = nbsql.fit(golf, "golf", target="play", id="day", alpha=alpha)
    columns = ["class", "feature", "value", "likelihood", "log_likelihood", "mean", "variance", "rate"]
    assert model.likelihoods.columns == columns
    found = {row[:3]: row[3:] for row in model.likelihoods}
    assert len(found) == sum(map(len, BOOK.values()))
    for (label, feature), values in BOOK.items():
        for value, (count, total) in values.items():
            exact = (count + Fraction(alpha)) / (total + Fraction(alpha) * len(values))
            likelihood, log_likelihood, *others = found[label, feature, value]
            assert likelihood == pytest.approx(float(exact), abs=1e-15)
            assert log_likelihood == (pytest.approx(log(exact), abs=1e-15) if exact else float("-inf"))
            assert others == [None, None, None]


def test_the_classic_day_has_no_tennis(golf, joint):
    model = nbsql.fit(golf, "golf", target="play", id="day", alpha=0)
    yes = Fraction(9, 14) * Fraction(2, 9) * Fraction(3, 9) ** 3
    no = Fraction(5, 14) * Fraction(3, 5) * Fraction(1, 5) * Fraction(4, 5) * Fraction(3, 5)
    assert (round(float(yes), 4), round(float(no), 4)) == (0.0053, 0.0206)
    assert joint(model, TODAY) == [{"no": pytest.approx(log(no), rel=1e-14), "yes": pytest.approx(log(yes), rel=1e-14)}]
    *_, prediction, probability, p_no, p_yes = model.predict_proba(TODAY).fetchall()[0]
    assert prediction == "no"
    assert probability == pytest.approx(float(no / (no + yes)), abs=1e-14)
    assert p_no == pytest.approx(probability, abs=1e-15)
    assert p_yes == pytest.approx(float(yes / (no + yes)), abs=1e-14)
    assert round(probability, 3) == 0.795
    assert model.log_evidence(TODAY).fetchall()[0][-1] == pytest.approx(log(no + yes), rel=1e-14)


def test_explanation_lists_every_factor_of_the_classic_day(golf):
    model = nbsql.fit(golf, "golf", target="play", id="day", alpha=0)
    found = {row[2:5]: row[5] for row in model.explain(f"SELECT 0 AS day, * FROM ({TODAY})")}
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    expected = {("yes", None, None): log(9 / 14), ("no", None, None): log(5 / 14)}
    for (label, feature), values in BOOK.items():
        count, total = values[day[feature]]
        expected[label, feature, day[feature]] = log(count / total)
    assert found == pytest.approx(expected, abs=1e-14)


def test_the_classic_day_by_averaged_one_dependence_estimators(golf, joint):
    # Of sunny, cool, high and strong each is the parent once; a factor is (n_cuv + 1) / (n_cu + k). Of the nine days with
    # tennis two were sunny, of these one cool, none high, one strong:
    # 9/14 * (2 + 1)/(9 + 3) * (1 + 1)/(2 + 3) * (0 + 1)/(2 + 2) * (1 + 1)/(2 + 2).
    yes = [
        Fraction(9, 14) * Fraction(3, 12) * Fraction(2, 5) * Fraction(1, 4) * Fraction(2, 4),  # sunny
        Fraction(9, 14) * Fraction(4, 12) * Fraction(2, 6) * Fraction(1, 5) * Fraction(2, 5),  # cool
        Fraction(9, 14) * Fraction(4, 11) * Fraction(1, 6) * Fraction(1, 6) * Fraction(2, 5),  # high
        Fraction(9, 14) * Fraction(4, 11) * Fraction(2, 6) * Fraction(2, 6) * Fraction(2, 5),  # strong
    ]
    no = [
        Fraction(5, 14) * Fraction(4, 8) * Fraction(1, 6) * Fraction(4, 5) * Fraction(2, 5),
        Fraction(5, 14) * Fraction(2, 8) * Fraction(1, 4) * Fraction(1, 3) * Fraction(2, 3),
        Fraction(5, 14) * Fraction(5, 7) * Fraction(4, 7) * Fraction(1, 7) * Fraction(3, 6),
        Fraction(5, 14) * Fraction(4, 7) * Fraction(2, 6) * Fraction(2, 6) * Fraction(3, 5),
    ]
    assert (sum(yes) / 4, sum(no) / 4) == (Fraction(1647, 246400), Fraction(66559, 6914880))
    expected = {"no": pytest.approx(log(sum(no) / 4), rel=1e-13), "yes": pytest.approx(log(sum(yes) / 4), rel=1e-13)}
    assert joint(nbsql.fit(golf, "golf", target="play", id="day", method="aode"), TODAY) == [expected]


# P(no) of the fourteen days by weka.classifiers.bayes.AODE of Weka 3.6.14 (Debian's package `weka`) with its defaults.
WEKA = [
    0.8144424739642631, 0.8683145919384873, 0.2552651412806985, 0.3571414478071695, 0.17841385053256936, 0.5722496266461511,
    0.2620191742378515, 0.7148661546083727, 0.15023928070769083, 0.14283729128421915, 0.25762196388655756, 0.280998669457698,
    0.11388398751280183, 0.5963667306194861,
]  # fmt: skip


def test_averaged_one_dependence_estimators_are_those_of_weka(golf, joint):
    """Weka smooths P(c, x_i) as a share of all rows, (n + 1) / (N + K V), and nbsql has P(c) P(x_i | c); all else is alike."""
    days = [row[1:] for row in golf.execute("FROM golf ORDER BY day").fetchall()]
    values = [{day[i] for day in days} for i in range(4)]

    def met(*wanted):
        return sum(all(day[i] == value for i, value in wanted) for day in days)

    def mean(day, label, *, weka):
        products = []
        for p in range(4):
            n, own = met((4, label)), met((4, label), (p, day[p]))
            of_both = Fraction(own + 1, 14 + 2 * len(values[p]))
            product = of_both if weka else Fraction(n, 14) * Fraction(own + 1, n + len(values[p]))
            for i in {0, 1, 2, 3} - {p}:
                product *= Fraction(met((4, label), (p, day[p]), (i, day[i])) + 1, own + len(values[i]))
            products.append(product)
        return sum(products, Fraction(0)) / 4

    theirs = [[mean(day, label, weka=True) for label in ("no", "yes")] for day in days]
    assert [float(no / (no + yes)) for no, yes in theirs] == pytest.approx(WEKA, abs=1e-14)
    found = joint(nbsql.fit(golf, "golf", target="play", id="day", method="aode"), "SELECT * FROM golf ORDER BY day")
    for day, scores in zip(days, found, strict=True):
        assert scores == {label: pytest.approx(log(mean(day, label, weka=False)), abs=1e-12) for label in ("no", "yes")}
