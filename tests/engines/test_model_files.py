"""A model in a file is the same model on every engine; what is damaged or hostile runs nothing and leaves nothing behind."""

import json
import math
import os
from pathlib import Path

import duckdb
import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql
from nbsql.storage.type_conversion import Cells, converted_type, translate

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
ROUTES = [(one, other) for one in ("duckdb", "postgres", "spark") for other in ("duckdb", "postgres", "spark") if one != other]
FILES = Path(__file__).with_name("files")
MODELS = {
    "naive": {
        "families": {
            "links": "poisson",
            "day": "categorical",
            "share": nbsql.Categorical(levels=["0.250"]),
            "length": nbsql.Categorical(alpha=0.5),
            "flag": "categorical",
        },
        "nulls": "category",
        "weight": "weight",
        "prior": {"ham": 0.4, "Spam": 0.2, "spam": 0.2, "ämter": 0.2},
    },
    "numbers": {"families": {"links": "kernel", "share": "binned", "length": "gamma"}, "exclude": ["day"]},
    "dates": {"target": "day", "features": ["length", "Sender", "replied"]},
    "doubles": {"target": "weight", "features": ["links", "Sender"], "segment_by": "flag"},
    "text": {"families": {"Sender": "text"}, "exclude": ["day"], "slice_by": "links % 2"},
    "joint": {"method": "joint", "features": ["Sender", "flag", "share", "day"]},
    "conditional": {
        "families": {
            "flag": nbsql.Conditional("share"),
            "day": nbsql.Conditional("Sender"),
            "Sender": nbsql.Conditional("day"),
            "length": nbsql.Conditional("links", edges=[40, 80], parent_edges=[2]),
        },
        "features": ["flag", "day", "Sender", "length"],
    },
    "lda": {"method": "lda", "features": ["length", "links", "share"]},
    "components": {"method": nbsql.Mixture(2), "features": ["length", "links"]},
    "logistic": {"method": "logistic", "features": ["Sender", "links", "replied"]},
}


def answers(model, *, calibrated):
    """Posteriors by row, with the label as text: an engine may have another type for it."""
    rows = sorted(model.predict_proba("later", calibrated=calibrated).fetchall(), key=lambda row: row[0])
    at = len(COLUMNS)
    return [(row[0], plain(row[at]), *row[at + 1 :]) for row in rows]


def cells(model):
    rows = [(row[0], plain(row[1]), row[2], plain(row[3]), *row[4:7]) for row in model.statistics.fetchall()]
    return sorted(rows, key=lambda row: repr(row[:4]))


def plain(value):
    """A number as every engine says it, in a list, too; whatever else as text."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):  # no bin, such as [1, 2)
        return str([plain(each) for each in json.loads(value)])
    try:
        return f"{float(value):.12g}"
    except (TypeError, ValueError):
        return str(value)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(("one", "other"), ROUTES)
def test_a_model_of_one_engine_is_the_same_on_another(connect, tmp_path, one, other, kind):
    here, there = connect(one), connect(other)
    for place in (here, there):
        place.table("later", COLUMNS, mail(40, 2))
    here.table("inbox", COLUMNS, mail(150, 1))
    options = {"target": "label", "id": "id", **MODELS[kind]}
    model = nbsql.fit(here.con, "inbox", name="m", **options)
    calibrated = kind in ("naive", "dates", "logistic")
    if calibrated:
        model.calibrate("inbox", folds=None)
    model.export(tmp_path / "m.parquet")
    found = nbsql.import_(there.con, tmp_path / "m.parquet", name="found")
    assert list(map(plain, found.classes)) == list(map(plain, model.classes))
    assert_same_rows(cells(found), cells(model))
    loaded = nbsql.load(there.con, "found")
    for way in (False, True) if calibrated else (False,):
        assert_same_rows(answers(loaded, calibrated=way), answers(model, calibrated=way))
    if kind in ("naive", "text") and "spark" not in (one, other):  # it goes on learning there, and comes home
        for each in (found, model):
            each.update("SELECT * FROM later WHERE id < 20")
            each.compact()
        found.export(tmp_path / "back.parquet")
        back = nbsql.import_(here.con, tmp_path / "back.parquet", name="back")
        assert_same_rows(cells(back), cells(model))
        assert_same_rows(answers(back, calibrated=False), answers(model, calibrated=False))


@pytest.mark.parametrize("other", ["postgres", "spark"])
def test_a_model_of_given_probabilities_travels(connect, tmp_path, other):
    here, there = connect("duckdb"), connect(other)
    priors = [{"class": label, "prior": prior} for label, prior in (("a", 0.25), ("b", 0.75))]
    likelihoods = [
        {"class": label, "feature": "sky", "value": value, "likelihood": p}
        for label, value, p in (("a", "sun", 0.9), ("a", "rain", 0.1), ("b", "sun", 0.3), ("b", "rain", 0.7))
    ]
    model = nbsql.from_tables(here.con, priors=priors, likelihoods=likelihoods, name="m")
    model.export(tmp_path / "m.parquet")
    found = nbsql.import_(there.con, tmp_path / "m.parquet", name="m")
    query = "SELECT 'sun' AS sky"
    assert_same_rows(found.predict_proba(query).fetchall(), model.predict_proba(query).fetchall())


@pytest.mark.parametrize("other", ["postgres"])
def test_classes_still_to_come_travel(connect, tmp_path, other):
    here, there = connect("duckdb"), connect(other)
    rows = "SELECT CAST(100000.0 AS DOUBLE PRECISION) AS y, 'u' AS x UNION ALL SELECT -1.5, 'v'"
    model = nbsql.fit(here.con, rows, target=nbsql.Target("y", classes=[100000.0, -1.5, 1e20]), prior="uniform")
    model.export(tmp_path / "there.parquet")
    found = nbsql.import_(there.con, tmp_path / "there.parquet", name="m")
    assert_same_rows(sorted(found.priors.fetchall()), sorted(model.priors.fetchall()))
    found.update("SELECT CAST(1e20 AS DOUBLE PRECISION) AS y, 'u' AS x")
    found.export(tmp_path / "back.parquet")
    back = nbsql.import_(here.con, tmp_path / "back.parquet")
    back.update("SELECT CAST(1e20 AS DOUBLE PRECISION) AS y, 'u' AS x UNION ALL SELECT 100000.0, 'v'")
    assert sorted(row[:2] for row in back.priors) == [(-1.5, 1), (100000.0, 2), (1e20, 2)]


LABELS = {
    "HUGEINT": ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105727", "9007199254740993"],
    "UBIGINT": ["18446744073709551615", "18446744073709551614"],
    "TINYINT": ["-128", "127"],
    "DECIMAL(4,2)": ["99.90", "-99.98", "0.01"],
    "DECIMAL(38,10)": ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999998"],
    "DOUBLE": ["1.7976931348623157e308", "5e-324", "0.1", "0.30000000000000004", "100000.0"],
    "FLOAT": ["3.4028235e38", "0.1", "7"],
    "DATE": ["2026-02-28", "0001-01-01"],
    "TIMESTAMP": ["2026-02-28 01:02:03.000004", "2026-02-28"],
    "TIME": ["01:02:03.000004", "23:59:59"],
    "INTERVAL": ["1 month", "1 day", "1 microsecond"],
    "UUID": ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "BOOLEAN": ["true", "false"],
    "VARCHAR": ["1", "01", "it's", "ü\u2028\\"],
    "ENUM('b', 'it''s', 'a')": ["a", "it's"],
}


@pytest.mark.nightly
@pytest.mark.parametrize("other", ["postgres"])
def test_labels_and_categories_of_every_kind_go_there_and_back(connect, tmp_path, other):
    here, there = connect("duckdb"), connect(other)
    for number, (kind, values) in enumerate(LABELS.items()):
        here.run(f"CREATE OR REPLACE TABLE t (c {kind}, k {kind})")
        for value in values:
            here.con.execute(f"INSERT INTO t SELECT CAST($1 AS {kind}), CAST($1 AS {kind}) FROM range(3)", [value])
        model = nbsql.fit(here.con, "t", target="c", features=["k"], families={"k": "categorical"})
        model.calibrate("t", folds=None)
        model.export(tmp_path / f"{number}.parquet")
        found = nbsql.import_(there.con, tmp_path / f"{number}.parquet", name=f"m{number}")
        name = converted_type(kind, "DuckDB", "PostgreSQL")
        for value in values:
            quoted = value.replace("'", "''")
            ((_, label, *_),) = found.predict(f"SELECT CAST('{quoted}' AS {name}) AS k").fetchall()
            ((_, calibrated, *_),) = found.predict(f"SELECT CAST('{quoted}' AS {name}) AS k", calibrated=True).fetchall()
            ((same,),) = there.run(f"SELECT CAST('{quoted}' AS {name})")
            assert (label, calibrated) == (same, same), (kind, value)
        found.export(tmp_path / f"{number}.back.parquet")
        back = nbsql.import_(here.con, tmp_path / f"{number}.back.parquet")
        assert set(map(str, back.classes)) == set(map(str, model.classes)), kind


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ"])
@pytest.mark.parametrize("other", ["postgres"])
def test_times_before_christ_go_there_and_back(connect, tmp_path, other, kind):
    here, there = connect("duckdb"), connect(other)
    for place in (here, there):
        place.run("SET timezone = 'UTC'")
    year = {"duckdb": "0044-03-15 (BC) 10:30:00", "postgres": "0044-03-15 10:30:00 BC"}
    rows = "SELECT CAST('{}' AS {}) AS k, 'b' AS c UNION ALL SELECT CAST('0044-03-15 10:30:00' AS {}), 'a'"
    options = {"target": "c", "families": {"k": "categorical"}}
    first = nbsql.fit(here.con, rows.format(year["duckdb"], kind, kind), **options)
    first.export(tmp_path / "there.parquet")
    found = nbsql.import_(there.con, tmp_path / "there.parquet", name="m")
    native = nbsql.fit(there.con, rows.format(year[other], kind, kind), **options)
    assert sorted(found.statistics.fetchall(), key=repr) == sorted(native.statistics.fetchall(), key=repr)
    native.export(tmp_path / "back.parquet")
    back = nbsql.import_(here.con, tmp_path / "back.parquet")
    assert sorted(back.statistics.fetchall(), key=repr) == sorted(first.statistics.fetchall(), key=repr)
    assert len({row[3] for row in first.statistics.fetchall()} - {None}) == 2


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("kind", ["naive", "logistic"])
def test_stored_files_are_read(connect, engine, kind):
    place = connect(engine)
    found = [nbsql.import_(place.con, path) for path in sorted(FILES.glob(f"{kind}_*"))]
    row = "SELECT 'sun' AS sky, CAST(0.74 AS {}) AS heat, 2 AS wind, FALSE AS dry"
    query = row.format("DOUBLE PRECISION" if engine == "postgres" else "DOUBLE")
    expected = {"naive": (0.3043075559471396, 0.33172128744270746), "logistic": (0.2988867268740045, 0.3328034483850788)}[kind]
    assert len(found) == 3
    for model in found:
        ((*_, zero, one, two),) = model.predict_proba(query, calibrated=False).fetchall()
        assert (zero, one, two) == pytest.approx((*expected, 1 - sum(expected)), rel=1e-9)
        assert len(model.predict(query, calibrated=True).fetchall()) == 1


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "spark"])
def test_a_given_likelihood_of_zero_travels(connect, tmp_path, engine):
    logs = "(VALUES ('a', 800.0), ('b', CAST('-inf' AS DOUBLE))) AS t(class, log_likelihood)"
    likelihoods = f"SELECT class, 'kind' AS feature, 'u' AS value, log_likelihood FROM {logs}"
    given = {"priors": {"a": 0.5, "b": 0.5}, "likelihoods": likelihoods, "logarithms": True}
    model = nbsql.from_tables(duckdb.connect(), **given, name="given")
    model.export(tmp_path / "here.parquet")
    place = connect(engine)
    nbsql.import_(place.con, tmp_path / "here.parquet", name="there").export(tmp_path / "there.parquet")
    for found in (nbsql.load(place.con, "there"), nbsql.import_(duckdb.connect(), tmp_path / "there.parquet")):
        ((*_, first, second),) = found.joint_log_likelihood("SELECT 'u' AS kind").fetchall()
        assert (first, second) == (pytest.approx(math.log(0.5) + 800, rel=1e-12), -math.inf)


def metadata_of(path):
    with duckdb.connect() as con:
        found = con.execute(f"FROM parquet_kv_metadata('{path}')").fetchall()
    return {key.decode(): value.decode() for _, key, value in found}


def rewritten(source, target, query="FROM cells", **metadata):
    """The file of a model with other cells or another spec."""
    found = {**metadata_of(source), **metadata}
    listed = ", ".join(f"{key}: '" + value.replace("'", "''") + "'" for key, value in found.items())
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE cells AS FROM '{source}'")
        con.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, KV_METADATA {{{listed}}})")
    return target


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_hostile_and_damaged_files_leave_nothing_behind(connect, tmp_path, engine):
    place = connect(engine)
    place.run("CREATE TABLE canary AS SELECT 1 AS alive")
    good = FILES / "naive_duckdb.parquet"
    spec = json.loads(metadata_of(good)["nbsql_spec"])
    drop = "text); DROP TABLE canary; --"
    first, *others = spec["features"]
    specs = {
        f"it has a column of the type {drop!r}": {"target_type": drop},
        "it has a column of the type \"ENUM('a')); DROP": {
            "features": [{**first, "types": ["ENUM('a')); DROP TABLE canary; --"]}, *others]
        },
        "no expression over columns": {"segment_by": "1) FROM canary; DROP TABLE canary; --"},
        "may not run subquery": {"segment_by": "(SELECT max(alive) FROM canary)"},
        "may not run pg_read_file": {"segment_by": "pg_read_file('/etc/passwd')"},
        "may not run replace": {"slice_by": "other.replace('a', 'b', 'c')"},
        "may not run getenv": {"slice_by": "upper(getenv('HOME'))"},
        "is damaged, or of another version: its spec cannot be read": {"features": 7},
        "written by a newer nbsql": {"format": 99},
    }
    path = tmp_path / "bad.parquet"
    for message, change in specs.items():
        rewritten(good, path, nbsql_spec=json.dumps({**spec, "segment_shrinkage": 1.0, **change}))
        refused(place, path, message)
    queries = {
        "it has no column 'value'": "SELECT * EXCLUDE (value) FROM cells",
        "it has no column 'n' of the type": "SELECT * REPLACE (CAST(n AS VARCHAR) AS n) FROM cells",
        "it has cells of 'other', which is none of its features": "SELECT * REPLACE ('other' AS feature) FROM cells",
        "it has no cells of its classes": "FROM cells WHERE feature IS NOT NULL",
        "has no cells of its classes": "SELECT * REPLACE (CAST('inf' AS DOUBLE) AS n) FROM cells",
        "it has cells whose n, mean or m2 is no number": "SELECT * REPLACE (CAST('nan' AS DOUBLE) AS m2) FROM cells",
        "is no number; export it again": "SELECT * REPLACE (CAST(NULL AS DOUBLE) AS n) FROM cells",
        "x": "SELECT * REPLACE ('x' AS class) FROM cells",
    }
    for message, query in queries.items():
        refused(place, rewritten(good, path, query), message)
    for cut in (0, 3, 4, 100, 2_000, good.stat().st_size - 1):
        path.write_bytes(good.read_bytes()[:cut])
        refused(place, path, "is no file that a model was exported to")
    path.write_bytes(b"\x80\x04cos\nsystem\n(S'touch /tmp/hostile'\ntR.")  # a pickle, which nobody opens
    refused(place, path, "is no file that a model was exported to")
    path.write_text("no model", encoding="utf-8")
    refused(place, path, "is no file that a model was exported to")
    refused(place, rewritten(good, path, nbsql_engine="Oracle"), "is no file that a model was exported to")
    foreign, foreign_logistic = FILES / "naive_spark.parquet", FILES / "logistic_spark.parquet"
    for message, changed in {
        f"it has a column of the type {drop!r}": {"nbsql_spec": json.dumps({**spec, "target_type": drop})},
        "it has no weights": {"nbsql_spec": metadata_of(foreign_logistic)["nbsql_spec"]},
        "its calibration is no text of JSON": {"nbsql_calibration": "}"},
    }.items():
        refused(place, rewritten(foreign, path, **changed), message)
    body = bytearray(good.read_bytes())
    body[10:400] = bytes(390)
    path.write_bytes(body)
    refused(place, path, "")
    assert place.run("SELECT count(*) FROM canary") == [(1,)]


def refused(place, path, message):
    with pytest.raises(nbsql.NbsqlError) as caught:
        nbsql.import_(place.con, path, name="found")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert nbsql.models(place.con) == []


@pytest.mark.parametrize("other", ["postgres"])
def test_what_another_engine_does_not_have_is_refused(connect, tmp_path, other):
    here, there = connect("duckdb"), connect(other)
    here.run("CREATE TABLE shops AS SELECT 1 AS shop, 'a' AS town")
    here.run(
        "CREATE TABLE t AS SELECT i % 2 AS y, 1 AS shop, MAP {'a': i} AS words, "
        "TIMESTAMP_NS '2026-01-01' + INTERVAL 0 DAY AS moment FROM range(8) AS t(i)"
    )
    nbsql.fit(here.con, "t", target="y", features=["words"]).export(tmp_path / "words")
    with pytest.raises(nbsql.NotSupportedError, match=r"^columns of the type MAP\(VARCHAR, BIGINT\) are not available on Post"):
        nbsql.import_(there.con, tmp_path / "words")
    nbsql.fit(here.con, "t", target="y", features=["town"], joins=nbsql.Join("shops", on="shop")).export(tmp_path / "joined")
    with pytest.raises(nbsql.InputError, match=r"joins tables of DuckDB, which PostgreSQL does not reach; fit it there on a"):
        nbsql.import_(there.con, tmp_path / "joined")


@pytest.mark.parametrize("other", ["postgres"])
def test_classes_that_another_engine_takes_for_one_are_refused(connect, other):
    here, there = connect("duckdb"), connect(other)
    here.run("CREATE TABLE u AS SELECT TIMESTAMP_NS '2026-01-01' + INTERVAL (i % 2) DAY AS y, i AS x FROM range(4) AS r(i)")
    spec = nbsql.fit(here.con, "u", target="y").state.spec
    there.table("t", {"y": "text", "x": "integer"}, [("a", 1), ("b", 2)])
    engine = nbsql.fit(there.con, "t", target="y").state.engine
    labels = ("2026-01-01 00:00:00", "2026-01-01 00:00:00.000000001")  # as a file of another version might have
    cells = Cells([[None, label, None, None, 1.0, None, None, "1"] for label in labels], None)
    with pytest.raises(nbsql.ModelError, match=r"of which timestamp without time zone of PostgreSQL makes one; cast the"):
        translate(engine, spec, cells, "DuckDB", "the file")


def test_counts_to_share_agree(both, tmp_path):
    """Those of few rows are left out."""
    found = []
    levels = ["sun", "rain", "snow"]
    for place in both:
        rows = [("ab"[i % 3 % 2], levels[i * i % 7 % 3], i % 4 == 0) for i in range(40)]
        place.table("days", {"y": "VARCHAR", "sky": "VARCHAR", "g": "BOOLEAN"}, rows)
        families = {"sky": nbsql.Categorical(levels=[*levels, "hail"])}
        model = nbsql.fit(place.con, "days", target=nbsql.Target("y", classes=["a", "b"]), families=families, name="shared")
        answers = []
        for least in (4, 5):
            path = tmp_path / f"{place.engine} {least}.parquet"
            model.export(path, least=least)
            with duckdb.connect() as con:
                answers.append(sorted((row[1:5] for row in nbsql.import_(con, path).counts), key=repr))
        answers.append(sorted(nbsql.import_(place.con, path).priors.fetchall()))
        found.append(answers)
    assert found[0][:-1] == found[1][:-1]
    assert_same_rows(found[0][-1], found[1][-1])


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_a_crafted_file_is_one_line_and_takes_no_time(connect, tmp_path, engine):
    place = connect(engine)
    good = FILES / "naive_duckdb.parquet"
    os.mkfifo(tmp_path / "pipe.parquet")
    refused(place, tmp_path / "pipe.parquet", "it is a pipe or a device; name a file")
    refused(place, Path("/dev/null"), "it is a pipe or a device; name a file")
    path = rewritten(good, tmp_path / "many.parquet", "SELECT cells.* FROM cells, range(200000)")
    assert path.stat().st_size < 200_000
    refused(place, path, "bytes, which no model has; export it again")
    for rows, message in [
        ('[{"method": "temperature", "temperature": 0}]', "its temperature is 0, and not a number above 0; export it again"),
        ('[{"method": "temperature", "temperature": NaN}]', "its temperature is nan, and not a number above 0"),
        ("[7]", "its calibration is no text of JSON"),
        ("[" * 100_000, "its calibration is no text of JSON"),
    ]:
        refused(place, rewritten(good, tmp_path / "bad.parquet", nbsql_calibration=rows), message)
    for spec in ("[" * 100_000, '{"format": 1' + "0" * 10_000 + "}"):
        refused(place, rewritten(good, tmp_path / "bad.parquet", nbsql_spec=spec), "its spec cannot be read")


def test_a_class_that_is_nan_is_refused_on_postgresql_too(pg):
    pg.execute(
        "CREATE TABLE t AS SELECT CASE i WHEN 3 THEN 'NaN'::numeric ELSE i % 2 END y, i x FROM generate_series(0, 9) t(i)"
    )
    with pytest.raises(nbsql.InputError, match="'y' of t is NaN in some rows, which is no class; make it NULL there"):
        nbsql.fit(pg, "t", target="y")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_a_file_with_a_flipped_bit_is_refused_in_one_line(connect, tmp_path, engine):
    """But for a bit of the name of the checksum, without which a file is read as one of an earlier version."""
    con = connect(engine).con
    path, said = tmp_path / "model.parquet", []
    rows = [f"SELECT {i % 5 % 2} AS y, {i % 7}.5 AS x, '{'kz'[i % 2]}' AS k" for i in range(99)]
    nbsql.fit(con, " UNION ALL ".join(rows), target="y").export(str(path))
    whole = path.read_bytes()
    nbsql.import_(con, str(path)).drop()
    name = range(found := whole.index(b"nbsql_checksum") - 1, found + len("nbsql_checksum") + 1)
    places = [i for i in range(len(whole)) if i % (len(whole) // 60) == 0 and i not in name]
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(nbsql.NbsqlError) as error:
            nbsql.import_(con, str(path))
        said.append(str(error.value))
    assert (
        sum("is damaged: its bytes are not those that were written, by its checksum; export it" in each for each in said) > 30
    )
    assert [line for line in said if "model.parquet" not in line or "\n" in line] == []
