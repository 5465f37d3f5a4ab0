"""The limits at which one form of scoring gives way to the next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """How large a model may be in each form of scoring (nbsql/plan/layout.py).

    The time to plan a star of joins grows faster than the number of its joins and columns, and each holds a hash table. So of
    more categorical features than `star_joins` those of at most `few_values` values are looked up in lists, and the others are
    scored in stars of `block_joins`; more classes or terms than `wide_classes` and `wide_terms` are scored in the long form.
    tests/benchmarks/plans.py measures both sides of these limits.

    Attributes:
        star_joins: categorical features that one star of joins looks up.
        few_values: of a category that is looked up in a list.
        block_joins: categorical features of each star, where there are several.
        wide_classes: that are scored in a column each.
        wide_terms: columns times classes that are scored so, of numbers and of categories that are in blocks.
        added_first: log-likelihoods of categories that are added before a missing one is looked for: more is quicker on clean
            rows, fewer where many are missing.
        added_first_terms: categories times classes up to which it is worth the longer statement.
    """

    star_joins: int = 40
    few_values: int = 64
    block_joins: int = 20
    wide_classes: int = 100
    wide_terms: int = 500
    added_first: int = 10
    added_first_terms: int = 400
