"""The pictures and the report: what is drawn, what it says, and that it asks for nothing from anywhere."""

import base64
import csv
import gzip
import html
import io
import json
import math
import re
import sys

import duckdb
import pytest
from support.chromium import opened

import nbsql
from nbsql.report import PANELS, document, plots
from nbsql.report.scored_source import ScoredSource

EVIL = '</script><img src=x onerror="document.title=1">'
FEATURE = "a\"<b>'&"


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute("SELECT setseed(0.5)")
        con.execute(
            f"""CREATE TABLE rows AS SELECT
                ['red', 'green', '{EVIL.replace("'", "''")}'][1 + i % 3] AS class,
                CASE WHEN i % 7 = 0 THEN NULL ELSE ['u', 'v', '<script>alert(1)</script>'][1 + (i % 3 + i // 5) % 3] END
                    AS "{FEATURE.replace('"', '""')}",
                (i % 3) * 2 + hash(i) % 100 / 25.0 AS x,
                CAST((i % 3) * 2 + hash(i + 7) % 4 AS INTEGER) AS visits,
                ['free prize now', 'lunch on friday', 'the {{{{constructor}}}} of things'][1 + (i % 3 + i // 11) % 3] AS words,
                i // 300 AS period
            FROM range(900) AS t(i)"""
        )
        yield con


@pytest.fixture(scope="module")
def model(con):
    families = {"visits": "poisson", "words": nbsql.Text()}
    return nbsql.fit(con, "rows", target="class", name="shown", families=families, slice_by="period", exclude="period")


@pytest.fixture(scope="module")
def page(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    model.report(path, source="rows", rows=2, folds=None)
    return path


@pytest.fixture(scope="module")
def text(page):
    return page.read_text(encoding="utf-8")


def data(text, figure):
    """The CSV of a figure."""
    packed = re.search(rf'download="{figure}\.csv" href="data:text/csv;charset=utf-8;base64,([^"]*)"', text)[1]
    return list(csv.DictReader(io.StringIO(base64.b64decode(packed).decode())))


@pytest.mark.slow
def test_a_page_has_every_panel_as_a_picture_that_needs_no_script(text):
    ids = re.findall(r'<section id="([\w-]+)"', text)
    assert ids == [panel.name for panel in PANELS if not panel.of_periods]
    figures = re.findall(r'<div class="chart" id="([\w-]+)"[^>]*><svg', text)
    assert {figure.rsplit("-", 1)[0] for figure in figures} == set(ids)
    assert text.count("<h3") == len(figures) == text.count(" download=")
    assert len(text.encode()) < 1_500_000


@pytest.mark.slow
def test_the_sql_of_every_figure_of_a_page_runs_by_itself(con, text):
    queries = [html.unescape(query) for query in re.findall(r'<pre tabindex="0">(.*?)</pre>', text, re.DOTALL)]
    assert len(queries) > 12
    for query in queries:
        assert con.execute(query).fetchone() is not None


@pytest.mark.nightly
def test_a_page_names_no_address_and_what_a_value_says_is_text(text):
    packed = [gzip.decompress(base64.b64decode(blob)).decode() for blob in re.findall(r'gzip" id="\w+">([^<]+)<', text)]
    assert len(packed) == 2
    for part in (text, *packed):
        addresses = set(re.findall(r"\w+://[^\"'`\s)<,]+", part))
        assert all(address.startswith("http://www.w3.org/") for address in addresses), addresses
    assert "default-src 'none'" in text
    assert EVIL not in text
    assert "<script>alert(1)" not in text
    assert "<b>'" not in text


@pytest.mark.slow
def test_in_a_browser_every_figure_has_marks_and_the_what_if_and_the_slider_answer(con, model, page, text, tmp_path):
    words = [row["value"] for row in data(text, "nomogram-1") if row["feature"] == "words" and row["value"]]
    sentence = f"{words[0].upper()}, nowhere {words[2]} {words[0]}"
    program = """
      const marks = {};
      for (const chart of document.querySelectorAll(".chart"))
        marks[chart.id] = chart.querySelectorAll("svg .role-mark path, svg .role-mark line, svg .role-mark text").length;
      const all = (query) => [...document.querySelectorAll(query)];
      const names = all("#nomogram-1 .vega-bind-name").map((name) => name.textContent.trim());
      const options = all("#nomogram-1 .vega-bind select").map((one) => [...one.options].map((option) => option.label));
      const before = rows("nomogram-1", "posterior");
      for (const [place, index] of [[0, 1], [1, 4], [3, SENTENCE]]) await choose("nomogram-1", place, index);
      const after = rows("nomogram-1", "posterior");
      const texts = () => all("#threshold-1 svg text").map((one) => one.textContent);
      const slider = () => texts().find((one) => one.startsWith("threshold 0."));
      const half = slider();
      const inputs = [...document.querySelectorAll("#threshold-1 .vega-bind input")].map((input) => input.type);
      await choose("threshold-1", 1, 0.9); await choose("threshold-1", 2, 7);
      const moved = slider(), title = document.title, images = document.images.length;
      return {marks, names, options, before, after, half, inputs, moved, title, images};
    """
    found, said = opened(page, tmp_path, program.replace("SENTENCE", json.dumps(sentence)))
    assert said == []
    assert found["title"] == "Model shown"
    assert found["images"] == 0
    assert set(found["marks"]) == set(re.findall(r'<div class="chart" id="([\w-]+)"', text))
    assert min(found["marks"].values()) > 0, found["marks"]

    priors = dict(con.execute("SELECT class, prior FROM shown.priors").fetchall())
    assert sorted(row["posterior"] for row in found["before"]) == pytest.approx(sorted(priors.values()), abs=1e-12)
    options = found["options"]
    points = [row for row in data(text, "nomogram-1") if row["feature"] == "x"]
    place = found["names"].index("x")
    assert options[place][4] == points[4]["value"]
    assert len(points) == len(options[place])
    x = float(points[4]["value"])  # a round number
    row = {FEATURE: options[0][1], "x": x, "visits": None, "words": sentence}
    answer = model.predict_one(row)["probabilities"]
    shown = {row["class"]: row["posterior"] for row in found["after"]}
    assert len(shown) == 3
    for label, probability in answer.items():
        close = [value for name, value in shown.items() if label.startswith(name.partition("…")[0])]
        assert close == [pytest.approx(probability, abs=1e-9)]

    assert found["inputs"] == ["range", "number", "number"]
    assert found["half"].startswith("threshold 0.50:")
    first = data(text, "threshold-1")[0]["class"]
    line = next(row for row in data(text, "threshold-1") if row["class"] == first and float(row["threshold"]) == 0.9)
    said = re.fullmatch(
        r"threshold 0.90: +precision ([\d.]+), +recall ([\d.]+)flagged ([\d.]+)%, +cost per row ([\d.]+)", found["moved"]
    )
    expected = (7 * float(line["false_positives"]) + float(line["false_negatives"])) / 900
    assert float(said[1]) == pytest.approx(float(line["precision"]), abs=5e-4)
    assert float(said[2]) == pytest.approx(float(line["recall"]), abs=5e-4)
    assert float(said[4]) == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
def test_the_numbers_of_a_page_are_those_of_the_relations(con, model, text):
    ranking = {row["feature"]: row for row in data(text, "ranking-1")}
    for feature, *_, gain in model.relevance():
        assert float(ranking[feature]["mutual_information"]) == pytest.approx(max(gain, 0), rel=1e-7)
    assert float(ranking[FEATURE]["missing"]) == pytest.approx(129 / 900, rel=1e-8)
    evaluation = model.evaluate("rows")
    verdict = data(text, "verdict-1")
    assert float(verdict[0]["value"]) == pytest.approx(evaluation.accuracy, rel=1e-8)
    assert float(verdict[2]["value"]) == pytest.approx(evaluation.log_loss, rel=1e-8)
    thresholds = {(c, t): rest for c, t, *rest in evaluation.thresholds.fetchall()}
    for row in data(text, "threshold-1"):
        reached = [rest for (c, t), rest in thresholds.items() if c == row["class"] and t >= float(row["threshold"])]
        if row["class"] in ("red", "green") and reached:
            last = min(reached, key=lambda rest: -(rest[0] + rest[1]))
            assert (float(row["true_positives"]), float(row["false_positives"])) == (last[0], last[1])


@pytest.mark.slow
def test_a_table_that_the_model_has_learnt_is_judged_by_rows_left_out(con, model, tmp_path):
    options = {"families": {"visits": "poisson", "words": nbsql.Text()}, "exclude": "period"}
    for folds, given in ((5, "auto"), (3, 3)):
        expected = nbsql.cross_validate(con, "rows", target="class", folds=folds, **options)
        rows = model.plot.verdict("rows", folds=given).figure.tables["rows"]
        assert rows[0]["value"] == pytest.approx(expected.accuracy, abs=1e-9)
        assert rows[2]["value"] == pytest.approx(expected.log_loss, abs=1e-8)
    confused = model.plot.confusion("rows", folds=3, least=1).figure.tables["rows"]
    right = sum(n for label, prediction, n in expected.evaluation.confusion.fetchall() if label == prediction)
    assert sum(row["n"] for row in confused if row["class"] == row["prediction"]) == right
    model.report(tmp_path / "r.html", source="rows")
    text = (tmp_path / "r.html").read_text()
    assert (
        text.count("Each row is evaluated by the counts of the other 4 of 5 folds, because the model has learnt from rows.")
        == 2
    )
    others = "SELECT * FROM rows LIMIT 90"
    assert "evaluated by" not in "".join(model.plot.verdict(others).figure.notes)
    for draw in (model.plot.verdict, lambda source, folds: model.report(tmp_path / "no.html", source=source, folds=folds)):
        with pytest.raises(
            nbsql.InputError, match=r"counts 90 rows, and model 'shown' has learnt 900.*evaluate others with folds=None"
        ):
            draw(others, folds=2)
    with pytest.raises(nbsql.InputError, match="folds are of the rows of a source"):
        model.report(tmp_path / "no.html", folds="loo")
    assert not (tmp_path / "no.html").exists()


@pytest.mark.slow
def test_where_no_row_can_be_left_out_the_page_says_that_it_flatters(con):
    con.execute("CREATE OR REPLACE TABLE texts AS SELECT class, words FROM rows")
    for options, how in (
        ({"tfidf": True}, "the other 4 of 5 folds"),
        (
            {"tfidf": True, "norm": "l2"},
            "so its metrics there are optimistic; folds are not possible: 'words' is estimated from all rows at once",
        ),
    ):
        model = nbsql.fit(
            con, "texts", target="class", name="texts_model", families={"words": nbsql.Text(**options)}, replace=True
        )
        assert how in model.plot.verdict("texts").figure.notes[0]


def test_densities_are_those_of_the_family_and_integrate_to_one(con, model):
    rows = model.profile("x", "rows").fetchall()
    places = [row for row in rows if row[0] == "red" and row[1] == "density"]
    assert len(places) == 100
    mean, variance = con.execute("SELECT avg(x), var_pop(x) FROM rows WHERE class = 'red'").fetchone()
    for _, _, x, _, _, density in places:
        expected = math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        assert density == pytest.approx(expected, rel=1e-9)
    counted = [row for row in rows if row[0] == "red" and row[1] == "histogram"]
    assert sum(row[4] for row in counted) == 300
    assert sum(row[5] * (row[3] - row[2]) for row in counted) == pytest.approx(1, rel=1e-9)


def test_numbers_that_differ_little_keep_the_digits_in_which_they_differ():
    with duckdb.connect() as con:
        con.execute("""CREATE TABLE visits AS SELECT i % 2 = 0 AS y, 1732500000 + hash(i) % 30000 + 30000 * (i % 2) AS second,
            103.819 + (hash(i * 3) % 1000) * (1 + i % 2) / 1e6 AS longitude FROM range(400) AS r(i)""")
        model = nbsql.fit(con, "visits", target="y")
        for feature, near in {"second": r"1,732,51\d,000", "longitude": r"103\.819[456]"}.items():
            figure = model.plot.profile(feature, "visits").figure
            curve = [row["lower"] for row in figure.tables["rows"] if row["part"] == "density" and row["class"] == "y = true"]
            assert len(set(curve)) == len(curve) > 30
            assert re.search(rf"\b{near} in y = true", figure.finding) is not None, figure.finding
        choices = [row["value"] for row in model.plot.nomogram().figure.tables["rows"] if row["feature"] == "longitude"]
        assert len(choices) > 8


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("of", ["lognormal", "gamma", "exponential", "gaussian"])
def test_the_zeros_of_a_number_are_a_share_and_not_a_density(of):
    with duckdb.connect() as con:
        often = "CASE WHEN hash(i) % 10 < CASE WHEN i % 3 = 0 THEN 7 ELSE 4 END THEN 0 ELSE exp(hash(i * 7) % 100 / 50.0) END"
        label = "CASE WHEN i % 3 = 0 THEN 'dry' ELSE 'wet' END"
        con.execute(f"CREATE TABLE rain AS SELECT {label} AS y, {often} AS x FROM range(900) AS r(i)")
        model = nbsql.fit(con, "rain", target="y", families={"x": nbsql.ZeroInflated(of=of)})
        shares = "(count_if(x = 0) + 1) / (count(*) + 2), count_if(x <> 0)"
        expected = con.execute(f"SELECT y, {shares} FROM rain GROUP BY y").fetchall()
        rows = model.profile("x", "rain").fetchall()
        for label, zero, others in expected:
            assert [row[2:] for row in rows if row[:2] == (label, "probability")] == [(0.0, None, None, pytest.approx(zero))]
            bins = [row for row in rows if row[:2] == (label, "histogram")]
            assert sum(row[4] for row in bins) == pytest.approx(others, abs=20)  # some are beyond the last bin
        figure = model.plot.profile("x", "rain").figure
        shares = {label: f"{100 * zero:.1f} % of {label}" for label, zero, _ in expected}
        assert figure.finding.startswith(f"x is 0 in {shares['wet']}, {shares['dry']}, and otherwise most likely near ")
        curves = [row for row in figure.tables["rows"] if row["part"] == "density"]
        assert len(curves) > 100  # of two classes, each at a hundred points, of which the faint are not drawn
        assert max(row["density"] for row in curves) > 0.3 * max(row[5] for row in rows if row[1] == "histogram")
        for text in (shares["wet"], "probability of 0 within the class", "density within the class"):
            assert text in model.plot.profile("x", "rain").svg


def test_dependence_is_none_of_independent_features_and_all_of_copies():
    with duckdb.connect() as con:
        con.execute(
            """CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i // 2 % 4 AS a, 'b' || i // 8 % 4 AS b FROM range(3200) AS t(i)"""
        )
        con.execute("CREATE TABLE u AS SELECT *, a AS copy FROM t")
        model = nbsql.fit(con, "u", target="y")
        found = {(row[0], row[1]): row[2:] for row in model.dependence("u")}
        information, by_chance = 1.3862943611198906, 18 / 6400
        assert found["a", "copy"][:-1] == pytest.approx((3200, information, by_chance, information - by_chance), abs=1e-12)
        assert found["a", "copy"][-1] == 'nbsql.Joint(["a", "copy"])'
        assert found["a", "b"][1:] == (pytest.approx(0, abs=1e-12), by_chance, 0, None)
        assert nbsql.dependence(con, "u", target="y").fetchall() == model.dependence("u").fetchall()
        (numbers,) = nbsql.dependence(
            con, "SELECT y, length(a) * i AS m, i AS n, b FROM u, range(4) AS r(i)", target="y", columns=["m", "n"]
        )
        assert (numbers[0], numbers[1], numbers[-1]) == ("m", "n", 'nbsql.MultivariateGaussian(["m", "n"])')
        with pytest.raises(nbsql.InputError, match="has no feature 'c'"):
            model.dependence("u", features=["a", "c"])
        with pytest.raises(nbsql.InputError, match=r"has 1 feature of one value a row; two can depend$"):
            model.dependence("u", features=["a", "a"])
        con.execute("CREATE VIEW none AS FROM u WHERE false")
        with pytest.raises(nbsql.ModelError, match=r"^none has no row with values of two features; there is no dependence"):
            model.plot.dependence("none")
        with pytest.raises(nbsql.InputError, match=r"^there is no row whose class is known; nothing can be evaluated$"):
            model.plot.verdict("none")


def test_a_weight_counts_as_so_many_rows_in_a_dependence_and_a_histogram():
    with duckdb.connect() as con:
        con.execute(
            """CREATE TABLE t AS SELECT i % 2 AS y, 'a' || hash(i) % 3 AS a, 'b' || (hash(i) % 3 + hash(i * 7) % 2) AS b,
                hash(i) % 100 / 7.0 AS x, i % 4 * 1.0 AS w FROM range(200) AS r(i)"""
        )
        copies = "SELECT t.* EXCLUDE (w) FROM t, range(w::INT)"
        model, copied = nbsql.fit(con, "t", target="y", weight="w"), nbsql.fit(con, copies, target="y")
        expected = copied.dependence(copies).fetchall()
        for found in (model.dependence("t"), nbsql.dependence(con, "t", target="y", weight="w")):
            assert [row[:2] for row in found] == [row[:2] for row in expected]
            assert [row[2:6] for row in found] == [pytest.approx(row[2:6], rel=1e-9) for row in expected]
        without = "SELECT * EXCLUDE (w) FROM t"  # in which every row counts 1
        assert {row[2] for row in model.dependence(without)} == {200}
        bins, same = ([row[2:] for row in each.profile("x", source)] for each, source in ((model, "t"), (copied, copies)))
        assert bins == [pytest.approx(row, rel=1e-9) for row in same]


def test_discrimination_is_the_log_ratio_with_the_counts(con, model):
    rows = {(row[0], row[1]): row[2:] for row in model.discrimination("red", "green")}
    ratios = {(row[0], row[1]): row[5] for row in con.execute("FROM shown.likelihood_ratios('red', 'green')").fetchall()}
    assert {key: row[-1] for key, row in rows.items()} == pytest.approx(ratios)
    n = con.execute(f"""SELECT count(*) FROM rows WHERE class = 'red' AND "{FEATURE.replace('"', '""')}" = 'u'""").fetchone()[0]
    assert rows[FEATURE, "u"][0] == n
    with pytest.raises(nbsql.InputError, match="has no class 'rde'"):
        model.discrimination("rde", "green")


def test_a_value_that_only_one_class_has_is_infinitely_likelier_and_drawn_to_the_edge(con):
    words = "SELECT unnest(['a', 'a', 'b', 'b']) AS y, unnest(['x <a>', 'w', 'w', 'w']) AS word"
    model = nbsql.fit(con, f"{words} FROM range(9)", target="y", alpha=0)
    assert [(row[1], row[-1]) for row in model.discrimination("b", "a")] == [
        ("x <a>", -math.inf), ("w", pytest.approx(math.log(2))),
    ]  # fmt: skip
    picture = model.plot.discrimination("b", "a")
    assert picture.finding == "word = x <a> is in y = a and never in y = b"
    (rows,) = (data for data in picture.spec["datasets"].values())
    assert [row["log_ratio"] for row in rows] == [
        pytest.approx(-1.2 * math.log(2), rel=1e-3),
        pytest.approx(math.log(2), rel=1e-3),
    ]
    assert picture.svg.count("<svg") == 1
    alike = nbsql.fit(con, "SELECT i % 2 AS y, 'v' || i % 3 AS x FROM range(600) AS r(i)", target="y")
    assert alike.plot.discrimination().finding == "Values are about equally frequent in y = 0 and in y = 1"


@pytest.mark.slow
def test_counts_below_the_least_are_not_said_where_they_are_shared(con, tmp_path):
    con.execute("CREATE OR REPLACE TABLE few AS SELECT * FROM rows UNION ALL SELECT 'red', 'rare secret', 1, 1, 'secret', 0")
    model = nbsql.fit(con, "few", target="class", families={"visits": "poisson", "words": nbsql.Text()})
    for picture in (
        model.plot.profile(FEATURE, least=5),
        model.plot.profile("words"),
        model.plot.nomogram(least=5),
        model.plot.discrimination(),
    ):
        assert "secret" not in json.dumps(picture.spec)
    assert "rare secret" in json.dumps(model.plot.profile(FEATURE).spec)  # a picture of one's own has all counts
    assert '"label": "<' not in json.dumps(model.plot.confusion("few", folds=None).spec)
    model.report(tmp_path / "few.html", source="few")
    assert "rare secret" not in (tmp_path / "few.html").read_text(encoding="utf-8")


def test_a_row_of_a_waterfall_that_there_is_not_is_said_before_any_is_explained(model, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(ScoredSource, "explained", None)
        with pytest.raises(nbsql.InputError, match=r"^there is no row 1000000000; rows has [0-9,]+ rows$"):
            model.plot.waterfall("rows", row=10**9)
    assert model.plot.waterfall("rows").finding.startswith("Most confident and right")
    with pytest.raises(nbsql.InputError, match=r"^row is of a waterfall, and card shows no rows; leave it out$"):
        plots.picture(model, "card", row=2)


@pytest.mark.parametrize(
    "options",
    [
        {"weight": "w"},
        {"weight": nbsql.HalfLife(10, at="day")},
        {"weight": nbsql.HalfLife(10, at="day", weight="w")},
        {"segment_by": "day > 40"},
    ],
)
def test_a_waterfall_of_a_model_that_reads_more_than_features(options):
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT i % 3 = 0 AS y, sin(i) + (i % 3) AS x, 1 + i % 2 AS w, i AS day FROM range(90) AS r(i)"
        )
        model = nbsql.fit(con, "t", target="y", features="x", **options)
        assert model.plot.waterfall("t").finding.startswith("Most confident and right")
        assert model.plot.waterfall("t", row=1).finding.startswith("Row 1: predicted y = true")
        if model.state.spec.half_life is not None:
            with pytest.raises(
                nbsql.InputError, match=r"^the model has counts that decrease with age, .*; evaluate others with folds=None$"
            ):
                model.report("r.html", source="t", folds=5)


def test_a_nomogram_names_the_class_of_its_scores():
    with duckdb.connect() as con:
        model = nbsql.fit(con, "SELECT i % 3 = 0 AS late, i % 4 = 0 AS rain FROM range(90) AS r(i)", target="late")
        assert "contribution of each value to the score of late = false," in model.plot.nomogram().svg


@pytest.mark.few
@pytest.mark.parametrize("x", ["1e16 + i % 2", "if(i % 4 > 1, 1e308, if(i % 4 > 0, 5e-324, 0))", "1e18"])
@pytest.mark.parametrize("family", ["gaussian", "kernel"])
@pytest.mark.filterwarnings("ignore:one value only|each number of 'x'|'x' :nbsql.NbsqlWarning")
def test_numbers_whose_range_no_double_divides_are_drawn(x, family):
    with duckdb.connect() as con:
        rows = f"SELECT i % 3 = 0 AS late, ({x})::DOUBLE AS x FROM range(90) AS r(i)"
        model = nbsql.fit(con, rows, target="late", families={"x": family})
        assert model.plot.nomogram().svg.startswith("<svg")
        assert model.plot.profile("x").svg.startswith("<svg")


def test_what_follows_a_name_from_right_to_left_stays_behind_it(tmp_path):
    with duckdb.connect() as con:
        con.execute("""CREATE TABLE t AS
            SELECT '\u05e9\u05dc \u05d0' || chr(CAST(1488 + i % 2 AS INT)) AS y, 4 * (i % 2) + i // 2 % 3 AS x
            FROM range(60) AS r(i)""")
        nbsql.fit(con, "t", target="y", families={"x": "gaussian"}).plot.profile("x").save(tmp_path / "profile.html")
    page = (tmp_path / "profile.html").read_text(encoding="utf-8")
    names = [f"\u2068\u05e9\u05dc \u05d0{letter}\u2069" for letter in "\u05d0\u05d1"]
    assert f"x is most likely near 0.961 in y = {names[0]}, 5.04 in y = {names[1]}</h3>" in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_constant_is_not_ranked(tmp_path):
    with duckdb.connect() as con:
        model = nbsql.fit(con, "SELECT i % 2 AS y, 5 AS x FROM range(90) AS r(i)", target="y")
        with pytest.raises(nbsql.ModelError, match=r"^the model has no features to rank$"):
            model.plot.ranking()
        model.report(tmp_path / "constant.html")
        nbsql.fit(con, "SELECT i % 2 AS y FROM range(90) AS r(i)", target="y", features=[]).report(tmp_path / "none.html")
        assert "<li>Features: none.</li>" in (tmp_path / "none.html").read_text(encoding="utf-8")
        model = nbsql.fit(con, "SELECT i % 2 AS y, 5 AS x, i % 3 AS z FROM range(90) AS r(i)", target="y")
        assert [row["feature"] for row in model.plot.ranking().spec["datasets"]["rows"]] == ["z"]


@pytest.mark.slow
def test_a_picture_is_saved_as_its_ending_says(model, tmp_path):
    picture = model.plot.ranking()
    for name, first in (
        ("r.svg", b"<svg"),
        ("r.png", b"\x89PNG"),
        ("r.pdf", b"%PDF-"),
        ("r.html", b"<!doctype html>"),
        ("r.json", b"{"),
    ):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(first)
    assert json.loads((tmp_path / "r.json").read_text())["datasets"]["rows"]
    assert picture._repr_mimebundle_()["text/html"].startswith("<div")
    assert picture.altair.to_dict()["datasets"]
    for name in ("r.pdf", "r", "rows", "rows.csv.gz"):
        with pytest.raises(nbsql.InputError, match=rf"^a report is a page of HTML; end the path '{name}' with \.html$"):
            model.report(name)
    for write in (model.report, model.plot.card().save):
        with pytest.raises(nbsql.InputError, match=r"^a path must be text or a pathlib\.Path, not None$"):
            write(None)
    with pytest.raises(nbsql.InputError, match=r"'r\.gif' ends in none of \.svg"):
        picture.save(tmp_path / "r.gif")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r.pdf", "r.png", "r.svg"]
    listed = repr(model.plot)
    assert re.search(r"^model\.plot\.waterfall\(source\) +Why this prediction\?", listed, re.MULTILINE)
    assert all(panel.name in listed for panel in PANELS)


def test_what_cannot_be_drawn_is_one_line(model, tmp_path, monkeypatch):
    with pytest.raises(nbsql.InputError, match="confusion is about rows whose class is known"):
        model.plot.confusion(None)
    with pytest.raises(nbsql.InputError, match="least must be a whole number of at least 1, not 0"):
        model.plot.card(least=0)
    with pytest.raises(nbsql.InputError, match="its folder does not exist"):
        model.report(tmp_path / "nowhere" / "r.html")
    with pytest.raises(nbsql.InputError, match="rows are those of a source"):
        model.report(tmp_path / "r.html", rows=3)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(nbsql.NotSupportedError, match=r"pictures need vl-convert-python: pip install 'nbsql\[report\]'"):
        model.report(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_a_source_a_page_says_what_the_counts_tell(model, tmp_path):
    model.report(tmp_path / "r.html")
    found = re.findall(r'<section id="([\w-]+)"', (tmp_path / "r.html").read_text())
    assert found == [panel.name for panel in PANELS if not (panel.needs_source or panel.of_periods)]


def test_without_a_source_the_verdict_bounds_the_log_loss_by_the_counts(con):
    con.execute(
        """CREATE TABLE shapes AS SELECT i % 2 AS y, CASE WHEN i % 16 > 0 THEN 'a' || (i % 2 + i // 2 % 3) END AS a,
        'b' || i // 4 % 2 AS b, 'some words' AS c FROM range(960) AS t(i)"""
    )
    model = nbsql.fit(con, "shapes", target="y", families={"c": nbsql.Text()})
    figure = model.plot.verdict().figure
    found = {row["who"]: row["value"] for row in figure.tables["rows"]}
    cells = con.execute("SELECT a, y, count(*) FROM shapes GROUP BY ALL").fetchall()
    of_value = {a: sum(n for other, _, n in cells if other == a) for a, _, _ in cells}
    known = -sum(n * math.log(n / of_value[a]) for a, _, n in cells if a is not None) / 960
    y_known = {y: sum(n for a, other, n in cells if a is not None and other == y) for y in (0, 1)}
    among = -sum(n * math.log(n / 900) for n in y_known.values()) / 900  # of the rows that have a
    assert found["priors only"] == pytest.approx(math.log(2), rel=1e-8)
    by_chance = {feature: row[-2] for feature, *row in model.relevance()}["a"]
    assert found["a only"] == pytest.approx(math.log(2) - 900 / 960 * (among - by_chance) + known, rel=1e-8)
    assert found["b only"] == pytest.approx(math.log(2), abs=1e-8)
    assert found["all features, at best"] == pytest.approx(found["a only"], abs=1e-8)
    assert any("words" in note for note in figure.notes)
    assert not any("c only" in who for who in found)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_page_of_20_features_50_classes_and_10_000_words(tmp_path):
    with duckdb.connect() as con:
        columns = ", ".join(f"(hash(i, {k}) + i % 50 * {k}) % {k + 2} AS c{k}" for k in range(10))
        numbers = ", ".join(f"hash(i, {k}) % 1000 / 500.0 + i % 50 AS x{k}" for k in range(9))
        con.execute(
            f"""CREATE TABLE large AS SELECT 'class ' || i % 50 AS y, {columns}, {numbers},
                concat_ws(' ', 'w' || i % 50, 'w' || i % 10000, 'w' || hash(i) % 10000) AS words FROM range(10000) AS t(i)"""
        )
        families = {f"c{k}": "categorical" for k in range(10)} | {"words": nbsql.Text()}
        model = nbsql.fit(con, "large", target="y", families=families)
        path = tmp_path / "large.html"
        model.report(path, source="large", rows=4)
        assert path.stat().st_size < 1_500_000
        marks = "chart.querySelectorAll('svg .role-mark path').length"
        program = f"return [...document.querySelectorAll('.chart')].map((chart) => {marks});"
        found, said = opened(path, tmp_path, program)
        assert said == []
        assert min(found) > 0


@pytest.mark.slow
def test_of_two_classes_the_other_one_is_named_and_both_calibrations_are_measured():
    with duckdb.connect() as con:
        con.execute(
            """CREATE TABLE days AS SELECT *, sky AS again FROM (
                SELECT i % 2 = 0 AS dry, ['sun', 'rain', 'fog'][1 + (i % 2 + i % 5) % 3] AS sky FROM range(300) AS r(i))"""
        )
        model = nbsql.fit(con, "FROM days LIMIT 150", target="dry", name="days_model")
        finding = model.plot.profile("sky").figure.finding
        assert re.search(r"as frequent in dry = (true as in dry = false|false as in dry = true)$", finding)
        with pytest.raises(nbsql.ModelError, match=r"^model 'days_model' has fewer than two slices or batches; fit it with"):
            model.plot.drift()

        held = "FROM days OFFSET 157"
        model.calibrate(held, folds=None)
        before, after = (model.evaluate(held, calibrated=calibrated).calibration_error for calibrated in (False, True))
        assert f"{before:.4f}" != f"{after:.4f}"
        notes = model.plot.reliability(held).figure.notes
        assert notes[0] == f"Calibration error: {before:.4f} uncalibrated, {after:.4f} calibrated."
        assert all("log loss" not in note for note in model.plot.verdict(held).figure.notes if note)


@pytest.mark.nightly
def test_a_row_is_that_of_the_source_and_a_report_explains_chosen_rows(con, model, tmp_path):
    rows = con.sql("FROM rows").fetchall()
    columns = con.sql("FROM rows").columns
    for number in (1, 2, 7):
        alone = [dict(zip(columns, rows[number - 1], strict=True))]
        picture = model.plot.waterfall("rows", row=number)
        assert picture.finding.startswith(f"Row {number}: predicted {model.predict(alone).fetchall()[0][-2]} (")
        explained = model.explain(alone).df()
        total = next(row["log_odds"] for row in picture.spec["datasets"]["rows"] if row["label"] == "total")
        sums = explained.groupby("class").contribution.sum().sort_values(ascending=False)
        assert total == pytest.approx(sums.iloc[0] - sums.iloc[1])
    path = tmp_path / "rows.html"
    model.report(path, source="rows", rows=[7, 2])
    text = path.read_text(encoding="utf-8")
    assert text.index("Row 7: predicted") < text.index("Row 2: predicted")
    assert "Most confident and right" not in text
    for wrong in ([0], [1.5], -1, "2"):
        with pytest.raises(nbsql.InputError, match="must be a whole number of at least"):
            model.report(path, source="rows", rows=wrong)


@pytest.mark.nightly
def test_the_library_of_a_page_is_made_once_on_a_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(document, "bundle", document.bundle.__wrapped__)
    made = document.bundle()
    (kept,) = tmp_path.rglob("bundle.*")
    written = kept.stat().st_mtime_ns
    assert document.bundle() == made
    assert kept.stat().st_mtime_ns == written
    kept.write_bytes(kept.read_bytes()[:-1])  # as a disk that is full leaves it
    assert document.bundle() == made
    assert b"vega.github.io" not in gzip.decompress(base64.b64decode(made))
