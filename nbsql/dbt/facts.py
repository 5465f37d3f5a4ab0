"""The macros that say what Python's classes say: the families, their options, and stop words."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from nbsql.family import FAMILIES, Estimate, Nulls, Unseen
from nbsql.family.facts import choices_of, facts
from nbsql.family.stop_words import STOP_WORDS

FACTS = Path("dbt/facts.sql")

_WIDTH = 138
_HEADER = "{# What is known of families and options. Generated from Python's classes by python -m nbsql.dbt write. #}\n"
_FAMILIES = """
  The facts about each family of features that do not depend on its options: attributes as in its class (nbsql/family/), and

    defaults  the family's own options, with their defaults
    choices   the values that some of these allow
    numbers   those that are numbers of at least 0
    reads     of a density: the parameters that its term reads, pairs of a name and a quantity
"""


def facts_sql() -> str:
    """The text of the file of facts."""
    elsewhere = [name for name in FAMILIES if name not in facts()]
    choices = {"nulls": choices_of(Nulls), "unseen": choices_of(Unseen), "estimate": [*choices_of(Estimate)[:2]]}
    return _HEADER + "".join(
        _macro(name, comment, value)
        for name, comment, value in (
            ("families", _FAMILIES, facts()),
            (
                "families_elsewhere",
                " The families that query the data before they count. ",
                elsewhere,
            ),
            ("shared_choices", " The values of options of every family. ", choices),
            ("english_stop_words", " The words of stop_words: english, between blanks. ", " ".join(STOP_WORDS["english"])),
        )
    )


def _macro(name: str, comment: str, value: Any) -> str:
    """A macro that returns a value. Each member of a dictionary of dictionaries begins a line."""
    if isinstance(value, dict) and all(isinstance(member, dict) and member for member in value.values()):
        members = [_wrapped(f"{_literal(key)}: {_literal(member)}", "  ", "    ") for key, member in value.items()]
        text = "{\n" + ",\n".join(members) + "\n}"
    else:
        text = _wrapped(_literal(value), "", "  ")
    return f"\n{{#{comment}#}}\n{{% macro {name}() -%}}\n{{% do return({text}) %}}\n{{%- endmacro %}}\n"


def _wrapped(text: str, first: str, others: str) -> str:
    """A text in lines, of which none is too long for a file of macros."""
    width = _WIDTH - len("{% do return(")
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return "\n".join(textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, **options))


def _literal(value: Any) -> str:
    """A value as a Jinja literal."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)
