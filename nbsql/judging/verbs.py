"""How well models would do, before one is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nbsql.family import Family
from nbsql.joins.fitting import joined
from nbsql.judging.sweep import By, Sweep
from nbsql.judging.sweep import sweep as swept
from nbsql.judging.validation import CrossValidation
from nbsql.judging.validation import cross_validate as cross_validated
from nbsql.places import Connection, opened
from nbsql.spec import Options


def cross_validate(
    con: Connection,
    source: Any,
    *,
    target: str,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    bins: int = 10,
    **options: Any,
) -> CrossValidation:
    """How well models of `target` predict rows that they have not met: every row is predicted by the model of the other folds.

    Exact, and without fitting a fold: one scan counts them all, and the model of the other folds is a sum of their cells. So
    the answer is that of a fit for every fold. Rows count by the weight of the fit. What it reads stays in temporary tables of
    the connection until that is closed. The whole `evaluation` scores the rows again, when it is asked for.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column of the class.
        folds: how many; rows are dealt so that every fold has its share of every class, the same rows always alike. "loo" is
            leave-one-out: every row is predicted by the model of all others, taken out of the counts as it is scored.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        bins: parts of the calibration.
        options: those of `fit` that say what to model.

    Raises:
        InputError: an argument or the data cannot be used.
    """
    asked = Options.of(target, options)
    with opened(con) as engine, engine.transaction():
        found = joined(engine, engine.source(source), asked.joins)
        try:
            return cross_validated(engine, found, asked, folds=folds, fold=fold, bins=bins)
        finally:
            found.release()


def sweep(
    con: Connection,
    source: Any,
    *,
    target: str,
    alpha: float | Sequence[float | None] | None = None,
    prior: str | Mapping[Any, float] | Sequence[str | Mapping[Any, float]] = "empirical",
    families: Mapping[str, str | Family] | Sequence[Mapping[str, str | Family]] | None = None,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    by: By = "log_loss",
    **options: Any,
) -> Sweep:
    """Which settings predict best: every combination of the lists is cross-validated, as `cross_validate` does.

    The rows are counted once: a smoothing, a prior or an estimate changes no count, and a feature of several families is
    counted once for each. The winner's model is made of these counts, which stay in a temporary table of the connection.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column of the class.
        alpha: pseudo-counts, one or a list; None is that of a fit: 1, and 0 for the joint method.
        prior: priors of the classes, one or a list.
        families: overrides of the inferred families, one dictionary or a list.
        folds: how many; rows are dealt so that every fold has its share of every class, the same rows always alike. "loo" is
            leave-one-out: every row is predicted by the model of all others, taken out of the counts as it is scored.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        by: "log_loss" or "accuracy", which ranks the settings; the other decides a tie.
        options: those of `fit` that say what to model, for all settings.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb
    >>> data = "SELECT i % 2 = 0 AS even, (i % 2 = 0 OR i % 5 = 0)::VARCHAR AS said FROM range(40) AS t(i)"
    >>> found = sweep(duckdb.connect(), data, target="even", alpha=[100, 1], folds=4)
    >>> [(rank, alpha) for rank, alpha, *_ in found.ranking]
    [(1, 1.0), (2, 100.0)]
    >>> found.best().families["said"].alpha
    1.0
    """
    shared = Options.of(target, options)
    with opened(con) as engine, engine.transaction():
        found = joined(engine, engine.source(source), shared.joins)
        try:
            return swept(
                engine, found, shared, alpha=alpha, prior=prior, families=families or {}, folds=folds, fold=fold, by=by
            )  # fmt: skip
        finally:
            found.release()
