"""Functions that compare models before one is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any, Literal

from nbsql.engines.connect import Connection, opened
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source, column_names
from nbsql.evaluation.gain import best_gain
from nbsql.evaluation.learnt import remember
from nbsql.evaluation.profile import dependence_by_spec
from nbsql.evaluation.validation import CrossValidation
from nbsql.evaluation.validation import cross_validate as run_cross_validation
from nbsql.learning.fit import fit as fit_source
from nbsql.learning.half_life import refuse_half_life, with_current_weight
from nbsql.learning.joins import training_source
from nbsql.learning.look import keys_of
from nbsql.learning.one_hot import categories_of_flags, with_categories
from nbsql.model import Model
from nbsql.model.destination import Destination, destination_for
from nbsql.queries.query import Query
from nbsql.spec.keywords import ModelOptions
from nbsql.spec.method import Method
from nbsql.spec.options import Options, Target, candidate_options
from nbsql.spec.resolve import resolve
from nbsql.spec.signature import shows_options
from nbsql.spec.used import check_used
from nbsql.tuning.auto import FOLDS, check_settings, choose
from nbsql.tuning.budget import ENOUGH_ROWS, Budget, sampled_source
from nbsql.tuning.choice import Auto, calibrate_as_chosen, chosen_options
from nbsql.tuning.comparison import MOST_SHRINKAGE
from nbsql.tuning.held_out import judge, keep_aside
from nbsql.tuning.methods import METHODS
from nbsql.warn import quietly

if TYPE_CHECKING:
    from typing_extensions import Unpack


@shows_options(ModelOptions)
def cross_validate(
    con: Connection,
    source: Any,
    *,
    target: str | Target,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    bins: int = 10,
    **options: Unpack[ModelOptions],
) -> CrossValidation:
    """How well models of `target` predict unseen rows: every row is predicted by the model of the other folds.

    The result is exactly that of fitting a model for each fold, but no fold is fitted: one scan counts all folds, and the
    model of the other folds is a sum of their cells. Models that are not such sums are fitted to the other folds, one by one:
    trees, bins that are cut by the class, and models that learn from rows without a class, which are part of every fit. Rows
    count by the weight of the fit. Intermediate results stay in temporary tables until the connection is closed. The full
    `evaluation` scores the rows again when it is read.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class, or an `nbsql.Target` with all possible labels. In a fold without a row of some
            class, that class then has its limit of smoothing.
        folds: the number of folds, at most that of the rows, or 10. Every fold has its share of every class, and the same rows
            are always split alike. "loo" is leave-one-out: every row is predicted by the model of all other rows, by taking it
            out of the counts as it is scored. With words, or counts in several columns, at most 500 rows are left out so.
        fold: a column that holds the fold of each row, instead of a number of folds. It is not a feature. Rows where it is
            NULL are in no fold.
        bins: the number of bins of the calibration.
        options: the options of `fit` that describe the model.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i % 2 AS x FROM range(60) AS r(i)")
    >>> nbsql.cross_validate(con, "t", target="y", folds="loo").accuracy
    1.0
    """
    settings = Options.of(target, options)
    with opened(con) as engine, engine.transaction():
        rows = training_source(engine, source, settings)  # not released here: the evaluation may read it later
        current = with_current_weight(settings)
        check_used(current, resolve(rows.columns, candidate_options(current)[0], rows.label))
        found = run_cross_validation(engine, rows, current, folds=folds, fold=fold, bins=bins)

    def gain() -> str:
        with engine.transaction():
            return best_gain(engine, rows, current, fold)

    return with_changes(found, _gain=gain)


@shows_options(ModelOptions)
def dependence(
    con: Connection, source: Any, *, target: str | Target, columns: Sequence[str] | None = None, **options: Unpack[ModelOptions]
) -> Query:
    """How strongly each pair of columns depends on each other within the classes: `Model.dependence`, before a model is fitted.

    The rows are pairs, the most dependent first: feature, other, n, mutual_information, by_chance, gain, family. Where the
    gain is large, naive Bayes counts the same evidence twice: use the family given there, leave out one of the two columns,
    or model many pairs with `nbsql.TAN`.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class.
        columns: the columns to compare; None is all features. The number of pairs grows with their square.
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
        rows = training_source(engine, source, settings)
        spec = resolve(rows.columns, candidate_options(with_current_weight(settings))[0], rows.label)
        return dependence_by_spec(engine, spec, rows.label, rows, None if columns is None else column_names(columns))


@shows_options(ModelOptions)
def auto(
    con: Connection,
    source: Any,
    *,
    target: str | Target,
    leave_out: bool = True,
    calibrate: bool = True,
    methods: Sequence[Method] = METHODS,
    folds: int = FOLDS,
    fold: str | None = None,
    budget: int | str | None = ENOUGH_ROWS,
    **options: Unpack[ModelOptions],
) -> Auto:
    """The families of the columns, and the method, that predict best, chosen by exact cross-validated log loss.

    The values of a column say which families to try for it. A score is a sum of the features' log-likelihoods, so every
    combination of families is judged by adding contributions, without another fit. Another family must gain more than two
    standard errors, and another method more than one; ties go to the default, and to naive Bayes. A sixth of the rows, or the
    last fold of `fold`, is kept aside, and the choice is judged on it at the end: `held_out`. The page on choosing
    families (`nbsql help choose-families`) lists the candidates, and says how they are searched and how often
    the rows are read.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class, or an `nbsql.Target` with all possible labels, which the best model has, too;
            no kernel is tried then.
        leave_out: whether a column may be left out.
        calibrate: whether a temperature may be chosen, and posteriors drawn toward the priors as far as luck explains them.
        methods: the classifiers to try, as `method` of a fit takes them. "naive" is always tried, and the others must be
            better. ["naive"] chooses families alone.
        folds: the number of folds, into which rows are split as for `cross_validate`.
        fold: a column that holds the fold of each row instead, as for `cross_validate`.
        budget: about how many rows to use. If there are more, a hash of their columns selects them, always the same ones. None
            is all rows. "auto" is 10,000, or up to 50,000 if fewer than 1,000 of these are of another class than the most
            frequent one. A text such as "30 s" or "2 min" is about how long to search, on as many rows as by default: nothing
            new is begun when it is over, and `not_tried` says what was not.
        options: the options of `fit` that describe the model; a column with a family there keeps it.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb
    >>> data = "SELECT i % 2 = 0 AS even, exp((i * 7919 % 997) / 200 + 3 * (i % 2)) AS x FROM range(400) AS t(i)"
    >>> found = auto(duckdb.connect(), data, target="even")
    >>> found.families["x"].name
    'binned'
    """
    refuse_half_life(options)
    settings, limit = Options.of(target, options), Budget.of(budget)

    def fit(data: Source, fitted: Options, place: Destination) -> Model:
        return place.publish(*fit_source(engine, data, fitted, place.relations, replaces=place.replaces))

    def make(name: str | None, *, replace: bool, database: str | None) -> Model:
        with engine.transaction(name), quietly("one bin only"):  # the search has tried other bins
            model = fit(data, chosen, destination_for(engine, name, database, replace=replace))
            remember(model.state, data)
            return calibrate_as_chosen(model, choice, data.facts, folds)

    check_settings(settings)
    with opened(con) as engine, engine.transaction():
        read = engine.source(source)
        found = categories_of_flags(engine, read, settings.excluding(*([] if fold is None else [fold])))
        settings = with_categories(settings, found)
        data = training_source(engine, read, settings)  # not released here: the best model reads it
        settings = settings.excluding(*keys_of(data))  # the other methods take no look
        with engine.temporaries() as temporary:
            sampled = sampled_source(engine, data, settings, fold, limit, temporary)
            seen, aside = keep_aside(engine, sampled, settings, fold, temporary)
            choice = choose(
                engine, seen, settings, leave_out=leave_out, calibrate=calibrate, folds=folds, fold=fold, budget=limit,
                methods=methods, whole=sampled,
            )  # fmt: skip
            chosen = chosen_options(choice, settings).excluding(*([] if fold is None else [fold]))
            if aside is not None:
                weight = settings.weight if isinstance(settings.weight, str) else None
                with quietly():  # the fit of the best will warn of the same
                    priors = fit(seen, with_changes(chosen, features=[], families={}, method="naive"), _transient(engine))
                    best = calibrate_as_chosen(
                        fit(seen, chosen, _transient(engine)), choice, seen, folds, choice.temperature
                    )  # fmt: skip
                    held_out = judge(best, priors, aside, weight)
                    is_worse = calibrate and held_out is not None and held_out.is_worse
                    shrinkage = MOST_SHRINKAGE if is_worse else choice.shrinkage
                    choice = with_changes(choice, held_out=held_out, shrinkage=shrinkage)
        check_used(settings, resolve(data.columns, candidate_options(chosen)[0], data.label))
    exclude = [*choice.exclude, *(name for columns, _ in found.values() for name in columns)]
    derive = {name: expression for name, (_, expression) in found.items()}
    encoded = {name: columns for name, (columns, _) in found.items()}
    return with_changes(choice, is_sample=sampled is not data, exclude=exclude, derive=derive, _encoded=encoded, _make=make)


def _transient(engine: Engine) -> Destination:
    """A place for a model without a name."""
    return destination_for(engine, None, None, replace=False)
