"""What is said of families in a second place follows from their classes."""

from __future__ import annotations

from nbsql.family import facts
from nbsql.rendering.renderer import macro_path


def test_the_facts_of_the_dbt_package_are_those_of_the_classes() -> None:
    file = macro_path() / facts.PATH
    assert file.read_text(encoding="utf-8") == facts.facts_sql(), "write it anew: python -m nbsql.family.facts"
