"""What is said of families in a second place follows from their classes."""

from __future__ import annotations

import re

import nbsql
from nbsql.family import STORED, facts
from nbsql.rendering.renderer import Renderer, macro_path

FAMILIES = [kind(parent="x") if name == "conditional" else kind() for name, kind in STORED.items() if name != "calendar"]
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


def test_the_facts_of_the_dbt_package_are_those_of_the_classes() -> None:
    file = macro_path() / facts.PATH
    assert file.read_text(encoding="utf-8") == facts.facts_sql(), "write it anew: python -m nbsql.family.facts"


def test_a_family_names_all_macros_that_it_has_and_no_other() -> None:
    renderer = Renderer("duckdb")
    for family in FAMILIES:
        assert [macro for macro in family.macros.values() if not renderer.has(macro)] == [], family
        assert REQUIRED.get(family.cell, {"value", "drawn"}) - {*family.macros} == set(), family
        own = {macro for part in PARTS if renderer.has(macro := f"{family.name}_{part}")} - {*family.macros.values()}
        assert [macro for macro in own if f"nbsql.{macro}(" not in TEMPLATES] == [], family


def test_templates_ask_for_parts_that_families_name() -> None:
    asked = re.findall(r"\bmacros\.(\w+)|'(\w+)' (?:not )?in macros", TEMPLATES)
    assert {name for pair in asked for name in pair if name} == PARTS
