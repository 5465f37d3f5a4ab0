"""Models without a target: rows that are unlike the others, against numpy and by hand, and what needs classes."""

import re

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

PARCELS = """CREATE TABLE parcels AS SELECT i AS id, ['Bern', 'Basel', 'Genf'][1 + i % 3] AS city,
    2000 + i * 700 % 1100 + (i = 77)::INT * 30000 AS grams, 3 + i * 5 % 4 + (i = 40)::INT * 9 AS days FROM range(300) AS t(i)"""


def test_bins_of_equal_width_are_the_histogram_based_outlier_score(con):
    numbers = pd.DataFrame(np.random.default_rng(3).normal(size=(400, 3)), columns=list("abc"))
    histograms = {name: np.histogram(numbers[name], 10, density=True) for name in numbers}
    edges = {name: [float(edge) for edge in found[1][1:-1]] for name, found in histograms.items()}
    families = {name: nbsql.Binned(edges=inner, alpha=0) for name, inner in edges.items()}
    evidence = nbsql.fit(con, numbers, target=None, families=families).log_evidence(numbers).df()["log_evidence"].to_numpy()
    score, constant = np.zeros(len(numbers)), 0.0
    for name, (heights, of_bins) in histograms.items():
        score -= np.log2(heights[np.clip(np.searchsorted(of_bins, numbers[name], "right") - 1, 0, 9)])
        constant += np.log2(of_bins[1] - of_bins[0])
    assert constant - evidence / np.log(2) == pytest.approx(score, abs=1e-9)


def test_unusual_rows_come_with_what_is_unusual_in_them(con):
    con.execute(PARCELS)
    model = nbsql.fit(con, "parcels", target=None, name="shape", id="id")
    first, second = model.unusual("parcels", 2).fetchall()
    assert (first[0], first[-2], first[-1].split(";")[0]) == (77, 1, "least likely: grams = 32000")
    assert (second[0], second[-2], second[-1].split(";")[0]) == (
        40,
        1,
        "least likely: days = 12",
    )  # though grams have a lower density
    assert model.unusual("parcels").columns == ["id", "city", "grams", "days", "log_evidence", "stands_for", "reason"]
    new = "SELECT 'Bern' AS city, 2500 AS grams, 4 AS days UNION ALL SELECT 'Chur', 2500, 4"  # a city that was never seen
    assert [row[-1].split(";")[0] for row in model.unusual(new, 1, columns=[])] == ["least likely: city = Chur"]
    in_sql = con.execute(
        "SELECT id FROM shape.log_evidence('parcels') ORDER BY floor(log_evidence * 1e6), id LIMIT 2"
    ).fetchall()
    assert in_sql == [(77,), (40,)]
    assert repr(nbsql.load(con, "shape")).startswith("<nbsql model 'shape' in 'memory': no target from 300 rows, by ")


def test_a_model_without_a_target_learns_and_forgets(con):
    con.execute(PARCELS)
    whole = nbsql.fit(con, "parcels", target=None, id="id", infer="types")
    parts = nbsql.fit(con, "SELECT * FROM parcels WHERE id < 100", target=None, id="id", infer="types")
    parts.update("SELECT * FROM parcels WHERE id >= 100")
    expected = whole.log_evidence("parcels", columns=["id"]).fetchall()
    assert parts.log_evidence("parcels", columns=["id"]).fetchall() == [
        (identifier, pytest.approx(evidence, rel=1e-9)) for identifier, evidence in expected
    ]


@pytest.mark.parametrize("method", [nbsql.TAN(), nbsql.KDB(k=1), nbsql.AODE()])
def test_without_classes_numbers_are_cut_at_their_quantiles(con, method):
    con.execute("CREATE TABLE t AS SELECT i AS x, i * 7 % 200 AS z FROM range(200) AS r(i)")
    model = nbsql.fit(con, "t", target=None, method=method, name="m")  # no warning of one bin
    assert model.state.spec.found_dependence.bins == 10
    assert con.execute("SELECT feature FROM m.statistics WHERE feature = 'x'").fetchall() == [("x",)] * 10


@pytest.mark.parametrize("method", ["naive", nbsql.Clusters(2, starts=1, iterations=2)])
def test_a_column_of_one_value_tells_no_row_from_another(con, method):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS x, i AS z, 7 AS seven FROM range(40) AS r(i)")
    families = {"z": nbsql.Binned(by="mdl"), "x": "categorical", "seven": "categorical"}
    with pytest.warns(nbsql.NbsqlWarning) as said:
        nbsql.fit(con, "t", target=None, method=method, families=families)
    texts = [str(each.message) for each in said]
    assert "one value only in 'seven'; such a column tells no row from another" in texts
    assert "one bin only in 'z', which tells no row from another; cut it elsewhere: nbsql.Binned(by=[...])" in texts


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda con, model: model.predict("parcels"), "{} for a prediction; it finds unusual() rows"),
        (lambda con, model: model.predict("parcels", top_k=1), "{} for a prediction; it finds unusual() rows"),
        (lambda con, model: model.predict_proba("parcels"), "{} for a prediction; it finds unusual() rows"),
        (lambda con, model: model.evaluate("parcels"), "{} for a prediction; it finds unusual() rows"),
        (lambda con, model: model.compare(model, "parcels"), "{} for a prediction; it finds unusual() rows"),
        (
            lambda con, model: model.review("parcels"),
            "model 'shape' has one class only, and is never in doubt; review by='evidence'",
        ),
        (
            lambda con, model: nbsql.auto(con, "parcels", target=None, id="id"),
            "without a target there are no classes to judge by; name one",
        ),
        (
            lambda con, model: nbsql.fit(con, "parcels", target=None, id="id", method="kdb"),
            "without a target no classes say how many parents are best; say it: method=nbsql.KDB(k=2)",
        ),
        (
            lambda con, model: nbsql.fit(con, "SELECT 1 AS x", target=None, families={"x": nbsql.Binned(monotone=True)}),
            "target=None does not support 'x', which is binned with monotone; leave that option out",
        ),
    ],
)
def test_what_needs_classes_is_refused(con, act, message):
    con.execute(PARCELS)
    model = nbsql.fit(con, "parcels", target=None, name="shape", id="id")
    text = message.format("model 'shape' has no target, and so no classes")
    with pytest.raises(nbsql.NbsqlError, match=f"^{re.escape(text)}$"):
        act(con, model)


def test_the_command_line_explains_a_row_without_classes(tmp_path):
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(file) as con:
        con.execute(PARCELS)
    run = CliRunner().invoke
    fit = run(main, ["fit", str(file), "parcels", "--no-target", "--name", "shape", "--id", "id"])
    assert fit.exit_code == 0
    assert f"nbsql unusual {file} shape parcels" in fit.stdout
    explained = run(main, ["explain", str(file), "shape", "parcels", "--row", "78"]).stdout
    assert re.search(r"77 +all +grams +32000 ", explained)
    refused = run(main, ["predict", str(file), "shape", "parcels"])
    assert (
        refused.stderr
        == "error: model 'shape' has no target, and so no classes for a prediction; it finds `nbsql unusual` rows\n"
    )
