"""Predictions of rows that are certain enough: against numpy and scipy on the posteriors, and the promise on real tables."""

from itertools import product

import duckdb
import numpy as np
import pytest
from scipy.stats import beta

import nbsql

# Rows come again after 707, so that a third of them is like another, and not as a random third would be.
pytestmark = pytest.mark.filterwarnings("ignore:.*has learnt about:nbsql.NbsqlWarning")


ROWS = """SELECT i AS id, ['low', 'mid', 'high'][k + 1] AS risk, k + i * 37 % 101 / 60 AS a, (k + i % 7) % 4 = 0 AS b
FROM (SELECT i, i * i % 7 % 3 AS k FROM range(1800) AS t(i))"""
HELD_OUT, NEW = "FROM data WHERE id % 3 = 1", "FROM data WHERE id % 3 = 2"


@pytest.fixture
def model(form, con):
    """Fitted on a third of the rows, and calibrated on another third, in each form of scoring."""
    con.execute(f"CREATE TABLE data AS {ROWS}")
    model = nbsql.fit(con, "FROM data WHERE id % 3 = 0", target="risk", id="id", name="risks")
    model.calibrate(HELD_OUT, method="certain", folds=None)
    return model


def scores(model, source):
    """The id, the class, the most probable class and its log-odds against the rest, of each row."""
    query = model.predict_proba(source, calibrated=False)
    at, found = query.columns.index("prediction"), []
    for row in query:
        best, *others = sorted(row[-3:], reverse=True)
        found.append((row[0], row[1], row[at], round(float(np.log(best / sum(others))), 7)))
    return found


def lowest_score(held_out, certain, confidence=0.95):
    """The lowest of the thresholds of the most certain 1 %, ... 100 % whose limits from the start of their tenth keep it."""
    odds = np.array([each[3] for each in held_out])
    wrong = np.array([each[1] != each[2] for each in held_out])
    lowest, highest, tenth = np.inf, 0.0, -1
    thresholds = {int(np.ceil(100 * np.mean(odds >= x) - 1e-9)): x for x in sorted(set(odds), reverse=True)}
    for percent, threshold in sorted(thresholds.items()):
        n, w = sum(odds >= threshold), sum(wrong[odds >= threshold])
        limit = 1.0 if w == n else beta.ppf(1 - (1 - confidence) / 10, w + 1, n - w)
        highest, tenth = max(limit, highest if (percent - 1) // 10 == tenth else 0.0), (percent - 1) // 10
        lowest = min(lowest, threshold) if 1 - highest >= certain else lowest
    return lowest


@pytest.mark.slow
def test_rows_are_predicted_that_reach_the_threshold(model):
    met, new = scores(model, HELD_OUT), scores(model, NEW)
    decided = set()
    for certain, by_class in product((0.7, 0.9), (False, True)):
        bounds = {
            label: lowest_score([each for each in met if not by_class or each[2] == label], certain) for label in model.classes
        }
        expected = {row: label if odds >= bounds[label] else None for row, _, label, odds in new}
        found = model.predict(NEW, certain=certain, by_class=by_class)
        assert found.columns == ["id", "risk", "a", "b", "prediction", "probability", "reason"]
        assert {row[0]: row[4] for row in found} == expected
        assert all((row[4] is None) == (row[5] is None) == (row[6] is not None) for row in found)
        decided.add(sum(label is not None for label in expected.values()))
    assert len(decided) > 2
    assert min(decided) < 0.8 * len(new)


@pytest.mark.slow
def test_more_confidence_decides_fewer_rows(model):
    met = scores(model, HELD_OUT)
    shares = []
    for confidence in (0.5, 0.999):
        found = model.calibrate(HELD_OUT, method="certain", folds=None, confidence=confidence)
        assert found.calibrated_log_loss == pytest.approx(found.log_loss, rel=1e-12)  # the posteriors stay as they are
        odds = np.array([each[3] for each in met])
        assert found.decided[0.9] == pytest.approx(np.mean(odds >= lowest_score(met, 0.9, confidence)), abs=1e-12)
        shares.append(found.decided[0.9])
    assert shares[0] > shares[1]


@pytest.mark.few
@pytest.mark.parametrize(
    ("wrong", "n", "tail"),
    [
        (0, 59, 0.05),
        (3, 40, 0.005),
        (250, 900, 0.005),
        (7, 7, 0.05),
        (0, 1, 0.09),
        (6, 7, 0.005),
        (5e4, 1e6, 1e-6),
        (1.5, 2.7, 0.005),
    ],
)
def test_the_limit_of_a_share_is_that_of_clopper_and_pearson(con, wrong, n, tail):
    """All rows are predicted alike, and have weights."""
    model = nbsql.fit(con, "SELECT unnest(['u', 'u', 'v']) AS x, unnest(['a', 'a', 'b']) AS y", target="y", name="m")
    rows = [(y, w) for y, w in (("a", n - wrong), ("b", wrong)) if w]
    con.execute(f"CREATE TABLE t AS SELECT 'u' AS x, y, w::DOUBLE AS w FROM (VALUES {str(rows)[1:-1]}) AS r(y, w)")
    model.calibrate("t", method="certain", folds=None, weight="w", confidence=1 - 10 * tail)
    ((promised,),) = con.execute("SELECT probability FROM m.calibration WHERE class_no IS NULL").fetchall()
    assert 1 - promised == pytest.approx(beta.ppf(1 - tail, wrong + 1, n - wrong) if wrong < n else 1, abs=1e-11)


def test_a_calibration_by_hand(con):
    """Of 100 rows with x = 'u' none is wrong, of 100 with x = 'v' thirty: 1 - 0.005 ** (1 / 100) is 0.0516."""
    con.execute("""CREATE TABLE t AS SELECT CASE WHEN i < 100 THEN 'u' ELSE 'v' END AS x,
        CASE WHEN i < 100 OR i >= 170 THEN 'a' ELSE 'b' END AS y FROM range(200) AS r(i)""")
    model = nbsql.fit(con, "t", target="y", name="m")
    found = model.calibrate("t", method="certain", folds=None)
    assert found.decided == {0.8: 0.5, 0.9: 0.5, 0.95: 0, 0.99: 0}
    promised = con.execute("SELECT probability FROM m.calibration WHERE class IS NULL ORDER BY score DESC").fetchall()
    assert [p for (p,) in promised] == pytest.approx([0.005 ** (1 / 100), 1 - beta.ppf(0.995, 31, 170)], abs=1e-9)
    rows = sorted(model.predict("SELECT DISTINCT x FROM t", certain=0.948))
    assert [row[:2] for row in rows] == [("u", "a"), ("v", None)]
    assert rows[1][3] == "b 69 %, a 31 %"  # of smoothed counts
    model.calibrate("t", method="temperature", folds=None)
    hot = sorted(model.predict("SELECT DISTINCT x FROM t", certain=0.948))
    assert [row[:2] for row in hot] == [row[:2] for row in rows]
    assert hot[0][2] == pytest.approx(sorted(model.predict("SELECT DISTINCT x FROM t"))[0][2], abs=1e-12)
    assert str(model).endswith("calibrated by temperature>")


def test_a_row_that_no_class_explains_is_not_certain(con):
    data = "SELECT x, x AS z, CASE x WHEN 'u' THEN 'a' ELSE 'b' END AS y FROM (SELECT unnest(['u', 'v']) AS x), range(500)"
    model = nbsql.fit(con, data, target="y", alpha=0, name="m")
    model.calibrate(data, method="certain", folds=None)
    strange = "SELECT unnest(['u', 'u', 'v']) AS x, unnest(['u', 'v', 'u']) AS z"
    rows = sorted(model.predict(strange, certain=0.9))
    assert rows[0] == ("u", "u", "a", 1.0, None)
    assert [row[2:] for row in rows[1:]] == [(None, None, "no class explains it")] * 2


@pytest.mark.slow
def test_a_row_of_which_nothing_is_known_is_never_certain(form, con):
    """Nine of ten rows are ham, so that the prior alone promises more than is asked for."""
    con.execute("""CREATE TABLE mail AS SELECT i AS id, CASE WHEN i % 10 = 0 THEN 'spam' ELSE 'ham' END AS y,
        CASE WHEN i % 4 = 0 THEN NULL WHEN i % 10 = 0 THEN 'win money' ELSE 'see you ' || i % 3 END AS message,
        CASE WHEN i % 4 = 0 THEN NULL ELSE i % 10 % 3 END AS x FROM range(2000) AS r(i)""")
    options = {"target": "y", "id": "id", "families": {"message": nbsql.Text(), "x": nbsql.Gaussian()}}
    model = nbsql.fit(con, "FROM mail WHERE id < 1000", name="m", **options)
    found = model.calibrate("FROM mail WHERE id >= 1000", method="certain", folds=None)
    assert found.decided[0.8] == 0.75  # the others have nothing that is known
    new = "SELECT unnest([NULL, '', 'unheard words', 'see you']) AS message, NULL::INTEGER AS x, 0 AS id"
    rows = sorted(model.predict(new, certain=0.8, columns=["message"]), key=repr)
    assert [row[1] for row in rows] == [None, "ham", None, None]
    reason = "nothing known tells the classes apart"
    assert [row[2:] for row in rows if row[0] != "see you"] == [(None, reason)] * 3
    assert {label for _, label, *_ in model.predict(new, columns=["message"])} == {"ham"}
    model.calibrate("FROM mail WHERE id < 1000", method="isotonic", folds=None)
    assert sorted((row[:2] for row in model.predict(new, certain=0.8, columns=["message"])), key=repr) == [
        row[:2] for row in rows
    ]
    with pytest.raises(nbsql.InputError, match="model 'm' knows nothing of the rows of the query"):
        model.calibrate("SELECT 'ham' AS y, 'unheard' AS message, NULL::INTEGER AS x", method="certain", folds=None)


@pytest.mark.slow
def test_a_row_of_too_few_known_words_is_never_certain(form, con, refused):
    """Every text tells the classes apart by its first word; a third of them has no other one."""
    con.execute("""CREATE TABLE mail AS SELECT i % 2 AS y, CASE WHEN i % 2 = 0 THEN 'good' ELSE 'bad' END
        || CASE WHEN i % 3 > 0 THEN ' day' ELSE '' END AS said, ['u', 'v'] AS marks FROM range(600) AS r(i)""")
    families = {"said": nbsql.Text(min_known=2), "marks": nbsql.Tokens(min_known=1)}
    model = nbsql.fit(con, "mail", target="y", families=families, name="m")
    for folds in (None, 5):
        assert model.calibrate("mail", method="certain", folds=folds).decided[0.9] == pytest.approx(2 / 3)
    new = "SELECT unnest(['good', 'good good', 'good new', NULL, 'good day']) AS said, ['u', 'u'] AS marks"
    answers = sorted(model.predict(f"{new} UNION ALL SELECT 'bad day', ['x']", certain=0.9, columns=["said"]), key=repr)
    assert {said: (label, reason) for said, label, _, reason in answers} == {
        "good day": (0, None),
        **dict.fromkeys(["good", "good good", "good new", "bad day", None], (None, "too few known words")),
    }
    con.execute(f"CREATE TABLE new AS {new}")
    assert sorted(con.execute("SELECT said, COLUMNS('^p|reason') FROM m.predict_certain('new', 0.9)").fetchall(), key=repr) == [
        row for row in answers if row[0] != "bad day"
    ]
    assert model.predict_one({"said": "good", "marks": ["u"]}, certain=0.9)["reason"] == "too few known words"
    loo = "folds='loo' takes a row out of the counts as it is scored, which 'said', 'marks' (text, tokens) does not allow"
    with refused(nbsql.InputError, f"{loo}; use folds=10"):
        model.calibrate("mail", method="certain", folds="loo")
    with refused(nbsql.InputError, "min_known must be a whole number of at least 0, not -1"):
        nbsql.Text(min_known=-1)


@pytest.mark.parametrize("folds", [4, "loo"])
def test_folds_leave_out_rows_of_which_nothing_is_known(con, folds):
    con.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i % 4 = 0 THEN 'b' ELSE 'a' END AS y, "
        "nullif(i % 5, 0) + (i % 4 = 1)::INT AS x FROM range(400) AS r(i)"
    )
    model = nbsql.fit(con, "t", target="y", name="m", families={"x": nbsql.Categorical()})
    found = model.calibrate("t", method="certain", folds=folds, confidence=0.5)
    ((reached,),) = con.execute("SELECT count(*) FROM t WHERE x IS NOT NULL").fetchall()
    assert max(found.decided.values()) <= reached / 400 == 0.8
    assert all(label is None for _, x, label, *_ in model.predict("t", certain=0.01) if x is None)
    assert "a" in {label for _, x, label, *_ in model.predict("t", certain=0.01) if x is not None}


@pytest.mark.few
@pytest.mark.parametrize(
    "options",
    [
        {"families": {"x": nbsql.Gaussian()}, "method": nbsql.Mixture(2)},
        {"method": nbsql.Logistic()},
        {"families": {"x": nbsql.Binned(5), "z": nbsql.Categorical()}, "method": nbsql.Weighted()},
        {"families": {"x": nbsql.Binned(5)}, "exclude": ["z"], "prior": "uniform"},
    ],
)
def test_methods_know_nothing_of_empty_rows(con, options):
    data = (
        "SELECT CASE WHEN i % 4 = 0 THEN 'b' ELSE 'a' END AS y, i % 4 * 3 + i % 11 AS x, i % 7 % 3 AS z FROM range(400) AS r(i)"
    )
    model = nbsql.fit(con, data, target="y", name="m", **options)
    model.calibrate(data, method="certain", folds=None, confidence=0.5)
    rows = model.predict("SELECT NULL::BIGINT AS x, NULL::BIGINT AS z", certain=0.01).fetchall()
    assert rows[0][2:] == (None, None, "nothing known tells the classes apart")
    assert model.predict(data, certain=0.5, columns=[]).fetchall()[0][0] is not None


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("method", [None, "temperature"])
def test_sql_and_single_rows_have_the_same_answers(model, method):
    con = model.state.engine.connection
    con.execute(f"INSERT INTO data (id) VALUES (3002); CREATE TABLE rest AS {NEW}")
    if method is not None:
        model.calibrate(HELD_OUT, method=method, folds=None)
    for by_class in (False, True):
        query = model.predict("rest", certain=0.8, by_class=by_class)
        rows = sorted(query, key=repr)
        assert (
            sorted(con.execute(f"FROM risks.predict_certain('rest', 0.8, by_class := {by_class})").fetchall(), key=repr) == rows
        )
        assert sorted(
            map(tuple, model.predict(con.table("rest").df(), certain=0.8, by_class=by_class, columns=["id"]))
        ) == sorted((row[0], *row[4:]) for row in rows)
        reasons = {row[6] for row in rows}
        assert None in reasons
        assert "nothing known tells the classes apart" in reasons
        for row in [rows[0], *(row for row in rows if row[6] is not None)][:9]:
            answer = model.predict_one(dict(zip(query.columns, row, strict=True)), certain=0.8, by_class=by_class)
            assert (answer["prediction"], answer["reason"]) == (row[4], row[6])
            assert answer["probability"] == (None if row[5] is None else pytest.approx(row[5], abs=1e-12))
            assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-12)
    assert "reason" not in model.predict_one({"a": 1, "b": True})
    for call, message in [
        ("predict_certain('rest', 95)", "certain must be a number between 0 and 1, such as 0.9"),
        ("predict_certain('more', 0.9)", 'Ambiguous reference to column name "reason"'),
    ]:
        with pytest.raises(duckdb.Error, match=message):
            con.execute(f"WITH more AS (SELECT *, 1 AS reason FROM rest) FROM risks.{call}")
    with pytest.warns(nbsql.NbsqlWarning, match="is dropped"):
        model.update(HELD_OUT)
    with pytest.raises(duckdb.CatalogException, match="predict_certain"):
        con.execute("FROM risks.predict_certain('rest', 0.8)")
    with pytest.raises(nbsql.ModelError, match="is not calibrated; calibrate it by 'certain' first"):
        model.predict_one({"a": 1, "b": True}, certain=0.8)


@pytest.mark.slow
def test_it_goes_with_a_file_and_beside_other_calibrations(model, tmp_path):
    con = model.state.engine.connection
    expected = [row[:5] for row in model.predict(NEW, certain=0.8)]
    for method in ("isotonic", "conformal", "temperature"):
        model.calibrate(HELD_OUT, method=method, folds=None)
        assert [row[:5] for row in model.predict(NEW, certain=0.8)] == expected
    methods = "SELECT DISTINCT method FROM risks.calibration ORDER BY method"
    assert con.execute(methods).fetchall() == [("certain",), ("conformal",), ("temperature",)]
    model.export(tmp_path / "risks.parquet")
    other = nbsql.import_(con, tmp_path / "risks.parquet", name="others")
    assert other.predict(NEW, certain=0.8).fetchall() == model.predict(NEW, certain=0.8).fetchall()


@pytest.mark.slow
def test_errors_are_one_line(con, refused):
    con.execute("CREATE TABLE t AS SELECT unnest(['u', 'u', 'v', 'v']) AS x, unnest(['a', 'a', 'b', 'b']) AS y")
    model = nbsql.fit(con, "t", target="y", name="m")
    for options, error, message in [
        ({"certain": 1}, nbsql.InputError, "certain must be a number between 0 and 1, such as 0.9, not 1"),
        ({"certain": 0.9}, nbsql.ModelError, "model 'm' is not calibrated; calibrate it by 'certain' first"),
        (
            {"certain": 0.9, "coverage": 0.9},
            nbsql.InputError,
            "predict takes one of costs, thresholds, top_k, coverage and certain, not coverage and certain",
        ),
    ]:
        with refused(error, message):
            model.predict("t", **options)
    with refused(nbsql.InputError, "confidence must be a number between 0 and 1, such as 0.9, not 95"):
        model.calibrate("t", method="certain", confidence=95, folds=None)
    with refused(nbsql.InputError, "confidence goes with method='certain'"):
        model.calibrate("t", confidence=0.9, folds=None)
    model.calibrate("t", folds=None)
    message = "model 'm' is calibrated by 'temperature', which promises no certainty; calibrate it by 'certain'"
    with refused(nbsql.ModelError, message):
        model.predict("t", certain=0.9)


@pytest.mark.nightly
@pytest.mark.parametrize("splits", [8, pytest.param(200, marks=pytest.mark.nightly)])
def test_the_promise_is_kept_in_random_splits(con, data, splits):
    """In at most one of twenty splits fewer than seven in ten of the certain ones are right. Of a tenth nothing is known."""
    numbers = "COLUMNS(lambda c: NOT regexp_matches(c, 'soil|wilderness'))"
    rows = f"FROM '{data}/covtype_20k.parquet' LIMIT 10000"
    con.execute(f"CREATE TABLE t AS SELECT {numbers}, row_number() OVER () AS row {rows}")
    names = [name for name, *_ in con.execute("DESCRIBE t").fetchall() if name not in ("cover_type", "row")]
    con.execute(f"UPDATE t SET {', '.join(f'{name} = NULL' for name in names)} WHERE row % 10 = 0")
    model = nbsql.fit(con, "FROM t WHERE hash(row) % 4 = 0", target="cover_type", exclude=["row"], name="m")
    kept = []
    for seed in range(splits):
        drawn = f"hash(row) % 4 > 0 AND (hash(row + {seed} * 1000000) // 7) % 8"
        model.calibrate(f"FROM t WHERE {drawn} = 0", method="certain", folds=None)
        sql = model.predict(f"FROM t WHERE {drawn} > 0", certain=0.7).sql
        counts = "avg((prediction = cover_type)::INT), count(prediction), count(prediction) FILTER (row % 10 = 0)"
        kept += con.execute(f"SELECT {counts} FROM ({sql})").fetchall()
    assert sum(share is not None and share < 0.7 for share, *_ in kept) <= splits / 20
    assert np.mean([decided for _, decided, _ in kept]) > 100
    assert not any(unknown for *_, unknown in kept)
