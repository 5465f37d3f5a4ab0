"""The families of a fit that are "auto": which columns they are of, and their choice by cross-validation."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import no_column
from nbsql.family import Family
from nbsql.spec.options import Options
from nbsql.tuning.auto import FOLDS, choose
from nbsql.tuning.budget import Budget, sampled_source
from nbsql.tuning.choice import chosen_options

AUTO = "auto"
EVERY = "*"
Families = str | Mapping[str, str | Family]


def columns_to_choose(families: Families) -> tuple[list[str] | None, Mapping[str, str | Family]]:
    """The columns whose families are to be chosen, None for all that have none, and the families of the others.

    The argument of a fit is "auto", or a dictionary with "auto" for some columns; the key "*" is all columns without a family.
    """
    if _is_auto(families):
        return None, {}
    if not isinstance(families, Mapping):
        return [], cast("Mapping[str, str | Family]", families)  # the fit refuses it
    given = {name: family for name, family in families.items() if not _is_auto(family)}
    columns = [name for name in families if name not in given]
    return None if EVERY in columns else columns, given


def with_auto(families: Mapping[str, str | Family]) -> Families:
    """The families of a fit that chooses those of all other columns."""
    return {EVERY: AUTO, **families}


def _is_auto(family: Any) -> bool:
    return isinstance(family, str) and family == AUTO


def with_families(engine: Engine, source: Source, options: Options, columns: Sequence[str] | None) -> Options:
    """The options of a fit, with families chosen for some columns (None: all) by cross-validation on a sample of the rows."""
    for name in columns or []:
        if name.lower() not in map(str.lower, source.names):
            raise no_column(name, source.names, source.label)
    budget = Budget()
    with engine.temporaries() as temporary:
        sampled = sampled_source(engine, source, options, None, budget, temporary)
        choice = choose(
            engine, sampled, options, columns=columns, leave_out=False, calibrate=False, folds=FOLDS, fold=None, budget=budget
        )  # fmt: skip
    return chosen_options(choice, options)
