"""Labels and categories of every type, at the limits of the type, through a fit, a score, a row, a file and a calibration."""

import pytest

import nbsql

BEYOND = 2**53
TYPES = {
    **{
        f"{sign}{name}": [
            *((-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2 ** (bits - 1) - 2) if not sign else (0, 2**bits - 1, 2**bits - 2))
        ]
        for name, bits in {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}.items()
        for sign in ("", "U")
    },
    "DECIMAL(4,2)": ["99.99", "-99.98", "0.01"],
    "DECIMAL(9,9)": ["0.999999999", "0.999999998"],
    "DECIMAL(18,3)": ["999999999999999.999", "999999999999999.998"],
    "DECIMAL(38,0)": [10**38 - 1, 10**38 - 2, 1 - 10**38],
    "DECIMAL(38,10)": ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999998"],
    "DECIMAL(38,38)": ["0." + "9" * 38, "0." + "9" * 37 + "8"],
    "DOUBLE": ["1.7976931348623157e308", "5e-324", "0.1", "0.30000000000000004"],
    "FLOAT": ["3.4028235e38", "1e-45", "0.1"],
    "TIMESTAMP_NS": ["2020-01-01 00:00:00.000001001", "2020-01-01"],
    "TIMESTAMP_S": ["2020-01-01 00:00:01", "2020-01-01"],
    "TIME": ["10:00:00", "11:00:00"],
    "TIMETZ": ["00:00:00+01", "01:00:00+01"],
    "INTERVAL": ["1 month", "1 day", "1 microsecond"],
    "UUID": ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "VARCHAR": ["1", "01", "1.0"],
}
TYPES["BIGINT"] += [BEYOND, BEYOND + 1]
TYPES["HUGEINT"] += [BEYOND, BEYOND + 1]
TYPES["UHUGEINT"] += [BEYOND, BEYOND + 1]


def table(con, kind):
    """Three rows a value, whose label and category are the value."""
    con.execute(f"CREATE TABLE t (c {kind}, k {kind}, i INTEGER)")
    for number, value in enumerate(TYPES[kind]):
        con.execute(f"INSERT INTO t SELECT v, v, {number} FROM (SELECT CAST('{value}' AS {kind}) AS v), range(3)")


def rows(model, calibrated=False):
    return sorted(model.predict_proba("SELECT * FROM t", calibrated=calibrated).fetchall(), key=lambda row: row[2])


@pytest.mark.slow
@pytest.mark.forms("kind")
@pytest.mark.filterwarnings("ignore:the model has changed")  # so that its calibration is dropped
@pytest.mark.parametrize("kind", TYPES)
def test_every_value_travels_as_it_is(con, tmp_path, kind):
    table(con, kind)
    model = nbsql.fit(con, "t", target="c", features=["k"], families={"k": "categorical"})
    assert len(model.classes) == len({row[2] for row in model.likelihoods.fetchall()}) == len(TYPES[kind])
    assert all(row[0] == row[3] for row in rows(model))
    model.calibrate("t", folds=None)
    model.export(tmp_path / "m.parquet")
    copy = nbsql.import_(con, tmp_path / "m.parquet")
    assert model.classes == copy.classes
    assert rows(model) == rows(copy)
    assert rows(model, calibrated=True) == rows(copy, calibrated=True)
    assert sorted(model.statistics.fetchall(), key=repr) == sorted(copy.statistics.fetchall(), key=repr)
    copy.update("t")
    copy.forget("t")
    assert rows(model) == rows(copy)
    assert nbsql.merge(con, [model, copy]).classes
    for (value,) in con.execute("SELECT DISTINCT k FROM t").fetchall():
        if kind not in ("INTERVAL", "TIMETZ", "TIMESTAMP_NS"):  # of which Python has less
            assert model.predict_one({"k": value})["prediction"] == value


@pytest.mark.forms("kind")
@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "DECIMAL(38,0)"])
def test_large_labels_of_weights_travel(con, tmp_path, kind):
    table(con, kind)
    model = nbsql.fit(con, "t", target="c", features=["i"], method="logistic")
    model.export(tmp_path / "m.parquet")
    copy = nbsql.import_(con, tmp_path / "m.parquet")
    assert model.classes == copy.classes
    assert rows(model) == rows(copy)


@pytest.mark.forms("kind")
@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT", "UHUGEINT", "DECIMAL(38,0)", "DECIMAL(38,38)"])
def test_folds_segments_slices_and_lists_have_large_keys(con, kind):
    table(con, kind)
    con.execute("CREATE TABLE u AS SELECT i % 2 = 0 AS c, k, i + r AS x FROM t, range(2) AS s(r)")
    keys = len(TYPES[kind])
    assert len(nbsql.cross_validate(con, "u", target="c", features=["x"], fold="k").folds.fetchall()) == keys
    assert len(nbsql.fit(con, "u", target="c", features=["x"], segment_by="k").segments.fetchall()) == keys
    assert len(nbsql.fit(con, "u", target="c", features=["x"], slice_by="k").slice_names) == keys
    joint = nbsql.fit(con, "u", target="c", features=["k", "x"], families={"both": nbsql.Joint(["k", "x"])})
    assert all(row[3] == row[0] for row in joint.predict("u").fetchall())


@pytest.mark.parametrize("kind", ["BIGNUM", "BLOB", "BIT"])
def test_types_that_do_not_travel_are_refused_by_name(con, kind):
    con.execute(f"CREATE TABLE t AS SELECT CAST('1' AS {kind}) AS c, 1 AS x")
    with pytest.raises(
        nbsql.InputError, match=f"^target column 'c' is {kind}; a class is one scalar value: cast it, to text say$"
    ):
        nbsql.fit(con, "t", target="c")
