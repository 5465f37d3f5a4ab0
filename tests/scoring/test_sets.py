"""Sets of classes that hold the true one as often as promised: against numpy on the posteriors, and on real tables."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import nbsql

ROWS = """SELECT i AS id, ['low', 'mid', 'high'][k + 1] AS risk, k + i * i % 13 / 5 AS a, (k + i % 7) % 4 = 0 AS b
FROM (SELECT i, i * i % 7 % 3 AS k FROM range(900) AS t(i))"""


@pytest.fixture
def model(form, con):
    """Fitted on a third of the rows, and calibrated on another third, in each form of scoring."""
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(con, "FROM data WHERE id % 3 = 0", target="risk", id="id", name="risks")
    model.calibrate("FROM data WHERE id % 3 = 1", method="conformal", folds=None)
    return model


def posteriors(model, source):
    query = model.predict_proba(source)
    names = [name.removeprefix("probability_") for name in query.columns[-3:]]
    return {row[0]: dict(zip(names, row[-3:], strict=True)) for row in query}


def lowest(values, coverage):
    """The k-th lowest of n values, k = floor((n + 1) (1 - coverage)), or less than any."""
    k = int(np.floor((len(values) + 1) * (1 - coverage) + 1e-9))
    return float(np.sort(values)[k - 1]) if k else -1.0


@pytest.mark.slow
def test_a_set_has_the_classes_that_reach_what_the_true_ones_did(model):
    con = model.state.engine.connection
    truth = dict(con.execute("SELECT id, risk FROM data").fetchall())
    met, new = (posteriors(model, f"FROM data WHERE id % 3 = {part}") for part in (1, 2))
    for coverage, by_class in product((0.5, 0.8, 0.9, 0.99, 0.999), (False, True)):
        bounds = {
            name: lowest([p[truth[i]] for i, p in met.items() if not by_class or truth[i] == name], coverage)
            for name in model.classes
        }
        expected = {i: {name for name in p if p[name] >= bounds[name] - 1e-12} for i, p in new.items()}
        found = model.predict("FROM data WHERE id % 3 = 2", coverage=coverage, by_class=by_class)
        assert found.columns == ["id", "risk", "a", "b", "prediction", "probability", "prediction_set"]
        assert {row[0]: set(row[-1]) for row in found} == expected


def test_out_of_fold_scores_serve_as_well(con):
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(con, "data", target="risk", id="id", name="risks")
    losses = model.calibrate("data", method="conformal", folds="loo")
    assert losses.log_loss == pytest.approx(losses.calibrated_log_loss, rel=1e-12)  # the posteriors stay as they are
    held = [row[1] in row[-1] for row in model.predict("data", coverage=0.9)]
    assert 0.88 < sum(held) / len(held) < 0.95
    for coverage in (np.float32(0.9), Fraction(9, 10), Decimal("0.9")):
        assert [row[1] in row[-1] for row in model.predict("data", coverage=coverage)] == held


def test_a_row_that_no_class_explains_has_an_empty_set(con):
    data = "SELECT unnest(['u', 'u', 'v', 'v']) AS x, unnest(['u', 'u', 'v', 'v']) AS z, unnest(['a', 'a', 'b', 'b']) AS y"
    model = nbsql.fit(con, data, target="y", alpha=0, name="m")
    model.calibrate(data, method="conformal", folds=None)
    strange = "SELECT unnest(['u', 'v', 'w']) AS part, unnest(['u', 'v', 'u']) AS x, unnest(['u', 'v', 'v']) AS z"
    for coverage, sets in {0.5: [["a"], ["b"], []], 0.9: [["a", "b"], ["a", "b"], []]}.items():  # four rows promise no more
        assert [row[-1] for row in sorted(model.predict(strange, coverage=coverage))] == sets


def test_it_goes_with_a_file_and_is_seen_in_sql(model, tmp_path):
    con = model.state.engine.connection
    model.export(tmp_path / "risks.parquet")
    other = nbsql.import_(con, tmp_path / "risks.parquet", name="others")
    source = "FROM data WHERE id % 3 = 2"
    assert other.predict(source, coverage=0.9).fetchall() == model.predict(source, coverage=0.9).fetchall()
    assert con.execute("SELECT DISTINCT method FROM risks.calibration").fetchall() == [("conformal",)]
    with pytest.raises(nbsql.ModelError, match=r"^model 'risks' is not calibrated; calibrate it first$"):
        model.predict(source, calibrated=True)  # sets leave the posteriors as they are


def test_errors_are_one_line(con, refused):
    con.execute("CREATE TABLE t AS SELECT unnest(['u', 'u', 'v', 'v']) AS x, unnest(['a', 'a', 'b', 'b']) AS y")
    model = nbsql.fit(con, "t", target="y", name="m")
    for options, error, message in [
        ({"coverage": 1}, nbsql.InputError, "coverage must be a number between 0 and 1, such as 0.9, not 1"),
        ({"coverage": "0.9"}, nbsql.InputError, "coverage must be a number between 0 and 1, such as 0.9, not '0.9'"),
        ({"by_class": True}, nbsql.InputError, "by_class goes with coverage or certain"),
        (
            {"coverage": 0.9, "top_k": 2},
            nbsql.InputError,
            "predict takes one of costs, thresholds, top_k, coverage and certain, not top_k and coverage",
        ),
        ({"coverage": 0.9}, nbsql.ModelError, "model 'm' is not calibrated; calibrate it by 'conformal' first"),
    ]:
        with refused(error, message):
            model.predict("t", **options)


def test_another_calibration_promises_nothing(con, refused):
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(con, "data", target="risk", id="id", name="m")
    model.calibrate("data", folds=5)
    message = "model 'm' is calibrated by 'temperature', which promises no coverage; calibrate it by 'conformal'"
    with refused(nbsql.ModelError, message):
        model.predict("data", coverage=0.9)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.forms("name")
@pytest.mark.parametrize("name", ["m", None])
@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_sets_go_beside_calibrated_posteriors(con, name, method):
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(con, "data", target="risk", id="id", name=name)

    def sets(**options):
        return [row[-1] for row in model.predict("data", coverage=0.9, **options)]

    model.calibrate("data", folds=5, method="conformal")
    alone, own = sets(), model.predict_proba("data").fetchall()
    model.calibrate("data", folds=5, method=method)
    calibrated = model.predict_proba("data").fetchall()
    assert calibrated != own
    assert model.predict_proba("data", calibrated=False).fetchall() == own
    for options, expected in (({}, calibrated), ({"calibrated": False}, own)):
        assert sets(**options) == alone  # of the model's own posteriors, in either order of the two calibrations
        shown = model.predict("data", coverage=0.9, **options).fetchall()
        assert [row[:-1] for row in shown] == [row[: len(shown[0]) - 1] for row in expected]
    model.calibrate("data", folds=5, method="conformal")
    assert sets() == alone
    assert model.predict_proba("data").fetchall() == calibrated


@pytest.mark.nightly
def test_the_promise_is_kept_on_real_tables(con, data):
    """Over ten cuts of a table the share that is held is within two standard errors of what was promised, by class, too."""
    numbers = "COLUMNS(lambda c: NOT regexp_matches(c, 'soil|wilderness'))"
    con.execute(f"CREATE TABLE t AS SELECT {numbers}, row_number() OVER () AS row FROM '{data}/covtype_20k.parquet'")
    model = nbsql.fit(con, "FROM t WHERE hash(row) % 4 = 0", target="cover_type", exclude=["row"], name="m")
    held = {0.8: [], 0.9: [], 0.95: []}
    for seed in range(10):
        half = f"(hash(row + {seed} * 1000000) // 7) % 2"
        model.calibrate(f"FROM t WHERE hash(row) % 4 > 0 AND {half} = 0", method="conformal", folds=None)
        for coverage, shares in held.items():
            query = model.predict(f"FROM t WHERE hash(row) % 4 > 0 AND {half} = 1", coverage=coverage)
            (share,) = con.execute(f"SELECT avg(list_contains(prediction_set, cover_type)::INT) FROM ({query.sql})").fetchall()
            shares += share
    for coverage, shares in held.items():
        error = np.std(shares, ddof=1) / np.sqrt(len(shares))
        assert abs(np.mean(shares) - coverage) < 2 * max(error, 1e-3), (coverage, np.mean(shares), error)
