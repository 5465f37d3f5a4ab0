"""Rendering fails closed: nothing gets into a statement but through a gate."""

import re
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, StrictUndefined
from sqlglot import __version__ as sqlglot_version
from sqlglot import exp, parse_one

import nbsql
from nbsql.errors import InputError
from nbsql.rendering.dialect import DIALECTS, Dialect, restore
from nbsql.rendering.renderer import Renderer, _check_rendered, macro_path
from nbsql.rendering.sources import macro_files, sources

RENDERER = Renderer("duckdb")
GATES = Dialect("duckdb")


def render(template, **values):
    environment = Environment(undefined=StrictUndefined, autoescape=True, finalize=_check_rendered)
    environment.globals["nbsql"] = RENDERER._macros
    return restore(environment.from_string(template).render(**values))


@pytest.mark.parametrize("dialect", [name for name, traits in DIALECTS.items() if traits.standard_quotes])
@pytest.mark.parametrize(
    "value", ["a", 'a"b', "a'b", "it''s", '""', "a\\'b", "\\", "`[a]`", "", "Ünï ${x}", "E'\\n'"], ids=repr
)
def test_where_quotes_are_the_standards_they_are_those_of_sqlglot(dialect, value):
    gates = Dialect(dialect)
    assert str(gates.ident(value)) == exp.to_identifier(value, quoted=True).sql(dialect)
    text = str(gates.text(value))
    if not text.startswith("E") or sqlglot_version >= "28":  # an older one leaves backslashes as they are
        assert parse_one(f"SELECT {text}", dialect=dialect).expressions[0].this == value
    if "\\" not in value or not DIALECTS[dialect].backslashes:  # as E'...', which no setting of a session reads otherwise
        assert text == exp.Literal.string(value).sql(dialect)


@pytest.mark.parametrize(("dialect", "quote"), [("bigquery", "`"), ("clickhouse", '"')])
def test_a_backslash_does_not_end_a_name(dialect, quote):
    """Where it is an escape in a name, which sqlglot knows only since 30."""
    assert str(Dialect(dialect).ident(f"a\\{quote}b")) == f"{quote}a\\\\\\{quote}b{quote}"


@pytest.mark.parametrize("value", ["text", 0.5, None, True, ["a"], b"x"], ids=repr)
def test_a_bare_value_is_refused(value):
    with pytest.raises(TypeError, match="did not pass a gate"):
        render("SELECT {{ value }}", value=value)


def test_an_undefined_name_is_refused():
    with pytest.raises(TypeError, match="did not pass a gate"):
        render("SELECT {{ nothing }}")


def test_whole_numbers_and_rendered_sql_pass():
    assert render("{{ 3 }} {{ nbsql.ident(name) }}", name='a"b') == '3 "a""b"'


@pytest.mark.parametrize("gate", [GATES.ident, GATES.text, GATES.query])
def test_gates_refuse_nul_and_what_is_no_text(gate):
    with pytest.raises(InputError, match="NUL"):
        gate("a\x00b")
    with pytest.raises(InputError, match="must be text"):
        gate(3)


@pytest.mark.parametrize("name", ["a b", "A", "a;", "", "1a", "a-b", "a'", "a.", ".a", "a.1", "a.b.c", "a.*"])
def test_words_are_lower_case_letters_digits_and_underscores(name):
    with pytest.raises(InputError, match="not a word"):
        GATES.word(name)


def test_a_word_may_be_the_column_of_a_relation():
    assert GATES.word("source.nbsql_row") == "source.nbsql_row"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_is_finite(value):
    with pytest.raises(InputError, match="must be finite"):
        GATES.number(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_doubles_that_come_back(value):
    sql = f"SELECT {GATES.number(value)} AS x"
    with duckdb.connect() as con:
        result = con.execute(sql)
        assert str(result.description[0][1]) == "DOUBLE"
        assert result.fetchall() == [(value,)]


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_texts_come_back_also_from_an_indented_statement(value):
    sql = render("SELECT\n  {{ text | indent(2) }} AS x", text=GATES.text(value))
    with duckdb.connect() as con:
        assert con.execute(sql).fetchall() == [(value,)]


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1))
def test_names_come_back(name):
    sql = render("SELECT\n  {{ name | indent(2) }} FROM (SELECT 1 AS {{ name }}) AS t", name=GATES.ident(name))
    with duckdb.connect() as con:
        assert con.execute(sql).description[0][0] == name


def test_every_macro_has_a_name_of_its_own():
    names = [source.name for file in macro_files(macro_path() / "macros") for source in sources(file)]
    assert len(names) == len(set(names))
    gates = {"default__ident", "default__text", "default__number", "word"}
    assert gates <= set(names)


def test_python_holds_no_sql():
    statement = re.compile(r"""f?["']{1,3}(SELECT|INSERT|CREATE|WITH|UPDATE|DELETE|UNION|DROP|FROM) """)
    package = Path(nbsql.__file__).parent
    found = [
        f"{file.relative_to(package)}: {line.strip()}"
        for file in package.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if statement.search(line) and not line.lstrip().startswith((">>>", "..."))
        if ".predict(" not in line and "{reader}(" not in line  # what messages show to be pasted
    ]
    assert found == []
