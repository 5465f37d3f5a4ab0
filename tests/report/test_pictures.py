"""Pictures can be read: whole titles and labels, values in their order, factors instead of logarithms, all of it on a phone."""

import json
import math
import re

import pytest
from support.chromium import tab

import nbsql
from nbsql.report.panel import CHARTS, factor_parameter, shown

pytestmark = pytest.mark.filterwarnings("ignore:only 60 of 600 rows of people differ")

CHARTS_BY_NAME = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(CHARTS.glob("*.json"))}


def of_key(spec, *names):
    """All values of keys of these names, wherever they are in a specification."""
    found = list(spec.values()) if isinstance(spec, dict) else spec if isinstance(spec, list) else []
    own = [spec[name] for name in names if isinstance(spec, dict) and name in spec]
    return own + [value for part in found for value in of_key(part, *names)]


@pytest.mark.parametrize("name", CHARTS_BY_NAME)
def test_no_label_is_clipped_or_slanted_and_none_is_in_nats(name):
    spec = CHARTS_BY_NAME[name]
    assert set(of_key(spec, "labelLimit")) <= {0}  # no limit
    assert all(angle in (0, -90, {"expr": "angle"}) for angle in of_key(spec, "labelAngle") if not isinstance(angle, dict))
    assert not re.search(r"\bnats?\b", json.dumps(spec))


@pytest.fixture
def model(con):
    con.execute("""
        CREATE TABLE people AS SELECT i % 3 % 2 AS y, (i * 7 % 60 + 18)::DOUBLE AS age, i % 12 AS month,
            'a street of a very long name, in a town of a long one ' || i % 3 AS home, i % 2 || 'k' AS kind
        FROM range(600) AS t(i)""")
    families = {"age": nbsql.Binned(bins=6), "month": "categorical"}
    return nbsql.fit(con, "people", target="y", families=families)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_axes_of_numbers_stay_within_their_support_and_the_rows(con):
    con.execute("""CREATE TABLE sales AS SELECT i % 2 AS y, i * 7919 % 101 / 5 + i % 2 AS price, i * 13 % 29 AS n,
        exp(i * 31 % 47 / 20) AS size, 0.5 + i % 3 * (i * 31 % 47) / 10 AS delay FROM range(400) AS r(i)""")
    families = {"price": "gaussian", "n": "gaussian", "size": "gamma", "delay": "exponential"}
    model = nbsql.fit(con, "sales", target="y", families=families)
    ranges = dict(zip(families, con.execute("SELECT [min(price), max(price)], [min(n), max(n)], [min(size), max(size)], "
        "[min(delay), max(delay)] FROM sales").fetchall()[0], strict=True))  # fmt: skip
    for feature, (least, largest) in ranges.items():
        drawn = [row[2] for row in model.profile(feature, "sales").fetchall() if row[1] == "density"]
        assert least - 1e-9 <= min(drawn) < max(drawn) <= largest + 1e-9
    beyond = "Without a source, n may be drawn beyond the values that occur, such as below 0."
    assert model.plot.profile("n").figure.notes == [beyond]
    assert beyond.replace("n may", "price, n may") in model.plot.nomogram().figure.notes
    notes = model.plot.profile("n", "sales").figure.notes
    assert not any("beyond" in note for note in notes)
    for feature in ("size", "delay"):
        assert min(row[2] for row in model.profile(feature).fetchall()) >= 0
    positive = nbsql.fit(con, "sales", target="y", exclude=["price", "n"], families=dict.fromkeys(("size", "delay"), "gamma"))
    numbers = [value for value in values_of(positive.plot.nomogram()) if value is not None]
    assert len(numbers) > 10
    assert [value for value in numbers if re.match("[-−]", str(value))] == []


def values_of(picture):
    return list(dict.fromkeys(row["value"] for row in picture.spec["datasets"]["rows"]))


def test_bins_and_numbers_are_in_the_order_of_their_values(model):
    edges = [float(re.findall(r"-?inf|[-\d.]+", value)[0]) for value in values_of(model.plot.profile("age"))]
    assert edges == sorted(edges)
    assert len(edges) == 6
    assert values_of(model.plot.profile("month")) == [str(month) for month in range(12)]


def test_a_picture_without_a_name_is_refused(model):
    with pytest.raises(nbsql.InputError, match=r"^model.plot has a method for each picture, such as model.plot.ranking"):
        model.plot()


def test_titles_are_whole_words_on_several_lines(model):
    for picture in (model.plot.profile("home"), model.plot.verdict("people"), model.plot.waterfall("people", row=1)):
        lines = picture.spec["title"]["text"]
        assert all(len(line) <= 88 for line in lines)
        assert " ".join(lines) == picture.finding
    assert shown("a street of a very long name, in a town") == "a street of a very long name, in a town"
    assert shown("a street of a very long name, in a town of a long one") == "a street of a very long … of a long one"
    assert shown("balance_of_the_customer_in_the_last_30_days") != shown("balance_of_the_customer_in_the_last_60_days")


def test_axes_have_round_factors(model):
    spec = model.plot.waterfall("people", row=1).spec
    (factors,) = (each["value"] for each in spec["params"] if each["name"] == "factors")
    ends = [row[end] for row in spec["datasets"]["rows"] for end in ("start", "end")]
    assert min(ends) - 1e-9 <= min(factors) <= 0 <= max(factors) <= max(ends) + 1e-9
    assert all(re.fullmatch(r"[\d,.]+ ×", row["times"]) for row in spec["datasets"]["rows"])
    for widest, number in ((0.05, 1), (0.3, 4), (5, 4), (40, 3), (3000, 5)):
        found = factor_parameter([widest])["value"]
        assert len(found) == number, widest
        assert found[0] == 0
    assert [round(math.exp(value), 9) for value in factor_parameter([-2.0, 1.0])["value"]] == [0.25, 0.5, 1.0, 2.0]


@pytest.mark.nightly
def test_a_narrow_window_shows_all_of_a_picture(model, tmp_path):
    assert 'style="max-width:100%;height:auto"' in model.plot.ranking()._repr_html_()
    model.report(tmp_path / "page.html", source="people")
    with tab(tmp_path / "page.html", tmp_path, width=390) as page:
        found = page.run("""[...document.querySelectorAll(".chart")].map((chart) => Math.max(
            chart.scrollWidth - chart.clientWidth, chart.querySelector("svg").getBoundingClientRect().right - innerWidth))""")
        assert page.run("document.documentElement.scrollWidth") <= 390
    assert len(found) > 5
    assert max(found) <= 0


@pytest.mark.nightly
def test_long_names_of_classes_stand_below_each_other_on_a_phone(con, tmp_path):
    rows = "SELECT 'an answer of a long name, ' || i % 3 AS y, (i % 3) + i % 7 / 7.0 AS x FROM range(90) AS t(i)"
    nbsql.fit(con, rows, target="y", families={"x": "gaussian"}).report(tmp_path / "page.html", source=rows)
    with tab(tmp_path / "page.html", tmp_path, width=390) as page:
        widths = page.run("""["profile-1", "lift-1"].map((id) =>
            document.querySelector(`#${id} .background`).getBoundingClientRect().width)""")
    assert min(widths) > 240


@pytest.mark.nightly
def test_values_with_those_of_their_parents_have_two_lines_on_a_phone(con, tmp_path):
    rows = "SELECT i % 2 AS y, 'one of long names ' || i % 3 AS a, 'one of some others ' || i % 3 AS b FROM range(90) AS t(i)"
    nbsql.fit(con, rows, target="y", method="tan").report(tmp_path / "page.html")
    with tab(tmp_path / "page.html", tmp_path, width=390) as page:
        lines = page.run("""[...document.querySelectorAll(".role-axis-label tspan")].map((each) => each.textContent)""")
    assert any(line.startswith("with ") for line in lines)
    assert not any(" with " in line for line in lines)


@pytest.mark.filterwarnings("ignore:'y' has one class only")
def test_what_is_next_to_nothing_has_no_bar_and_no_colour(con):
    con.execute("CREATE TABLE same AS SELECT 'a' AS y, i % 2 AS p, i // 2 % 2 AS q, i / 3 AS x FROM range(400) AS t(i)")
    plot = nbsql.fit(con, "same", target="y", families={"p": "categorical", "q": "categorical", "x": "gaussian"}).plot
    assert [row["value"] for row in plot.verdict("same").figure.tables["rows"]] == [1, 1, 0, 0]
    darkest = next(each["value"] for each in plot.dependence("same").spec["params"] if each["name"] == "darkest")
    assert darkest == 0.1


def test_numbers_of_a_row_are_short(con):
    rows = "SELECT i % 2 AS y, i / 3 AS x FROM range(90) AS t(i)"
    picture = nbsql.fit(con, rows, target="y", families={"x": "gaussian"}).plot.waterfall(rows, row=11)
    assert [row["label"] for row in picture.figure.tables["rows"]] == ["prior", "x = 3.33333333", "total"]


@pytest.mark.nightly
def test_a_wide_window_is_filled_by_the_pictures(model, tmp_path):
    model.report(tmp_path / "page.html", source="people")
    with tab(tmp_path / "page.html", tmp_path, width=1280) as page:
        room, *widths = page.run("""[...document.querySelectorAll(".chart")].flatMap((chart, at) => [
            ...(at ? [] : [chart.clientWidth]), chart.querySelector("svg").getBoundingClientRect().width])""")
    assert max(widths) <= room
    assert sorted(widths)[len(widths) // 4] > 0.9 * room  # tables of few cells stay narrower


@pytest.mark.slow
def test_the_density_of_a_weighted_model_is_that_of_its_family(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 = 0 AS y, i % 97 / 10.0 + i % 3 AS x, x + 1 AS z FROM range(600) AS r(i)")
    profiles = []
    for method in ("naive", "weighted"):
        model = nbsql.fit(con, "t", target="y", method=method, families=dict.fromkeys("xz", "gaussian"), name=method)
        profiles.append({tuple(map(str, row[:4])): row[-1] for row in model.profile("x", "t").fetchall()})
    assert profiles[1] == pytest.approx(profiles[0], rel=1e-9)
    assert con.execute("SELECT min(weight) FROM weighted.weights WHERE feature = 'x'").fetchone()[0] < 0.99


@pytest.mark.slow
def test_every_picture_is_a_chart_that_altair_can_restyle(model):
    pytest.importorskip("altair")
    for name in ("card", "data", "ranking", "discrimination", "nomogram"):
        assert getattr(model.plot, name)().altair.to_dict()["datasets"], name
    for name in ("verdict", "waterfall", "confusion", "threshold", "reliability", "lift", "slices", "dependence"):
        assert getattr(model.plot, name)("people").altair.to_dict()["datasets"], name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_the_pictures_of_curves_agree_with_an_evaluation(con):
    con.execute("""CREATE TABLE visits AS SELECT 'c' || i * i % 7 % 3 AS y, 'v' || i % 11 % 4 AS kind, i * 31 % 17 % 5 AS n
        FROM range(400) AS t(i)""")  # with many ties
    model = nbsql.fit(con, "visits", target="y")
    evaluation = model.evaluate("visits")
    lift = model.plot.lift("visits", folds=None, least=1).figure.tables["rows"]
    drawn = {(row["class"].split()[-1], row["depth"]): (row["gain"], row["lift"]) for row in lift}
    expected = {(row[0], row[1]): (row[2], row[3]) for row in evaluation.lift.fetchall()}
    assert drawn.keys() == expected.keys()
    for key, values in drawn.items():
        assert values == pytest.approx(expected[key], abs=1e-8)  # as they are rounded in a picture
    figure = model.plot.threshold("visits", folds=None, least=1).figure
    most = max(evaluation.classes, key=lambda each: each.support)
    assert figure.notes[0] == f"ROC AUC of y = {most.label}: {most.roc_auc:.4f}."
    notes = " ".join(filter(None, model.plot.verdict("visits", folds=None).figure.notes))
    assert f"average precision {evaluation.average_precision:.4f}" in notes
