"""Folds whose models are fitted one by one: each row is predicted by a fit to the others that has never met it."""

import pytest

import nbsql

# Three classes, some rows without one; a category that says nothing by itself, one that depends on it, a number and a gap.
ROWS = """CREATE TABLE t AS
SELECT
  CASE WHEN i % 5 <> 2 THEN 'class ' || i % 3 END AS y,
  'a' || (h % 3) AS a,
  CASE WHEN i % 13 <> 0 THEN 'b' || ((h % 3 + i % 3 + CASE WHEN h % 7 = 0 THEN 1 ELSE 0 END) % 4) END AS b,
  i % 3 * 2 + h % 1000 / 250.0 AS x,
  1 + i % 4 AS weight,
  CASE WHEN i % 17 <> 0 THEN i // 3 % 4 END AS part
FROM (SELECT i, hash(i) // 7 AS h FROM range(300) AS r(i))"""
CUT = {"x": nbsql.Binned(by="mdl")}


@pytest.fixture
def table(con):
    con.execute(ROWS)
    return con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*have no 'y' and are left out", "ignore:method='em' has not converged")
@pytest.mark.parametrize(
    ("options", "unlabelled"),
    [
        ({"method": "tan"}, False),
        ({"method": nbsql.TAN(shrinkage=3), "weight": "weight"}, False),
        ({"method": nbsql.EM(weight=0.5, iterations=4)}, True),
        ({"families": CUT, "features": nbsql.Best(2)}, False),
    ],
)
def test_a_fold_is_judged_by_a_fit_to_the_others(table, options, unlabelled):
    exclude = [] if "weight" in options else ["weight"]
    found = nbsql.cross_validate(table, "t", target="y", fold="part", exclude=exclude, **options)
    folds = {row[0]: row[1:] for row in found.folds.fetchall()}
    assert sorted(folds) == ["0", "1", "2", "3"]
    for part, (rows, _, accuracy, loss) in folds.items():
        others = f"FROM t WHERE part <> {part}" + (" OR y IS NULL" if unlabelled else "")
        held_out = nbsql.fit(table, others, target="y", exclude=[*exclude, "part"], **options).evaluate(
            f"FROM t WHERE part = {part} AND y IS NOT NULL", weight=options.get("weight")
        )
        assert rows == held_out.rows
        assert (accuracy, loss) == pytest.approx((held_out.accuracy, held_out.log_loss), rel=1e-9, abs=1e-9)
    assert found.rows == sum(rows for rows, *_ in folds.values())
    assert found.evaluation.log_loss == pytest.approx(found.log_loss, rel=1e-9)


@pytest.mark.slow
def test_folds_that_are_dealt_have_all_rows(table):
    found = nbsql.cross_validate(
        table, "SELECT * EXCLUDE (part, weight) FROM t WHERE y IS NOT NULL", target="y", method="tan", folds=3
    )
    assert (found.rows, len(found.folds.fetchall())) == (240, 3)
    again = nbsql.cross_validate(
        table, "SELECT * EXCLUDE (part, weight) FROM t WHERE y IS NOT NULL", target="y", method="tan", folds=3
    )
    assert found.log_loss == pytest.approx(again.log_loss, rel=1e-9)


@pytest.mark.slow
def test_a_sweep_over_bins_cut_by_the_classes_warns(table):
    message = "the bins of 'x' were cut by the classes of all rows, so that the results are too good; evaluate on other rows"
    with pytest.warns(nbsql.NbsqlWarning, match=f"^{message}$"):
        nbsql.sweep(table, "FROM t WHERE y IS NOT NULL", target="y", families=CUT, exclude=["part"], folds=3)


@pytest.mark.slow
def test_a_calibration_by_folds_cuts_bins_without_the_fold(table):
    table.execute("CREATE TABLE known AS SELECT y, a, x FROM t WHERE y IS NOT NULL")
    model = nbsql.fit(table, "known", target="y", families=CUT)
    found = model.calibrate("known", folds=3)  # and no warning
    judged = nbsql.cross_validate(table, "known", target="y", families=CUT, folds=3)
    assert found.log_loss == pytest.approx(judged.log_loss, rel=1e-9)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("method", [nbsql.TAN(shrinkage=3), nbsql.AODE()])
@pytest.mark.parametrize("families", [{}, {"x": nbsql.Binned(by=[1, 3]), "a": nbsql.Categorical(nulls="category")}])
def test_a_fitted_tree_is_found_anew_beside_each_fold(table, method, families):
    """As by a cross-validation, and without a warning; so it is of a model that is read again, and after an update."""
    table.execute("CREATE TABLE known AS SELECT y, a, b, x FROM t WHERE y IS NOT NULL")
    options = {"target": "y", "method": method, "families": families}
    model = nbsql.fit(table, "FROM known WHERE rowid < 150", name="kept", **options)
    model.update("FROM known WHERE rowid >= 150")
    judged = nbsql.cross_validate(table, "known", folds=3, **options)
    for each in (model, nbsql.load(table, "kept")):
        assert each.evaluate("known", folds=3).log_loss == pytest.approx(judged.log_loss, rel=1e-9)
    assert nbsql.load(table, "kept").calibrate("known", folds=3).log_loss == pytest.approx(judged.log_loss, rel=1e-9)
