"""A role that may read a model on PostgreSQL uses all of it, and changes nothing."""

import json

import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

INBOX = """CREATE TABLE inbox AS SELECT * FROM (VALUES
    (1, 'ham', 'lunch on friday?', 1, FALSE), (2, 'ham', 'minutes of the meeting', 3, TRUE),
    (3, 'ham', 'your invoice for may', 2, TRUE), (4, 'spam', 'you won a free prize', 9, FALSE),
    (5, 'spam', 'free pills, claim your prize', 12, TRUE)) AS t(id, label, message, links, attachment)"""
OPTIONS = {"target": "label", "id": "id", "families": {"message": nbsql.Text()}}


@pytest.fixture
def reader(pg, address):
    """The address of the role, which may not even have temporary tables, and a connection of the owner."""
    database = address.rsplit("/", 1)[1]
    role = f"reader_{database}"
    pg.execute(INBOX)
    nbsql.fit(pg, "inbox", name="spam", **OPTIONS)
    pg.execute(
        f"CREATE ROLE {role} LOGIN; REVOKE ALL ON DATABASE {database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC"
    )
    pg.execute(f"GRANT CONNECT ON DATABASE {database} TO {role}; GRANT USAGE ON SCHEMA public, spam TO {role}")
    pg.execute("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA spam FROM PUBLIC")
    pg.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public, spam TO {role}")
    pg.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA spam TO {role}")
    try:
        yield address.replace("//nbsql@", f"//{role}@"), pg
    finally:
        pg.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_it_predicts_explains_and_evaluates(reader):
    address, owner = reader
    mine = nbsql.load(owner, "spam")
    with nbsql.load(address, "spam") as model:
        assert nbsql.models(address) == ["spam"]
        for verb in ("predict", "predict_proba", "explain", "joint_log_likelihood", "log_evidence"):
            assert getattr(model, verb)("inbox").fetchall() == getattr(mine, verb)("inbox").fetchall()
            assert getattr(model, verb)("SELECT * FROM inbox WHERE id < 4").fetchall()
        assert model.evaluate("inbox").log_loss == mine.evaluate("inbox").log_loss
        row = {"message": "a free lunch", "links": 0, "attachment": False}
        assert model.predict_one(row) == mine.predict_one(row)
        assert model.relevance().fetchall() == mine.relevance().fetchall()
        assert model.batches.fetchall() == mine.batches.fetchall()


def test_it_is_told_of_changes_that_it_may_not_learn(reader):
    address, owner = reader
    nbsql.load(owner, "spam").follow("inbox")
    role = f"reader_{address.rsplit('/', 1)[1]}"
    assert owner.execute("SELECT has_table_privilege(%s, 'spam.changes', 'SELECT')", [role]).fetchone() == (False,)
    owner.execute("INSERT INTO inbox VALUES (6, 'eggs', 'half a dozen', 0, FALSE)")
    with nbsql.load(address, "spam") as model:
        with pytest.warns(
            nbsql.NbsqlWarning, match=r"^model 'spam' has not learnt the last changes of inbox, since it cannot be"
        ):
            assert model.classes == ["ham", "spam"]
        assert nbsql.load(owner, "spam").classes == ["ham", "spam", "eggs"]
        assert len(model.classes) == 3


def test_it_uses_the_functions_of_the_model(reader):
    import psycopg

    address, owner = reader
    queries = [
        "SELECT inbox.id, answer.* FROM inbox, spam.predict(to_jsonb(inbox)) AS answer ORDER BY id ASC NULLS LAST",
        "SELECT * FROM spam.evaluate('inbox') ORDER BY metric ASC NULLS LAST, class ASC NULLS LAST",
        "SELECT * FROM spam.likelihood_ratios('spam', 'ham') ORDER BY feature ASC NULLS LAST, value ASC NULLS LAST",
    ]
    with psycopg.connect(address, autocommit=True) as con:
        for query in queries:
            rows = con.execute(query).fetchall()
            assert rows
            assert rows == owner.execute(query).fetchall()


def test_a_list_says_of_which_models_it_may_read_nothing(reader):
    address, owner = reader
    nbsql.fit(owner, "inbox", name="hidden", **OPTIONS)
    found = CliRunner().invoke(main, ["list", address, "--json"])
    assert found.exit_code == 0, found.output
    models = {line["model"]: (line["target"], line["error"]) for line in json.loads(found.output)}
    assert models == {"hidden": (None, "permission denied for schema hidden; the owner can GRANT it"), "spam": ("label", None)}


TEMPORARY = (
    'permission denied to create temporary tables in database "{database}"; the owner can GRANT it '
    "(TEMPORARY on the database, which everything that learns needs)"
)
WRITES = {
    "update": (lambda model, _: model.update("inbox"), TEMPORARY),
    "forget": (lambda model, _: model.forget("SELECT * FROM inbox WHERE id = 1"), TEMPORARY),
    "calibrate": (lambda model, _: model.calibrate("inbox", folds=2), TEMPORARY),
    "rollback": (lambda model, _: model.rollback("1"), "permission denied for table statistics; the owner can GRANT it"),
    "drop": (lambda model, _: model.drop(), "must be owner of model spam; connect as its owner"),
    "create_table": (
        lambda model, _: model.predict("inbox").create_table("mine"),
        "permission denied for schema public; the owner can GRANT it",
    ),
    "fit": (lambda _, address: nbsql.fit(address, "inbox", name="mine", **OPTIONS), TEMPORARY),
    "replace": (lambda _, address: nbsql.fit(address, "inbox", name="spam", replace=True, **OPTIONS), TEMPORARY),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_it_may_not_write_is_refused_in_one_line(reader, write):
    address, owner = reader
    before = [owner.execute(f"SELECT count(*) FROM spam.{name}").fetchone() for name in ("statistics", "batches", "parameters")]
    act, line = WRITES[write]
    with nbsql.load(address, "spam") as model, pytest.raises(nbsql.DatabaseError) as caught:
        act(model, address)
    assert str(caught.value) == line.format(database=address.rsplit("/", 1)[1])
    after = [owner.execute(f"SELECT count(*) FROM spam.{name}").fetchone() for name in ("statistics", "batches", "parameters")]
    assert before == after
    assert nbsql.models(owner) == ["spam"]


def test_a_role_with_temporary_tables_alone_lacks_create(reader):
    address, owner = reader
    database = address.rsplit("/", 1)[1]
    owner.execute(f"GRANT TEMPORARY ON DATABASE {database} TO reader_{database}")
    nbsql.fit(address, "inbox", **OPTIONS).close()
    with pytest.raises(nbsql.DatabaseError) as caught:
        nbsql.fit(address, "inbox", name="mine", **OPTIONS)
    assert str(caught.value) == (
        f"permission denied for database {database}; the owner can GRANT it "
        "(a model needs CREATE on the database; without a name it needs TEMPORARY only)"
    )


def test_a_session_that_becomes_the_role_is_told_what_it_lacks(reader):
    address, owner = reader
    role = f"reader_{address.rsplit('/', 1)[1]}"
    transient = nbsql.fit(owner, "inbox", **OPTIONS)
    owner.execute("ALTER TABLE inbox ENABLE ROW LEVEL SECURITY; CREATE POLICY most ON inbox USING (id > 1)")
    lines = {
        "permission denied to create temporary tables; the owner can GRANT it (TEMPORARY on the database, which everything "
        "that learns needs)": lambda: nbsql.fit(owner, "inbox", **OPTIONS),
        "another role of this session has fitted this model, which ends with the session; SET ROLE to that role": (
            lambda: transient.predict("inbox").fetchall()
        ),
        'query would be affected by row-level security policy for table "inbox"; SET row_security = on, and a model learns '
        "the rows that your role may see": lambda: nbsql.load(owner, "spam").predict("inbox").fetchall(),
    }
    try:
        owner.execute(f"SET ROLE {role}")
        for line, act in lines.items():
            owner.execute(f"SET row_security = {'off' if 'row-level' in line else 'on'}")
            with pytest.raises(nbsql.DatabaseError) as caught:
                act()
            assert str(caught.value) == line
        owner.execute("SET row_security = on")
        assert len(nbsql.load(owner, "spam").predict("inbox").fetchall()) == 4
    finally:
        owner.execute("RESET ROLE; RESET row_security")
