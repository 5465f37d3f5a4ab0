"""Calls of the functions that take options, without an argument that they need or with one too many."""

import re

import pytest

import nbsql

WHERE = ", where con is a connection, as of duckdb.connect(), or a path"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nbsql.fit("rows", target="y"), "missing a required argument: 'source'; write fit(con, source, target=...)"),
        (lambda: nbsql.fit("con", "rows"), "missing a required argument: 'target'; write fit(con, source, target=...)"),
        (lambda: nbsql.auto("con", "rows", "y"), "too many positional arguments; write auto(con, source, target=...)"),
        (lambda: nbsql.classify("rows"), "missing a required argument: 'train'; write classify(con, train, new, target=...)"),
        (lambda: nbsql.families("rows", "y"), "missing a required argument: 'target'; write families(con, source, target=...)"),
    ],
)
def test_a_call_without_an_argument_says_how_to_write_it(call, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message + WHERE)}$"):
        call()
