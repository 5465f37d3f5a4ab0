"""How well models would do, before one is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any, Literal

from nbsql.answers.query import Query
from nbsql.engines.connect import Connection, opened
from nbsql.family import Family
from nbsql.judging.profile import dependence as dependence_query
from nbsql.learning.fit import Fit
from nbsql.learning.half_life import refuse_half_life, weigh_by_age, with_current_weight
from nbsql.learning.joins import join_source
from nbsql.model import Model
from nbsql.model.place import place_for
from nbsql.spec.method import Method
from nbsql.spec.options import Fitting, Modelling, Options, PriorArgument, candidates
from nbsql.spec.resolve import resolve
from nbsql.tuning.auto import BUDGET, FOLDS, choose
from nbsql.tuning.choice import Auto, make_auto
from nbsql.tuning.methods import METHODS
from nbsql.tuning.sweep import By, Sweep
from nbsql.tuning.sweep import sweep as run_sweep
from nbsql.tuning.validation import CrossValidation
from nbsql.tuning.validation import cross_validate as run_cross_validation

if TYPE_CHECKING:
    from typing_extensions import Unpack


def cross_validate(
    con: Connection,
    source: Any,
    *,
    target: str,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    bins: int = 10,
    classes: Sequence[Any] | None = None,
    **options: Unpack[Fitting],
) -> CrossValidation:
    """How well models of `target` predict rows that they have not met: every row is predicted by the model of the other folds.

    Exact, and without fitting a fold: one scan counts them all, and the model of the other folds is a sum of their cells.
    So the answer is that of a fit for every fold. What has no such sum is fitted to the other folds, one by one: trees,
    bins that are cut by the class, and rows without a class, which are in every fit. Rows count by the weight of the fit.
    What it reads stays in temporary tables of the connection until that is closed. The whole `evaluation` scores the rows
    again, when it is asked for.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class.
        folds: how many; rows are dealt so that every fold has its share of every class, the same rows always alike. "loo" is
            leave-one-out: every row is predicted by the model of all others, taken out of the counts as it is scored.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        bins: parts of the calibration.
        classes: all labels that there may be, as in `fit`; a fold without a row of one has its limit of smoothing.
        options: the options of `fit` that describe the model.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i % 2 AS x FROM range(60) AS r(i)")
    >>> nbsql.cross_validate(con, "t", target="y", folds="loo").accuracy
    1.0
    """
    settings = with_changes(Options.of(target, options), classes=classes)
    with opened(con) as engine, engine.transaction():
        rows = join_source(engine, weigh_by_age(engine, engine.source(source), target, settings.weight), settings.joins)
        try:
            return run_cross_validation(engine, rows, with_current_weight(settings), folds=folds, fold=fold, bins=bins)
        finally:
            rows.release()


def dependence(
    con: Connection, source: Any, *, target: str, columns: Sequence[str] | None = None, **options: Unpack[Fitting]
) -> Query:
    """How much each pair of columns tells of each other within the classes, before a model: `Model.dependence` of a fit.

    A row a pair, the most dependent first: feature, other, n, mutual_information, by_chance, gain, family. Where gain is
    large, naive Bayes counts the same evidence twice: write the family, leave one of the two out, or take many pairs
    together with `nbsql.TAN`.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class.
        columns: which to compare; None: all features. The pairs grow with their square.
        options: the options of `fit` that describe the model.

    Raises:
        InputError: an argument or the data cannot be used, or there are no two columns to compare.

    >>> import duckdb, nbsql
    >>> data = "SELECT i % 2 AS y, 'a' || i // 2 % 4 AS a, 'a' || i // 2 % 4 AS again FROM range(320) AS t(i)"
    >>> [(row[0], row[1], row[-1]) for row in nbsql.dependence(duckdb.connect(), data, target="y")]
    [('a', 'again', 'nbsql.Joint(["a", "again"])')]
    """
    settings = Options.of(target, options)
    with opened(con) as engine:
        rows = join_source(engine, weigh_by_age(engine, engine.source(source), target, settings.weight), settings.joins)
        spec = resolve(rows.columns, candidates(with_current_weight(settings))[0], rows.label)
        return dependence_query(engine, spec, rows.label, rows, columns)


def sweep(
    con: Connection,
    source: Any,
    *,
    target: str,
    alpha: float | Sequence[float | None] | None = None,
    prior: PriorArgument | Sequence[PriorArgument] = "empirical",
    families: Mapping[str, str | Family] | Sequence[Mapping[str, str | Family]] | None = None,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    by: By = "log_loss",
    classes: Sequence[Any] | None = None,
    **options: Unpack[Modelling],
) -> Sweep:
    """Which settings predict best: every combination of the lists is cross-validated, as `cross_validate` does.

    The rows are counted once: a smoothing, a prior or an estimate changes no count, and a feature of several families is
    counted once for each. The winner's model is made of these counts, which stay in a temporary table of the connection.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class.
        alpha: pseudo-counts, one or a list; None is that of a fit: 1, and 0 for the joint method.
        prior: priors of the classes, one or a list.
        families: overrides of the inferred families, one dictionary or a list.
        folds: how many; rows are dealt so that every fold has its share of every class, the same rows always alike. "loo" is
            leave-one-out: every row is predicted by the model of all others, taken out of the counts as it is scored.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        by: "log_loss" or "accuracy", which ranks the settings; the other decides a tie.
        classes: all labels that there may be, as in `fit`; the winner's model has them.
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
    refuse_half_life(options)
    shared = with_changes(Options.of(target, options), classes=classes)
    with opened(con) as engine, engine.transaction():
        rows = join_source(engine, engine.source(source), shared.joins)
        try:
            return run_sweep(
                engine, rows, shared, alpha=alpha, prior=prior, families=families or {}, folds=folds, fold=fold, by=by
            )  # fmt: skip
        finally:
            rows.release()


def auto(
    con: Connection,
    source: Any,
    *,
    target: str,
    leave_out: bool = True,
    calibrate: bool = True,
    methods: Sequence[Method] = METHODS,
    folds: int = FOLDS,
    fold: str | None = None,
    budget: int | None = BUDGET,
    classes: Sequence[Any] | None = None,
    **options: Unpack[Fitting],
) -> Auto:
    """The families of the columns that predict best, and the method, chosen by exact cross-validated log loss.

    Candidates follow from the values: of numbers gaussian, lognormal, gamma, beta, exponential, poisson and geometric where
    they fit, zero-inflated ones where some are 0, bins of quantiles and those that the classes cut, a kernel, and categories
    of few whole numbers; of texts categories of several pseudo-counts, or words; missing values as a category, where there are
    some; and to leave the column out. All but what the classes cut are counted at once; bins by "mdl" are cut and counted anew
    for each fold, by the classes of the others. What each candidate adds to a row by the model of the other folds is computed
    once: a score is a sum of the features' log-likelihoods, so that every combination is arithmetic on these. First each column
    is taken by itself, then round the columns until nothing gains; a gain counts that is above two of its standard errors, and
    ties go to the default. A temperature is chosen with the families, and has to earn its place by folds, too. Other methods
    (`methods`) are then held against that on the same folds, each fitted anew to the other folds if its counts are no sum of
    theirs; they have the families of `families`, and texts as words where that was chosen. Ties go to naive Bayes.

    It reads the source once each for the facts of its columns, for the edges of the bins and the range of the kernel of a
    number column, to deal the folds, to count all numbers, to count a category, and to score some twenty candidates; for each
    fold of its others to cut the bins of a number column and to count all these, and of its own to score them; then,
    of a method, what a fit of it reads and a score, once a fold. Of more rows than `budget` two reads make a table of so
    many, and all else is of that. `best()` fits once more.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class.
        leave_out: whether a column may be left out.
        calibrate: whether a temperature may be chosen, too.
        methods: the classifiers that are tried, as `method` of a fit takes them; "naive" always is, as what others must be
            better than. ["naive"] chooses families alone.
        folds: how many; rows are dealt so that every fold has its share of every class, the same rows always alike.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        budget: how many rows to judge on, about; of more, a hash of their columns takes these, always the same ones. None: all.
        classes: all labels that there may be, as in `fit`; the best model has them, and no kernel is tried.
        options: those of `fit` that say what to model; a column with a family there keeps it.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb
    >>> data = "SELECT i % 2 = 0 AS even, exp((i * 7919 % 100) / 20 + 3 * (i % 2)) AS x FROM range(400) AS t(i)"
    >>> found = auto(duckdb.connect(), data, target="even")
    >>> found.families["x"].name
    'binned'
    """
    refuse_half_life(options)
    settings = with_changes(Options.of(target, options), classes=classes)
    with opened(con) as engine, engine.transaction():
        found = join_source(engine, engine.source(source), settings.joins)
        try:
            choice = choose(
                engine, found, settings, leave_out=leave_out, calibrate=calibrate, folds=folds, fold=fold, budget=budget,
                methods=methods,
            )  # fmt: skip
        finally:
            found.release()
    chosen = choice.options(settings)
    if fold is not None:
        chosen = with_changes(chosen, exclude=[*chosen.exclude, fold])

    def make(name: str | None, *, replace: bool, database: str | None) -> Model:
        with engine.transaction():
            place = place_for(engine, name, database, replace=replace)
            rows = join_source(engine, engine.source(source), settings.joins)
            try:
                model = place.publish(*Fit(engine, rows, chosen, place.relations).run(replaces=place.replaces))
            finally:
                rows.release()
            if choice.calibrated:
                model.calibrate(source, folds=folds)
            return model

    return make_auto(engine, choice, make)
