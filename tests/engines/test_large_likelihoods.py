"""Every engine has right posteriors where joint log-likelihoods are so large that a sum would be lost in them."""

import math
from functools import partial

import pytest

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

near = partial(pytest.approx, rel=1e-12, abs=1e-15)
ROWS = [(y, float(x), fold) for y, xs in {"p": (0, 1), "q": (0, 1), "r": (50, 51)}.items() for fold in "ab" for x in xs]


@pytest.mark.nightly
def test_the_posteriors_of_tied_classes(place):
    """At -1e9, p and q have a joint log-likelihood of -2e18, and r is 2e11 lower; at 1e18 all have -2e36."""
    place.table("t", {"y": "VARCHAR", "x": "DOUBLE PRECISION", "fold": "VARCHAR"}, ROWS)
    place.table("s", {"y": "VARCHAR", "x": "DOUBLE PRECISION"}, [("p", -1e9), ("q", 1e18)])
    model = nbsql.fit(place.con, "t", target="y", name="m", families={"x": "gaussian"}, exclude=["fold"])
    found = {row[1]: row[-3:] for row in model.predict_proba("s").fetchall()}
    assert found == {-1e9: near((0.5, 0.5, 0)), 1e18: near((1 / 3,) * 3)}
    assert sorted(row[-2] for row in model.predict("s", top_k=3)) == near([0, *[1 / 3] * 3, 1 / 2, 1 / 2])
    assert model.evaluate("s").log_loss == near((math.log(2) + math.log(3)) / 2)
    rows = "SELECT y, x, fold FROM t UNION ALL SELECT y, x, 'c' AS fold FROM s"
    folds = nbsql.cross_validate(place.con, rows, target="y", fold="fold", families={"x": "gaussian"})
    assert {row[0]: row[4] for row in folds.folds}["c"] == near((math.log(2) + math.log(3)) / 2)
    for method in ("temperature", "conformal"):
        model.calibrate("s", method=method, folds=None)
    calibrated = {row[1]: row[-3:] for row in model.predict_proba("s", calibrated=True).fetchall()}
    assert calibrated == {-1e9: near((0.5, 0.5, 0)), 1e18: near((1 / 3,) * 3)}
    assert {row[1]: list(row[-1]) for row in model.predict("s", coverage=0.5)} == {-1e9: ["p", "q"], 1e18: ["p", "q", "r"]}
