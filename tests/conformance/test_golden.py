"""Every statement of one small model on PostgreSQL, byte for byte; what differs from tests/golden/duckdb is the dialect.

`pytest --update-golden` writes the files anew; read their difference before committing it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conformance.places import Place

import nbsql
from nbsql.plan import VERBS

GOLDEN = Path(__file__).parents[1] / "golden" / "postgres"

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
OPTIONS: dict[str, Any] = {
    "target": "label",
    "id": "id",
    "weight": "trust",
    "families": {
        "sender": nbsql.Categorical(levels=["colleague"], nulls="category", unseen="smooth"),
        "links": "poisson",
        "body": nbsql.Text(stop_words=["the", "of"], ngrams=2),
        "parts": nbsql.Multinomial(["plain", "html"]),
    },
}


@pytest.fixture
def inbox(pg: Any) -> Place:
    place = Place("postgres", pg)
    place.table("inbox", COLUMNS, ROWS)
    return place


def compare(name: str, sql: str, update: bool) -> None:
    file = GOLDEN / f"{name}.sql"
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sql + "\n", encoding="utf-8", newline="\n")
    assert file.exists(), f"no golden file {file.name}; write it with pytest --update-golden"
    assert sql + "\n" == file.read_text(encoding="utf-8")


def test_the_statements_of_a_fit_are_the_golden_ones_and_make_the_model(inbox: Place, request: pytest.FixtureRequest) -> None:
    script = nbsql.fit_sql(inbox.con, "inbox", name="spam", **OPTIONS)
    parts = re.split(r"^-- (.*)\n", script, flags=re.MULTILINE)[1:]
    named = zip(parts[::2], parts[1::2], strict=True)
    found = {f"fit_{number:02}_{name.replace(' ', '_')}": sql.strip() for number, (name, sql) in enumerate(named, start=1)}
    kept = {name: sql for name, sql in found.items() if not name.endswith(("_spec", "_batches"))}
    for name, sql in kept.items():
        compare(name, sql, request.config.getoption("--update-golden"))
    assert set(kept) == {file.stem for file in GOLDEN.glob("fit_*.sql")}
    for sql in found.values():
        inbox.run(sql)
    model = nbsql.fit(inbox.con, "inbox", name="other", **OPTIONS)
    assert nbsql.load(inbox.con, "spam").predict_proba("inbox").fetchall() == model.predict_proba("inbox").fetchall()


@pytest.mark.parametrize("verb", VERBS)
def test_the_query_of_a_verb_is_the_golden_one(inbox: Place, request: pytest.FixtureRequest, verb: str) -> None:
    model = nbsql.fit(inbox.con, "inbox", name="spam", **OPTIONS)
    sql = model.sql(verb, "inbox")
    compare(f"score_{verb}", sql, request.config.getoption("--update-golden"))
    assert inbox.run(sql) == getattr(model, verb)("inbox").fetchall()
