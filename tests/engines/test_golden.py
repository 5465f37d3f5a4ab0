"""The statements of one small model on other engines, byte for byte; what differs from tests/golden/duckdb is the dialect.

Of a statement that DuckDB has, too, the file is that difference, where it is shorter: the lines of the engine, and their place.

Of what wraps or ends the same query (the functions of PostgreSQL, the verbs that score), two are kept: `explain` and `predict`,
which is the function of this name on PostgreSQL.

`pytest --update-golden` writes the files anew; read their difference before committing it.
"""

import re

import duckdb
import pytest
from engines.places import assert_same_rows
from golden.test_golden import GOLDEN, INBOX, OPTIONS, compare, statements

import nbsql
from nbsql.plan import VERBS

COLUMNS = {
    "id": "INTEGER", "label": "VARCHAR", "sender": "VARCHAR", "replied": "BOOLEAN", "length": "NUMERIC", "links": "INTEGER",
    "body": "VARCHAR", "plain": "INTEGER", "html": "INTEGER", "trust": "NUMERIC",
}  # fmt: skip
ROWS = [
    (1, "ham", "friend", True, 120.5, 1, "lunch on friday", 2, 0, 1.0),
    (2, "ham", "friend", False, 80.25, 0, "minutes of the meeting", 1, 1, 2.0),
    (3, "spam", "stranger", False, 240.0, 7, "you won a free prize", 0, 4, 1.0),
    (4, "spam", None, False, 310.75, 9, "claim the free prize", 1, 3, 0.5),
]


@pytest.fixture(params=["postgres", "spark"])
def inbox(request, connect):
    place = connect(request.param)
    place.table("inbox", COLUMNS, ROWS)
    return place


@pytest.mark.daily
def test_the_statements_of_a_fit_make_the_model_and_those_and_its_queries_are_the_golden_ones(inbox, request):
    found, update = statements(inbox.con), request.config.getoption("--update-golden")
    with duckdb.connect() as con:
        con.execute(INBOX)
        theirs = {name.split("_", maxsplit=1)[1]: (name, sql) for name, sql in statements(con).items()}
        left_out = re.compile(r"_spec$|_batches$|_function_(?!predict$)")
        kept = set()
        for name, sql in found.items():
            if not left_out.search(name):
                other, known = theirs.get(name.split("_", maxsplit=1)[1], ("", ""))
                like = (f"duckdb/fit_{other}.sql", known) if other else None
                kept.add(compare(f"fit_{name}.sql", sql, update, inbox.engine, like))
        assert kept == {file.name for file in (GOLDEN.parent / inbox.engine).glob("fit_*")}
        for sql in found.values():
            inbox.run(sql)
        model, duckdbs = nbsql.load(inbox.con, "spam"), nbsql.fit(con, "inbox", name="spam", **OPTIONS)
        for verb in VERBS:
            query, known = (getattr(each, verb)("inbox") for each in (model, duckdbs))
            if verb == "explain" or (verb, inbox.engine) == ("predict", "spark"):
                compare(f"score_{verb}.sql", query.sql, update, inbox.engine, (f"duckdb/score_{verb}.sql", known.sql))
            assert model.sql(verb, "inbox") == query.sql
            answers = [sorted(rows, key=repr) for rows in (inbox.run(query.sql), known.fetchall())]
            if verb == "explain":  # numbers are other texts on each engine
                answers = [[row[:3] for row in rows] for rows in answers]
            assert_same_rows(*answers)
