"""How macros are written: each says what a row of it is, no line is too long, and engines do not repeat each other."""

import re
import runpy
from pathlib import Path

import pytest

from nbsql.rendering.sources import TABLE, macro_files, sources

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
TEMPLATES = runpy.run_path(str(ROOT / "tests" / "support" / "templates.py"))

ROOMS = sorted(path.relative_to(SQL).as_posix() for path in [SQL / "dbt", *(SQL / "macros").iterdir()])


def files(room):
    return SQL / room


@pytest.mark.parametrize("room", ROOMS)
def test_a_macro_of_more_than_five_lines_says_what_it_renders(room):
    bare = [macro.name for macro in TEMPLATES["without_header"](files(room))]
    assert bare == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_line_has_at_most_140_characters(room):
    long = [f"{path.name}:{number}" for path, number, _ in TEMPLATES["long_lines"](files(room))]
    assert long == []


def test_no_engine_repeats_the_macro_whose_place_it_takes():
    found = [repetition.macro.name for repetition in TEMPLATES["repetitions"](SQL / "macros")]
    assert found == []


def test_what_an_engine_says_in_one_expression_is_in_its_table():
    """But for words with a blank before or after them, which a table cannot show."""
    end = r"(?:(?<=\S){% endmacro %}|\s*{%- endmacro %})"
    expression = re.compile(r"\s*{%-? macro \w+__\w+\(.*\) (?:-%}\s*|%}(?=\S))(?:(?!{% set).)*" + end)
    files = [path for path in macro_files(SQL / "macros") if path.name != TABLE]
    found = {source.name for path in files for source in sources(path) if expression.fullmatch(source.text)}
    gates = {"default__ident", "default__text", "default__number"}  # of which Python has its own
    # One is too long for a line; of the other, dispatch.sql has a check.
    assert found == gates | {"default__instant", "default__predict"}


def test_a_comma_in_a_loop_is_a_macro():
    """They are nbsql.comma(loop) at the end of a line, nbsql.comma_blank(loop) within one, and nbsql.comma_line(loop)."""
    by_hand = re.compile(r"{%-?\+? if (?:not loop\.last|not loop\.first|loop\.first) [-+]?%},[ \n]")
    assert [path.name for path in macro_files(SQL) if by_hand.search(path.read_text(encoding="utf-8"))] == []
