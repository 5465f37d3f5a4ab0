"""From a spec to ordered, named statements. Pure: knows no connection, renders and nothing else."""

from __future__ import annotations

from nbsql.plan.base import CALIBRATED, MACROS, VERBS, Entry, Judgeable, Rows, Statement
from nbsql.plan.counting import Counting
from nbsql.plan.making import Making


class Plan(Counting, Making):
    """All the statements of one model."""


__all__ = ["CALIBRATED", "MACROS", "VERBS", "Entry", "Judgeable", "Plan", "Rows", "Statement"]
