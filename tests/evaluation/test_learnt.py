"""Which rows a model has learnt is told by the rows, not by their name, and figures that are too good say so."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nbsql
from nbsql import NbsqlWarning

ROWS = """SELECT i, 'c' || i % 2 AS y, hash(i) % 89 / 30.0 + i % 2 AS x, 'k' || hash(i, 1) % (3 + i % 2) AS k,
    (hash(i, 2) % 5 + i % 2)::INT AS n FROM range(200) AS r(i)"""
LEARNT = "the model has learnt these rows"


@pytest.fixture
def con(con):
    con.execute(f"CREATE TABLE t AS {ROWS}")
    return con


def learnt(model, source):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluation = model.evaluate(source)
    assert (evaluation.learnt is not None) == any(LEARNT in str(each.message) for each in caught)
    assert (evaluation.learnt is not None) == (LEARNT in repr(evaluation))
    return evaluation.learnt


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"families": {"n": "poisson"}, "slice_by": "i % 3"},
        {"method": "tan"},
        {"method": "lda", "features": ["x", "n"]},
        {"weight": "n"},
        {"slice_by": "n"},
        {"segment_by": "n"},
    ],
)
def test_rows_are_learnt_under_any_name_and_others_under_none(con, options):
    """At halves of equal numbers of each class, too, and of a frame that is called as the learnt one."""
    half, other = (con.sql(f"FROM t WHERE i // 2 % 2 = {number} ORDER BY hash(i)").df() for number in (0, 1))
    model = nbsql.fit(con, half, target="y", exclude=["i"] if "features" not in options else [], **options)
    con.execute("CREATE TABLE copied AS FROM t WHERE i // 2 % 2 = 0")
    for source in (half, half.sample(frac=1, random_state=1), "FROM t WHERE i // 2 % 2 = 0", "copied"):
        assert learnt(model, source) == "all"
    for source in (other, "FROM t WHERE i // 2 % 2 = 1", "t", half.head(99)):
        assert learnt(model, source) is None


@pytest.mark.nightly
def test_batches_are_followed_through_updates_and_forgetting(con):
    parts = ["FROM t WHERE i < 80", "FROM t WHERE i BETWEEN 80 AND 149", "FROM t WHERE i >= 150"]
    model = nbsql.fit(con, parts[0], target="y", exclude=["i"])
    model.update(parts[1], batch="spring")
    model.update(parts[2])
    assert [learnt(model, each) for each in (*parts, "t")] == ["1", "spring", "3", "all"]
    model.forget(parts[2])
    assert [learnt(model, each) for each in (*parts, "t")] == ["1", "spring", None, None]
    assert learnt(model, "FROM t WHERE i < 150") == "all"
    model.forget(batch="spring")
    assert [learnt(model, each) for each in parts[:2]] == ["all", None]


@pytest.mark.nightly
def test_plots_and_the_report_hold_out_learnt_rows_alone(con):
    pytest.importorskip("vl_convert")
    train, test = (con.sql(f"FROM t WHERE i % 10 {side} 7").df() for side in ("<", ">="))
    model = nbsql.fit(con, train, target="y", exclude=["i"])
    for source, optimistic in (
        (train, True),
        (test, False),
        ("FROM t WHERE i % 10 < 7", True),
        ("FROM t WHERE i % 10 >= 7", False),
    ):
        picture = model.plot.verdict(source)
        assert any("leave-one-out" in note for note in picture.figure.notes) == optimistic
        judged = model.evaluate(source, folds="loo") if optimistic else model.evaluate(source)
        assert f"{100 * judged.accuracy:.1f} %" in picture.figure.finding


@pytest.mark.slow
def test_folds_of_learnt_rows_are_those_of_a_cross_validation(con):
    model = nbsql.fit(con, "t", target="y", exclude=["i"])
    found = model.evaluate("t", folds="loo")
    expected = nbsql.cross_validate(con, "t", target="y", exclude=["i"], folds="loo").evaluation
    assert (found.rows, found.accuracy, found.learnt) == (200, pytest.approx(expected.accuracy), None)
    assert found.log_loss == pytest.approx(expected.log_loss)
    assert sorted(found.confusion.fetchall()) == sorted(expected.confusion.fetchall())
    with pytest.raises(nbsql.InputError, match="folds go with bins alone; leave out weight, costs, calibrated and by"):
        model.evaluate("t", folds=5, by="k")
    with pytest.raises(
        nbsql.InputError, match="folds need all rows that it has learnt, and no others; evaluate others without"
    ):
        model.evaluate("FROM t WHERE i < 100", folds=5)
    with pytest.raises(nbsql.InputError, match="counts 1,000,200 rows, and the model has learnt 200; "):
        model.evaluate("SELECT t.* FROM t, range(5001)", folds=5)


def test_a_log_loss_above_that_of_the_priors_is_said(con):
    copies = ", ".join(f"x AS x{number}" for number in range(30))
    con.execute(f"CREATE TABLE wide AS SELECT i, y, {copies} FROM t")
    model = nbsql.fit(con, "FROM wide WHERE i % 2 = 0 OR i % 3 = 0", target="y", exclude=["i"])
    rest = "FROM wide WHERE NOT (i % 2 = 0 OR i % 3 = 0) OR i % 4 = 0"
    with pytest.warns(
        NbsqlWarning, match="above that of the priors alone.*; calibrate the model, or try a fit with method='weighted'"
    ):
        found = model.evaluate(rest)
    priors = {label: prior for label, _, prior, _ in model.priors}
    support = {item.label: item.support for item in found.classes}
    expected = con.execute(
        "SELECT sum(-n * ln(p)) / sum(n) FROM (SELECT unnest(?) AS n, unnest(?) AS p)",
        [list(support.values()), [priors[label] for label in support]],
    ).fetchall()
    assert found.log_loss > expected[0][0] == pytest.approx(found.log_loss_of_priors)
    assert "above that of the priors alone" in repr(found)
    given = nbsql.from_tables(
        con, priors={"a": 0.5, "b": 0.5}, likelihoods={"a": {"z": {1: 0.9, 2: 0.1}}, "b": {"z": {1: 0.1, 2: 0.9}}}
    )
    with pytest.warns(NbsqlWarning, match="above that of the priors alone.*; calibrate the model$"):  # which no fit has made
        given.evaluate("SELECT 1 AS z, 'b' AS class")
    even = {"a": {"z": {1: 0.500_001, 2: 0.499_999}}, "b": {"z": {1: 0.499_999, 2: 0.500_001}}}
    found = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=even).evaluate("SELECT 1 AS z, 'b' AS class")
    assert found.log_loss - found.log_loss_of_priors == pytest.approx(2e-6, rel=1e-3)  # -ln 0.499999 - ln 2
    assert found.cautions() == []  # both are written 0.6931


def test_what_must_not_be_learnt_rows_is_said(con):
    model, other = (nbsql.fit(con, "t", target="y", exclude=["i", name]) for name in ("x", "k"))
    with pytest.warns(NbsqlWarning, match="has learnt these rows.*; calibrate by folds of them"):
        model.calibrate("FROM t WHERE TRUE", folds=None)
    with pytest.warns(NbsqlWarning, match="has learnt these rows.*; compare on rows that neither has learnt"):
        model.compare(other, "FROM t WHERE TRUE")


@pytest.mark.slow
def test_a_batch_of_the_rows_of_another_is_learnt_with_a_warning(con):
    def warned(source):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.update(source)
        return [str(each.message) for each in caught]

    model = nbsql.fit(con, "t", target="y", name="m", exclude=["i"])
    assert warned("SELECT * REPLACE (IF(i = 7, x + 0.001, x) AS x) FROM t") == []
    said = (
        "t has the counts of batch '1' in each class and value: if it has the same rows, model 'm' counts them twice now; "
        "take them back by forget with batch='3'"
    )
    assert warned("t") == [said]
    model.forget(batch="3")
    assert warned("t") == [said.replace("'3'", "'5'")]
    model.forget("t")
    assert warned("t") == []  # which may have been the rows of either batch
    assert warned("FROM t LIMIT 19") == warned("FROM t LIMIT 19") == []  # others may well have the same counts


@pytest.mark.slow
def test_models_of_the_same_rows_are_merged_with_a_warning(con):
    for name, rows in ("a", "t"), ("b", "FROM t ORDER BY x"), ("c", "FROM t WHERE i <> 7"):
        nbsql.fit(con, rows, target="y", name=name, exclude=["i"])
    with pytest.warns(NbsqlWarning) as caught:
        nbsql.merge(con, ["a", "c", "b"])
    assert [str(each.message) for each in caught] == [
        "models 1 and 3 of those to merge have the same counts in each class and value: if they have learnt the same rows, "
        "the merged model counts them twice; leave one of them out"
    ]


def numbers(count, seed):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"x": random.normal(size=count), "n": random.integers(0, 9, size=count)})
    return rows.assign(y=np.where(rows["x"] + random.normal(size=count) > 0, "a", "b"))


def share_learnt(model, source):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluation = model.evaluate(source)
    assert evaluation.learnt is None
    said = [str(each.message) for each in caught if "of these rows, so that the numbers are too good" in str(each.message)]
    assert said == ([] if not evaluation.share_learnt else said[:1])
    assert not said or f"the model has learnt about {evaluation.share_learnt:.0%} of these rows" in said[0]
    return evaluation.share_learnt


@pytest.mark.slow
def test_rows_learnt_in_part_are_told_in_any_form(con):
    rows = numbers(400, 1)
    con.register("viewed", rows)
    con.execute("CREATE TABLE learnt AS FROM viewed")
    for fitted in (rows, "learnt", "FROM learnt", pa.Table.from_pandas(rows).to_reader()):
        model = nbsql.fit(con, fitted, target="y")
        part = rows.iloc[300:]
        half = pd.concat([part, numbers(100, 2)])
        for source in (part, pl.from_pandas(part), pa.Table.from_pandas(part), part.to_dict("list"), "FROM learnt OFFSET 300"):
            assert share_learnt(model, source) == pytest.approx(1.0)
        assert share_learnt(model, half.astype({"n": "float64"})) == pytest.approx(0.5)
        assert share_learnt(model, numbers(100, 2)) == 0
    with pytest.warns(NbsqlWarning, match="has learnt about 100% of these rows.*; calibrate by folds of them"):
        model.calibrate(rows.iloc[200:], folds=None)
    nbsql.fit(con, rows, target="y", name="kept")
    assert share_learnt(nbsql.load(con, "kept"), part) == pytest.approx(1.0)
    with con.cursor() as other:
        assert share_learnt(nbsql.load(other, "kept"), rows.iloc[300:]) == 0  # which has not learnt them


@pytest.mark.slow
def test_the_memory_of_rows_follows_the_ledger(con):
    first, second = numbers(300, 1), numbers(200, 2)
    model = nbsql.fit(con, first, target="y", name="m")
    model.update(second, batch="later")
    known = [each.iloc[:40] for each in (first, second)]
    assert [share_learnt(model, each) for each in known] == pytest.approx([1.0, 1.0])
    model.forget(batch="later")
    assert [share_learnt(model, each) for each in known] == pytest.approx([1.0, 0.0])
    con.execute("BEGIN")
    model.update(second, batch="undone")
    con.execute("ROLLBACK")
    assert share_learnt(model, known[1]) == 0
    model.forget(known[0])  # so that they may be evaluated
    assert share_learnt(model, known[0]) == 0
    other = con.cursor()
    nbsql.fit(other, second, target="y", name="m", replace=True)
    assert share_learnt(nbsql.load(con, "m"), first.iloc[:60]) == 0


@pytest.mark.slow
def test_rows_that_are_equal_by_chance_are_not_taken_for_learnt_ones(con):
    """At few categories, at many copies of each row, and at few rows; those that were learnt are told from them."""
    random = np.random.default_rng(3)
    few = pd.DataFrame(random.integers(0, 3, size=(600, 6)), columns=list("abcdef")).astype(str)
    few["y"] = np.where(random.random(600) < 0.5, few["a"], few["b"])
    copied = pd.concat([numbers(200, 4)] * 3).sample(frac=1, random_state=1, ignore_index=True)
    for rows in (few, copied, numbers(30, 5)):
        train, test = rows.iloc[: len(rows) * 2 // 3], rows.iloc[len(rows) * 2 // 3 :]
        model = nbsql.fit(con, train, target="y", infer="types")
        assert share_learnt(model, test) == 0
    model = nbsql.fit(con, few, target="y")
    assert share_learnt(model, few.iloc[:200]) > 0.5


@pytest.mark.slow
def test_a_report_says_that_rows_were_learnt_in_part(con):
    pytest.importorskip("vl_convert")
    rows = numbers(400, 1)
    model = nbsql.fit(con, rows, target="y")
    notes = model.plot.verdict(rows.iloc[300:]).figure.notes
    assert any("The model has learnt about 100% of these rows" in note for note in notes)
