"""Bad input gets one clear line, the fact and the cure, and changes nothing."""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import nbsql
from nbsql import DatabaseError, InputError


def fit(con, source="golf", **options):
    return nbsql.fit(con, source, **{"target": "play", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        # tests/unit/test_resolve.py has those that are found without a look at the rows
        ({"prior": {"yes": 1}}, "prior has no probability for class 'no'; name every class"),
        ({"prior": {True: 0.5, False: 0.5}}, "prior has no probability for class 'no'; name every class"),
        ({"prior": {"yes": 0.5, "no": 0.5, "perhaps": 0}}, "prior names 'perhaps', which is no class of 'play'"),
        ({"families": {"note": nbsql.Text(pattern="(")}}, "pattern '(' is not one that RE2 understands: missing ): ("),
    ],
)
def test_a_wrong_argument(golf, refused, options, message):
    with refused(InputError, message):
        fit(golf, name="m", **options)


NO_SOURCE = (
    "a source is a table, a view, a SELECT, a file, a Query, a DuckDB relation, a pandas, Polars or Arrow frame, "
    "a dict of columns or a list of dicts, not"
)
NO_SELECT = "a source is a table, a view or one SELECT, not"
ROWS = "a list as a source holds rows, each a dict {column: value}"
COLUMNS = "a dict as a source has a list of values per column, not"


class Day(NamedTuple):
    play: str
    heat: int


@dataclass
class Night:
    play: str
    heat: int


class Clause:
    """An object whose `columns` is a method, as SQLAlchemy's text() has it."""

    def columns(self):
        raise AssertionError


class Frame(Clause):
    """A frame of a library that DuckDB does not read."""

    __module__ = "elsewhere.frames"

    def to_pandas(self):
        raise AssertionError


def test_what_is_no_source(golf, refused):
    for source, message in [
        ("golff", "no table or view 'golff'; did you mean 'golf'?"),
        ("main.golff", "no table or view 'main.golff'; there are 'canary', 'golf'"),
        ("SELEC * FROM golf", "no table or view 'SELEC * FROM golf'; there are 'canary', 'golf'"),
        ("golf; DROP TABLE golf", "no table or view 'golf; DROP TABLE golf'; there are 'canary', 'golf'"),
        ("read_csv('rows.csv')", """no table or view "read_csv('rows.csv')"; put FROM before it, if it is a table function"""),
        ("\ud800", r"no table or view '\ud800'; there are 'canary', 'golf'"),
        ("", f"{NO_SELECT} ''"),
        (";", f"{NO_SELECT} ';'"),
        ("DROP TABLE golf", f"{NO_SELECT} 'DROP TABLE golf'"),
        ("DELETE FROM golf RETURNING *", f"{NO_SELECT} 'DELETE FROM golf RETURNING *'"),
        ("SELECT 1; SELECT 2", f"{NO_SELECT} 'SELECT 1; SELECT 2'"),
        ("SELECT * FROM golf, ,", 'the query cannot be read: Parser Error: syntax error at or near ","'),
        ("SELECT *, 1 AS Play FROM golf", "column 'Play' is ambiguous in the query, which has it twice; rename one"),
        ("SELECT 1 AS x", "no column 'play' in the query; its columns are 'x'"),
        ([{"play": 1}, 2], ROWS),
        ([("yes", 1)], f"{ROWS}; write [dict(zip([...], row)) for row in rows]"),
        ([Day("yes", 1)], f"{ROWS}; write [row._asdict() for row in rows]"),
        ([Night("yes", 1)], f"{ROWS}; write [dataclasses.asdict(row) for row in rows]"),
        ([pa.table({"play": [1]})], f"{ROWS}; write pyarrow.concat_tables(tables)"),
        ([pd.DataFrame({"play": [1, 2]})], f"{ROWS}; write pandas.concat(frames)"),
        (["a.csv", "b.csv"], f"{ROWS}; name several files by a pattern, such as 'days/*.parquet'"),
        (StringIO("play"), f"{NO_SOURCE} StringIO; pass its path, or pandas.read_csv(file)"),
        (pa.table({"play": [1]}).to_batches(), f"{ROWS}; write pyarrow.Table.from_batches(batches)"),
        (
            {"play": dict.fromkeys(range(9))},
            f"{COLUMNS} 'play': {{0: None, 1: None, 2: None, 3: None, ...}}; for one row write [row]",
        ),
        (Frame(), "the Frame of elsewhere is not read; pass frame.to_pandas()"),
        (Clause(), f"{NO_SOURCE} Clause"),
        (None, f"{NO_SOURCE} NoneType"),
        (3, f"{NO_SOURCE} int"),
        (
            pd.DataFrame([[1, 2]], columns=["play", "PLAY"]),
            "column 'PLAY' is ambiguous in the DataFrame, which has it twice; rename one",
        ),
    ]:
        with refused(InputError, message):
            fit(golf, source, name="m")


def test_what_duckdb_cannot_bind_does_not_abort_the_callers_transaction(golf, refused):
    message = "no table or view 'gulf'; did you mean 'golf'?"
    with refused(DatabaseError, message):
        fit(golf, "SELECT * FROM gulf", name="m")


def test_a_relation_of_another_connection(golf):
    with duckdb.connect() as other:
        relation = other.sql("SELECT 'a' AS outlook, 'yes' AS play")
        with pytest.raises(InputError, match=r"^the relation cannot be read on this connection.*[^\n]$"):
            fit(golf, relation)


@pytest.mark.parametrize(("value", "type_"), [("[1]", "INTEGER[]"), ("{'a': 1}", "STRUCT(a INTEGER)"), ("'x'::BLOB", "BLOB")])
def test_a_class_is_a_scalar(con, value, type_):
    with pytest.raises(InputError) as caught:
        nbsql.fit(con, f"SELECT 'a' AS x, {value} AS play", target="play")
    assert str(caught.value) == f"target column 'play' is {type_}; a class is one scalar value: cast it, to text say"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda con: nbsql.cross_validate(con, "golf", target="play", alhpa=2), "no option 'alhpa'; did you mean 'alpha'?"),
        (lambda con: nbsql.sweep(con, "golf", target="play", mehtod="lda"), "no option 'mehtod'; did you mean 'method'?"),
        (lambda con: nbsql.fit_sql(con, "golf", target="play", wieght="x"), "no option 'wieght'; did you mean 'weight'?"),
        (
            lambda con: nbsql.auto(con, "golf", target="play", name="chosen"),
            "name is of a model that is stored, and nothing is stored here; fit a model with it",
        ),
        (lambda con: nbsql.families(con, "golf", target="y", exlude="x"), "no option 'exlude'; did you mean 'exclude'?"),
        (lambda con: fit(con, exclude=5), "exclude must be a column or a list of columns, not 5"),
        (lambda con: fit(con, exclude=[5]), "exclude must be a column or a list of columns, and 5 is no text"),
        (lambda con: nbsql.dependence(con, "golf", target="play", columns=5), "columns must be a list of names, not 5"),
        (lambda con: nbsql.Joint(["outlook"], integers=5), "integers are a list of columns, not 5"),
        (lambda con: nbsql.from_tables(con, priors={"a": 1}, id=5), "id must be a column or a list of columns, not 5"),
        (lambda con: fit(con, "SELECT 'nan'::DOUBLE AS play, 1 AS x"),
            "'play' of the query is NaN in some rows, which is no class; make it NULL there"),
        (lambda con: fit(con, "SELECT make_timestamp_ns(i % 2) AS play, 'v' || i AS sky FROM range(9) AS r(i)"),
            "classes of 'play' in the query differ only by nanoseconds, or the zone of a time, which Python does not tell "
            """apart, datetime.datetime(1970, 1, 1, 0, 0); make texts of them: derive={"play": "CAST(play AS VARCHAR)"}"""),
    ],
)  # fmt: skip
def test_a_wrong_option_of_a_verb(golf, refused, act, message):
    with refused(InputError, message):
        act(golf)


@pytest.mark.slow
def test_none_is_none_of_what_may_be_several(golf):
    none = {"exclude": None, "id": None, "families": None}
    assert fit(golf, **none).families == fit(golf).families
    assert nbsql.cross_validate(golf, "golf", target="play", folds=2, **none).rows == 4
    assert nbsql.fit_sql(golf, "golf", target="play", database="memory", replace=True, name="m", **none) == nbsql.fit_sql(
        golf, "golf", target="play", replace=True, name="m"
    )
    assert nbsql.families(golf, "golf", target="play", name="m", **none) == fit(golf).families


NAMED = "^a column's name must be text, not a Series; write 'b'$"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 0}, NAMED),
        ({"target": "b", "folds": 0}, r"^[^\n]*, not 0 x 1 y 2 x Name: b, dtype: \w+$"),
        ({"target": "b", "fold": 0}, NAMED),
    ],
)
def test_a_series_in_the_place_of_a_name_is_an_error_of_one_line(con, options, message):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    with pytest.raises(InputError, match=message):
        nbsql.cross_validate(con, frame, **{key: frame["b"] if value == 0 else value for key, value in options.items()})


def test_a_column_that_is_in_the_index_of_a_frame(con):
    frame = pd.DataFrame({"play": ["no", "yes"] * 4, "day": range(8), "wind": [1, 2, 3, 4] * 2})
    model = nbsql.fit(con, frame, target="play", families={"day": "gaussian"})

    def check(name, role, act):
        with pytest.raises(InputError) as caught:
            act()
        assert (
            str(caught.value) == f"no column {name!r} in the DataFrame{role}; {name!r} is in its index: pass df.reset_index()"
        )

    check("play", "", lambda: fit(con, frame.set_index(["play", "wind"])))
    for options in ({"weight": "wind"}, {"id": "wind"}, {"exclude": ["wind"]}, {"families": {"wind": "poisson"}}):
        check("wind", "", lambda options=options: fit(con, frame.set_index("wind"), **options))
    for verb in (model.predict, model.explain, model.update):
        check("day", ", a feature of the model", lambda verb=verb: verb(frame.set_index("day")))
    for verb in (model.update, model.evaluate):
        check("play", ", the target of the model", lambda verb=verb: verb(frame.set_index("play")))
    with pytest.raises(
        InputError, match=r"features of the model; .*; 'day', 'wind' are in its index: pass df.reset_index\(\)$"
    ):
        model.predict(frame.set_index(["day", "wind"]))
    with pytest.raises(
        InputError, match=r"over the columns of the DataFrame; 'wind' is in its index: pass df.reset_index\(\)$"
    ):
        fit(con, frame.set_index("wind"), slice_by="wind + 1")


def test_a_notebook_shows_the_lines_of_the_user_and_the_message(con):
    code = compile("def ask():\n    nbsql.fit(con, 'SELECT 1 AS x', target='y')\nask()", "cell 7", "exec")
    with pytest.raises(InputError) as caught:
        exec(code, {"nbsql": nbsql, "con": con})  # noqa: S102
    lines = caught.value._render_traceback_()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines if "cell 7" in line] == [
        'File "cell 7", line 3, in <module>', 'File "cell 7", line 2, in ask',
    ]  # fmt: skip
    assert lines[-1] == "InputError: no column 'y' in the query; its columns are 'x'"
    assert str(Path(nbsql.__file__).parent) not in "".join(lines)


def test_a_transaction_that_an_error_has_ended_says_how_to_go_on(con):
    con.execute("BEGIN")
    with pytest.raises(duckdb.Error):
        con.execute("SELECT error('stop')")  # that of a name which is nowhere ends it only since DuckDB 2
    with pytest.raises(DatabaseError, match=r"^an earlier error has ended the transaction; begin anew after con.rollback\(\)$"):
        nbsql.fit(con, "SELECT 1 AS x, 2 AS y", target="y")
    con.rollback()
    nbsql.fit(con, "SELECT unnest([1, 2]) AS x, unnest([1, 2]) AS y", target="y")
