"""Each source that docs/reference/sources.md names is tried: its model and its scores are those of the table."""

import importlib
import os
import re
import warnings
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import nbsql

PAGE = Path(__file__).parents[2] / "docs/reference/sources.md"
SELECT = "SELECT i AS id, i % 3 AS y, sin(i) AS number, i * i % 7 AS category FROM range(60) AS r(i)"
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # which ibis calls


class Suit(Enum):
    HEARTS = "hearts"
    SPADES = "spades"


class Stream:
    """Somebody's frame, which hands over its rows once."""

    def __init__(self, table):
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


def library(name):
    """A library that a user's machine may lack; where tests must not be left out, it is an error."""
    if "CI" not in os.environ:
        pytest.importorskip(name, reason=f"{name} is not installed: pip install '.[test]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's own
        return importlib.import_module(name)


def arrow(con):
    return con.sql("FROM rows").to_arrow_table()


def files(con, ending):
    folder = Path(con.execute("SELECT folder FROM place").fetchall()[0][0])
    for part in (0, 1):
        con.execute(f"COPY (FROM rows WHERE id % 2 = {part}) TO '{folder}/part_{part}.{ending}'")
    con.execute(f"COPY rows TO '{folder}/whole.{ending}'")
    return folder


def ibis_of(con):
    return library("ibis").duckdb.from_connection(con)


KINDS = {
    "a table or view": lambda con: "rows",
    "a SELECT": lambda con: "SELECT * FROM rows",
    "a path": lambda con: files(con, "csv") / "whole.csv",
    "a glob": lambda con: str(files(con, "parquet") / "part_*.parquet"),
    "a Query": lambda con: nbsql.fit(con, "rows", target="y", features=["number"]).log_evidence("rows").limit(60),
    "a DuckDB relation": lambda con: con.table("rows"),
    "a pandas frame": lambda con: con.sql("FROM rows").df(),
    "a Polars frame": lambda con: con.sql("FROM rows").pl(),
    "a lazy Polars frame": lambda con: con.sql("FROM rows").pl().lazy(),
    "an Arrow table": arrow,
    "an Arrow record batch": lambda con: arrow(con).combine_chunks().to_batches()[0],
    "an Arrow dataset": lambda con: ds.dataset(str(files(con, "parquet") / "whole.parquet")),
    "an Arrow scanner": lambda con: ds.dataset(arrow(con)).scanner(),
    "an Arrow reader": lambda con: arrow(con).to_reader(max_chunksize=7),
    "an object with `__arrow_c_stream__`": lambda con: Stream(arrow(con)),
    "a narwhals frame": lambda con: library("narwhals").from_native(con.sql("FROM rows").pl()),
    "a lazy narwhals frame": lambda con: library("narwhals").from_native(con.table("rows")),
    "an ibis table of the same connection": lambda con: ibis_of(con).table("rows"),
    "an ibis table of another backend": lambda con: library("ibis").polars.connect({"t": pl.from_arrow(arrow(con))}).table("t"),
    "a table of ibis in memory": lambda con: library("ibis").memtable(arrow(con)),
    "a dict of columns": lambda con: arrow(con).to_pydict(),
    "a list of dicts": lambda con: arrow(con).to_pylist(),
    "an array of numpy": lambda con: np.array(con.execute("FROM rows").fetchall()),
}


@pytest.fixture
def rows(con, tmp_path):
    con.execute(f"CREATE TABLE rows AS {SELECT}")
    con.execute("CREATE TABLE place AS SELECT $1 AS folder", [str(tmp_path)])
    return con


def test_the_page_has_the_sources_that_are_tried():
    listed = re.findall(r"^\| (an? .+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(KINDS)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_source_is_as_good_as_the_table(rows, kind):
    options = {"target": "y", "id": "id", "features": ["number", "category"]}
    expected = nbsql.fit(rows, "rows", **options)
    source = KINDS[kind](rows)
    if kind == "an array of numpy":
        options = {"target": "column1", "id": "column0", "features": ["column2", "column3"]}
        found = nbsql.fit(rows, source, **options)
        assert [row[-2] for row in found.predict(source)] == [row[-2] for row in expected.predict("rows")]
        return
    found = nbsql.fit(rows, source, **options)
    cells = {row[1:4]: row[4:7] for row in expected.statistics}
    assert {row[1:4]: row[4:7] for row in found.statistics} == {
        key: tuple(part if part is None else pytest.approx(part, rel=1e-12, abs=1e-12) for part in parts)
        for key, parts in cells.items()
    }
    query = expected.predict(KINDS[kind](rows))
    at = query.columns.index("id")
    for _ in range(2):  # a Query is read as often as one likes
        assert {row[at]: row[-2] for row in query} == {row[0]: row[-2] for row in expected.predict("rows")}


@pytest.mark.slow
def test_an_ibis_table_of_the_same_connection_is_its_sql(rows):
    table = ibis_of(rows).table("rows")
    model = nbsql.fit(rows, table.filter(table.id < 30), target="y", id="id")
    assert sum(row[1] for row in model.priors) == 30
    joined = table.join(library("ibis").memtable(pa.table({"category": [1, 2], "word": ["a", "b"]})), "category")
    with_memory = nbsql.fit(rows, joined, target="y", id="id")
    ((count,),) = rows.execute("SELECT count(*) FROM rows WHERE category IN (1, 2)").fetchall()
    assert sum(row[1] for row in with_memory.priors) == count


@pytest.mark.parametrize("make", [lambda table: table.to_reader(), Stream], ids=["reader", "stream"])
def test_a_stream_that_was_read_says_so(rows, make):
    source = make(arrow(rows))
    model = nbsql.fit(rows, source, target="y", id="id")
    line = "(has no rows left: it can be read once; pass what it reads from, or reader.read_all[(][)]$|cannot be read: )"
    with pytest.raises(nbsql.InputError, match=f"^the {type(source).__name__} {line}"):
        model.predict(source)


def test_what_is_no_source_is_one_line(rows):
    for source in ((row for row in [{"y": 1}]), object(), 7):
        with pytest.raises(nbsql.InputError, match=r"^a source is a table, a view, a SELECT, a file, a Query, a DuckDB rel"):
            nbsql.fit(rows, source, target="y")


SCANS = {  # of each source whether a fit that reads it several times copies it first
    "rows": False,
    "letters": False,
    "of_letters": False,
    '"a b"."FROM"': False,
    "{folder}/rows.parquet": False,
    "FROM '{folder}/*.parquet'": False,
    "SELECT * FROM read_parquet('{folder}/rows.parquet', union_by_name := true) WHERE y < 2": False,
    "SELECT y, CAST(v AS VARCHAR) AS v, w FROM main.rows WHERE (v LIKE 'v%' OR y IN (1, 2)) AND w IS NOT NULL": False,
    "SELECT y, v, w -- a comment\nFROM rows\n": False,
    "SELECT y, upper(v) AS v, w FROM rows": True,
    "SELECT y, v, w FROM rows WHERE random() < 2": True,
    "SELECT * FROM read_parquet(['{folder}/rows.parquet'], hive_partitioning = false)": False,
    "SELECT * FROM read_parquet('{folder}/rows' || '.parquet')": True,
    "SELECT y, v || 'x' AS v, w FROM rows": False,
    "generated": True,
    "SELECT y, v, w FROM generated": True,
    "SELECT * REPLACE (v || random() AS v) FROM letters": True,
    "SELECT DISTINCT y, v, w FROM rows": True,
    "FROM rows ORDER BY y LIMIT 50": True,
    "FROM rows USING SAMPLE 99% (bernoulli)": True,
    "FROM rows TABLESAMPLE reservoir(99%)": True,
    "SELECT a.y, a.v, b.w FROM rows AS a JOIN rows AS b USING (id)": True,
    "SELECT y, v, w FROM rows WHERE y < (SELECT max(y) FROM rows)": True,
    "WITH a AS (FROM rows) FROM a": True,
    "FROM (FROM rows)": True,
    "of_random": True,
    "{folder}/rows.csv": True,
    "FROM '{folder}/rows.csv'": True,
}


@pytest.mark.few
@pytest.mark.parametrize("source", SCANS)
def test_what_is_quick_to_read_again_is_not_copied(con, tmp_path, source):
    letters = "concat('v', i % 4) AS v, concat('w', i % 7) AS w"
    con.sql(f"CREATE TABLE rows AS SELECT i AS id, i % 3 AS y, {letters} FROM range(90) AS r(i)")
    con.sql("CREATE VIEW letters AS SELECT y, v, w FROM rows; CREATE VIEW of_letters (y, v, w) AS FROM letters WHERE y < 2")
    con.sql('CREATE SCHEMA "a b"; CREATE VIEW "a b"."FROM" AS SELECT y, v, w, 1 AS " AS SELECT " FROM rows')
    con.sql("CREATE TABLE generated (y INTEGER, w VARCHAR, v VARCHAR GENERATED ALWAYS AS (random() < 0.5))")
    con.sql(
        "INSERT INTO generated SELECT y, w FROM rows; CREATE VIEW of_random AS SELECT y, v, w FROM letters WHERE random() < 2"
    )
    con.sql(f"COPY rows TO '{tmp_path}/rows.parquet'; COPY rows TO '{tmp_path}/rows.csv'")
    text = source.format(folder=tmp_path)
    assert copies(con, text) == SCANS[source]


def test_frames_in_memory_are_not_copied_and_those_to_be_computed_are(rows):
    query = "SELECT y, concat('v', category) AS v, concat('w', id % 5) AS w FROM rows"
    arrow, frame = rows.sql(query).to_arrow_table(), rows.sql(query).pl()
    for source in (arrow, frame, arrow.to_pandas()):
        assert not copies(rows, source)
    for source in (frame.lazy(), rows.sql(query), arrow.to_pydict()):
        assert copies(rows, source)


@pytest.mark.parametrize(("rereads", "copied"), [(1, True), (2, False)])
def test_files_are_copied_if_more_categories_are_counted(rows, tmp_path, layout, rereads, *, copied):
    rows.execute(f"COPY (SELECT y, concat('v', category) AS v, 'w' || id % 5 AS w FROM rows) TO '{tmp_path}/rows.parquet'")
    layout(file_rereads=rereads)
    for source in (f"{tmp_path}/rows.parquet", f"SELECT * FROM '{tmp_path}/rows.parquet'"):
        assert copies(rows, source) == copied


def copies(con, source):
    """Whether a fit of two categories copies a source."""
    steps = []
    with nbsql.watch(steps.append):
        nbsql.fit(con, source, target="y", features=["v", "w"])
    return "read the source once" in steps


@pytest.mark.few
@pytest.mark.parametrize(
    ("usual", "last", "column"),
    [
        (1, 2.5, "DOUBLE"),
        (1, Decimal("2.5"), "DECIMAL(2,1)"),
        (Decimal("1.5"), Decimal("1.5555"), "DECIMAL(5,4)"),
        (1, 2**40, "BIGINT"),
        (1, 2.0**70, "DOUBLE"),
        (1, 2**70, "DECIMAL(22,0)"),
        (1, None, "BIGINT"),
        (1, float("nan"), "BIGINT"),
        (np.float32(1.5), 2, "DOUBLE"),
        (1, "q", "VARCHAR"),
        ("q", 1, "VARCHAR"),
        (None, "q", "VARCHAR"),
        (date(2024, 1, 1), "q", "VARCHAR"),
        (True, "q", "VARCHAR"),
        (date(2024, 1, 1), datetime(2024, 1, 1, 5), "TIMESTAMP"),
        ({"u": 1}, {"v": 2.5}, "MAP(VARCHAR, DOUBLE)"),
        ({"u": 1}, {"u": 2.5}, "MAP(VARCHAR, DOUBLE)"),
        ([], ["q"], "VARCHAR[]"),
    ],
)
def test_a_column_of_objects_has_the_type_of_all_its_values(con, usual, last, column):
    """DuckDB looks at a thousand of them, the last not among these, and casts it: 2.5 to 2, a time to its date."""
    pandas = library("pandas")
    values = pandas.Series([usual] * 1999 + [last], dtype=object)
    frame = pandas.DataFrame({"z": range(2000), "x": values})
    model = nbsql.fit(con, {"y": ["a", "b"], "z": [1, 2]}, target="y")
    query = model.predict(frame, columns=["x"])
    found = query.fetchall()[-1][0]
    missing = last is None or last != last
    assert found == (None if missing else float(last) if column == "DOUBLE" else str(last) if column == "VARCHAR" else last)
    assert con.sql(f"DESCRIBE {query.sql}").fetchall()[0][1] == column
    assert frame["x"].tolist()[:-1] == [usual] * 1999  # the frame of the user is not touched


@pytest.mark.parametrize("kind", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_a_frame_without_a_value_in_a_column_has_gaps(con, kind):
    """DuckDB 1.5 says that such a column holds integers, which no text, list or map is."""
    con.execute("""CREATE TABLE t AS SELECT unnest(['a', 'b']) AS y, unnest(['win', 'lunch']) AS text,
        unnest([['x'], ['z']]) AS tokens, unnest([MAP {'x': 1}, MAP {'z': 2}]) AS counts""")
    model = nbsql.fit(con, "t", target="y", families={"text": "text"}, name="m")
    module, _, make = kind.partition(".")
    rows = getattr(library(module), make)({"y": ["a", "b"], **{name: [None, None] for name in ("text", "tokens", "counts")}})
    assert [row[-2:] for row in model.predict_proba(rows)] == [(0.5, 0.5)] * 2
    assert [row[1] for row in model.explain(rows)] == ["a", "b"] * 2
    model.update(rows)
    assert con.sql("SELECT sum(n) FROM m.statistics WHERE feature IS NULL").fetchall() == [(4,)]


def test_classes_among_objects_are_not_rounded():
    pandas = library("pandas")
    labels = pandas.Series([0, 1] * 999 + [0, 1.5], dtype=object)
    model = nbsql.fit(duckdb.connect(), pandas.DataFrame({"y": labels, "x": [i % 7 for i in range(2000)]}), target="y")
    assert [(row[0], row[1]) for row in model.priors] == [(0, 1000), (1, 999), (1.5, 1)]


def test_numbers_and_truths_in_one_column_are_refused():
    pandas = library("pandas")
    frame = pandas.DataFrame({"y": ["a", "b"] * 30, "x": pandas.Series([True, 2, False] * 20, dtype=object)})
    with pytest.raises(
        nbsql.InputError, match=r"^column 'x' holds bool, int, which cannot be one column; give it values of one"
    ):
        nbsql.fit(duckdb.connect(), frame, target="y")


@pytest.mark.parametrize("last", [datetime(2024, 1, 1, tzinfo=timezone.utc), time(5), timedelta(1)])
def test_dates_and_times_of_several_types_in_one_column_are_refused(last):
    pandas = library("pandas")
    rows = {"y": ["a", "b"] * 30, "x": [datetime(2024, 1, 1)] * 59 + [last]}
    for source in (rows, pandas.DataFrame({**rows, "x": pandas.Series(rows["x"], dtype=object)})):
        with pytest.raises(
            nbsql.InputError, match=r"^column 'x' holds dates and times of several types; give it values of one type$"
        ):
            nbsql.fit(duckdb.connect(), source, target="y")


@pytest.mark.parametrize(
    "values", [[date(2024, 1, 1), date(2024, 1, 2)], [time(1), time(2)], [Decimal("1.50"), Decimal("2.25")], [*Suit]]
)
def test_categories_that_are_objects_are_the_values_that_a_column_of_objects_has(values):
    pandas = library("pandas")
    plain = pandas.DataFrame({"y": ["a", "b"] * 9, "x": pandas.Series(values * 9, dtype=object)})
    encoded = plain.assign(x=pandas.Categorical(plain["x"]))
    for learnt, scored in ((plain, encoded), (encoded, plain)):
        model = nbsql.fit(duckdb.connect(), learnt, target="y", families={"x": "categorical"})
        assert [row[0] for row in model.predict_proba(scored, columns=[])] == ["a", "b"] * 9


def test_a_message_does_not_list_thousands_of_categories():
    pandas = library("pandas")
    model = nbsql.fit(duckdb.connect(), {"y": ["a", "b"], "x": [1, 2]}, target="y")
    with pytest.raises(
        nbsql.InputError, match=r"is ENUM\('c0', …\), which the model cannot take for a gaussian feature; cast it to BIGINT$"
    ):
        model.predict(pandas.DataFrame({"x": pandas.Categorical([f"c{i}" for i in range(2000)])}))


def frames_of_whole_numbers():
    """Frames by the type of their column x of whole numbers, and whether it says that they are categories."""
    pandas = library("pandas")
    numbers, labels = [1, 2, None, 1], ["a", "b", "a", "b"]
    table = pa.table({"y": labels, "x": pa.array(numbers)})
    encoded = pa.table({"y": labels, "x": pa.array(numbers).dictionary_encode()})
    yield "pandas numbers", pandas.DataFrame({"y": labels, "x": numbers}), False
    yield "pandas category", pandas.DataFrame({"y": labels, "x": pandas.Categorical(numbers)}), True
    yield "pandas dictionary", encoded.to_pandas(types_mapper=pandas.ArrowDtype), True
    yield "Arrow numbers", table, False
    yield "Arrow dictionary", encoded, True
    yield "Arrow batch", encoded.combine_chunks().to_batches()[0], True
    yield "Arrow stream", encoded.to_reader(), True
    yield "Polars numbers", pl.from_arrow(table), False


@pytest.mark.slow
def test_a_column_of_categories_is_categorical_whatever_their_type(con):
    expected = nbsql.fit(con, {"y": ["a", "b", "a", "b"], "x": [1, 2, None, 1]}, target="y", families={"x": "categorical"})
    rows = [frame for _, frame, _ in frames_of_whole_numbers() if type(frame).__name__ != "RecordBatchReader"]
    for kind, frame, is_category in frames_of_whole_numbers():
        model = nbsql.fit(con, frame, target="y")
        assert model.families["x"].name == ("categorical" if is_category else "gaussian"), kind
        if is_category:
            assert sorted(model.likelihoods.fetchall(), key=repr) == sorted(expected.likelihoods.fetchall(), key=repr)
        for each in rows:  # of one type or another
            assert [row[-2:] for row in model.predict(each)] == [row[-2:] for row in model.predict(rows[0])]


@pytest.mark.parametrize("method", ["lda", "tan", "logistic"])
def test_no_method_takes_categories_for_numbers(method):
    pandas = library("pandas")
    frame = pandas.DataFrame(
        {"y": [0, 1, 1] * 9, "x": pandas.Categorical([1, 2, 3] * 9), "z": [i % 3 + i / 70 for i in range(27)]}
    )
    model = nbsql.fit(duckdb.connect(), frame, target="y", method=method)
    assert model.families["x"].name == "categorical"
    assert nbsql.fit(duckdb.connect(), frame, target="y", families={"x": "gaussian"}).families["x"].name == "gaussian"


def unreadable_frames():
    pandas = library("pandas")
    labels = ["a", "b", "a"]
    periods = pandas.period_range("2020-01", periods=3, freq="M")
    columns = {
        "period[M]": (periods, "x.dt.to_timestamp()"),
        "category": (pandas.Categorical(periods), "x.astype(str)"),
        "complex128": (np.arange(3) * 1j, "x.abs()"),
        "Sparse[int64, 0]": (pandas.arrays.SparseArray([0, 0, 1]), "x.sparse.to_dense()"),
    }
    said = "which DuckDB does not read; convert it by"
    for type_, (column, cure) in columns.items():
        frame = pandas.DataFrame({"y": labels, "x": column})
        yield frame, f"column 'x' of the DataFrame is {type_}, {said} {cure[1:]}, or leave it out"
        nbsql.fit(duckdb.connect(), frame.assign(x=eval(cure, {"x": frame["x"]})), target="y", families={"x": "categorical"})  # noqa: S307
    halves = pa.array(np.arange(3, dtype="float16"))
    yield (
        pa.table({"y": labels, "x": halves}),
        f"column 'x' of the Table is halffloat, {said} .cast('float32'), or leave it out",
    )
    for frame in (pandas.DataFrame(index=range(3)), pl.DataFrame(), pa.table({})):
        kind = type(frame).__name__
        yield frame, f"the {kind} has no columns; a source has those of the features, and the target to learn from"


@pytest.mark.slow
def test_a_frame_that_duckdb_cannot_read_says_which_column(con):
    for frame, message in unreadable_frames():
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.fit(con, frame, target="y")
        assert str(caught.value) == message


def test_no_variable_of_nbsql_is_a_table(con, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no folder has such a name
    for name in ("query", "text", "self", "path", "sql", "frame", "name", "source", "engine", "relation"):
        for source in (name, f"SELECT * FROM {name}"):
            with pytest.raises(nbsql.NbsqlError, match=f"^no table or view '{name}'; (check its name|there are no|did you)"):
                nbsql.fit(con, source, target="y")


def test_the_name_of_a_frame_says_to_pass_the_frame(con):
    for days in (
        [0],
        library("pandas").DataFrame({"y": [0, 1]}),
        pl.DataFrame({"y": [0, 1]}),
        pa.table({"y": [0, 1], "x": ["u", "v"]}),
    ):
        kind = type(days).__name__
        cure = "check|there are no" if kind == "list" else f"days is a {kind} of Python: pass the {kind} itself, or register it"
        for source in ("days", "SELECT * FROM days"):
            with pytest.raises(nbsql.NbsqlError, match=f"^no table or view 'days'; ({cure})"):
                nbsql.fit(con, source, target="y")
    con.register("days", days)
    assert nbsql.fit(con, "days", target="y").classes == nbsql.fit(con, "FROM days", target="y").classes == [0, 1]


@pytest.mark.parametrize(
    "source",
    [
        "FROM rows USING SAMPLE 500 ROWS",
        "FROM rows USING SAMPLE 10% (bernoulli)",
        "FROM rows ORDER BY random() LIMIT 500",
        "sampled",
        "FROM sampled",
    ],
)
def test_a_sample_is_drawn_once(con, source):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, concat('v', i % 4) AS v, sin(i) AS x FROM range(5000) AS r(i)")
    con.execute("CREATE VIEW sampled AS FROM rows WHERE random() < 0.1")
    for features in (["v"], ["v", "x"]):
        model = nbsql.fit(con, source, target="y", features=features)
        counts = con.sql(
            f"SELECT class, sum(n) FROM ({model.statistics.sql}) WHERE feature = 'v' GROUP BY class ORDER BY class"
        )
        assert counts.fetchall() == [(row[0], row[1]) for row in sorted(model.priors)]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")  # of one class
def test_a_name_is_that_of_the_relation_that_duckdb_reads(con):
    con.execute(
        "CREATE TABLE z AS SELECT 'main' AS y, i AS x FROM range(3) AS r(i); CREATE TEMP TABLE z AS FROM main.z LIMIT 1"
    )
    con.execute("CREATE SCHEMA first; CREATE SCHEMA second; CREATE TABLE second.u AS SELECT 'second' AS y, 1 AS x")
    con.execute("CREATE TABLE main.u AS SELECT 'main' AS y, 1 AS x")
    rows = {name: nbsql.fit(con, name, target="y").priors.fetchall()[0][:2] for name in ("memory.main.z", "main.z", "z", "u")}
    con.execute("SET search_path = 'first,second'")
    rows["u in the second schema"] = nbsql.fit(con, "u", target="y").priors.fetchall()[0][:2]
    assert rows == {
        "memory.main.z": ("main", 3),
        "main.z": (con.sql("SELECT max(y), count(*) FROM main.z").fetchall()[0]),
        "z": ("main", 1),
        "u": ("main", 1),
        "u in the second schema": ("second", 1),
    }


def test_numbers_of_numpy_are_numbers(rows):
    whole, real = np.int64(2), np.float32(0.5)
    options = {"target": "y", "families": {"number": nbsql.Binned(bins=np.int64(4))}, "alpha": real}
    assert [*nbsql.fit(rows, "rows", **options).priors] == [*nbsql.fit(rows, "rows", target="y").priors]
    assert nbsql.cross_validate(rows, "rows", folds=whole, **options).rows == 60
    assert len(nbsql.fit(rows, "rows", **options).predict("rows", top_k=whole).fetchall()) == 2 * 60


def test_a_prior_may_be_a_series(rows):
    given = {0: 0.5, 1: 0.25, 2: 0.25}
    model = nbsql.fit(rows, "rows", target="y", prior=library("pandas").Series(given))
    assert {row[0]: row[2] for row in model.priors} == given


def test_columns_of_a_dict_are_lists_arrays_and_series():
    columns = {"y": pl.Series(["a", "b"] * 10), "x": np.arange(20), "z": pa.array(range(20)).to_pylist()}
    found = nbsql.fit(duckdb.connect(), columns, target="y")
    assert found.predict(columns).df().equals(found.predict(pl.DataFrame(columns)).df())
