"""Rows that a choice does not see, on which what was chosen is judged once, at the end.

The figure by which one of many settings is chosen is too good: it is the best of many that vary by chance (Cawley and Talbot,
On over-fitting in model selection and subsequent selection bias in performance evaluation, Journal of Machine Learning
Research 11, 2010). That of rows that neither the fit nor the choice has seen is not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.folds import resolve_settings
from nbsql.model import Model
from nbsql.plan.context import Context
from nbsql.spec.options import Options

PARTS = 6  # one of them is kept aside
MIN_ROWS = 30  # fewer rows are all needed for the choice
ROUNDING = 1e-9  # by which log losses of columns that say nothing may differ from that of the priors
_MIN_PARTS = 3  # of a column of folds: one is kept aside, and the choice needs two


@dataclass(frozen=True)
class Judgement:
    """How well what was chosen predicts rows that neither its fit nor the choice has seen.

    Args:
        rows: the number of these rows.
        log_loss: the mean of -ln p of the true class, in nats.
        log_loss_of_priors: that of the priors alone, on the same rows.
        gain: how much lower the log loss is than that of the priors.
        standard_error: the standard error of the gain, from the differences row by row.

    >>> Judgement(100, 0.5, 0.6931, 0.1931, 0.02).is_sure
    True
    """

    rows: int
    log_loss: float
    log_loss_of_priors: float
    gain: float
    standard_error: float

    @property
    def is_sure(self) -> bool:
        """Whether the log loss is below that of the priors by more than two standard errors."""
        return self.gain > 2 * self.standard_error

    @property
    def is_worse(self) -> bool:
        """Whether the log loss is above that of the priors."""
        return self.gain < -ROUNDING

    def __str__(self) -> str:
        figures = f"log loss {self.log_loss:.4f} on {self.rows:,} rows that neither the fit nor the choice has seen"
        better = f"{abs(self.gain):.4f} ± {self.standard_error:.4f} {'below' if self.gain >= 0 else 'above'}"
        line = f"{figures}, {better} that of the priors"
        return line if self.is_sure else f"{line}: no better than chance"


def keep_aside(
    engine: Engine, source: Source, options: Options, fold: str | None, temporary: Callable[[str], Markup]
) -> tuple[Source, Source | None]:
    """The rows for the choice and those that it must not see, a sixth of each class, or the last of the user's folds.

    The rows are always split alike. All are for the choice if there are too few rows or folds.
    """
    rows = engine.query_value("row_count", source.relation)
    of_fold = source.column(fold)
    if rows < MIN_ROWS or (fold is not None and of_fold is None):  # what is missing is said later
        return source, None
    spec = resolve_settings(engine, source, [options], fold)[0]
    label = (spec.target, spec.target_type)
    parts = rows_in_parts(
        engine, source, spec.columns, label, rows, temporary, PARTS, None if of_fold is None else of_fold.name
    )
    names = [name for (name,) in engine.query_macro("names_of_parts", parts, Context.of(spec))]
    return split_at_part(engine, source, parts, names[-1]) if len(names) >= _MIN_PARTS else (source, None)


def rows_to_compare(
    engine: Engine, source: Source, options: Options, fold: str | None, temporary: Callable[[str], Markup]
) -> Source:
    """The source without the rows of classes that are in one fold only, unless fewer than two classes are left.

    No setting explains them by the other folds. Weights, which every class needs, are then learnt once for all folds.
    """
    spec = resolve_settings(engine, source, [options], fold)[0]
    arguments = source.relation, Context.of(spec), None if (of_fold := source.column(fold)) is None else of_fold.name
    ((of_one, of_several),) = engine.query_macro("classes_of_one_fold", *arguments)
    if not of_one or of_several < 2:
        return source
    query = engine.renderer.fragment("rows_of_several_folds", *arguments)
    relation = engine.create("leaving classes of one row out", temporary("compared"), query)
    return Source(relation, source.label, source.columns, is_table=True)


def rows_in_parts(
    engine: Engine, source: Source, columns: Sequence[str], label: tuple[str, str], rows: int,
    temporary: Callable[[str], Markup], parts: int, fold: str | None = None,
) -> Markup:  # fmt: skip
    """A table of the rows with their part: of each class alike or, of many rows, by a hash of the columns, which needs no sort.

    `label` is the column of the class and its type; `fold` is a column of the user's with the part of each row.
    """
    by = "class" if rows <= engine.renderer.layout.sorted_rows else "hash"
    query = engine.renderer.fragment("rows_in_parts", source.relation, columns, *label, parts, fold, by, source.kinds)
    return engine.create("keeping rows aside", temporary("parts"), query)


def split_at_part(engine: Engine, source: Source, parts: Markup, name: str) -> tuple[Source, Source]:
    """The rows beside a part, and those of it, with the columns of the source."""
    renderer, columns = engine.renderer, source.names

    def rows_of(macro: str) -> Source:
        relation = renderer.subquery("selected_columns", renderer.subquery(macro, parts, name), columns)
        return Source(relation, source.label, source.columns)

    return rows_of("rows_beside_part"), rows_of("rows_of_part")


def judge(model: Model, priors: Model, aside: Source, weight: str | None) -> Judgement | None:
    """How much better a model predicts rows than one of the priors alone; None if they are too few."""
    found = {row[1]: row[2:] for row in model.compare(priors, aside, weight=weight).fetchall() if row[0] is None}
    loss, other, difference, error, *_ = found["log_loss"]
    rows = model.state.engine.query_value("row_count", aside.relation, model.target)
    return None if error is None else Judgement(rows, loss, other, -difference, error)
