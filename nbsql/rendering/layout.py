"""The limits at which scoring changes from one form to the next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """How large a model may be in each form of scoring (nbsql/plan/layout.py).

    The time to plan a star of joins grows faster than the number of its joins and columns, and each join needs a hash table.
    Therefore, if there are more categorical features than `star_joins`, those with at most `few_values` values are looked up in
    lists, and the others are scored in several stars of `block_joins` joins. Models with more classes than `wide_classes` or
    more terms than `wide_terms` are scored in the long form. tests/benchmarks/plans.py measures both sides of these limits.
    """

    star_joins: int = 40  # the largest number of categorical features in a single star of joins
    few_values: int = 64  # the largest number of values of a category that is looked up in a list
    block_joins: int = 20  # the number of categorical features in each star, if there are several stars
    wide_classes: int = 100  # the largest number of classes that are scored in one column each
    # The largest number of columns times classes that are scored so, of numbers and of categories in blocks.
    wide_terms: int = 500
    # The number of log-likelihoods of categories that are added before checking for a missing one: a larger number is faster on
    # clean rows, a smaller one if many values are missing.
    added_first: int = 10
    added_first_terms: int = 400  # the largest number of categories times classes for which this is worth the longer statement
