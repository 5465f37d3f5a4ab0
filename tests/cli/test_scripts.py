"""What `--sql` prints is a script: it does what the command does, all of it or nothing, and once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

SMS = """CREATE TABLE sms AS
    SELECT i AS id, ['ham', 'spam'][1 + i % 2] AS label, ['a b', 'b c d', 'd a a'][1 + i % 3] AS message, i % 5 AS links
    FROM range(30) AS t(i)"""
FIT = ("fit", "shop.duckdb", "sms", "--target", "label", "--name", "spam", "--id", "id", "--family", "message=text")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("shop.duckdb") as con:
        con.execute(SMS)
    return "shop.duckdb"


def command(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def run(script: str) -> list[str]:
    """Run a script as a shell does, which goes on after an error; the errors."""
    errors = []
    with duckdb.connect("shop.duckdb") as con:
        for statement in con.extract_statements(script):
            try:
                con.execute(statement).fetchall()
            except duckdb.Error as error:  # noqa: PERF203 - the next statement runs all the same
                errors.append(str(error))
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    return errors


def state() -> dict[str, Any]:
    """What a model is, but for the times of its changes, and the last digits, which threads sum in any order."""
    with duckdb.connect("shop.duckdb", read_only=True) as con:
        queries: dict[str, str] = {
            "cells": "SELECT * FROM spam.statistics",
            "ledger": "SELECT batch, operation, source, rows, number FROM spam.batches",
            "likelihoods": "SELECT * FROM spam.likelihoods",
            "predictions": "SELECT id, prediction, probability FROM spam.predict('sms')",
        }
        found = {name: con.execute(query).fetchall() for name, query in queries.items()}
    rounded = {
        name: [[round(x, 9) if isinstance(x, float) else x for x in row] for row in rows] for name, rows in found.items()
    }
    return {name: sorted(map(repr, rows)) for name, rows in rounded.items()}


def test_the_script_of_a_fit_makes_the_model_once(shop: str) -> None:
    script = command(*FIT, "--sql")
    assert run(script) == []
    made = state()
    errors = run(script)
    there = "model 'spam' is there already; fit it with replace=True, or choose another name"
    assert errors[0] == f"Invalid Input Error: {there}"
    assert state() == made  # no word is counted twice, on DuckDB 1.5 either, which goes on after an error
    command(*FIT, "--replace")
    assert state() == made  # the very cells, and the rows of the ledger


def test_the_script_of_a_fit_that_replaces_is_run_again_and_again(shop: str) -> None:
    script = command(*FIT, "--replace", "--sql")
    assert run(script) == []  # there is none yet
    made = state()
    assert run(script) == []
    assert state() == made
    assert [row for row in made["ledger"] if "30" in row]
    assert command(*FIT, "--replace", "--sql") == script


def test_a_script_that_fails_half_way_leaves_all_as_it_was(shop: str) -> None:
    command(*FIT)
    before = state()
    script = command(*FIT, "--replace", "--sql").replace('source."links"', "CAST(error('broken') AS INTEGER)", 1)
    assert "broken" in run(script)[0]
    assert state() == before


def test_a_script_drops_no_more_than_a_model(shop: str) -> None:
    command(*FIT)
    with duckdb.connect(shop) as con:
        con.execute("CREATE TABLE spam.mine AS SELECT 1 AS x")
    result = CliRunner().invoke(main, [*FIT, "--replace", "--sql"])
    assert result.stderr == "error: schema 'spam' holds 'mine', which nbsql did not make; move it elsewhere first\n"


CHANGES: dict[str, tuple[str, ...]] = {
    "update": ("update", "shop.duckdb", "spam", "SELECT * FROM sms WHERE id < 7"),
    "forget": ("forget", "shop.duckdb", "spam", "SELECT * FROM sms WHERE id < 7"),
    "forget a batch": ("forget", "shop.duckdb", "spam", "--batch", "2"),
    "rollback": ("rollback", "shop.duckdb", "spam", "1"),
    "compact": ("compact", "shop.duckdb", "spam"),
    "calibrate": ("calibrate", "shop.duckdb", "spam", "sms", "--held-back"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_script_of_a_change_does_once_what_the_command_does(shop: str, change: str) -> None:
    command(*FIT)
    command("update", shop, "spam", "SELECT * FROM sms WHERE id > 20")
    shutil.copy(shop, "before.duckdb")
    script = command(*CHANGES[change], "--sql")
    assert re.findall(r"^-- .*\n(?:SELECT|FROM|WITH)\b", script, re.MULTILINE) == []  # for which a shell would print a table
    assert run(script) == []
    found = state()
    errors = run(script)
    assert errors[0] == "Invalid Input Error: model spam has changed since this script was written; write it again"
    assert state() == found
    shutil.copy("before.duckdb", shop)
    command(*CHANGES[change])
    assert state() == found


def test_scripts_of_other_commands(shop: str) -> None:
    given = "SELECT unnest(['ham', 'spam']) AS class, 0.5 AS prior"
    script = command("from-tables", shop, given, "--name", "book", "--sql")
    assert run(script) == []
    assert "already exists" in run(script)[0]
    command(*FIT)
    assert run(command("drop", shop, "spam", "--sql")) == []
    assert nbsql.models(shop) == ["book"]


def test_python_writes_the_same_script(shop: str) -> None:
    options: dict[str, Any] = {"target": "label", "name": "spam", "id": "id", "families": {"message": "text"}}
    assert nbsql.fit_sql(shop, "sms", **options) + "\n" == command(*FIT, "--sql")
    make: Callable[..., str] = nbsql.fit_sql
    assert make(shop, "sms", replace=True, **options) + "\n" == command(*FIT, "--sql", "--replace")
