"""Rows that are copies of others: a model that has learnt one of them knows the others."""

import math
from collections.abc import Sequence

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.warn import warn_user

MOST_DIFFERENT = 0.55  # of the rows, above which they are not taken for copies
LEAST_VALUES = 1 / 3  # of the different rows: the values of some column, where chance does not make rows equal
LEAST_COMBINATIONS = 5  # of the values of all columns, for each row


def warn_of_copies(engine: Engine, source: Source, columns: Sequence[str], fold: str | None) -> None:
    """Warn if most rows are equal to others, though their columns have values enough to tell them apart.

    Nothing is read of many rows, or if `fold` names a column of folds.
    """
    if fold is not None or engine.query_value("row_count", source.relation) > engine.renderer.layout.sorted_rows:
        return
    rows, different = engine.query_macro("different_rows", source.relation, columns, source.kinds)[0]
    if rows == 0 or different > MOST_DIFFERENT * rows:
        return
    counts = [engine.query_macro("different_rows", source.relation, [column], source.kinds)[0][1] for column in columns]
    combinations = sum(math.log(max(count, 1)) for count in counts)
    if max(counts) < LEAST_VALUES * different or combinations < math.log(LEAST_COMBINATIONS * rows):
        return
    warn_user(
        f"only {different:,} of {rows:,} rows of {source.label} differ: if these are copies, models are judged on rows that "
        "they have learnt, and the results are too good; take each row once, or name a column of folds that copies share, as "
        "by ⟨fold='part'⟩"
    )
