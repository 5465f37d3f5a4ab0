"""A view or a script that somebody keeps contains the numbers of the classes: it answers by label, or is an error."""

import random
import re

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

LABELS = ("clean", "ham", "phish", "spam")
CHANGED = r"the classes of the model have changed since this query was made|does not have a column named|not found"
VERBS = ("predict_proba", "joint_log_likelihood", "predict", "log_evidence", "explain")


def drawn(chance, labels):
    """Rows of each label, in numbers that change their order by frequency."""
    return [
        (label, chance.choice("uvw"), chance.gauss(LABELS.index(label), 1.0))
        for label in labels
        for _ in range(chance.randint(3, 30))
    ]


def source(rows):
    values = ", ".join(f"('{y}', '{x}', {z!r})" for y, x, z in rows)
    return f"SELECT y, x, CAST(z AS DOUBLE) AS z FROM (VALUES {values}) AS t(y, x, z)"


def by_name(relation):
    found = relation.fetchall()
    return [dict(zip([column[0] for column in relation.description], row, strict=True)) for row in found]


def alike(one, other):
    return len(one) == len(other) and all(
        a.keys() == b.keys()
        and all(a[key] == pytest.approx(b[key], abs=1e-9) if isinstance(a[key], float) else a[key] == b[key] for key in a)
        for a, b in zip(one, other, strict=True)
    )


def kept(con, view):
    """The rows of a view; None if it says that the classes have changed."""
    try:
        return by_name(con.execute(f"FROM {view}"))
    except duckdb.Error as error:
        if re.search(CHANGED, str(error)) is None:
            raise
        return None


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_views_answer_by_label_or_refuse(con, form, seed):
    chance = random.Random(seed)  # noqa: S311
    first = chance.sample(LABELS, 3)
    rows = drawn(chance, first)
    con.execute(f"CREATE TABLE asked AS FROM ({source(drawn(chance, first[:2]))}) ORDER BY x, z")
    model = nbsql.fit(con, source(rows), target="y", name="m")
    for verb in VERBS:
        getattr(model, verb)("asked").create_view(f"v_{verb}")
    answered = 0
    for change in ("the same labels", "a new one", "a lost one"):
        if change == "a lost one":
            rows = drawn(chance, chance.sample(first, 2))
            model = nbsql.fit(con, source(rows), target="y", name="m", replace=True)
        else:
            more = drawn(chance, first if change == "the same labels" else chance.sample(LABELS, 2))
            rows = rows + more
            model.update(source(more))
        for verb in VERBS:
            expected = by_name(con.execute(getattr(model, verb)("asked").sql))
            found = kept(con, f"v_{verb}")
            if found is None:
                assert {row[0] for row in rows} != set(first)
            else:
                answered += 1
                assert alike(found, expected), (change, verb)
    assert answered >= len(VERBS)  # whenever the labels are those of before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 2))
def test_scripts_of_a_fit_answer_by_label_or_change_nothing(con, form, seed):
    chance = random.Random(seed)  # noqa: S311
    first = chance.sample(LABELS, 3)
    con.execute(f"CREATE TABLE inbox AS {source(drawn(chance, first))}")
    script = nbsql.fit_sql(con, "inbox", target="y", name="m", replace=True)
    con.execute(script)
    for labels in (first, chance.sample(first, 2), list(LABELS), first):
        rows = drawn(chance, labels)
        con.execute(f"CREATE OR REPLACE TABLE inbox AS {source(rows)}")
        before = con.execute("FROM m.priors").fetchall()
        if set(labels) == set(first):
            con.execute(script)
            expected = nbsql.fit(con, "inbox", target="y").predict_proba("inbox")
            assert alike(by_name(con.execute("FROM m.predict_proba('inbox')")), by_name(con.execute(expected.sql)))
        else:
            with pytest.raises(duckdb.Error, match="the rows have other classes than when this script was made; make it again"):
                con.execute(script)
            con.execute("ROLLBACK")
            assert con.execute("FROM m.priors").fetchall() == before


def test_a_view_of_weights_is_an_error_once_the_classes_change(con, form):
    rows = source([("ham", "u", 1.0), ("ham", "v", 2.0), ("spam", "v", 4.0), ("spam", "v", 5.0)])
    model = nbsql.fit(con, rows, target="y", name="m", families={"z": nbsql.Gaussian(shared_variance=True)})
    model.linear().create_view("weights")
    model.quadratic().create_view("squares")
    model.update(rows)
    assert by_name(con.execute("FROM weights")) == by_name(con.execute(model.linear().sql))
    model.update("SELECT 'eggs' AS y, 'u' AS x, 3.0 AS z")
    for view in ("weights", "squares"):
        with pytest.raises(
            duckdb.Error, match="the classes of the model have changed since this query was made; make it again"
        ):
            con.execute(f"FROM {view}").fetchall()


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_view_of_calibrated_posteriors_is_an_error_once_they_are_calibrated_otherwise(con, form, method):
    rows = source([("ham" if i % 3 % 2 else "spam", "uv"[i % 2], i % 7 / 1.0) for i in range(90)])
    model = nbsql.fit(con, rows, target="y", name="m")
    model.calibrate(rows, method=method, folds=None)
    model.predict(rows).create_view("scored")
    model.calibrate(rows, method=method, folds=None)
    assert alike(by_name(con.execute("FROM scored")), by_name(con.execute(model.predict(rows).sql)))
    model.calibrate(rows, method="platt" if method == "isotonic" else "isotonic", folds=None)
    with pytest.raises(duckdb.Error, match="the calibration of the model has changed since this query was made; make it again"):
        con.execute("FROM scored").fetchall()


def test_a_script_of_an_update_is_an_error_for_rows_of_a_new_class(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    con = duckdb.connect(path)
    con.execute("CREATE TABLE inbox AS FROM (VALUES ('ham', 'u'), ('ham', 'v'), ('spam', 'v')) AS t(y, x)")
    nbsql.fit(con, "inbox", target="y", name="m")
    con.close()
    written = CliRunner().invoke(main, ["update", path, "m", "inbox", "--sql"]).stdout
    con = duckdb.connect(path)
    con.execute("UPDATE inbox SET y = 'eggs' WHERE y = 'ham' AND x = 'u'")
    with pytest.raises(duckdb.Error, match="the rows have other classes than when this script was made; make it again"):
        con.execute(written)
    con.execute("ROLLBACK")
    assert sorted(row[:2] for row in con.execute("FROM m.priors").fetchall()) == [("ham", 2.0), ("spam", 1.0)]
    con.close()
