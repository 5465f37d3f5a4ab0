"""What a notebook shows of models and answers, and the commands that draw."""

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

DATA = (
    "SELECT * FROM (VALUES ('<b>sun', 'no', 1), ('<b>sun', 'no', 2), ('rain', 'yes', 3), ('rain', 'yes', 4)) AS t(sky, play, n)"
)


@pytest.fixture
def shop(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE days AS {DATA}")
        nbsql.fit(con, "days", target="play", name="weather", exclude=["n"]).close()
    return path


@pytest.mark.slow
def test_a_notebook_shows_tables_in_which_values_are_text(shop):
    with duckdb.connect(shop) as con:
        model = nbsql.load(con, "weather")
        options = {"target": "play", "exclude": ["n"], "folds": 2}
        shown = [
            model,
            model.likelihoods,
            model.evaluate("days"),
            nbsql.cross_validate(con, "days", **options),
            nbsql.sweep(con, "days", alpha=[1, 2], **options),
            model.calibrate("days", folds=None),
        ]
        for thing in shown:
            text = thing._repr_html_()
            assert "<table" in text
            assert "overflow-x:auto" in text  # a wide one scrolls by itself
            assert "<b>" not in text
        assert "&lt;b&gt;sun" in model.likelihoods._repr_html_()
        assert "SELECT" in model.likelihoods._repr_html_()
        assert 'text-align:right">0.' in model.likelihoods._repr_html_()


@pytest.mark.slow
def test_the_commands_write_files(shop, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["plot", shop, "weather", "ranking"])
    assert done.output == "sky, the only feature, makes the right play 1.6 times likelier on average\ndrawn into ranking.svg\n"
    done = CliRunner().invoke(main, ["report", shop, "weather", "days", "--least", "1"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "weather.html").stat().st_size > 400_000
    assert "leave-one-out" in (tmp_path / "weather.html").read_text()
    done = CliRunner().invoke(main, ["report", shop, "weather", "days", "--folds", "2", "--held-back"])
    assert done.exit_code == 2
    assert "choose one of --folds and --held-back" in done.output
    done = CliRunner().invoke(main, ["plot", shop, "weather", "card", "--output", "card.gif"])
    assert done.exit_code == 2
    assert "--output card.gif ends in none of .svg, .png, .pdf, .html, .json" in done.output
