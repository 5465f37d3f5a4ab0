"""The facts about families that the dbt package reads. `python -m nbsql.family.facts` writes them from the classes."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path
from typing import Any

from nbsql.family import FAMILIES, Family

PATH = Path("dbt/family_facts.sql")  # in the folder of the macros

_FACTS = (
    "kind", "cell", "has_lookups", "level", "bag", "zeros", "centred", "has_categories", "over_columns", "bounded", "accepts",
    "rules", "units", "divergence", "events",
)  # fmt: skip
_LEFT_OUT = ("best", "best_by", "vocabulary")  # options that need a look at the data before counting, and long ones
_WIDTH = 132
_HEADER = """{{#
  The facts about each family of features that do not depend on its options: attributes as in its class (nbsql/family/), and

    options   the names of the family's own options
    defaults  of a density: the defaults of these options
    reads     of a density: the parameters that its term reads, pairs of a name and a quantity

  Generated: after changing a class, run python -m nbsql.family.facts.
#}}
{{% macro families() -%}}
{{% do return({{
{families}
}}) %}}
{{%- endmacro %}}

{{# The families that the package does not offer, because they query the data before they count. #}}
{{% macro families_elsewhere() -%}}
{{% do return({elsewhere}) %}}
{{%- endmacro %}}
"""


def facts() -> dict[str, dict[str, Any]]:
    """The facts of each family that the dbt package supports, by name."""
    return {
        name: _facts_of(family)
        for name, family in FAMILIES.items()
        if family.fit_query is Family.fit_query and not (family.kind == "level" and family.over_columns)
    }


def facts_sql() -> str:
    """The text of the dbt package's file of facts."""
    lines = {
        name: ",\n".join(_wrapped(f"    {_literal(key)}: {_literal(value)}") for key, value in of.items())
        for name, of in facts().items()
    }
    families = ",\n".join(f"  {_literal(name)}: {{\n{of}}}" for name, of in lines.items())
    return _HEADER.format(families=families, elsewhere=_literal([name for name in FAMILIES if name not in facts()]))


def _facts_of(family: type[Family]) -> dict[str, Any]:
    found = {name: getattr(family(), name, None) for name in _FACTS}
    known = {name: value for name, value in found.items() if value and value != getattr(Family, name, None)}
    shared = {item.name for item in dataclasses.fields(Family)}
    own = [item for item in dataclasses.fields(family) if item.name not in shared and item.name not in _LEFT_OUT]
    known["macros"] = family.macros  # without those that depend on options
    known["options"] = [item.name for item in own]
    if family.kind == "density":
        known["defaults"] = {item.name: item.default for item in own}
        known["reads"] = [(parameter.name, parameter.quantity) for parameter in family().parameters]
    return known


def _wrapped(line: str) -> str:
    """A line in several, of which none is too long for a file of macros."""
    return "\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False))


def _literal(value: Any) -> str:
    """A value as a Jinja literal."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)


if __name__ == "__main__":
    from nbsql.rendering.renderer import macro_path

    (macro_path() / PATH).write_text(facts_sql(), encoding="utf-8", newline="\n")
