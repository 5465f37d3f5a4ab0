"""The command scorecard: what it prints of a model and of rows, and what it refuses."""

import csv
import io
import json
from functools import partial

import duckdb
import pytest
from support import commands

import nbsql

run = partial(commands.run, "scorecard")


@pytest.mark.slow
def test_it_prints_what_the_library_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    shop = "shop.duckdb"
    with duckdb.connect(shop) as con:
        con.execute("""CREATE TABLE loans AS SELECT i AS id, 'h' || i % 3 AS home, i * i % 7 < 3 AS paid,
            ['x', 'y', 'z'][1 + i % 5 % 3] AS kind FROM range(60) AS t(i)""")
        for name, target in (("credit", "paid"), ("kinds", "kind")):
            nbsql.fit(con, "loans", target=target, features=["home"], id="id", name=name)
        card = nbsql.load(con, "credit").scorecard(points=100, odds=1, double=10, target=False, digits=1)
        lines, rows = card.lines.fetchall(), card.score("loans", reasons=1, columns=["id"]).fetchall()
        there = card.sql("loans", dialect="sqlite", against="average", reasons=1)
    scale = ["--points", "100", "--odds", "1", "--double", "10", "--target", "false", "--digits", "1"]
    assert [tuple(line.values()) for line in json.loads(run(shop, "credit", *scale, "--json"))] == lines
    shown = run(shop, "credit", *scale, "--limit", "2").splitlines()
    assert shown[0] == "points for false: 100 points at odds of 1 to 1, and 10 more where they double"
    assert shown[-1] == "the first 2 lines of 6; --limit N shows more, --csv all"
    assert shown[2].split("  ")[-1].strip() == "points"
    monkeypatch.setenv("COLUMNS", "40")
    assert run(shop, "credit", "loans", "--reasons", "1", "--target", "false").splitlines()[0].split()[-2:] == [
        "points",
        "reason_1",
    ]
    monkeypatch.setenv("COLUMNS", "140")
    found = csv.DictReader(io.StringIO(run(shop, "credit", "loans", *scale, "--reasons", "1", "--columns", "id", "--csv")))
    assert [(int(row["id"]), float(row["points"]), row["reason_1"] or None) for row in found] == rows
    again = run(shop, "credit", "loans", *scale, "--reasons", "1", "--against", "average", "--dialect", "sqlite")
    assert again.strip() == there.strip()
    assert "one of 3 classes against the rest: points are not those of the odds by the model" in run(
        shop, "kinds", "--target", "y"
    )
    assert run(shop, "kinds", code=1) == (
        "error: model 'kinds' has 3 classes; say whose odds the points are: --target x, say\n"
    )
    assert "name a SOURCE" in run(shop, "credit", "--reasons", "1", code=2)
