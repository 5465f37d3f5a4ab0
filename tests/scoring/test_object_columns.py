"""Columns of Python objects: the same values in a frame, a dict and a row."""

import datetime
import enum
import re

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import nbsql

pandas = pytest.importorskip("pandas")


class Suit(enum.Enum):
    HEARTS = "hearts"
    SPADES = "spades"


class Unnamed:
    """An object without a text of its own."""


OBJECTS = {  # values of an object column, and those that they are
    "sets": ([{"p", "q"}, frozenset("r")], [["p", "q"], ["r"]]),
    "arrays of texts": ([np.array(["p", "q"]), np.array(["r"])], [["p", "q"], ["r"]]),
    "truths of numpy": ([np.bool_(True), None], [True, None]),
    "members of an enum": ([Suit.HEARTS, Suit.SPADES], ["hearts", "spades"]),
    "texts and NaN": (["p", float("nan")], ["p", None]),
    "dates and NaN": ([datetime.date(1950, 3, 1), float("nan")], [datetime.date(1950, 3, 1), None]),
    "dates and times": (
        [datetime.date(1950, 3, 1), datetime.datetime(1950, 3, 1, 5)],
        [datetime.datetime(1950, 3, 1), datetime.datetime(1950, 3, 1, 5)],
    ),
    "counts of equal tokens": ([{"p": 1, "q": 2}, {"p": 3, "q": 0.5}], [{"p": 1.0, "q": 2.0}, {"p": 3.0, "q": 0.5}]),
    "no counts": ([{}, {"p": 1}], [{}, {"p": 1}]),
    "no tokens": ([[], ["p"]], [[], ["p"]]),
    "truths and NaN": ([True, float("nan")], [True, None]),
}


@pytest.mark.few
@pytest.mark.parametrize("objects", OBJECTS)
@pytest.mark.filterwarnings("ignore:one value only in 'x'", "ignore:no part of 'x'", "ignore:the model has no features")
def test_objects_are_the_same_values_in_a_frame_a_dict_and_a_row(con, objects):
    """DuckDB would read a set as its text, in whichever order the process has its members."""
    values, plain = OBJECTS[objects]
    known = {"y": ["a", "b", "a", "b"] * 5, "size": [1.0, 2.0, 4.0, 8.0] * 5}
    rows = {**known, "x": values * 10}
    listed = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    expected = None
    for source in ({**known, "x": plain * 10}, rows, listed, as_objects(rows)):
        model = nbsql.fit(con, source, target="y")
        found = model.families, model.statistics.fetchall(), [row[-2:] for row in model.predict(source)]
        expected = expected or found
        assert found == expected
    alone = model.predict(as_objects({name: column[1:2] for name, column in rows.items()})).fetchall()[0]
    assert (alone[-2], alone[-1]) == (found[2][1][0], pytest.approx(found[2][1][1], rel=1e-12))
    for column in (plain, values):
        assert model.predict_one({"size": 1.0, "x": column[0]})["probability"] == pytest.approx(found[2][0][1], rel=1e-12)


@pytest.mark.parametrize("learnt", ["float32", "float64"])
def test_a_number_of_32_bits_is_the_category_as_which_it_is_written(learnt):
    """As a double 0.1 would be 0.10000000149011612, which no row has."""
    model = nbsql.fit(
        duckdb.connect(),
        pandas.DataFrame({"x": np.array([0.1, 0.2, 0.3] * 30, learnt), "y": [0, 1, 2] * 30}),
        target="y",
        families={"x": "categorical"},
    )
    expected = pytest.approx([1 / 33, 31 / 33, 1 / 33], rel=1e-9)  # 30 of 30 rows, and a pseudo-count for each of three values
    numbers = np.array([0.2, np.nan], "float32")
    for column in (
        numbers,
        [*numbers],
        pandas.Series(numbers),
        pandas.Series([*numbers], dtype=object),
        pandas.Series([numbers[0], None], dtype="Float32"),
        pa.array(numbers),
        [*pa.array(numbers)],
    ):
        for source in ({"x": column}, pandas.DataFrame({"x": column}) if isinstance(column, pandas.Series) else {"x": column}):
            assert next(row[-3:] for row in model.predict_proba(source)) == expected
    for number in (numbers[0], pa.array(numbers)[0]):
        assert [*model.predict_one({"x": number})["probabilities"].values()] == expected


def as_objects(rows):
    """A frame whose column x is one of objects."""
    return pandas.DataFrame({**rows, "x": pandas.Series(rows["x"], dtype=object)})


def test_objects_without_a_text_are_refused():
    """Their addresses would be categories, which no other row has."""
    rows = {"y": ["a", "b"] * 5, "x": [Unnamed() for _ in range(10)]}
    message = "^column 'x' holds Unnamed, which cannot be one column; give it numbers, texts, dates, or lists of texts$"
    for source in (rows, as_objects(rows)):
        with pytest.raises(nbsql.InputError, match=message):
            nbsql.fit(duckdb.connect(), source, target="y")


def test_intervals_of_numbers_are_categories():
    frame = pandas.DataFrame({"y": ["a", "b", "b"] * 9, "x": pandas.cut([1, 5, 20] * 9, [0, 3, 9])})
    for each in (frame, frame.assign(x=frame["x"].astype("interval"))):
        model = nbsql.fit(duckdb.connect(), each, target="y")
        cells = sorted(row[3:5] for row in model.statistics if row[2] == "x")
        assert [(value.replace(".0", ""), n) for value, n in cells] == [("(0, 3]", 9), ("(3, 9]", 9)]
        assert model.predict_one({"x": cells[0][0]})["prediction"] == "a"


def test_half_a_character_is_refused_with_what_replaces_it():
    text = "a\ud800"
    for source in ({"y": ["a", "b"], "x": [text, "b"]}, pandas.DataFrame({"y": ["a", "b"], "x": [text, "b"]}, dtype=object)):
        with pytest.raises(nbsql.DatabaseError, match="half a character, which UTF-8 has not; replace it: text"):
            nbsql.fit(duckdb.connect(), source, target="y")
    nbsql.fit(duckdb.connect(), {"y": ["a", "b"], "x": [text.encode(errors="replace").decode(), "b"]}, target="y")


def test_arrays_of_arrow_are_lists_in_a_dict_and_their_scalars_values(con):
    plain = {"size": [1.0, None, 4.0], "kind": ["p", "q", None]}
    arrow = {"size": pa.array(plain["size"]), "kind": pa.chunked_array([plain["kind"]])}
    model = nbsql.fit(con, {"y": ["a", "b", "a"] * 9, "size": [1.0, 2.0, 3.0] * 9, "kind": ["p", "q", "q"] * 9}, target="y")
    assert model.predict(arrow).fetchall() == model.predict(plain).fetchall()
    assert model.predict_one({name: values[0] for name, values in arrow.items()}) == model.predict_one(
        {"size": 1.0, "kind": "p"}
    )


def test_rows_that_python_has_in_other_forms_name_the_call_that_makes_dicts_of_them(con):
    frame = pandas.DataFrame({"y": ["a", "b"] * 9, "x": [1.0, 2.0] * 9})
    model = nbsql.fit(con, frame, target="y")
    expected = model.predict_one({"x": 1.0})
    for row, call in ((frame.iloc[0], "to_dict"), (next(frame.itertuples()), "_asdict")):
        with pytest.raises(nbsql.InputError, match=rf"not \w+: pass row\.{call}\(\)$"):
            model.predict_one(row)
        assert model.predict_one(getattr(row, call)()) == expected
    with pytest.raises(nbsql.InputError, match=r"not generator; pass list\(rows\)$"):
        model.predict({"x": x} for x in (1.0, 2.0))
    with pytest.raises(nbsql.InputError, match=r"not Series; for one row pass \[row.to_dict\(\)\]$"):
        model.predict(pandas.Series(["a", 1.0], ["y", "x"]))


class PandasFrame(pandas.DataFrame):
    """A class that extends pandas', as that of geopandas does."""


class PolarsFrame(pl.DataFrame):
    """A class that extends Polars'."""


@pytest.mark.parametrize("kind", [PandasFrame, PolarsFrame])
def test_a_frame_of_a_class_that_extends_one_is_that_one(con, kind):
    """As a stream of Arrow, the index of pandas would be a feature, and a column of objects had the type of its first value."""
    rows = {"y": ["a", "b"] * 6, "x": [1.0, 2.0, 3.0] * 4}
    frame = kind(rows)
    if kind is PandasFrame:
        frame["mixed"] = pandas.Series([1, "u", None] * 4, dtype=object)
        frame.index = [0.5, 1.5, 2.5] * 4
    model = nbsql.fit(con, frame, target="y")
    assert list(model.families) == [name for name in frame.columns if name != "y"]
    assert [row[0] for row in model.predict(frame).fetchall()] == rows["y"]


@pytest.mark.parametrize("kind", ["lazy frame", "relation", "closed relation"])
def test_what_reads_a_table_or_file_that_has_gone_is_refused_in_one_line(con, tmp_path, kind):
    con.execute("CREATE TABLE gone AS SELECT 1 AS y")
    other = duckdb.connect()
    source = {
        "lazy frame": pl.scan_csv(tmp_path / "gone.csv"),
        "relation": con.table("gone"),
        "closed relation": other.sql("SELECT 1 AS y"),
    }[kind]
    con.execute("DROP TABLE gone")
    other.close()
    with pytest.raises(nbsql.InputError, match=r"^the \w+ cannot be read(:| on this connection).+$") as caught:
        nbsql.fit(con, source, target="y")
    assert "\n" not in str(caught.value)
    assert con.execute("SELECT 1").fetchall() == [(1,)]


def test_an_array_of_records_names_the_frame_that_has_its_columns(con):
    rows = np.array([("a", 1.0), ("b", 2.0)], dtype=[("y", "U1"), ("x", "f8")])
    with pytest.raises(nbsql.InputError, match=r"not ndarray; pass pandas\.DataFrame\(rows\)$"):
        nbsql.fit(con, rows, target="y")
    assert len(nbsql.fit(con, pandas.DataFrame(rows), target="y").families) == 1


@pytest.mark.parametrize(
    ("column", "type_", "cure"),
    [
        (np.arange(4, dtype=">i4"), ">i4", ".astype(x.dtype.newbyteorder('='))"),
        (pl.Series([1, 2] * 2, dtype=pl.Int128), "Int128", ".cast(polars.Int64)"),
        (pa.array([1, 2] * 2, pa.decimal256(50)), r"decimal256\(50, 0\)", ".cast('float64')"),
    ],
)
def test_a_type_that_duckdb_does_not_read_says_what_it_reads(con, column, type_, cure):
    make = {"ndarray": pandas.DataFrame, "Series": pl.DataFrame}.get(type(column).__name__, pa.table)
    said = rf"^column 'x' of the \w+ is {type_}, which DuckDB does not read; convert it by {re.escape(cure)}, or leave it out$"
    with pytest.raises(nbsql.InputError, match=said):
        nbsql.fit(con, make({"y": ["a", "b"] * 2, "x": column}), target="y")
