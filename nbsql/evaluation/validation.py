"""Cross-validation by subtraction: one scan counts all folds, and no fold is fitted."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.evaluation.evaluate import queries_of_judged_rows
from nbsql.evaluation.evaluation import Evaluation, read_evaluation
from nbsql.evaluation.leave_one_out import LOO, check_folds
from nbsql.evaluation.refitted_folds import make_folds_for_spec
from nbsql.learning.folds import resolve_settings, summarise_folds
from nbsql.plan.context import Context
from nbsql.queries.query import Query
from nbsql.queries.table import Displayed, Table
from nbsql.spec.options import Best, Options, candidate_options
from nbsql.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class CrossValidation(Displayed):
    """How well models predict rows that they were not fitted on. Each row is predicted by the model of the other folds or rows.

    Args:
        rows: the number of rows predicted.
        accuracy: the share of the rows, by weight, that are predicted right.
        log_loss: the mean of -ln p of the true class, in nats; p is kept between 2^-52 and 1 - 2^-52.
        folds: a row for each fold: fold, rows, weight, accuracy, log_loss. Leave-one-out has one row, the fold "loo".

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i % 2 AS x FROM range(60) AS r(i)")
    >>> found = nbsql.cross_validate(con, "t", target="y", folds=3)
    >>> found.rows, found.accuracy
    (60, 1.0)
    >>> [(fold, rows) for fold, rows, *_ in found.folds]
    [('0', 20), ('1', 20), ('2', 20)]
    """

    rows: int
    accuracy: float
    log_loss: float
    folds: Query
    _evaluate: Callable[[], Evaluation] = field(repr=False)
    _gain: Callable[[], str] = field(default=str, repr=False)  # `nbsql.cross_validate` adds it

    @cached_property
    def evaluation(self) -> Evaluation:
        """The full evaluation of all rows, as `Model.evaluate` returns it. Computed when it is first read."""
        return replace(self._evaluate(), _gain=self._gain)

    def gain(self) -> str:
        """The method that would gain most, in one line: "method='tan' gains 0.39 of log loss on five folds (1 s)".

        Naive Bayes, trees of dependent categories, their average, and both discriminant analyses are cross-validated with the
        same options, by five folds or the same column of folds. One gains if its log loss is lower by more than two standard
        errors of the folds. The seconds are those that its cross-validation took.

        >>> import duckdb, nbsql
        >>> data = "SELECT 'a' || i % 2 AS a, 'b' || i // 2 % 2 AS b, (i + i // 2) % 2 AS y FROM range(400) AS r(i)"
        >>> nbsql.cross_validate(duckdb.connect(), data, target="y").gain().split(" of log loss")[0]
        "method='tan' gains 0.68"
        """
        return self._gain()

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        folds = self.folds.fetchall()
        others = "the other folds" if len(folds) > 1 else "all other rows"
        numbers = [*folds, ("all", self.rows, None, self.accuracy, self.log_loss)]
        lines = [[str(fold), f"{rows:,}", f"{accuracy:.4f}", f"{loss:.4f}"] for fold, rows, _, accuracy, loss in numbers]
        table = Table(["fold", "rows", "accuracy", "log loss"], lines, right=[1, 2, 3])
        title = f"{self.rows:,} rows predicted by the models of {others}"
        return [title, "whether another method would gain: gain()"], [table]


def cross_validate(
    engine: Engine, source: Source, options: Options, *, folds: int | str, fold: str | None, bins: int
) -> CrossValidation:
    """Cross-validate inside the caller's transaction; see `nbsql.cross_validate`."""
    check_folds(folds, fold)
    options, best = candidate_options(options)
    if best is not None and folds == LOO:
        raise InputError(
            "⟨features=nbsql.Best(...)⟩ chooses anew in every fold, and ⟨folds='loo'⟩ has one a row; use ⟨folds=10⟩"
        )
    spec = resolve_settings(engine, source, [options], fold)[0]
    return cross_validate_spec(engine, source, spec, best, folds=folds, fold=fold, bins=bins)


def cross_validate_spec(
    engine: Engine, source: Source, spec: Spec, best: Best | None = None, *, folds: int | str, fold: str | None, bins: int
) -> CrossValidation:
    """Cross-validate the fit that a spec describes, inside the caller's transaction; `best` chooses among its features."""
    renderer = engine.renderer
    with engine.temporaries(staying=True) as table:
        cv = make_folds_for_spec(engine, source, spec, table, folds=folds, fold=fold)
        spec = cv.specs[0]
        if best is not None:
            best.accept(spec.features)
        # Features are selected without the fold that judges them, so every fold has models of its own.
        parts = [*cv.parts(spec)]
        if best is not None:
            parts = [(cv.with_best_features(part, best, name), [name]) for part, names in parts for name in names]
        by_fold = (cv.scores(cv.models(chosen, names)) for chosen, names in parts)
        scores = Query(engine, renderer.statement("sorted_fold_scores", cv.create_from_queries("scores", by_fold)))
        classes = cv.create("classes", renderer.fragment("classes_of_cells", Context.of(spec, wide=False), cv.cells))

        rows = scores.fetchall()
        if not rows:
            raise InputError(f"no row of {source.label} is in a fold and has a class")
        # The curves are read later, so the tables that they read stay until the connection is closed.
        scored = table("out of fold")
        judged = renderer.fragment("judged_rows", Context.of(spec, wide=False), scored, classes, spec.weight, False)
        queries = queries_of_judged_rows(engine, judged, Source(scored, source.label, []), bins)

        def evaluate() -> Evaluation:
            models = (cv.models(chosen, names) for chosen, names in parts)
            cv.create_from_queries("out of fold", (cv.outcomes(part, classes) for part in models))
            return read_evaluation(queries, spec.weight)

        return CrossValidation(*summarise_folds(rows), scores, evaluate)
