"""Turns a spec into ordered, named statements. It only renders SQL and needs no connection."""

from nbsql.plan.base import Entry, Solved, Statement, query_of_estimates
from nbsql.plan.counting import Counting
from nbsql.plan.estimating import Estimating
from nbsql.plan.parts import PARTS
from nbsql.plan.rows import Judgeable, Rows
from nbsql.plan.verbs import MACROS, REVIEW, ROW_VERBS, UNCALIBRATED, VERBS


class Plan(Counting, Estimating):
    """All the statements of one model."""


__all__ = [
    "MACROS", "PARTS", "REVIEW", "ROW_VERBS", "UNCALIBRATED", "VERBS", "Entry", "Judgeable", "Plan",
    "Rows", "Solved", "Statement", "query_of_estimates",
]  # fmt: skip
