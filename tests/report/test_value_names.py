"""How pictures and explanations name bins, values of several columns, and labels that compare."""

import re

import pytest

import nbsql
from nbsql.report import PANELS
from nbsql.report.panel import shown

HOURS = """SELECT i % 24 AS hour, (i % 24) * 4 + i % 7 AS damp, i % 3 AS wind,
    CASE WHEN (i % 24) * 4 + i % 7 > 50 THEN '>=50' ELSE '<50' END AS rain FROM range(480) AS r(i)"""


@pytest.fixture
def con(con):
    con.execute(f"CREATE TABLE hours AS {HOURS}")
    return con


def test_a_bin_is_named_by_its_edges_and_a_label_that_compares_by_its_target(con):
    families = {"damp": nbsql.Binned(edges=[20, 60])}
    model = nbsql.fit(con, "hours", target="rain", features=["damp"], families=families)
    figure = model.plot.discrimination(">=50", "<50").figure
    assert figure.finding == "damp ≥ 60 is 200 times as likely in rain >=50 as in rain <50"
    assert {row["label"].partition(" (only")[0] for row in figure.tables["rows"]} == {
        "damp < 20",
        "20 ≤ damp < 60",
        "damp ≥ 60",
    }
    finding = model.plot.profile("damp").figure.finding
    assert finding == "damp ≥ 60 is 200 times as frequent in rain >=50 as in rain <50"


def test_a_value_with_its_parent_is_named_by_both_columns(con):
    model = nbsql.fit(con, "hours", target="rain", features=["damp", "hour"], method=nbsql.TAN(bins=4))
    labels = [row["label"] for row in model.plot.discrimination(">=50", "<50", least=1).figure.tables["rows"]]
    assert any(" with " in label for label in labels)
    assert not any('["' in label for label in labels)
    text = repr(model.explain("hours"))
    assert '["' not in text
    assert "hour      hour < 5, damp < 25   3.3 × for <50" in text
    figure = model.plot.dependence("hours").figure
    assert figure.finding == "No two other features depend on each other within the classes"
    assert figure.notes[0] == "The model takes a feature together with its parents, and their common evidence counts once."


def test_the_cells_of_a_kernel_make_no_headline_and_no_slice(con):
    model = nbsql.fit(
        con, "hours", target="rain", features=["damp", "wind"], families={"damp": "kernel", "wind": "categorical"}
    )
    features = {row["feature"] for row in model.plot.discrimination(">=50", "<50", least=1).figure.tables["rows"]}
    assert features == {"wind"}
    assert {row["feature"] for row in model.plot.slices("hours").figure.tables["rows"]} == {"wind"}


def test_a_slice_is_worst_only_if_it_is_clearly_worse(con):
    con.execute("CREATE TABLE odd AS SELECT i % 2 AS y, CASE WHEN i % 4 < 2 THEN i % 2 ELSE 7 END AS a FROM range(400) AS r(i)")
    model = nbsql.fit(con, "odd", target="y", families={"a": "categorical"})
    assert model.plot.slices("odd").figure.finding == (
        "Worst where a is 7: accuracy is 50.0 % on 200 rows, and 75.0 % overall, on rows that the model has learnt"
    )


def test_a_feature_of_rare_values_only_has_no_picture_in_a_report(con):
    source = "SELECT i % 2 AS y, 'v' || i AS a FROM range(60) AS r(i)"
    model = nbsql.fit(con, source, target="y", families={"a": "categorical"})
    with pytest.raises(nbsql.ModelError, match="none of the 60 values of a has the 5 rows that a picture needs"):
        _ = model.plot.profile("a", least=5).figure
    assert model.plot.profile("a").figure.tables["rows"]


def test_an_explanation_of_a_calibrated_model_says_that_it_is_of_the_model_before(con):
    with nbsql.fit(con, "hours", target="rain", features=["wind"], families={"wind": "categorical"}, name="m") as model:
        assert "before its calibration" not in repr(model.explain("hours"))
        model.calibrate("hours", folds=None)
        text = repr(model.explain("hours"))
        assert text.splitlines()[2].endswith(" (before its calibration by temperature)"), text


def test_an_evaluation_by_a_column_says_where_its_slices_are(con):
    model = nbsql.fit(con, "hours", target="rain", features=["damp"])
    assert "by 'wind': .slices has the numbers of each" in repr(model.evaluate("hours", by="wind")).splitlines()


def test_shares_that_are_given_a_parent_are_not_added_up(con):
    model = nbsql.fit(con, HOURS.replace("480", "960"), target="rain", features=["damp", "hour"], method=nbsql.TAN(bins=8))
    child = next(each.name for each in model.state.spec.features if each.family.parent)
    figure = model.plot.profile(child, least=5).figure
    assert not any(row["value"].startswith("(") for row in figure.tables["rows"])
    assert re.match(r"Where [^,]*damp.*, .*hour.* is \d.* times as frequent in rain", figure.finding)
    assert figure.notes[0] == "A bar is a share of the rows of its class that have what follows 'with'."
    assert figure.notes[-1] == "Values with fewer than 5 rows, and all after the 15 most frequent, are left out."


def test_the_strongest_evidence_of_a_report_is_not_for_a_class_of_few_rows(con):
    con.execute("""CREATE TABLE marks AS SELECT CASE WHEN i < 4 THEN 'few' ELSE 'c' || i % 2 END AS y,
        CASE WHEN i < 8 THEN 'odd' ELSE 'v' || i // 2 % 2 END AS a FROM range(200) AS r(i)""")
    with nbsql.fit(con, "marks", target="y", families={"a": "categorical"}) as model:
        assert "the strongest evidence, for few" in model.plot.nomogram().figure.finding
        assert "for few" not in model.plot.nomogram(least=5).figure.finding


def test_periods_of_days_have_no_time_of_day(con):
    con.execute("CREATE TABLE days AS SELECT *, TIMESTAMP '2026-01-01' + INTERVAL (i // 10) DAY AS seen FROM "
                "(SELECT row_number() OVER () AS i, * FROM hours) AS numbered")  # fmt: skip
    with nbsql.fit(con, "hours", target="rain", features=["wind"], families={"wind": "categorical"}) as model:
        finding = model.plot.monitor("days", by="date_trunc('month', seen)").figure.finding
    assert "2026-0" in finding
    assert "00:00" not in finding


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_of_one_class_compares_none(con, tmp_path):
    con.execute("CREATE TABLE t AS SELECT 'only' AS y, 'k' || i % 3 AS k, i * 1.5 AS x FROM range(60) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="m")
    model.report(tmp_path / "page.html", source="t", rows=1)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    compared = [panel.name for panel in PANELS if panel.of_classes]
    assert compared == "discrimination nomogram waterfall confusion threshold reliability lift slices".split()
    for name in compared:
        with pytest.raises(nbsql.ModelError) as caught:
            getattr(model.plot, name)(*(["t"] if name not in ("discrimination", "nomogram") else []))
        assert str(caught.value) == "model 'm' has only one class, and so none to compare it with"
    assert f"{', '.join(compared)}: model &#39;m&#39; has only one class, and so none to compare it with" in page
    assert "strongest evidence" not in page


def test_joiners_of_letters_and_emoji_stay_and_what_turns_the_line_round_does_not():
    joined = "\u0645\u06cc\u200c\u062e \U0001f469\u200d\U0001f467"
    assert shown(f"{joined} a\u202eb") == f"{joined} a\ufffdb"


def test_long_names_and_values_that_differ_at_their_ends_are_apart_in_charts(con):
    kept = "balance_of_the_customer_kept_in_the_last"
    columns = ", ".join(f"(i % {days}) + i % 2 * {days} AS {kept}_{days}_days" for days in (30, 60))
    con.execute(f"CREATE TABLE t AS SELECT i % 2 AS y, '{'long ' * 20}' || i % 3 AS k, {columns} FROM range(90) AS r(i)")
    model = nbsql.fit(con, "t", target="y")
    bars = model.plot.profile("k").figure.tables["rows"]
    assert len({row["value"] for row in bars}) == 3
    assert len({row["feature"] for row in model.plot.ranking().figure.tables["rows"]}) == 3


def test_long_lists_of_features_are_cut(con):
    columns = ", ".join(f"i % {place % 5 + 2} AS c{place}" for place in range(60))
    con.execute(f"""CREATE TABLE t AS SELECT i % 2 AS "{"target " * 20}", {columns} FROM range(60) AS r(i)""")
    families = dict.fromkeys([f"c{place}" for place in range(60)], "categorical")
    model = nbsql.fit(con, "t", target="target " * 20, families=families)
    card = model.plot.card().figure
    assert card.finding == "Predicts 'target target target …arget target ' (2 classes) from 60 features, learnt from 60 rows"
    assert card.notes[0].endswith("c28 (categorical), c29 (categorical) and 30 more.")
    assert model.plot.nomogram().figure.notes[0].endswith(" and 6 more.")


def test_values_that_are_cut_to_the_same_text_stay_apart(con):
    one, other = (f"the first customer of the long {part} street in Ulm (Donau)" for part in ("northern", "southern"))
    con.execute("CREATE TABLE far (y VARCHAR, who VARCHAR)")
    con.execute("INSERT INTO far SELECT ['a', 'b'][1 + i % 2], [?, ?, 'x'][1 + i % 3] FROM range(300) AS r(i)", [one, other])
    model = nbsql.fit(con, "far", target="y")
    rows = model.plot.slices("far").figure.tables["rows"]
    assert sorted(row["label"] for row in rows) == [
        "who = the first customer of …in Ulm (Donau)",
        "who = the first customer …(2)…in Ulm (Donau)",
        "who = x",
    ]


@pytest.mark.slow
def test_a_report_without_a_target_judges_no_predictions(con, tmp_path):
    con.execute("CREATE TABLE t AS SELECT 'k' || i % 3 AS k, i * 1.5 AS x FROM range(60) AS r(i)")
    model = nbsql.fit(con, "t", target=None, name="m")
    for source in (None, "t"):
        model.report(tmp_path / "page.html", source=source)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "The model describes rows by 2 columns, without a target. It was learnt from 60 rows of t." in page
        assert "It says how unusual a row is: model.unusual(source) begins with the least likely one." in page
        assert "Describes rows by 2 features, learnt from 60 rows" in page
        assert ("Bars of numbers and the dependence are of the rows of t;" in page) is (source is not None)
        assert "Evaluated on" not in page
        assert not [word for word in ("100.0 % right", "folds are not", "more about", "priors only") if word in page]
    for panel in PANELS:
        if panel.of_classes or panel.of_target:
            with pytest.raises(nbsql.ModelError) as caught:
                getattr(model.plot, panel.name)(*(["t"] if panel.needs_source else []))
            lacks = "has no target, and so no classes for a comparison"
            assert str(caught.value) == f"model 'm' {lacks}; it finds unusual() rows"
