"""Names and values that break careless SQL: they come back as they went in, and nothing in them runs."""

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.algebra import examples
from support.inserted import insert

import nbsql
from nbsql import InputError
from nbsql.rendering.dialect import folded
from nbsql.rendering.renderer import macro_path

# fmt: off
HOSTILE = [
    "a b", "it's", 'say "hi"', '"', "'", "back`tick", "a.b", "select", "order", "größe", "数", "İ", "emoji \U0001f600",
    "x; DROP TABLE canary; --", "'); DROP TABLE canary; --", '"; DROP TABLE canary; --', "-- c", "/* c */", "$$x$$", "a\\b",
    "line\nend", "tab\tend", "cr\rend", "nel\x85end", "ls\u2028end", "\x0b\x0c\x1c", "\x01\x7f", " lead", "trail ",
    "{{ 7 * 7 }}", "{% raw %}", "{# gone #}", "&<>", "&amp;", "x" * 200, "%s", "?", "$1", ":p", "\ufeff",
]
# fmt: on

# What nbsql calls its own columns and relations, and what the macros call theirs.
INTERNAL = """class weight n x_1 source parameters joint posterior numbered level_1 bag_1 slice feature value row_id rows mean
    m2 centre_1 lookups evidence best number class_no class_1 terms tokens times word statistics priors spec highest predict
    contribution prediction_ probability_a""".split()

ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12)


def ident(name):
    return '"' + name.replace('"', '""') + '"'


def text(value):
    return "'" + value.replace("'", "''") + "'"


@pytest.fixture
def canary(con):
    con.execute("CREATE TABLE canary AS SELECT 'alive' AS state")


def table(con, names):
    """The table t with a column a name, in which every name is a value, a token, and three of them are labels."""
    columns = ", ".join(f"{ident(name)} VARCHAR" for name in names)
    con.execute(f"CREATE OR REPLACE TABLE t (key_ INTEGER, {columns}, bag_ VARCHAR[], target_ VARCHAR)")
    size = len(names)
    rows = [
        (row, *(names[(row + column) % size] for column in range(size)), [names[row], "b"], names[row % 3])
        for row in range(size)
    ]
    insert(con, "t", rows)
    return rows


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.usefixtures("canary", "form")
@pytest.mark.parametrize("names", [HOSTILE, INTERNAL], ids=["hostile", "internal"])
def test_columns_labels_categories_and_tokens_round_trip(con, names):
    rows = table(con, names)
    labels = names[:3]
    families = {
        names[0]: nbsql.Categorical(levels=["never", *names]),
        names[1]: nbsql.Text(stop_words=names[2:4], pattern=".+"),
    }
    prior = {labels[0]: 0.5, labels[1]: 0.25, labels[2]: 0.25}
    made = nbsql.fit(
        con, "t", target="target_", name="m", id="key_", families=families, prior=prior, nulls="category", unseen="smooth"
    )
    model = nbsql.load(con, "m")
    assert model.families == made.families
    assert list(model.families) == [*names, "bag_"]
    assert model.classes == [labels[0], *sorted(labels[1:], key=lambda label: label.encode())]

    seen = {row[1:3] for row in model.likelihoods}
    assert {(column, value) for column in names[2:] for value in names} <= seen
    assert {("bag_", value) for value in names} | {(names[0], "never")} <= seen
    assert not {(names[1], stop) for stop in names[2:4]} & seen
    assert {row[2:4] for row in model.statistics} >= {(column, value) for column in names[2:] for value in names}

    predicted = model.predict("t").fetchall()
    assert [row[:-2] for row in predicted] == rows
    assert {row[-2] for row in predicted} <= set(labels)
    assert con.execute("FROM m.predict('t') ORDER BY key_").fetchall() == predicted
    proba = model.predict_proba("t")
    assert proba.columns[-3:] == [f"probability_{label}" for label in sorted(labels, key=lambda label: label.encode())]
    assert all(sum(row[-3:]) == pytest.approx(1, abs=1e-12) for row in proba)
    explained = model.explain("t").fetchall()
    assert {(row[1], row[3], row[4]) for row in explained if row[3] in names[2:]} == {
        (row[0], column, value) for row in rows for column, value in zip(names[2:], row[3:-2], strict=True)
    }
    assert con.execute("FROM canary").fetchall() == [("alive",)]


BY_DAY = {
    "it's", 'say "hi"', "select", "数", "a.b", '"; DROP TABLE canary; --', "{{ 7 * 7 }}", "line\nend", "%s", "statistics",
    "predict",
}  # fmt: skip


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.usefixtures("canary")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=ascii(name), marks=[] if name in BY_DAY else pytest.mark.nightly)
        for name in [*HOSTILE, "statistics", "predict", "class", "source"]
    ],
)
def test_a_model_a_table_and_a_database_of_that_name(con, name):
    con.execute(f"ATTACH ':memory:' AS {ident(name + ' db')}")
    for database, prefix in ((None, ""), (name + " db", ident(name + " db") + ".")):
        con.execute(f"CREATE TABLE {prefix}main.{ident(name + 's')} AS SELECT unnest(['a', 'b']) AS y, unnest([1, 2]) AS x")
        source = name + "s" if database is None else f"{prefix}main.{ident(name + 's')}"
        nbsql.fit(con, source, target="y", name=name, database=database)
        assert nbsql.models(con, database=database) == [name]
        model = nbsql.load(con, name, database=database)
        predicted = model.predict(source).fetchall()
        assert [row[:3] for row in predicted] == [("a", 1, "a"), ("b", 2, "b")]
        quoted = text(source if database else ident(source))
        con.execute(f"USE {ident(database or 'memory')}")
        if '"' not in name or duckdb.__version__ >= "2":  # DuckDB 1's query_table takes no name with a double quote
            assert con.execute(f"FROM {ident(name)}.predict({quoted})").fetchall() == predicted
        con.execute("USE memory")
        model.predict(source).create_table(name + " scored")
        assert con.execute(f"SELECT count(*) FROM {ident(name + ' scored')}").fetchall() == [(2,)]
        con.execute(f"DROP TABLE {ident(name + ' scored')}")
        model.drop()
        assert nbsql.models(con, database=database) == []
    assert con.execute("FROM canary").fetchall() == [("alive",)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* holds numbers but for:nbsql.NbsqlWarning")  # of texts such as 0, 1, 2 and a colon
@given(st.lists(ANY, min_size=4, max_size=4, unique_by=folded))
@examples(20)
def test_any_text_round_trips(names):
    if any(folded(name).startswith("nbsql_") or folded(name) in ("key_", "bag_", "target_") for name in names):
        return
    with duckdb.connect() as con:
        rows = table(con, names)
        model = nbsql.fit(con, "t", target="target_", name="m", id="key_")
        assert {(column, value) for column in names for value in names} <= {row[1:3] for row in model.likelihoods}
        assert [row[:-2] for row in model.predict("t")] == rows
        assert {row[:-2] for row in con.execute("SELECT * EXCLUDE bag_ FROM m.predict('t')").fetchall()} == {
            (*row[:-2], row[-1]) for row in rows
        }


@pytest.mark.nightly
@given(st.lists(ANY | st.just(""), min_size=4, max_size=4, unique=True))
@example(["a'b", 'a"b', "A'B", "a''b"])
@example(["yes", "Yes", "YES", "yes_2"])
@example(["", " ", "null", "NULL"])
@examples(20)
@pytest.mark.filterwarnings("ignore:'x' holds numbers but for")  # where most labels are numbers
@pytest.mark.filterwarnings("ignore:.* differ only by case or blanks:nbsql.NbsqlWarning")
@pytest.mark.filterwarnings("ignore:.* of '.*', in .* rows; if there is no class:nbsql.NbsqlWarning")
def test_any_labels_have_columns_of_their_own(labels):
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (x VARCHAR, y VARCHAR)")
        insert(con, "t", [(label, label) for label in labels for _ in range(3)])
        model = nbsql.fit(con, "t", target="y", name="m")
        ordered = sorted(labels, key=lambda label: label.encode())
        assert model.classes == ordered  # equal priors: the smaller label comes first
        scored = model.predict_proba("t")
        columns = scored.columns[4:]
        assert len({folded(column) for column in columns}) == len(labels)
        assert all(column.startswith(f"probability_{label}") for label, column in zip(ordered, columns, strict=True))
        rows = scored.fetchall()
        assert len(rows) == 12
        for category, label, prediction, probability, *posteriors in rows:
            assert category == label == prediction
            assert posteriors[ordered.index(label)] == pytest.approx(probability, abs=1e-15) == max(posteriors)
        assert sorted(con.execute("FROM m.predict_proba('t')").fetchall()) == sorted(rows)


@pytest.mark.filterwarnings("ignore:.* differ only by case or blanks:nbsql.NbsqlWarning")
def test_labels_that_differ_by_case_are_numbered(con):
    rows = "SELECT unnest(['yes', 'Yes', 'YES', 'yes_2', 'no']) AS y, unnest([1, 2, 3, 4, 5]) AS x"
    model = nbsql.fit(con, rows, target="y", families={"x": "categorical"})
    names = ["YES", "Yes_2", "no", "yes_3", "yes_2_2"]
    assert model.predict_proba(rows).columns[4:] == [f"probability_{name}" for name in names]
    assert model.joint_log_likelihood(rows).columns[2:] == [f"joint_log_likelihood_{name}" for name in names]


def test_nul_is_refused_in_names_and_welcome_in_data(con):
    with pytest.raises(
        InputError, match=r"^a name may not hold the character NUL: 'probability_\\x00a'; leave it out: replace\(x, c"
    ):
        nbsql.fit(con, "SELECT unnest([1, 2]) AS x, unnest([chr(0) || 'a', 'b']) AS y", target="y", name="m")
    assert nbsql.models(con) == []
    model = nbsql.fit(con, "SELECT * FROM (VALUES (chr(0), 'a'), ('b', 'b')) AS t(x, y)", target="y")
    assert [row[1:] for row in model.predict("SELECT chr(0) AS x")] == [("a", pytest.approx(2 / 3, abs=1e-15))]


def test_columns_under_nbsqls_own_prefix_are_refused(con):
    message = "^column 'NBSQL_row' of the query has a name that nbsql keeps for itself; rename it$"
    with pytest.raises(InputError, match=message):
        nbsql.fit(con, "SELECT 1 AS NBSQL_row, 'a' AS y", target="y")


def test_names_are_found_whatever_their_case(con):
    con.execute("""CREATE TABLE "Größe" AS SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'b')) AS t("Zahl X", "KLASSE")""")
    model = nbsql.fit(con, "GRößE", target="klasse", families={"zahl x": "poisson"}, features=["ZAHL X"], name="Modell")
    assert list(model.families) == ["Zahl X"]
    assert model.target == "KLASSE"
    assert nbsql.load(con, "mODELL").name == "Modell"
    assert model.predict('SELECT 1.0 AS "ZAHL x", NULL AS spare').columns == ["ZAHL x", "spare", "prediction", "probability"]


LINE_ENDS = ["\n", "\r\n", "\x0b", "\x85", "\u2028"]  # as `str.splitlines` knows them


def pictures(end):
    """The numbers of two pictures of a model and of rows whose texts, columns and name have such a line end."""
    labels = [f"a{end}b", f"c{end}d"]
    rows = [{"y": labels[i % 2], f"k{end}": labels[(i * i + i // 3) % 2], "g": i % 4} for i in range(60)]
    model = nbsql.fit(duckdb.connect(), rows, target="y", families={f"k{end}": "categorical"}, name=f"m{end}")
    nomogram, profile = model.plot.nomogram().figure, model.plot.profile(f"k{end}", rows).figure
    numbers = [row["contribution"] for row in nomogram.tables["rows"]]
    return [numbers, [row["share"] for row in profile.tables["rows"]]]


@pytest.mark.few
@pytest.mark.parametrize("end", LINE_ENDS)
def test_pictures_show_texts_with_line_ends_as_any_others(end):
    """As part of a statement that is indented, a value would be another one, which no row has."""
    assert pictures(end) == pictures("_")


@pytest.mark.parametrize("end", LINE_ENDS)
def test_macros_take_an_enum_whose_labels_have_line_ends(con, end):
    labels = f"'a{end}b', 'c'"
    con.execute(f"CREATE TABLE t AS SELECT i % 2 AS y, [{labels}][1 + i % 3 // 2]::ENUM ({labels}) AS k FROM range(20) AS r(i)")
    nbsql.fit(con, "t", target="y", name="m")
    assert len(con.execute("FROM m.predict('t')").fetchall()) == 20
    con.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
    con.execute("CREATE TABLE n AS FROM naive_bayes('t', 'y')")
    assert con.execute("SELECT count(*) FROM n WHERE feature = 'k'").fetchall() != [(0,)]
