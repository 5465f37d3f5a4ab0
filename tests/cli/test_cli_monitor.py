"""The command `monitor`: what it prints, its exit status where a limit is passed, and what it refuses; and its panel."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A database with the table sky, where rain comes in the third week, and the model weather of the first."""
    path = str(tmp_path_factory.mktemp("shop") / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute("""CREATE TABLE sky AS SELECT i // 30 AS week,
            CASE WHEN i % 3 = 0 AND i < 60 THEN 'sun' ELSE 'rain' END AS sky,
            CASE WHEN i % 3 = 0 OR i % 5 = 0 THEN 'yes' ELSE 'no' END AS play FROM range(90) AS t(i)""")
        nbsql.fit(con, "FROM sky WHERE week = 0", target="play", exclude=["week"], name="weather")
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments), prog_name="nbsql")
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


@pytest.mark.slow
def test_what_passes_a_limit_is_said_and_is_the_status(shop):
    watched = ("monitor", shop, "weather", "sky", "--by", "week")
    out, err = run(*watched, "--csv", "--fail-over", "psi=5")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert err == ""
    assert list(rows[0]) == ["period", "feature", "class", "metric", "value", "reference", "moved", "by_chance"]
    with duckdb.connect(shop) as con:
        expected = nbsql.load(con, "weather").monitor("sky", by="week").fetchall()
    assert [row["period"] for row in rows] == [period for period, *_ in expected]
    (moved,) = (row[4] for row in expected if row[:2] == ("2", "sky") and row[3] == "psi")
    out, err = run(*watched, "--limit", "2", "--fail-over", "psi=0.2", "--fail-under", "accuracy=0.5", code=3)
    assert "the first 2 rows" in out
    lines = err.splitlines()
    chance = 2 * (1 / 30)
    assert (
        lines[-1]
        == f"outside: in period 2, psi of sky is {moved:.4g}, over the limit 0.2 ({chance:.4g} by chance); sun moved most"
    )
    assert lines[0].startswith("outside: in period 2, accuracy is 0.4") or len(lines) == 1
    assert json.loads(run(*watched, "--reference", "FROM sky WHERE week = 0", "--json")[0])[0]["period"] in ("0", 0)


@pytest.mark.slow
def test_rows_without_a_period_and_large_numbers_are_plain(shop):
    many = "SELECT NULL::INTEGER AS week, sky, play FROM sky, range(300)"
    assert run("monitor", shop, "weather", many, "--fail-over", "rows=20000", code=3)[1].splitlines() == [
        "outside: in all rows, rows is 27,000, over the limit 20,000"
    ]
    assert run("monitor", shop, "weather", many, "--by", "week", "--fail-over", "rows=0.5", code=3)[1].splitlines() == [
        "outside: where week is NULL, rows is 27,000, over the limit 0.5"
    ]
    assert " 270,000 " in run("monitor", shop, "weather", f"{many}, range(10) AS more")[0]


@pytest.mark.parametrize(
    ("source", "limit", "options"),
    [
        ("FROM sky WHERE false", "psi=0.1", []),
        ("FROM sky SELECT sky", "accuracy=0.9", []),
        ("sky", "posterior_psi=0.1", ["--reference", "FROM sky WHERE false"]),
    ],
)
def test_a_limit_on_nothing_is_an_error(shop, source, limit, options):
    _, err = run("monitor", shop, "weather", source, "--fail-over", limit, *options, code=1)
    metric = limit.split("=")[0]
    assert err == f"error: {metric} has a limit, and no value in any period; check that {source} has rows, and classes\n"


@pytest.mark.slow
def test_a_figure_that_cannot_be_computed_is_outside_of_its_limit(shop):
    gone = "SELECT week, play, CASE WHEN week = 0 THEN sky END AS sky FROM sky"
    assert run("monitor", shop, "weather", gone, "--by", "week", "--fail-over", "psi=5", code=3)[1].splitlines() == [
        "outside: in period 1, psi of sky cannot be computed, and has the limit 5",
        "outside: in period 2, psi of sky cannot be computed, and has the limit 5",
    ]
    late = "SELECT week, sky, CASE WHEN week < 2 THEN play END AS play FROM sky"  # the labels of the last week are to come
    limits = [f"--fail-{side}" for side in ("under", "over", "over", "over")]
    texts = ["accuracy=0.01", "log_loss=50", "label_psi=50", "psi=50"]
    run("monitor", shop, "weather", late, "--by", "week", *(text for pair in zip(limits, texts, strict=True) for text in pair))
    with duckdb.connect(shop) as con:
        nbsql.fit(con, "sky", target="play", name="two")
    run("monitor", shop, "two", "sky", "--by", "week", "--fail-over", "psi=50")  # a feature that is the period has no index
    scored = ["--reference", "FROM sky WHERE week = 0", "--fail-over", "psi=50"]
    assert run("monitor", shop, "weather", gone, "--by", "week", *scored, code=3)[1].splitlines()[0] == (
        "outside: in period 1, psi of sky cannot be computed, and has the limit 50"
    )


def test_what_is_no_limit_is_refused(shop):
    for text, message in {
        "psi": "'psi' is not METRIC=LIMIT, such as psi=0.2",
        "psi=much": "'psi=much' is not METRIC=LIMIT, such as psi=0.2",
        "pis=0.2": "no metric 'pis'; did you mean 'psi'?",
    }.items():
        assert message in run("monitor", shop, "weather", "sky", "--fail-over", text, code=2)[1]
    assert "--by must be one SQL expression" in run("monitor", shop, "weather", "sky", "--by", "nowhere", code=1)[1]


@pytest.mark.slow
def test_the_panel(shop, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python is not installed: pip install '.[report]'")
    target = str(tmp_path / "m.json")
    out, _ = run("plot", shop, "weather", "monitor", "sky", "--by", "week", "--output", target)
    assert out.startswith("sky drifted most, in 2 (PSI ")
    spec = json.loads(Path(target).read_text(encoding="utf-8"))
    assert [row["period"] for row in spec["datasets"]["rows"]] == ["0", "1", "2"]
    message = "monitor is about rows of several periods; give them as the source, and --by, which says the period"
    assert message in run("plot", shop, "weather", "monitor", "sky", code=1)[1]
    page = tmp_path / "m.html"
    run("report", shop, "weather", "sky", "--by", "week", "--held-back", "--output", str(page))
    text = page.read_text(encoding="utf-8")
    assert '<section id="monitor"' in text
    assert "Is it still good?" in text


def test_a_summary_is_not_limited(shop):
    out, _ = run("monitor", shop, "weather", "sky", "--by", "week", "--summary", "--csv")
    assert out.splitlines()[0] == "period,rows,labelled,accuracy,log_loss,log_evidence,feature,psi,moved"
    assert len(out.splitlines()) == 4
    _, err = run("monitor", shop, "weather", "sky", "--summary", "--fail-over", "psi=1", code=2)
    assert "--summary shows no single metrics, which --fail-over and --fail-under limit; leave it out" in err
