"""Evaluations by slices: by the values of some columns of the source."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, suggestion
from nbsql.family.checks import label as label_text
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded
from nbsql.storage.state import ModelState

RESERVED = (
    "rows", "weight", "accuracy", "low", "high", "log_loss", "brier", "roc_auc", "precision", "selection_rate",
    "false_positive_rate", "false_negative_rate", "class", "metric", "value", "standard_error",
)  # fmt: skip


class Slices(Query):
    """The slices of an evaluation: a row for each value of the columns that were given as `by` to `evaluate`.

    Columns: those of the slice, rows, weight, accuracy with its interval (low, high), log_loss, brier, roc_auc and, with two
    classes, precision, selection_rate, false_positive_rate and false_negative_rate of the larger label. NULL is a slice of
    its own. Slices are ordered by `high`: first come those that are bad even at the upper end of their interval, so that a
    slice of three rows, about which little is certain, does not lead.

    Attributes:
        intervals: the uncertainty of all numbers, for every class: the columns of the slice, class (NULL for the whole),
            metric, value, standard_error, low, high, as in `Evaluation.intervals`.
        names: the columns that were given as `by`.

    >>> import duckdb, nbsql
    >>> data = "SELECT i % 2 AS y, i % 2 + i % 3 AS x, 's' || i % 2 AS site FROM range(60) AS t(i)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", features=["x"])
    >>> [row[:2] for row in model.evaluate(data, by="site").slices]
    [('s0', 30), ('s1', 30)]
    """

    def __init__(self, state: ModelState, judged: Markup, source: Source, by: Sequence[tuple[str, bool]]) -> None:
        engine = state.engine
        super().__init__(engine, engine.renderer.statement("sliced_metrics", judged, by), source)
        self.intervals = Query(engine, engine.renderer.statement("intervals", judged, by), source)
        self._judged, self.names, self._state = judged, [name for name, _ in by], state

    def compare(self, a: Any, b: Any, *, label: Any = None) -> Query:
        """How much more often one slice than another is selected or predicted wrong, with confidence intervals.

        A row for each rate: metric (accuracy, and for one class precision, recall, selection_rate, false_positive_rate and
        false_negative_rate), value, other, difference (value - other) with low and high, and ratio (value / other) with
        ratio_low and ratio_high. The intervals are 95 % confidence intervals for all rows of this kind. The interval of the
        difference is the hybrid score interval (Newcombe 1998, method 10), that of the ratio the normal interval of its
        logarithm (Katz et al. 1978), which is NULL where either rate is 0. The difference of selection_rate is that of
        demographic parity; those of recall and false_positive_rate are those of equalized odds (Hardt, Price and Srebro
        2016).

        Args:
            a: the value of the column that slices, or a tuple of the values of several columns; None is NULL.
            b: the slice to compare with.
            label: the class that is selected; with two classes, None is the larger label.

        Raises:
            InputError: the source has no such slice, the model has no such class, or it has several and none is named.

        >>> import duckdb, nbsql
        >>> data = "SELECT i % 2 AS y, i % 2 + i % 3 AS x, 's' || i % 2 AS site FROM range(60) AS t(i)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="y", features=["x"])
        >>> model.evaluate(data, by="site").slices.compare("s1", "s0").columns[:6]
        ['metric', 'value', 'other', 'difference', 'low', 'high']
        """
        source = self._source
        assert source is not None  # noqa: S101 - slices always have a source
        renderer = self._engine.renderer
        with self._in_original_path():
            slices = [tuple(row) for row in self._engine.rows(renderer.statement("slice_values", source.relation, self.names))]
        sides = [self._values(value) for value in (a, b)]
        for values in sides:
            if values not in slices:
                shown, known_names = _format_values(values), [_format_values(slice_) for slice_ in sorted(slices, key=repr)]
                hint = suggestion(shown, known_names) or f"; there are {listed(known_names)}"
                raise InputError(f"{source.label} has no slice {shown!r} by {listed(self.names)}{hint}")
        return Query(self._engine, renderer.statement("slice_comparison", self._judged, *sides, self._label(label)), source)

    def _label(self, label: Any) -> str | None:
        """The class that is selected, as text; None for the larger of two labels."""
        if label is not None:
            return self._state.label_text(label)
        if len(self._state.classes) == 2:
            return None
        first = self._state.classes[0].label
        raise InputError(f"the model has {len(self._state.classes)} classes; say which is selected, ⟨label={first!r}⟩")

    def _values(self, value: Any) -> tuple[str | None, ...]:
        """The values of a slice, as texts."""
        values = value if isinstance(value, (tuple, list)) else (value,)
        if len(values) != len(self.names):
            raise InputError(f"a slice has a value for each of {listed(self.names)}, and {value!r} has {len(values)}")
        return tuple(None if item is None else label_text(item) for item in values)


def _format_values(values: Sequence[str | None]) -> str:
    return ", ".join("NULL" if value is None else value for value in values)


def check_slices(by: Any, source: Source) -> list[str]:
    """The names of the columns that slice, of which the user may give one or several.

    Raises InputError unless they are names of columns, none of which is that of a number of the result.
    """
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"⟨by⟩ must be the name of a column, or a list of them, not {by!r}")
    for name in names:
        if folded(name) in RESERVED:
            raise InputError(f"column {name!r} of {source.label} has the name of a column of the slices; rename it")
    if len({*map(folded, names)}) < len(names):
        raise InputError(f"⟨by⟩ names a column twice: {listed(names)}")
    return list(names)
