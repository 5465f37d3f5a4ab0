"""The owner of a model on PostgreSQL, and the rights of others to it, outlast whatever makes its relations anew."""

import warnings

import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

ROLES = ("owner", "team", "reader", "web")
OPTIONS = {"target": "label", "id": "id", "families": {"links": "poisson"}}
EGGS = "SELECT 9 AS id, 'eggs' AS label, 'red' AS colour, 4 AS links"
# One row an object: its kind, name and owner, and its rights in any order.
RIGHTS = """
SELECT 'schema', nspname, CAST(nspowner AS REGROLE), nspacl FROM pg_namespace WHERE nspname = 'spam'
UNION ALL SELECT 'relation', relname, CAST(relowner AS REGROLE), relacl FROM pg_class
  WHERE relnamespace = CAST('spam' AS REGNAMESPACE) AND relkind IN ('r', 'v')
UNION ALL SELECT 'column', attname, NULL, attacl FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE relnamespace = CAST('spam' AS REGNAMESPACE) AND attacl IS NOT NULL
UNION ALL SELECT 'function', proname, CAST(proowner AS REGROLE), proacl FROM pg_proc
  WHERE pronamespace = CAST('spam' AS REGNAMESPACE)
UNION ALL SELECT 'later', CAST(defaclobjtype AS TEXT), CAST(defaclrole AS REGROLE), defaclacl FROM pg_default_acl
  WHERE defaclnamespace = CAST('spam' AS REGNAMESPACE)
"""


@pytest.fixture
def roles(pg, address):
    """The connections of roles, by their names: the owner of a model is of a team, and others may read it."""
    import psycopg

    database = address.rsplit("/", 1)[1]
    for role in ROLES:
        pg.execute(f"CREATE ROLE {role}_{database} LOGIN; GRANT CREATE ON SCHEMA public TO {role}_{database}")
    pg.execute(f"GRANT CREATE ON DATABASE {database} TO owner_{database}, team_{database}")
    pg.execute(f"GRANT team_{database} TO owner_{database}")
    found = {role: psycopg.connect(address.replace("//nbsql@", f"//{role}_{database}@"), autocommit=True) for role in ROLES}
    owner = found["owner"]
    owner.execute("""CREATE TABLE inbox AS SELECT * FROM (VALUES
        (1, 'ham', 'red', 1), (2, 'ham', 'blue', 3), (3, 'ham', 'red', 2),
        (4, 'spam', 'blue', 9), (5, 'spam', 'blue', 12)) AS t(id, label, colour, links); GRANT SELECT ON inbox TO PUBLIC""")
    nbsql.fit(owner, "inbox", name="spam", **OPTIONS)
    reader, web = f"reader_{database}", f"web_{database}"
    owner.execute(f"""REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA spam FROM PUBLIC;
        GRANT USAGE ON SCHEMA spam TO {reader}, {web} WITH GRANT OPTION;
        GRANT SELECT ON ALL TABLES IN SCHEMA spam TO {reader}; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA spam TO {reader};
        GRANT SELECT ON spam.parameters TO {web} WITH GRANT OPTION; GRANT SELECT (class, n) ON spam.statistics TO {web};
        ALTER DEFAULT PRIVILEGES IN SCHEMA spam GRANT SELECT ON TABLES TO {web}""")
    yield {**found, "superuser": pg}
    for con in found.values():
        con.close()
    pg.execute("DROP SCHEMA spam CASCADE")
    for role in ROLES:
        pg.execute(f"DROP OWNED BY {role}_{database} CASCADE; DROP ROLE {role}_{database}")


def rights(pg):
    return {row[:2]: (row[2], None if row[3] is None else sorted(row[3])) for row in pg.execute(RIGHTS).fetchall()}


def test_rights_are_kept_by_whatever_makes_relations_anew(roles):
    owner, pg = roles["owner"], roles["superuser"]
    before = rights(pg)

    def replaced():
        return nbsql.fit(owner, "inbox", name="spam", replace=True, **OPTIONS)

    model = replaced()
    assert rights(pg) == before
    acts = [
        lambda: model.update(EGGS),
        lambda: model.forget(EGGS),
        lambda: nbsql.merge(
            owner, [nbsql.fit(owner, "inbox", **OPTIONS), nbsql.fit(owner, "inbox", **OPTIONS)], name="spam", replace=True
        ),
        lambda: pg.execute("ALTER SCHEMA spam OWNER TO CURRENT_USER; ALTER SCHEMA spam OWNER TO " + owner.info.user),
        lambda: nbsql.fit(pg, "inbox", name="spam", replace=True, **OPTIONS),  # which a superuser leaves to its owner
    ]
    for act in acts:
        act()
        assert rights(pg) == before
    replaced().calibrate("inbox", folds=None)
    with nbsql.load(roles["reader"], "spam") as reader:  # what is new has the rights that all others of its kind have
        assert len(reader.predict("inbox").fetchall()) == 5
    assert roles["reader"].execute("SELECT * FROM inbox, spam.predict_uncalibrated(to_jsonb(inbox))").fetchall()
    assert {name: value for name, value in rights(pg).items() if name in before} == before


def test_a_table_and_a_view_of_predictions_keep_their_rights(roles):
    owner = roles["owner"]
    query = nbsql.load(owner, "spam").predict("inbox")
    for create, name in ((query.create_table, "scored"), (query.create_view, "seen")):
        create(name)
        owner.execute(f"GRANT SELECT ON {name} TO reader_{owner.info.dbname} WITH GRANT OPTION")
        granted = owner.execute(f"SELECT relacl FROM pg_class WHERE relname = '{name}'").fetchall()
        create(name, replace=True)
        assert owner.execute(f"SELECT relacl FROM pg_class WHERE relname = '{name}'").fetchall() == granted


def test_the_owner_is_kept(roles):
    owner, pg = roles["owner"], roles["superuser"]
    owner.execute(f"ALTER SCHEMA spam OWNER TO team_{owner.info.dbname}")
    before = rights(pg)
    nbsql.fit(owner, "inbox", name="spam", replace=True, **OPTIONS)
    assert rights(pg) == before
    assert before["schema", "spam"][0] == f"team_{owner.info.dbname}"


def test_scripts_keep_rights(roles):
    owner, pg = roles["owner"], roles["superuser"]
    mine = f"postgresql://{owner.info.user}@{owner.info.host}:{owner.info.port}/{owner.info.dbname}"
    before = rights(pg)
    for command in (
        ["fit", mine, "inbox", "--target", "label", "--name", "spam", "--id", "id", "--replace", "--sql"],
        ["update", mine, "spam", EGGS, "--sql"],
    ):
        found = CliRunner().invoke(main, command, catch_exceptions=False)
        assert found.exit_code == 0, found.output
        owner.execute(found.stdout)
        assert rights(pg) == before


def test_rights_to_later_relations_come_with_the_next_fit(roles):
    owner, pg = roles["owner"], roles["superuser"]
    owner.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA spam GRANT INSERT ON TABLES TO web_{owner.info.dbname}")
    before = rights(pg)
    model = nbsql.load(owner, "spam")
    model.update("SELECT * FROM inbox")  # which makes nothing anew
    assert rights(pg) == before
    nbsql.fit(owner, "inbox", name="spam", replace=True, **OPTIONS)
    assert owner.execute(f"SELECT has_table_privilege('web_{owner.info.dbname}', 'spam.spec', 'INSERT')").fetchone() == (True,)
    assert rights(pg)["later", "r"] == before["later", "r"]


def test_what_cannot_be_kept_is_said(roles):
    owner, pg = roles["owner"], roles["superuser"]
    web = f"web_{owner.info.dbname}"
    pg.execute(f"ALTER DEFAULT PRIVILEGES FOR ROLE {web} IN SCHEMA spam GRANT SELECT ON TABLES TO PUBLIC")
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        nbsql.fit(owner, "inbox", name="spam", replace=True, **OPTIONS)
    act = f"ALTER DEFAULT PRIVILEGES FOR ROLE {web} IN SCHEMA spam GRANT SELECT ON TABLES TO PUBLIC"
    assert f"model 'spam' has lost its owner or rights of others; run as the owner: {act}" in [str(w.message) for w in caught]


def test_a_model_of_another_role_is_loaded_with_a_warning(roles):
    line = (
        f"model 'spam' belongs to '{roles['owner'].info.user}', whose functions run with your rights when you use it; "
        "load only models of roles that you trust"
    )
    for role in ("reader", "superuser"):
        with pytest.warns(nbsql.NbsqlWarning) as caught:
            nbsql.load(roles[role], "spam")
        assert [str(warning.message) for warning in caught] == [line]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbsql.load(roles["owner"], "spam")
        roles["owner"].execute(f"ALTER SCHEMA spam OWNER TO team_{roles['owner'].info.dbname}")
        nbsql.load(roles["owner"], "spam")  # a member of the role that owns it
