"""What is said of families in a second place follows from their classes."""

import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

import nbsql
from nbsql.family import STORED
from nbsql.family.base import Macros, macros_of
from nbsql.family.kinds import Level, Moments
from nbsql.family.tokens import Bag
from nbsql.rendering.renderer import Renderer, macro_path

FAMILIES = [
    kind(parent="x") if name in ("conditional", "interaction") else kind()
    for name, kind in STORED.items()
    if name != "calendar"
]
FAMILIES += [nbsql.ZeroInflated(of=of) for of in ("gamma", "exponential", "gaussian")]
PARTS = {part for family in FAMILIES for part in family.macros}

TEMPLATES = "".join(path.read_text(encoding="utf-8") for path in macro_path().glob("*/**/*.sql") if path.parent.name != "dbt")

SCANNED = {"inputs", "aggregates", "cells", "term"}
REQUIRED = {
    "list": {"value"},
    "boolean": SCANNED,
    "column": SCANNED,
    "token": SCANNED,
    "number": {"inputs", "aggregates", "cells", "density", "parameter"},
    "matrix": {"inputs", "aggregates", "sums", "term", "common", "steps"},
    "weight": {"inputs", "term"},
    "pair": set(),
}


@dataclass(frozen=True, kw_only=True)
class Word(Level):
    """A category in another name."""

    name: ClassVar[str] = "word"
    macros: ClassVar[Macros] = macros_of("categorical", "value given drawn")
    accepts: ClassVar[tuple[str, ...]] = ("text",)


@dataclass(frozen=True, kw_only=True)
class Normal(Moments):
    """A normal density in another name."""

    name: ClassVar[str] = "normal"
    macros: ClassVar[Macros] = macros_of("gaussian", "density", Moments.macros)
    quantities: ClassVar[tuple[str, ...]] = nbsql.Gaussian.quantities
    distribution: ClassVar[str] = "gaussian"

    @property
    def estimate_options(self):
        return {"floor": self.floor, "lost": 0.0}


@dataclass(frozen=True, kw_only=True)
class Tags(Bag):
    """A bag of tokens in another name."""

    name: ClassVar[str] = "tags"
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)


@pytest.mark.slow
def test_a_family_of_a_known_kind_needs_no_other_change(con, monkeypatch):
    for kind in (Word, Normal, Tags):
        monkeypatch.setitem(STORED, kind.name, kind)
    con.execute("""CREATE TABLE t AS SELECT i AS id, sin(i) + i % 2 AS a, ['x', 'y', 'z'][1 + i % 3] AS b,
        [['x', 'y'], ['y', 'z'], ['z']][1 + i % 3] AS c, if(i * 7 % 5 < 2, 'p', 'q') AS y FROM range(60) AS r(i)""")
    known = nbsql.fit(con, "t", target="y", id="id", name="known")
    other = nbsql.fit(con, "t", target="y", id="id", name="other", families={"a": Normal(), "b": Word(), "c": Tags()})
    other = nbsql.load(con, "other")
    for model in (known, other):
        model.update("SELECT * REPLACE (id + 100 AS id) FROM t WHERE id < 20")
        model.forget("SELECT * REPLACE (id + 100 AS id) FROM t WHERE id < 10")
    assert len(other.explain("t").fetchall()) == len(known.explain("t").fetchall()) > 0
    for mine, its in zip(*(model.predict_proba("t").fetchall() for model in (other, known)), strict=True):
        assert mine[:-2] == its[:-2]
        assert mine[-2:] == pytest.approx(its[-2:], rel=1e-12)
    with pytest.raises(nbsql.NotSupportedError, match="'b' is word, which has no query in the dialect 'sqlite'"):
        other.sql("predict", "t", dialect="sqlite")


def test_a_family_names_all_macros_that_it_has_and_no_other():
    renderer = Renderer("duckdb")
    for family in FAMILIES:
        assert [macro for macro in family.macros.values() if not renderer.has(macro)] == [], family
        assert REQUIRED.get(family.cell, {"value", "drawn"}) - {*family.macros} == set(), family
        own = {macro for part in PARTS if renderer.has(macro := f"{family.name}_{part}")} - {*family.macros.values()}
        assert [macro for macro in own if f"nbsql.{macro}(" not in TEMPLATES] == [], family


def test_templates_ask_for_parts_that_families_name():
    asked = re.findall(r"\bmacros\.(\w+)|'(\w+)' (?:not )?in macros", TEMPLATES)
    assert {name for pair in asked for name in pair if name} == PARTS
