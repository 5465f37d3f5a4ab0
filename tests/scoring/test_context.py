"""What the macros know as `model` is in three parts, and each name is in one of them alone."""

from __future__ import annotations

from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.facts import Facts
from nbsql.plan.form import Form


def test_no_name_is_in_two_parts() -> None:
    parts = [
        {name for name in {*vars(part), *part.__dataclass_fields__} if name[0] != "_"} for part in (Facts, Form, QueryOptions)
    ]
    own = {name for name in vars(Context) if name[0] != "_"}
    for number, names in enumerate(parts):
        for others in [*parts[number + 1 :], own]:
            assert names & others - {"facts"} == set()
