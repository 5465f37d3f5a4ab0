"""Sweeps: every setting is cross-validated, and the rows are counted once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from nbsql.engines.connect import Connection, opened
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, counted
from nbsql.evaluation.leave_one_out import check_folds, make_folds
from nbsql.family import Binned, Family, named
from nbsql.family.checks import choice
from nbsql.learning.copies import warn_of_copies
from nbsql.learning.folds import resolve_settings, summarise_folds
from nbsql.learning.half_life import refuse_half_life
from nbsql.learning.joins import training_source
from nbsql.model import Model
from nbsql.model.destination import destination_for
from nbsql.plan import Entry
from nbsql.queries.query import Query
from nbsql.queries.table import Displayed, Table
from nbsql.spec.estimating import estimation_key
from nbsql.spec.keywords import BaseFitOptions
from nbsql.spec.options import Options, PriorArgument, Smoothed, Target
from nbsql.spec.signature import shows_options
from nbsql.spec.used import check_families_used, check_used

if TYPE_CHECKING:
    from typing_extensions import Unpack

By = Literal["log_loss", "accuracy"]
RANKED = ("rank", "alpha", "prior", "families", "accuracy", "log_loss")
ALPHAS = (0.01, 0.1, 0.5, 1.0, 2.0, 10.0)  # the pseudo-counts that are tried if no list of anything is given


class Ranking(Displayed):
    """Settings, the best first."""

    _make: Callable[..., Model]

    def best(self, *, name: str | None = None, replace: bool = False, database: str | None = None) -> Model:
        """The model of the best setting on all rows. A sweep makes it from the counts, without reading the rows again.

        Args:
            name: the name of the model. None makes a transient model.
            replace: whether to replace an existing model of that name.
            database: the attached database to store the model in; None is the current one.

        Raises:
            ModelError: the name is taken.
        """
        return self._make(name, replace=replace, database=database)


@dataclass(frozen=True, repr=False)
class Sweep(Ranking):
    """The settings of a sweep, ranked by how well they predict unseen rows, the best first.

    Args:
        rows: the number of rows predicted by each setting.
        by: the metric that ranks them, "log_loss" or "accuracy". Ties are broken by the other metric, then by the given
            order.
        ranking: a row for each setting: rank, alpha, prior, families, accuracy, log_loss.
        settings: the arguments of a fit for each setting, in the same order: alpha, prior, families.
        optimism: about how much too good the figure of the best setting is, because it is the best of several: that of the
            metric, from the folds (Tibshirani and Tibshirani, A bias correction for the minimum error rate in
            cross-validation, Annals of Applied Statistics 3, 2009). None for leave-one-out, which has no folds.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i % 2 AS x FROM range(60) AS r(i)")
    >>> swept = nbsql.sweep(con, "t", target="y", alpha=[0.1, 1], folds=3)
    >>> swept.settings[0]["alpha"]
    0.1
    >>> swept.best().classes
    [0, 1]
    """

    rows: int
    by: str
    ranking: Query
    settings: Sequence[Mapping[str, Any]]
    optimism: float | None
    _make: Callable[..., Model] = field(repr=False)

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        title = f"{counted(self.rows, 'row')} predicted by {counted(len(self.settings), 'setting')}"
        lines = [
            [str(rank), f"{alpha:g}", str(prior), f"{accuracy:.4f}", f"{loss:.4f}", str(families or "")]
            for rank, alpha, prior, families, accuracy, loss in self.ranking
        ]
        headings = ["rank", "alpha", "prior", "accuracy", "log loss", "families"]
        return [title, *self.lines()], [Table(headings, lines, right=[0, 1, 3, 4], widest=200)]

    def lines(self) -> list[str]:
        """By how much the figure of the best setting is too good."""
        if len(self.settings) == 1:
            return []
        if self.optimism is None:
            return ["the figure of the first is too good, as it is the best of these; judge it on rows that it has not seen"]
        figure = f"its {self.by.replace('_', ' ')}"
        return [f"the first is the best of these, which makes {figure} too good by about {self.optimism:.4f}"]


@shows_options(BaseFitOptions)
def sweep(
    con: Connection,
    source: Any,
    *,
    target: str | Target,
    alpha: float | Sequence[float | None] | None = None,
    prior: PriorArgument | Sequence[PriorArgument] = "empirical",
    families: Mapping[str, str | Family] | Sequence[Mapping[str, str | Family] | None] | None = None,
    folds: int | Literal["loo"] = 10,
    fold: str | None = None,
    by: By = "log_loss",
    **options: Unpack[BaseFitOptions],
) -> Sweep:
    """The settings that predict best: every combination of the lists is cross-validated, as by `cross_validate`.

    The rows are counted once, since smoothing, priors and estimates change no count; a feature of several families is counted
    once for each. The best model is made from these counts, which stay in a temporary table of the connection.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        source: table, view, SELECT text, DuckDB relation, or pandas, Polars or Arrow frame.
        target: the column that holds the class, or an `nbsql.Target` with all possible labels, which the best model has, too.
        alpha: the pseudo-count, one value or a list; None is the default of a fit: 1, or 0 for the joint method. If none of
            alpha, prior and families is a list, naive Bayes tries 0.01, 0.1, 0.5, 1, 2 and 10, and for numbers without a
            family also ten bins.
        prior: the priors of the classes, one value or a list.
        families: families that override the inferred ones, one dictionary or a list; None in it is the inferred ones.
        folds: the number of folds, or "loo", which is leave-one-out, as for `cross_validate`.
        fold: a column that holds the fold of each row instead, as for `cross_validate`.
        by: "log_loss" or "accuracy", the metric that ranks the settings; the other breaks ties.
        options: the options of `fit` that describe the model, for all settings.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb
    >>> data = "SELECT i % 2 = 0 AS even, (i % 2 = 0 OR i % 5 = 0)::VARCHAR AS answer FROM range(40) AS t(i)"
    >>> found = sweep(duckdb.connect(), data, target="even", alpha=[100, 1], folds=4)
    >>> [(rank, alpha) for rank, alpha, *_ in found.ranking]
    [(1, 1.0), (2, 100.0)]
    >>> found.best().families["answer"].alpha
    1.0
    """
    refuse_half_life(options)
    shared = Options.of(target, options)
    choice(by, By, "by")
    check_folds(folds, fold)
    with (
        opened(con) as engine,
        engine.transaction(),
        training_source(engine, source, shared) as data,
        engine.temporaries() as temporary,
        engine.temporaries(staying=True) as staying,
    ):

        def table(part: str) -> Markup:
            return staying(part) if part == "cells" else temporary(part)

        if not any(map(_is_list, (alpha, prior, families))):
            alpha, families = _usual_lists(engine, data, shared, fold, alpha, families)
        lists = (as_list(alpha, "alpha"), as_list(prior, "prior"), as_list(families, "families"))
        settings = [{"alpha": a, "prior": p, "families": f or {}} for a, p, f in itertools.product(*lists)]
        options_of_settings = [replace(shared, **setting) for setting in settings]
        specs = resolve_settings(engine, data, options_of_settings, fold)
        warn_of_copies(engine, data, specs[0].columns, fold)
        cv = make_folds(engine, data, specs, table, folds=folds, fold=fold)
        check_used(shared, *cv.specs)
        for given in lists[2]:
            check_families_used(given or {}, estimates=shared.classifier.name != "logistic")
        distinct = {estimation_key(spec): spec for spec in cv.specs}  # settings may be equivalent: numbers have no alpha
        by_fold = {key: cv.score(cv.models(spec)) for key, spec in distinct.items()}
        summaries = {key: summarise_folds(rows) for key, rows in by_fold.items()}
        scores = [summaries[estimation_key(spec)] for spec in cv.specs]

    def rank_key(number: int) -> tuple[float, float]:
        _, accuracy, log_loss = scores[number]
        return (log_loss, -accuracy) if by == "log_loss" else (-accuracy, log_loss)

    order = sorted(range(len(settings)), key=rank_key)
    rows = [
        (rank, *_describe_setting(options_of_settings[number]), *scores[number][1:])
        for rank, number in enumerate(order, start=1)
    ]
    best = cv.specs[order[0]]

    def make(name: str | None, *, replace: bool, database: str | None) -> Model:
        with engine.transaction(name):
            place = destination_for(engine, name, database, replace=replace)
            return place.publish(*place.derive(best, cv.cells_of_all_rows(best), [Entry(1, "1", "fit", data.label, cv.rows)]))

    ranking = Query(engine, engine.renderer.statement("ranked_rows", rows, RANKED, [2, 3]))
    optimism = _optimism(by_fold[estimation_key(best)], list(by_fold.values()), by)
    return Sweep(scores[0][0], by, ranking, [settings[number] for number in order], optimism, make)


def _usual_lists(
    engine: Engine, source: Source, options: Options, fold: str | None, alpha: Any, families: Any
) -> tuple[Any, Any]:
    """What is tried if the user names no list: pseudo-counts, and numbers in bins. What the user gives stays."""
    if options.classifier.name != "naive" or options.estimate not in (None, "mean"):
        return alpha, families
    spec = resolve_settings(engine, source, [options if families is None else replace(options, families=families)], fold)[0]
    numbers = [each.name for each in spec.features if each.is_inferred and each.family.kind == "density"]
    if alpha is None and any(feature.family.smoothed for feature in spec.features):
        alpha = ALPHAS
    if families is None and numbers:
        families = [None, dict.fromkeys(numbers, Binned())]
        alpha = ALPHAS if alpha is None else alpha
    return alpha, families


def _optimism(best: Sequence[tuple[Any, ...]], settings: Sequence[Sequence[tuple[Any, ...]]], by: By) -> float | None:
    """The mean over the folds, by weight, of the error of the best setting less that of the setting that is best in the fold.

    Each is the rows of `Folds.score` of a setting. None if there is only one fold.
    """
    errors = [{row[0]: row[4] if by == "log_loss" else 1 - row[3] for row in rows} for rows in settings]
    if len(best) < 2:
        return None
    own = errors[[*settings].index(best)]
    weights = {row[0]: row[2] for row in best}
    excess = (weights[fold] * (own[fold] - min(each[fold] for each in errors)) for fold in own)
    return math.fsum(excess) / math.fsum(weights.values())


def _is_list(values: Any) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, (str, Mapping))


def as_list(values: Any, name: str) -> list[Any]:
    """The values to try: those of a list, or one value. Raises InputError for an empty list."""
    if not _is_list(values):
        return [values]
    items = list(values)
    if not items:
        raise InputError(f"⟨{name}⟩ must be a value or a list of at least one, not {values!r}")
    return items


def _describe_setting(setting: Options) -> tuple[float, str, str]:
    """A setting as the ranking shows it, with families as the command line takes them."""
    prior, families = setting.prior, setting.families
    alpha = 0.0 if setting.alpha is None and setting.classifier.name == "joint" else setting.pseudo_count
    if isinstance(prior, Mapping):
        shown = ", ".join(f"{label}={p:g}" for label, p in prior.items())
    elif isinstance(prior, Smoothed):
        shown = "smoothed" if prior.alpha is None else f"smoothed({prior.alpha:g})"
    else:
        shown = prior
    return alpha, shown, ", ".join(f"{column}={family_text(value)}" for column, value in families.items())


def family_text(value: str | Family) -> str:
    """A family as the command line takes it."""
    family = named(value)
    options = [*map(str, family.columns)]
    for name, option in family.changed_options.items():
        if name != "columns" and option not in ((), {}):
            options.append(f"{name}={option}")
    return family.name + (f"({', '.join(options)})" if options else "")
