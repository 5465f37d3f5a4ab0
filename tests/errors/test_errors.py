"""Bad input gets one clear line, the fact and the cure, and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import nbsql
from nbsql import DatabaseError, InputError
from nbsql.family import FAMILIES

Refused = Callable[[type[Exception], str], AbstractContextManager[None]]


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
        ({"alpha": True}, f"alpha {NO_NUMBER} True"),
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
        ({"families": np.zeros(2)}, "families must be a dict such as {'visits': 'poisson'}, not array([0., 0.])"),
        ({"families": {"outlok": "categorical"}}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"families": {"n": "poison"}}, "no family 'poison'; did you mean 'poisson'?"),
        ({"families": {"n": "normal"}}, "no family 'normal'; did you mean 'gaussian'?"),
        (
            {"families": {"note": "multinomial"}},
            "family 'multinomial' of 'note' needs at least one column: nbsql.Multinomial(['w1', 'w2']); "
            "for the words of a text, write 'text'",
        ),
        ({"families": {"n": "zip"}}, f"no family 'zip'; the families are {', '.join(map(repr, FAMILIES))}"),
        ({"families": {"n": 3}}, "a family is a name or an instance such as nbsql.Gaussian(), not 3"),
        (
            {"families": {"n": nbsql.Family}},
            "a family is a name or an instance such as nbsql.Gaussian(), not <class 'nbsql.family.base.Family'>",
        ),
        ({"families": {"n": "conditional"}}, "a parent is the name of a column, not ''"),
        ({"families": {"n": nbsql.Conditional}}, "a parent is the name of a column, not ''"),
        ({"families": {3: "poisson"}}, "a column's name must be text, not 3; write '3'"),
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
def test_a_wrong_argument(golf: duckdb.DuckDBPyConnection, refused: Refused, options: dict[str, Any], message: str) -> None:
    with refused(InputError, message):
        fit(golf, name="m", **options)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ([], {}, "family 'multinomial' of 'w' needs at least one column: nbsql.Multinomial(['w1', 'w2'])"),
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
    golf: duckdb.DuckDBPyConnection, refused: Refused, columns: list[str], options: dict[str, Any], message: str
) -> None:
    with refused(InputError, message):
        fit(golf, families={"w": nbsql.Multinomial(columns), **options})


def test_a_feature_named_twice(golf: duckdb.DuckDBPyConnection, refused: Refused) -> None:
    with refused(InputError, "two features are named 'note'; give the family over several columns another key"):
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
        (
            lambda: nbsql.Categorical(min_count=2, levels=["a"]),
            "declared categories are kept however rare; leave out min_count, or levels and alphas by category",
        ),
        (lambda: nbsql.Categorical(min_count=0), "min_count must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Categorical(levels="abc"), "levels must be a list, not 'abc'"),
        (lambda: nbsql.Categorical(levels=3), "levels must be a list, not 3"),
        (lambda: nbsql.Categorical(levels=[None]), "levels may not hold None; nulls='category' makes a missing value one"),
        (lambda: nbsql.Tokens(alpha={"a": 1}), f"alpha {NO_NUMBER} {{'a': 1}}"),
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
        (lambda: nbsql.Text(event="poisson"), "event must be one of 'multinomial', 'bernoulli', 'complement', not 'poisson'"),
        (lambda: nbsql.Text(min_count=0), "min_count must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Text(min_length=True), "min_length must be a whole number of at least 1, not True"),
        (lambda: nbsql.Text(ngrams=0), f"{LENGTHS} 0"),
        (lambda: nbsql.Text(ngrams=(2, 1)), f"{LENGTHS} (2, 1)"),
        (lambda: nbsql.Text(ngrams="2"), f"{LENGTHS} '2'"),
        (lambda: nbsql.Text(characters=(0, 2)), f"{LENGTHS.replace('ngrams', 'characters')} (0, 2)"),
        (lambda: nbsql.Text(characters=3, ngrams=2), "characters=... cuts no words; leave out ngrams, or characters"),
        (lambda: nbsql.Text(within_words=True), "within_words=True goes with runs of characters: characters=(2, 4)"),
        (lambda: nbsql.Text(normal_form="D"), "normal_form must be 'C' or None, not 'D'"),
        (lambda: nbsql.Text(accents="no"), "accents must be True or False, not 'no'"),
        (lambda: nbsql.Text(pattern=""), "pattern must be a regular expression, not ''"),
        (lambda: nbsql.Text(stop_words="klingon"), "no stop words 'klingon'; name one of 'english', or give a list of words"),
        (lambda: nbsql.Text(stop_words=3), "stop_words must be 'english' or a list of words, not 3"),
        (lambda: nbsql.Text(stop_words=["a", 3]), "stop_words must be 'english' or a list of words, and 3 is no text"),
        (
            lambda: nbsql.Text(event="bernoulli", unseen="smooth"),
            "unseen='smooth' needs event='multinomial': to the Bernoulli model a new word is no word at all",
        ),
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


NO_SOURCE = (
    "a source is a table, a view, a SELECT, a file, a Query, a DuckDB relation, a pandas, Polars or Arrow frame, "
    "a dict of columns or a list of dicts, not"
)
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
        ("SELECT * FROM golf, ,", 'the query cannot be read: Parser Error: syntax error at or near ","'),
        ("SELECT *, 1 AS Play FROM golf", "column 'Play' is ambiguous in the query, which has it twice; rename one"),
        ("SELECT 1 AS x", "no column 'play' in the query; its columns are 'x'"),
        ([{"play": 1}, 2], "a list as a source holds rows, each a dict {column: value}"),
        (None, f"{NO_SOURCE} NoneType"),
        (3, f"{NO_SOURCE} int"),
        (
            pd.DataFrame([[1, 2]], columns=["play", "PLAY"]),
            "column 'PLAY' is ambiguous in the DataFrame, which has it twice; rename one",
        ),
    ],
    ids=str,
)
def test_what_is_no_source(golf: duckdb.DuckDBPyConnection, refused: Refused, source: Any, message: str) -> None:
    with refused(InputError, message):
        fit(golf, source, name="m")


def test_what_duckdb_cannot_bind_does_not_abort_the_callers_transaction(
    golf: duckdb.DuckDBPyConnection, refused: Refused
) -> None:
    message = "no table or view 'gulf'; did you mean 'golf'?"
    with refused(DatabaseError, message):
        fit(golf, "SELECT * FROM gulf", name="m")


def test_a_relation_of_another_connection(golf: duckdb.DuckDBPyConnection) -> None:
    with duckdb.connect() as other:
        relation = other.sql("SELECT 'a' AS outlook, 'yes' AS play")
        with pytest.raises(InputError, match=r"^the relation cannot be read on this connection.*[^\n]$"):
            fit(golf, relation)


@pytest.mark.parametrize(("value", "type_"), [("[1]", "INTEGER[]"), ("{'a': 1}", "STRUCT(a INTEGER)"), ("'x'::BLOB", "BLOB")])
def test_a_class_is_a_scalar(con: duckdb.DuckDBPyConnection, value: str, type_: str) -> None:
    with pytest.raises(InputError) as caught:
        nbsql.fit(con, f"SELECT 'a' AS x, {value} AS play", target="play")
    assert str(caught.value) == f"target column 'play' is {type_}; a class is one scalar value: cast it, to text say"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda con: nbsql.cross_validate(con, "golf", target="play", alhpa=2), "no option 'alhpa'; did you mean 'alpha'?"),
        (lambda con: nbsql.sweep(con, "golf", target="play", mehtod="lda"), "no option 'mehtod'; did you mean 'method'?"),
        (lambda con: nbsql.fit_sql(con, "golf", target="play", wieght="x"), "no option 'wieght'; did you mean 'weight'?"),
        (lambda con: nbsql.families(con, "golf", target="y", exlude="x"), "no option 'exlude'; did you mean 'exclude'?"),
        (lambda con: nbsql.from_tables(con, priors={"a": 1}, id=5), "id must be a column or a list of columns, not 5"),
        (lambda con: fit(con, "SELECT 'nan'::DOUBLE AS play, 1 AS x"),
            "'play' of the query is NaN in some rows, which is no class; make it NULL there"),
    ],
)  # fmt: skip
def test_a_wrong_option_of_a_verb(golf: duckdb.DuckDBPyConnection, refused: Refused, act: Any, message: str) -> None:
    with refused(InputError, message):
        act(golf)


def test_none_is_none_of_what_may_be_several(golf: duckdb.DuckDBPyConnection) -> None:
    none: dict[str, Any] = {"exclude": None, "id": None, "families": None}
    assert fit(golf, **none).families == fit(golf).families
    assert nbsql.cross_validate(golf, "golf", target="play", folds=2, **none).rows == 4
    assert nbsql.fit_sql(golf, "golf", target="play", database="memory", replace=True, name="m", **none) == nbsql.fit_sql(
        golf, "golf", target="play", replace=True, name="m"
    )
    assert nbsql.families(golf, "golf", target="play", name="m", **none) == fit(golf).families


@pytest.mark.parametrize("options", [{"target": 0}, {"target": "b", "folds": 0}, {"target": "b", "fold": 0}])
def test_a_series_in_the_place_of_a_name_is_an_error_of_one_line(con, options):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    with pytest.raises(InputError, match=r"^[^\n]*, not 0 x 1 y 2 x Name: b, dtype: \w+$"):
        nbsql.cross_validate(con, frame, **{key: frame["b"] if value == 0 else value for key, value in options.items()})
