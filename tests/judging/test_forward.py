"""Forward selection, against a loop of cross-validations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from support.algebra import FAMILIES, Row, connect, same, unweighted

import nbsql
from nbsql import Forward, InputError
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

Connection = duckdb.DuckDBPyConnection
COLUMNS = {"words": ["w1", "w2"]}


def chosen_by_loop(con: Connection, source: str, candidates: list[str], count: int, **options: Any) -> list[str]:
    """Forward selection with a cross-validation for every candidate of every step."""
    families, unseen = options.pop("families", {}), options.pop("unseen", "skip")

    def loss(names: list[str]) -> float:
        found = nbsql.cross_validate(
            con,
            source,
            features=[column for name in names for column in COLUMNS.get(name, [name])],
            families={name: family for name, family in families.items() if name in names},
            unseen=unseen if "sky" in names else "skip",  # the only feature that it changes
            **options,
        )
        return float(f"{found.log_loss:.10g}")

    taken: list[str] = []
    before = float("inf")
    while len(taken) < min(count, len(candidates)):
        losses = {name: loss([*taken, name]) for name in candidates if name not in taken}
        best = min(losses, key=lambda name: losses[name])
        if losses[best] >= before:
            break
        taken, before = [*taken, best], losses[best]
    return [name for name in candidates if name in taken]


@given(unweighted.filter(lambda rows: len(rows) >= 6), st.sampled_from([0.0, 1.0]), st.sampled_from(["skip", "smooth"]))
@settings(max_examples=2, deadline=None)
def test_it_is_a_loop_of_cross_validations(rows: list[Row], alpha: float, unseen: Any) -> None:
    con = connect(rows=rows)
    con.execute("CREATE TABLE folded AS SELECT * EXCLUDE (times), row_number() OVER () % 3 AS part FROM rows")
    candidates = ["sky", "wind", "calls", "words", "note"]
    options: dict[str, Any] = {"target": "play", "families": FAMILIES, "alpha": alpha, "unseen": unseen}
    among = [column for name in candidates for column in COLUMNS.get(name, [name])]
    model = nbsql.fit(con, "folded", features=Forward(2, fold="part", among=among), **options)
    assert list(model.families) == chosen_by_loop(con, "folded", candidates, 2, fold="part", **options)


def table(con: Connection) -> None:
    con.execute("""CREATE TABLE t AS SELECT
            ['no', 'yes', 'maybe'][1 + (hash(i) % 3)::INT] AS y, i % 4 AS part, 1 + (hash(i, 1) % 3)::INT AS w,
            CASE WHEN hash(i, 2) % 3 > 0 THEN 'v' || (hash(i) % 3) ELSE 'v' || (hash(i, 3) % 3) END AS sky,
            CASE WHEN hash(i, 2) % 3 > 0 THEN 'u' || (hash(i) % 3) ELSE 'u' || (hash(i, 3) % 3) END AS same,
            hash(i, 5) % 2 = 0 AS coin, (hash(i) % 3) + (hash(i, 6) % 200) / 100.0 AS wind, (hash(i, 7) % 100)::DOUBLE AS noise,
            (hash(i) % 3 = 1)::INT + (hash(i, 8) % 3)::INT AS calls, (hash(i, 9) % 50)::VARCHAR AS code
        FROM range(240) AS t(i)""")


@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
def test_weights_and_priors_count(con: Connection, form: str) -> None:
    table(con)
    candidates = ["sky", "same", "wind", "calls", "code"]
    prior = {"no": 0.2, "yes": 0.5, "maybe": 0.3}
    options: dict[str, Any] = {"target": "y", "weight": "w", "prior": prior, "families": {"calls": "poisson"}}
    expected = chosen_by_loop(con, "t", candidates, 5, fold="part", **options)
    model = nbsql.fit(con, "t", features=Forward(5, fold="part", among=candidates), **options)
    assert list(model.families) == expected
    assert {"sky", "same"} & set(expected)
    assert not {"sky", "same"} <= set(expected)  # a column that says the same again makes the model too sure
    (first,) = nbsql.fit(con, "t", features=Forward(1, fold="part", among=candidates), **options).families
    assert first in expected


def test_the_model_is_a_fit_of_what_was_chosen(con: Connection) -> None:
    table(con)
    before = con.execute("SELECT count(*) FROM duckdb_tables()").fetchone()
    model = nbsql.fit(con, "t", target="y", exclude=["w", "part"], features=Forward(2, folds=3), name="m", slice_by="part")
    names = list(model.families)
    by_name = nbsql.fit(con, "t", target="y", features=names, slice_by="part", name="by_name")
    assert sorted(map(str, model.statistics)) == sorted(map(str, by_name.statistics))
    assert model.slice_names == ["0", "1", "2", "3"]
    narrow = f"SELECT y, part, {', '.join(names)} FROM t"
    same(model.predict(narrow).fetchall(), by_name.predict(narrow).fetchall())
    model.drop()
    by_name.drop()
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == before  # nothing of the search is left


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        (lambda: Forward(0), {}, "the number of features to take must be a whole number of at least 1, not 0"),
        (lambda: Forward(1, folds=1), {}, "folds must be a whole number of at least 2, not 1"),
        (lambda: Forward(1, fold="prat"), {}, "no column 'prat' in t; did you mean 'part'?"),
        (lambda: Forward(1, fold="one"), {}, "cross-validation needs at least two folds, and t has 1"),
        (
            lambda: Forward(1),
            {"families": {"c": nbsql.Complement(["a", "b"])}},
            "nbsql.Forward does not support 'c', which is a complement model; choose another family",
        ),
        (
            lambda: Forward(1),
            {"families": {"s": nbsql.Text(tfidf=True, norm="l2")}},
            "'s' is estimated from all rows at once, so that no fold can be left out; leave out norm='l2'",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused(con: Connection, refused: Any, features: Any, options: Any, message: str) -> None:
    con.execute("CREATE TABLE t AS FROM (VALUES ('x', 'u', 1, 2, 0, 1), ('y', 'v', 2, 3, 1, 1)) AS t(y, s, a, b, part, one)")
    with refused(InputError, message):
        nbsql.fit(con, "t", target="y", features=features(), name="m", **options)


def test_it_is_no_part_of_a_cross_validation_nor_of_statements(con: Connection) -> None:
    con.execute("CREATE TABLE t AS FROM (VALUES ('x', 'u'), ('y', 'v')) AS t(y, s)")
    for act, message in (
        (
            nbsql.cross_validate,
            "cross_validate takes no features=nbsql.Forward(...), which judges by folds itself; use nbsql.Best(...)",
        ),
        (
            nbsql.fit_sql,
            "the statements of features=nbsql.Forward(...) follow from the counts; fit, or name the features",
        ),
    ):
        with pytest.raises(InputError) as refused:
            act(con, "t", target="y", features=Forward(1))
        assert str(refused.value) == message


def test_the_command_line_goes_forward(tmp_path: Path) -> None:
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        table(con)
    fit = ["fit", path, "t", "--target", "y", "--name", "m", "--exclude", "w", "--exclude", "part", "--forward", "2"]
    result = CliRunner().invoke(main, fit)
    assert result.exit_code == 0, result.output
    with nbsql.load(path, "m") as model:
        again = nbsql.fit(model._engine, "t", target="y", exclude=["w", "part"], features=Forward(2))
        assert list(model.families) == list(again.families)
    both = CliRunner().invoke(main, [*fit, "--best", "2"])
    assert both.exit_code == 2
    assert "choose one of --best and --forward" in both.stderr
