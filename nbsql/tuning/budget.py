"""How much a search may cost: rows, or seconds after which nothing new is begun."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, written
from nbsql.learning.folds import resolve_settings
from nbsql.spec.options import Options

ENOUGH_ROWS = "auto"  # the rows that tell methods apart
ROWS = 50_000
_FEW_ROWS = 10_000  # which tell methods apart where so many of them are not of the most frequent class:
_OTHER_ROWS = 1_000
_SECONDS = {"s": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
_DURATION = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_SECONDS)})s?\s*")


@dataclass(frozen=True)
class Budget:
    """The rows that a search uses, at most and if classes are frequent, None for all; and its seconds, None for any.

    >>> Budget.of("2 min").seconds, Budget.of(1000).rows, Budget.of(None).seconds
    (120.0, 1000, None)
    """

    rows: int | None = ROWS
    few_rows: int = ROWS
    seconds: float | None = None
    text: str = ""
    _begun: float = field(default_factory=time.monotonic, repr=False, compare=False)

    @classmethod
    def of(cls, budget: Any) -> Budget:
        """The budget that a user names. Raises InputError if it is neither rows, nor seconds, nor None."""
        duration = _DURATION.fullmatch(budget) if isinstance(budget, str) else None
        if budget == ENOUGH_ROWS:
            return cls(few_rows=_FEW_ROWS)
        if duration is not None and float(duration[1]) > 0:
            return cls(few_rows=_FEW_ROWS, seconds=float(duration[1]) * _SECONDS[duration[2]], text=budget.strip())
        if isinstance(budget, str) and budget.isdecimal():
            budget = int(budget)
        if budget is None:
            return cls(None)
        if isinstance(budget, Integral) and not isinstance(budget, bool) and int(budget) >= 1:
            return cls(int(budget), int(budget))
        raise InputError(
            "⟨budget⟩ must be a whole number of rows of at least 1, seconds such as '30 s', 'auto', or None for all rows, "
            f"not {written(budget)}"
        )

    def is_spent(self, share: float = 1.0) -> bool:
        """Whether that share of the seconds is over."""
        return self.seconds is not None and time.monotonic() - self._begun > share * self.seconds


def sampled_source(
    engine: Engine, source: Source, options: Options, fold: str | None, budget: Budget, temporary: Callable[[str], Markup]
) -> Source:
    """The source, or a table of about as many of its rows as the budget allows, which are always the same."""
    if budget.rows is None:
        return source
    rows, wanted = engine.query_value("row_count", source.relation), budget.few_rows
    if rows <= wanted:
        return source
    spec = resolve_settings(engine, source, [options], fold)[0]
    if wanted < budget.rows:
        target = engine.renderer.dialect.ident(spec.target)
        most_frequent, labelled = map(int, engine.query_macro("most_frequent_class", source.relation, target)[0])
        wanted = min(budget.rows, max(wanted, _OTHER_ROWS * rows // max(1, labelled - most_frequent)))
    if rows <= wanted:
        return source
    share = round(1_000_000 * wanted / rows)
    query = engine.renderer.fragment("sampled_share", source.relation, spec.columns, source.kinds, share)
    relation = engine.create(f"sampling {wanted:,} of {rows:,} rows", temporary("part"), query)
    return Source(relation, source.label, source.columns, is_table=True)
