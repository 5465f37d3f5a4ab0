"""How macros are written: each says what a row of it is, no line is too long, and engines do not repeat each other."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
TEMPLATES = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "templates.py"))

ROOMS = sorted(path.relative_to(SQL).as_posix() for path in [SQL / "dbt", *(SQL / "macros").iterdir()])

# The macros of engines that have most of the lines of those whose place they take, and why they are not less.
REPETITIONS = {
    "spark__multivariate_relevance": "a class has its matrix in one row, and both that are compared are beside each other",
    "postgres__from_scored": "names that nothing has need not be hidden where a source has its columns written out",
}


def files(room: str) -> Path:
    return SQL / room


@pytest.mark.parametrize("room", ROOMS)
def test_a_macro_of_more_than_five_lines_says_what_it_renders(room: str):
    bare = [macro.name for macro in TEMPLATES["without_header"](files(room))]
    assert bare == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_line_has_at_most_140_characters(room: str):
    long = [f"{path.name}:{number}" for path, number, _ in TEMPLATES["long_lines"](files(room))]
    assert long == []


def test_no_engine_repeats_the_macro_whose_place_it_takes():
    found = {repetition.macro.name for repetition in TEMPLATES["repetitions"](SQL / "macros")}
    assert found == set(REPETITIONS)
