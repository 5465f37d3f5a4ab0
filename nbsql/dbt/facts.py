"""The macros that say what Python's classes say: the families, their options, and stop words."""

import re
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

from nbsql.dbt.package import described, macros, parts_called
from nbsql.dbt.schema import default_options, refused_options
from nbsql.evaluation.slices import RESERVED
from nbsql.family import FAMILIES, INFERRED, Estimate, Nulls, Unseen
from nbsql.family.facts import choices_of, facts
from nbsql.family.text import STOP_WORDS
from nbsql.spec.rules import RULES

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
    inferred = {kind: family.name for kind, family in INFERRED.items()}
    rules = {rule: re.sub(r"⟨(\w+)='(\w+)'⟩", r"\1: \2", text.split("{column} ")[1]) for rule, text in RULES.items()}
    words = _wrapped(f"{{% do return('{' '.join(STOP_WORDS['english'])}') %}}", "")
    arguments = {name: macros()[name].arguments for name in described() if not name.startswith("test_")}
    elsewhere = [name for name in FAMILIES if name not in facts()]
    choices = {"nulls": choices_of(Nulls), "unseen": choices_of(Unseen), "estimate": [*choices_of(Estimate)[:2]]}
    return _HEADER + "".join(
        f"\n{{#{comment}#}}\n{{% macro {name}() -%}}\n{body}\n{{%- endmacro %}}\n"
        for name, comment, body in (
            ("families", _FAMILIES, _families()),
            ("inferred_families", " The default family of a feature, by the kind of its column. ", _returned(inferred)),
            ("families_elsewhere", " The families that query the data before they count. ", _returned(elsewhere)),
            ("default_options", " The options of a model, with their defaults. ", _returned(default_options())),
            ("options_of_python", " The other options of nbsql.fit, and those of its methods. ", _returned(refused_options())),
            ("arguments_of_macros", " The arguments of the macros that a project calls. ", _returned(arguments)),
            ("rule_messages", " What is wrong with values that break a rule. ", _returned(rules)),
            ("shared_choices", " The values of options of every family. ", _returned(choices)),
            ("columns_of_slices", " What a column by which to slice may not be named. ", _returned(RESERVED)),
            ("english_stop_words", " The words of stop_words: english, between blanks. ", words),
        )
    )


def _families() -> str:
    """The statements that return the facts by family; what the families with a kind of cell have in common stands once."""
    parts, known = parts_called(), facts()
    for fact in known.values():
        fact["macros"] = {part: macro for part, macro in fact["macros"].items() if part in parts}
    shared, own = [], []
    for cell, group in groupby(known, lambda name: known[name]["cell"]):
        names = [*group]
        common = {key: value for key, value in known[names[0]].items() if all(known[name].get(key) == value for name in names)}
        if len(names) > 1:
            shared.append(_wrapped(f"{{% set {cell} = {_literal(common)} -%}}", ""))
        for name in names:
            if len(names) > 1:
                rest = _literal({key: value for key, value in known[name].items() if key not in common})
                own.append(_wrapped(f"'{name}': dict({cell}, **{rest})", "  "))
            else:
                own.append(_wrapped(f"'{name}': {_literal(known[name])}", "  "))
    return "\n".join([*shared, "{% do return({", ",\n".join(own), "}) %}"])


def _returned(value: Any) -> str:
    return _wrapped(f"{{% do return({_literal(value)}) %}}", "")


def _wrapped(text: str, first: str) -> str:
    """A text in lines, of which none is too long for a file of macros."""
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=f"{first}  ", **options).replace("\0", " ")


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value).replace(" ", "\0")  # where no line ends
