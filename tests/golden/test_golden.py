"""Every statement of one small mixed model, byte for byte, in files a reader can open; and each of them runs.

`pytest --update-golden` writes the files anew; read their difference before committing it.
"""

import difflib
import re
from pathlib import Path

import duckdb
import pytest

import nbsql
from nbsql.plan import VERBS

GOLDEN = Path(__file__).parents[1] / "golden" / "duckdb"

INBOX = """CREATE TABLE inbox AS FROM (VALUES
    (1, 'ham', 'friend', TRUE, 120.5, 1, 'lunch on friday', 2, 0, 1.0),
    (2, 'ham', 'friend', FALSE, 80.25, 0, 'minutes of the meeting', 1, 1, 2.0),
    (3, 'spam', 'stranger', FALSE, 240.0, 7, 'you won a free prize', 0, 4, 1.0),
    (4, 'spam', NULL, FALSE, 310.75, 9, 'claim the free prize', 1, 3, 0.5)
) AS t(id, label, sender, replied, length, links, body, plain, html, trust)"""

OPTIONS = {
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
def inbox():
    con = duckdb.connect()
    con.execute(INBOX).fetchall()
    return con


def statements(con):
    """The statements of a fit, by number and name."""
    script = nbsql.fit_sql(con, "inbox", name="spam", **OPTIONS)
    parts = re.split(r"^-- (.*)\n", script, flags=re.MULTILINE)[1:]
    parts = parts[: parts.index("commit")] if "commit" in parts else parts
    named = zip(parts[::2], parts[1::2], strict=True)
    return {f"{number:02}_{name.replace(' ', '_')}": sql.strip() for number, (name, sql) in enumerate(named, start=1)}


def compare(name, sql, update, engine="duckdb", like=None):
    """The golden file of a statement holds its text or, where that is shorter, what it has otherwise than another; its name."""
    if like is not None:
        shared, known = like
        differences = difflib.unified_diff(known.splitlines(), sql.splitlines(), n=0, lineterm="")
        lines = [f"-- {shared}, but for:", *(line for line in [*differences][2:] if not line.startswith("-"))]
        if len(lines) <= sql.count("\n"):
            name, sql = name.replace(".sql", ".diff"), "\n".join(lines)
    file = GOLDEN.parent / engine / name
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sql + "\n", encoding="utf-8", newline="\n")
    assert file.exists(), f"no golden file {file.name}; write it with pytest --update-golden"
    assert sql + "\n" == file.read_text(encoding="utf-8")
    return name


def test_the_statements_of_a_fit_are_the_golden_ones_and_make_the_model(inbox, request):
    update = request.config.getoption("--update-golden")
    found = statements(inbox)
    # The spec's text and the ledger hold the version and what was fitted, and have tests of their own, as has what the other
    # macros answer.
    left_out = re.compile(r"_spec$|_batches$|_macro_(?!predict$)")
    kept = {f"fit_{name}": sql for name, sql in found.items() if not left_out.search(name)}
    for name, sql in kept.items():
        compare(f"{name}.sql", sql, update)
    assert {file.stem for file in GOLDEN.glob("fit_*.sql")} == {*kept}
    for sql in found.values():
        inbox.execute(sql).fetchall()
    ours = inbox.execute("FROM spam.predict_proba('inbox') ORDER BY id").fetchall()
    model = nbsql.fit(inbox, "inbox", name="other", **OPTIONS)
    assert ours == sorted(model.predict_proba("inbox").fetchall())


@pytest.mark.parametrize("verb", VERBS)
def test_the_query_of_a_verb_is_the_golden_one_and_runs(inbox, request, verb):
    model = nbsql.fit(inbox, "inbox", name="spam", **OPTIONS)
    sql = model.sql(verb, "inbox")
    if verb in ("predict", "explain"):  # the others end otherwise
        compare(f"score_{verb}.sql", sql, request.config.getoption("--update-golden"))
    assert sorted(inbox.execute(sql).fetchall(), key=repr) == sorted(
        inbox.execute(f"FROM spam.{verb}('inbox')").fetchall(), key=repr
    )


def test_the_long_form_is_the_golden_one_and_runs(inbox, request, layout):
    layout(wide_classes=0)
    model = nbsql.fit(inbox, "inbox", name="spam", **OPTIONS)
    sql = model.sql("predict", "inbox")
    compare("long_score_predict.sql", sql, request.config.getoption("--update-golden"))
    assert len(inbox.execute(sql).fetchall()) == 4
