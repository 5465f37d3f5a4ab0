"""Bad input gets one clear line, the fact and the cure, and changes nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
import pytest

import nbsql
from nbsql import DatabaseError, InputError, NbsqlWarning

GOLF = """CREATE TABLE golf AS SELECT * FROM (VALUES
    ('sunny', 85, 1.5, FALSE, 'no', 1, 'hot and dry'), ('rain', 70, 2.5, TRUE, 'yes', 2, 'cool'),
    ('overcast', 64, 3.5, TRUE, 'yes', 1, 'mild'), ('sunny', 72, 2.0, FALSE, 'yes', 3, 'hot')
) AS golf(outlook, temperature, rainfall, windy, play, n, note)"""


@pytest.fixture
def golf(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    con.execute(GOLF)
    return con


def state(con: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """Every schema, table, view and macro there is, temporary ones too, with the number of rows of the tables."""
    found = con.execute(
        """SELECT 'schema', database_name, schema_name, '', 0 FROM duckdb_schemas()
        UNION ALL SELECT 'table', database_name, schema_name, table_name, estimated_size FROM duckdb_tables()
        UNION ALL SELECT 'view', database_name, schema_name, view_name, 0 FROM duckdb_views() WHERE NOT internal
        UNION ALL SELECT 'macro', database_name, schema_name, function_name, 0 FROM duckdb_functions() WHERE NOT internal"""
    )
    return sorted(found.fetchall())


@contextmanager
def refused(con: duckdb.DuckDBPyConnection, kind: type[Exception], message: str) -> Iterator[None]:
    """The block must raise this very line, and leave the database, and the caller's transaction, as they were."""
    con.execute("BEGIN")
    con.execute("CREATE TABLE canary AS SELECT 1 AS alive")
    before = state(con)
    with pytest.raises(kind) as caught:
        yield
    assert str(caught.value) == message
    assert "\n" not in message
    assert state(con) == before
    con.execute("COMMIT")
    assert con.execute("DROP TABLE canary").fetchall() == []


def fit(con: duckdb.DuckDBPyConnection, source: Any = "golf", **options: Any) -> nbsql.Model:
    return nbsql.fit(con, source, **{"target": "play", **options})


COLUMNS = "its columns are 'outlook', 'temperature', 'rainfall', 'windy', 'play', 'n', 'note'"
RESERVED = "is the target, the weight or an id"
NO_NUMBER = "must be a finite number of at least 0, not"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "paly"}, "no column 'paly' in golf; did you mean 'play'?"),
        ({"target": "zzz"}, f"no column 'zzz' in golf; {COLUMNS}"),
        ({"target": ""}, f"no column '' in golf; {COLUMNS}"),
        ({"target": ["play"]}, "a column's name must be text, not ['play']"),
        ({"target": None}, "a column's name must be text, not None"),
        ({"id": "play"}, "column 'play' cannot be both the target and the id"),
        ({"id": ["n", "N"]}, "id names 'n' twice; name it once"),
        ({"id": 3}, "id must be a column or a list of columns, not 3"),
        ({"id": [None]}, "a column's name must be text, not None"),
        ({"weight": "nn"}, "no column 'nn' in golf; did you mean 'n'?"),
        ({"weight": "note"}, "weight column 'note' is VARCHAR; weights must be numbers"),
        ({"weight": ["n"]}, "a column's name must be text, not ['n']"),
        ({"target": "n", "weight": "n"}, "column 'n' cannot be both the target and the weight"),
        ({"features": ["outlok"]}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"features": ["outlook", "OUTLOOK"]}, "features names 'outlook' twice; name it once"),
        ({"features": ["play"]}, f"column 'play' {RESERVED}, and cannot be a feature too"),
        ({"features": 3}, "features must be a column or a list of columns, not 3"),
        ({"exclude": ["outlok"]}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"exclude": {"n": True}}, "exclude must be a column or a list of columns, not {'n': True}"),
        ({"alpha": -1}, f"alpha {NO_NUMBER} -1"),
        ({"alpha": math.nan}, f"alpha {NO_NUMBER} nan"),
        ({"alpha": math.inf}, f"alpha {NO_NUMBER} inf"),
        ({"alpha": "1"}, f"alpha {NO_NUMBER} '1'"),
        ({"alpha": None}, f"alpha {NO_NUMBER} None"),
        ({"alpha": True}, f"alpha {NO_NUMBER} True"),
        ({"prior": "smoothed", "prior_alpha": -1}, f"prior_alpha {NO_NUMBER} -1"),
        ({"nulls": "drop"}, "nulls must be one of 'skip', 'category', 'error', not 'drop'"),
        ({"unseen": "smoth"}, "unseen must be one of 'skip', 'smooth', not 'smoth'; did you mean 'smooth'?"),
        ({"unseen": ["skip"]}, "unseen must be one of 'skip', 'smooth', not ['skip']; did you mean 'skip'?"),
        (
            {"prior": "unifrom"},
            "prior must be one of 'empirical', 'uniform', 'smoothed', not 'unifrom'; did you mean 'uniform'?",
        ),
        ({"prior": None}, "prior must be one of 'empirical', 'uniform', 'smoothed', not None"),
        ({"prior": {"yes": 0.5, "no": 0.6}}, "the priors sum to 1.1; they must sum to 1"),
        ({"prior": {}}, "the priors sum to 0; they must sum to 1"),
        ({"prior": {"yes": -1, "no": 2}}, f"the prior of 'yes' {NO_NUMBER} -1"),
        ({"prior": {"yes": "1", "no": 0}}, f"the prior of 'yes' {NO_NUMBER} '1'"),
        ({"prior": {"yes": 1}}, "prior has no probability for class 'no'; name every class"),
        ({"prior": {True: 0.5, False: 0.5}}, "prior has no probability for class 'no'; name every class"),
        ({"prior": {"yes": 0.5, "no": 0.5, "perhaps": 0}}, "prior names 'perhaps', which is no class of 'play'"),
        ({"families": ["n"]}, "families must be a dict such as {'visits': 'poisson'}, not ['n']"),
        ({"families": "poisson"}, "families must be a dict such as {'visits': 'poisson'}, not 'poisson'"),
        ({"families": {"outlok": "categorical"}}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"families": {"n": "poison"}}, "no family 'poison'; did you mean 'poisson'?"),
        (
            {"families": {"n": "zip"}},
            "no family 'zip'; the families are 'categorical', 'bernoulli', 'gaussian', 'poisson', 'multinomial', 'tokens', "
            "'token_counts', 'text'",
        ),
        ({"families": {"n": 3}}, "a family is a name or an instance such as nbsql.Gaussian(), not 3"),
        ({"families": {3: "poisson"}}, "a column's name must be text, not 3"),
        ({"families": {"n": "poisson", "N": "gaussian"}}, "families names 'n' twice; name it once"),
        ({"families": {"play": "categorical"}}, f"families names 'play', which {RESERVED}; leave it out"),
        (
            {"families": {"n": "poisson"}, "exclude": ["n"]},
            "families names 'n', which is excluded; take it out of one of them",
        ),
        (
            {"families": {"n": "poisson"}, "features": ["outlook"]},
            "families names 'n', which is not among the features; add it to features",
        ),
        (
            {"families": {"note": "gaussian"}},
            "column 'note' is VARCHAR, which family 'gaussian' does not take (it takes integer, float, decimal columns); "
            "cast it, or choose another family",
        ),
        (
            {"families": {"n": "tokens"}},
            "column 'n' is INTEGER, which family 'tokens' does not take (it takes tokens columns); "
            "cast it, or choose another family",
        ),
        (
            {"families": {"note": nbsql.Text(pattern="(")}},
            "pattern '(' is not one that RE2 understands: missing ): (",
        ),
    ],
)
def test_a_wrong_argument(golf: duckdb.DuckDBPyConnection, options: dict[str, Any], message: str) -> None:
    with refused(golf, InputError, message):
        fit(golf, name="m", **options)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["n"], {}, "family 'multinomial' of 'w' needs at least two count columns: nbsql.Multinomial(['w1', 'w2'])"),
        (["n", "N"], {}, "'w' names 'n' twice; name it once"),
        (["n", "temperatur"], {}, "no column 'temperatur' in golf; did you mean 'temperature'?"),
        (["n", "play"], {}, f"column 'play' {RESERVED}, and cannot be a feature too"),
        (
            ["n", "note"],
            {},
            "column 'note' is VARCHAR, which family 'multinomial' does not take (it takes integer, float, decimal columns); "
            "cast it, or choose another family",
        ),
        (
            ["n", "temperature"],
            {"n": "poisson"},
            "column 'n' is in 'w' and has another family too; leave it in one",
        ),
        (
            ["n", "temperature"],
            {"v": nbsql.Multinomial(["temperature", "rainfall"])},
            "column 'temperature' is in 'v' and has another family too; leave it in one",
        ),
    ],
)
def test_a_wrong_family_over_several_columns(
    golf: duckdb.DuckDBPyConnection, columns: list[str], options: dict[str, Any], message: str
) -> None:
    with refused(golf, InputError, message):
        fit(golf, families={"w": nbsql.Multinomial(columns), **options})


def test_a_feature_named_twice(golf: duckdb.DuckDBPyConnection) -> None:
    with refused(golf, InputError, "two features are named 'note'; give the family over several columns another key"):
        fit(golf, families={"note": nbsql.Multinomial(["n", "temperature"])})


LENGTHS = "ngrams must be a whole number from 1 to 10, or a pair (shortest, longest), not"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nbsql.Gaussian(variance="pop"), "variance must be one of 'population', 'sample', not 'pop'"),
        (lambda: nbsql.Gaussian(floor=-1), f"floor {NO_NUMBER} -1"),
        (lambda: nbsql.Poisson(a=-1), f"a {NO_NUMBER} -1"),
        (lambda: nbsql.Poisson(b="x"), f"b {NO_NUMBER} 'x'"),
        (lambda: nbsql.Bernoulli(alpha=-1), f"alpha {NO_NUMBER} -1"),
        (lambda: nbsql.Bernoulli(beta=math.inf), f"beta {NO_NUMBER} inf"),
        (lambda: nbsql.Categorical(levels="abc"), "levels must be a list, not 'abc'"),
        (lambda: nbsql.Categorical(levels=3), "levels must be a list, not 3"),
        (lambda: nbsql.Categorical(levels=[None]), "levels may not hold None; nulls='category' makes a missing value one"),
        (lambda: nbsql.Categorical(alpha={"a": 1}), f"alpha {NO_NUMBER} {{'a': 1}}"),
        (lambda: nbsql.Categorical(unseen="no"), "unseen must be one of 'skip', 'smooth', not 'no'"),
        (
            lambda: nbsql.Poisson(nulls="category"),
            "nulls='category' needs a family with categories, not 'poisson'; use 'skip' or 'error'",
        ),
        (lambda: nbsql.Multinomial("w1"), "Multinomial takes a list of columns, not 'w1'"),
        (lambda: nbsql.Multinomial(None), "Multinomial takes a list of columns, not None"),
        (lambda: nbsql.Multinomial([3]), "Multinomial takes a list of columns, and 3 is no text"),
        (lambda: nbsql.Multinomial(["w1", "w2"], alpha={"w1": -1}), f"alpha {NO_NUMBER} -1"),
        (
            lambda: nbsql.Multinomial(["w1", "w2"], alpha={"w_1": 1}),
            "alpha names 'w_1', which is no column of Multinomial; did you mean 'w1'?",
        ),
        (lambda: nbsql.Text(event="poisson"), "event must be one of 'multinomial', 'bernoulli', not 'poisson'"),
        (lambda: nbsql.Text(min_count=0), "min_count must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Text(min_length=True), "min_length must be a whole number of at least 1, not True"),
        (lambda: nbsql.Text(ngrams=0), f"{LENGTHS} 0"),
        (lambda: nbsql.Text(ngrams=(2, 1)), f"{LENGTHS} (2, 1)"),
        (lambda: nbsql.Text(ngrams="2"), f"{LENGTHS} '2'"),
        (lambda: nbsql.Text(pattern=""), "pattern must be a regular expression, not ''"),
        (lambda: nbsql.Text(stop_words="klingon"), "no stop words 'klingon'; name one of 'english', or give a list of words"),
        (lambda: nbsql.Text(stop_words=3), "stop_words must be 'english' or a list of words, not 3"),
        (lambda: nbsql.Text(stop_words=["a", 3]), "stop_words must be 'english' or a list of words, and 3 is no text"),
        (
            lambda: nbsql.Text(event="bernoulli", alpha=0),
            "Text(event='bernoulli') needs alpha > 0, or a word that every text of a class holds could not be absent",
        ),
    ],
)
def test_a_wrong_option_of_a_family(make: Callable[[], nbsql.Family], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


NO_SOURCE = "a source is a table, a view, a SELECT, a DuckDB relation, or a pandas, Polars or Arrow frame, not"
NO_SELECT = "a source is a table, a view or one SELECT, not"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("golff", "no table or view 'golff'; did you mean 'golf'?"),
        ("main.golff", "no table or view 'main.golff'; there are 'canary', 'golf'"),
        ("SELEC * FROM golf", "no table or view 'SELEC * FROM golf'; there are 'canary', 'golf'"),
        ("golf; DROP TABLE golf", "no table or view 'golf; DROP TABLE golf'; there are 'canary', 'golf'"),
        ("", f"{NO_SELECT} ''"),
        (";", f"{NO_SELECT} ';'"),
        ("DROP TABLE golf", f"{NO_SELECT} 'DROP TABLE golf'"),
        ("DELETE FROM golf RETURNING *", f"{NO_SELECT} 'DELETE FROM golf RETURNING *'"),
        ("SELECT 1; SELECT 2", f"{NO_SELECT} 'SELECT 1; SELECT 2'"),
        ("SELECT * FROM golf WHERE", 'the query cannot be read: Parser Error: syntax error at or near "WHERE"'),
        ("SELECT *, 1 AS Play FROM golf", "column 'Play' is ambiguous in the query, which has it twice; rename one"),
        ("SELECT 1 AS x", "no column 'play' in the query; its columns are 'x'"),
        ([{"play": 1}], f"{NO_SOURCE} list"),
        (None, f"{NO_SOURCE} NoneType"),
        (3, f"{NO_SOURCE} int"),
        (
            pd.DataFrame([[1, 2]], columns=["play", "PLAY"]),
            "column 'PLAY' is ambiguous in the DataFrame, which has it twice; rename one",
        ),
    ],
    ids=str,
)
def test_what_is_no_source(golf: duckdb.DuckDBPyConnection, source: Any, message: str) -> None:
    with refused(golf, InputError, message):
        fit(golf, source, name="m")


def test_what_duckdb_cannot_bind_does_not_abort_the_callers_transaction(golf: duckdb.DuckDBPyConnection) -> None:
    message = 'Catalog Error: Table with name gulf does not exist! Did you mean "golf"?'
    with refused(golf, DatabaseError, message):
        fit(golf, "SELECT * FROM gulf", name="m")


def test_a_relation_of_another_connection(golf: duckdb.DuckDBPyConnection) -> None:
    with duckdb.connect() as other:
        relation = other.sql("SELECT 'a' AS outlook, 'yes' AS play")
        with pytest.raises(InputError, match=r"^the relation cannot be read on this connection.*[^\n]$"):
            fit(golf, relation)


STAMPED = "SELECT *, TIMESTAMP '2026-01-01' AS at, TIME '10:00' AS t, 'x'::BLOB AS raw FROM golf"
LEFT_OUT = "leave it out with exclude="


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("SELECT * FROM golf LIMIT 0", {}, "the query is empty; a model needs at least one row"),
        (
            "SELECT * REPLACE (NULL::VARCHAR AS play) FROM golf",
            {},
            "every row of the query has a NULL 'play'; a model needs rows with a class",
        ),
        (
            STAMPED,
            {},
            "column 'at' is TIMESTAMP, which has no family (and neither have 't', 'raw'); "
            f"{LEFT_OUT}['at', 't', 'raw'], or families={{'at': 'categorical'}}",
        ),
        (STAMPED, {"exclude": ["at", "t"]}, f"column 'raw' is BLOB, which has no family; {LEFT_OUT}['raw']"),
        (
            "SELECT *, n - 2 AS c FROM golf",
            {"families": {"c": "poisson"}},
            "2 values of column 'c' are negative; poisson counts must be at least 0",
        ),
        (
            "SELECT *, n / 2 AS c FROM golf",
            {"families": {"c": "poisson"}},
            "3 values of column 'c' are not whole; poisson counts must be whole numbers",
        ),
        (
            "SELECT *, n - 2 AS c FROM golf",
            {"families": {"w": nbsql.Multinomial(["c", "n"])}},
            "2 values of column 'c' are negative; multinomial counts must be at least 0",
        ),
        (
            "SELECT *, MAP {'a': n - 2} AS bag FROM golf",
            {},
            "2 values of column 'bag' hold a negative count; counts must be at least 0",
        ),
        (
            "SELECT * FROM golf",
            {"families": {"n": "bernoulli"}},
            "2 values of column 'n' are neither 0 nor 1; bernoulli takes a BOOLEAN or 0/1 column",
        ),
        (
            "SELECT * REPLACE (nullif(n, 3) AS n) FROM golf",
            {"nulls": "error"},
            "1 value of column 'n' is NULL, and nulls='error'; fill them, or use nulls='skip'",
        ),
        *(
            (
                f"SELECT *, {weight} AS w FROM golf",
                {"weight": "w"},
                f"{count} of the weight column 'w' {are} negative, NULL or not finite; weights must be at least 0",
            )
            for weight, count, are in [
                ("n - 2", "2 values", "are"),
                ("nullif(n, 3)", "1 value", "is"),
                ("CASE n WHEN 3 THEN 'nan'::DOUBLE ELSE 1 END", "1 value", "is"),
                ("CASE n WHEN 1 THEN 'inf'::DOUBLE ELSE 1 END", "2 values", "are"),
            ]
        ),
        (
            "SELECT *, 0 AS w FROM golf",
            {"weight": "w"},
            "every row of the query has a weight of 0; a model needs rows that count",
        ),
    ],
)
def test_data_that_cannot_be_used(golf: duckdb.DuckDBPyConnection, source: str, options: dict[str, Any], message: str) -> None:
    with refused(golf, InputError, message):
        fit(golf, source, name="m", **options)


def test_an_error_of_the_engine_leaves_nothing(golf: duckdb.DuckDBPyConnection) -> None:
    before = state(golf)
    with pytest.raises(DatabaseError) as caught:
        fit(golf, "SELECT * REPLACE (CAST(note AS INTEGER) AS n) FROM golf", name="m")
    assert str(caught.value).startswith("Conversion Error: Could not convert string")
    assert "\n" not in str(caught.value)
    assert state(golf) == before


def warned(con: duckdb.DuckDBPyConnection, source: str, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(con, source, **options)
    assert all(issubclass(warning.category, NbsqlWarning) for warning in caught)
    assert {warning.filename for warning in caught} <= {__file__}  # a warning points at the caller
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("source", "options", "messages"),
    [
        ("golf", {}, []),
        (
            "SELECT * REPLACE (nullif(play, 'no') AS play) FROM golf",
            {"features": ["n"]},
            [
                "1 row of the query has no 'play' and is left out of the training",
                "'play' has one class only, 'yes'; every prediction will be that class",
            ],
        ),
        (
            "SELECT *, 7 AS seven, 'a' AS a, NULL::DOUBLE AS nothing, NULL::VARCHAR AS blank FROM golf",
            {},
            [
                "nothing but NULL in 'nothing', 'blank'; left out of the score",
                "one value only in 'seven', 'a'; such a column tells no class from another",
            ],
        ),
        ("golf", {"features": []}, ["the model has no features; it predicts the most frequent class"]),
        (
            "SELECT * REPLACE (CASE WHEN outlook <> 'sunny' THEN play END AS play) FROM golf",
            {"features": ["n"]},
            [
                "2 rows of the query have no 'play' and are left out of the training",
                "'play' has one class only, 'yes'; every prediction will be that class",
            ],
        ),
    ],
)
def test_a_fit_goes_on_with_a_warning(
    golf: duckdb.DuckDBPyConnection, source: str, options: dict[str, Any], messages: list[str]
) -> None:
    assert warned(golf, source, **options) == messages


def test_a_warning_made_an_error_undoes_the_fit(golf: duckdb.DuckDBPyConnection) -> None:
    before = state(golf)
    with pytest.raises(NbsqlWarning, match="no features"):  # the tests run with warnings as errors
        fit(golf, name="m", features=[])
    assert state(golf) == before
