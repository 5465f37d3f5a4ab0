"""What is kept of compiled macros: used while a macro is the same, and nothing where nobody may write."""

import sys
from pathlib import Path

import pytest
from jinja2 import StrictUndefined, UndefinedError
from markupsafe import Markup

from nbsql.rendering import renderer
from nbsql.rendering.compiled import compile_macro
from nbsql.rendering.environment import SQLEnvironment

TEXT = "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}"


@pytest.fixture(autouse=True)
def written(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def made(text, path, monkeypatch):
    """What a macro returns of "a", and whether Jinja compiled it."""
    environment = SQLEnvironment(finalize=str)
    compiling, run = [], environment.compile
    monkeypatch.setattr(environment, "compile", lambda *given, **options: (compiling.append(given), run(*given, **options))[1])
    code = compile_macro(environment, "twice", text, path)
    template = environment.template_class.from_code(environment, code, environment.make_globals(None))
    return str(template.module.twice("a")), bool(compiling)


def test_kept_code_is_used_while_it_is_of_the_same_text(tmp_path, monkeypatch):
    path = tmp_path / "texts.sql"
    assert made(TEXT, path, monkeypatch) == ("aa", True)
    assert made(TEXT, path, monkeypatch) == ("aa", False)
    other = TEXT.replace("{{ x }}{{ x }}", "{{ x }} {{ x }}")
    assert made(other, path, monkeypatch) == ("a a", True)
    assert made(other, path, monkeypatch) == ("a a", False)
    (kept,) = (tmp_path / "__pycache__").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert made(other, path, monkeypatch) == ("a a", True)
    monkeypatch.setattr("nbsql.rendering.compiled._compiler", lambda: b"another version of Jinja")
    assert made(other, path, monkeypatch) == ("a a", True)


def test_nothing_is_kept_where_it_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "__pycache__").write_text("a file, so that no folder can be made")
    assert made(TEXT, tmp_path / "texts.sql", monkeypatch) == ("aa", True)
    assert [path.name for path in tmp_path.iterdir()] == ["__pycache__"]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "elsewhere").mkdir()
    assert made(TEXT, tmp_path / "elsewhere" / "texts.sql", monkeypatch) == ("aa", True)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_kept_code_renders_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    folder = renderer.macro_path() / "macros"
    macros = [renderer._Macros(folder, ("duckdb",), {"ident": Markup}) for _ in range(2)]
    texts = [str(one["subquery"](Markup("spam"))).strip() for one in macros]
    assert texts == ["(\n  spam\n)"] * 2
    assert [path.name.split(".")[1] for path in tmp_path.rglob("*.pyc")] == ["subquery"]


def test_a_traceback_has_the_line_of_the_file(tmp_path):
    text = "\n\n{% macro twice(x) %}\n{% set y = 1 %}\n\n{{ y }} {{ x.nothing() }}\n{% endmacro %}"
    environment = SQLEnvironment(finalize=str, undefined=StrictUndefined)
    code = compile_macro(environment, "twice", text, tmp_path / "texts.sql")
    module = environment.template_class.from_code(environment, code, environment.make_globals(None)).make_module()
    with pytest.raises(UndefinedError) as caught:
        module.twice._func("a")
    assert [entry.lineno for entry in caught.traceback if Path(entry.path).name == "texts.sql"] == [5]
