"""Which settings predict best: every one is cross-validated, and the rows are counted once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.family import Family, choice, named
from nbsql.judging.coded import judge
from nbsql.judging.folds import estimates, resolved
from nbsql.judging.leave_one_out import check_folds, deal
from nbsql.making import place_for
from nbsql.model import Model
from nbsql.plan import Entry
from nbsql.query import Query
from nbsql.spec import Options

By = Literal["log_loss", "accuracy"]


@dataclass(frozen=True)
class Sweep:
    """How well each of some settings predicts rows that it has not met, the best first.

    Args:
        rows: predicted by every setting.
        by: what ranks them, "log_loss" or "accuracy"; the other decides a tie, and then the order in which they were given.
        ranking: a row a setting: rank, alpha, prior, families, accuracy, log_loss.
        settings: the arguments of a fit that each setting is, in the same order: alpha, prior, families.
    """

    rows: int
    by: str
    ranking: Query
    settings: Sequence[Mapping[str, Any]]
    _make: Callable[..., Model] = field(repr=False)

    def best(self, *, name: str | None = None, replace: bool = False, database: str | None = None) -> Model:
        """The model of the best setting, of all rows of the sweep; from the counts, without another look at the rows.

        Args:
            name: of the model. None makes a transient model.
            replace: take the place of the model of that name.
            database: the attached database to keep the model in; None for the current one.

        Raises:
            ModelError: the name is taken.
        """
        return self._make(name, replace=replace, database=database)

    def __repr__(self) -> str:
        lines = [f"{self.rows:,} rows predicted by {len(self.settings)} setting{'' if len(self.settings) == 1 else 's'}", ""]
        lines += [f"{'rank':>4}  {'alpha':>8}  {'prior':<12}  {'accuracy':>8}  {'log loss':>8}  families"]
        for rank, alpha, prior, families, accuracy, log_loss in self.ranking:
            lines.append(f"{rank:>4}  {alpha:>8g}  {prior:<12}  {accuracy:>8.4f}  {log_loss:>8.4f}  {families}".rstrip())
        return "\n".join(lines)


def sweep(
    engine: Engine,
    source: Source,
    options: Options,
    *,
    alpha: Any,
    prior: Any,
    families: Any,
    folds: int | str,
    fold: str | None,
    by: By,
) -> Sweep:
    """Sweep within a transaction of the caller's; see `nbsql.sweep`.

    Args:
        engine: where.
        source: what to learn from and to predict.
        options: what all settings have.
        alpha: one, or a list.
        prior: one, or a list.
        families: one, or a list.
        folds: how many.
        fold: the column that says the fold of a row, instead.
        by: what ranks the settings.
    """
    choice(by, By, "by")
    check_folds(folds, fold)
    lists = (_listed(alpha, "alpha"), _listed(prior, "prior"), _listed(families, "families"))
    settings = [{"alpha": a, "prior": p, "families": f} for a, p, f in itertools.product(*lists)]
    wanted = [replace(options, **setting) for setting in settings]
    if "smoothed" in lists[1]:  # the pseudo-count is of those settings alone
        wanted = [each if each.prior == "smoothed" else replace(each, prior_alpha=None) for each in wanted]
    with engine.temporaries() as temporary, engine.temporaries(staying=True) as staying:

        def table(part: str) -> Markup:
            return staying(part) if part == "cells" else temporary(part)

        dealt = deal(engine, source, resolved(source, wanted, fold), table, folds=folds, fold=fold)
        distinct = {estimates(spec): spec for spec in dealt.specs}  # settings may differ in nothing: numbers have no alpha
        known = dict(zip(distinct, map(_total, judge(dealt, list(distinct.values()))), strict=True))
        scores = [known[estimates(spec)] for spec in dealt.specs]
    order = sorted(range(len(settings)), key=lambda number: _rank(scores[number], by))
    rows = [(rank, *_texts(wanted[number]), *scores[number][1:]) for rank, number in enumerate(order, start=1)]
    best = dealt.specs[order[0]]

    def make(name: str | None, *, replace: bool, database: str | None) -> Model:
        with engine.transaction():
            place = place_for(engine, name, database, replace=replace)
            return place.publish(*place.derive(best, dealt.whole(best), [Entry(1, "1", "fit", source.label, dealt.rows)]))

    ranking = Query(engine, engine.renderer.statement("ranking", rows))
    return Sweep(scores[0][0], by, ranking, [settings[number] for number in order], make)


def _listed(values: Any, name: str) -> list[Any]:
    """One value, or a list of them, as a list."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        return [values]
    found = list(values)
    if not found:
        raise InputError(f"{name} must be a value or a list of at least one, not {values!r}")
    return found


def _total(folds: Sequence[Sequence[Any]]) -> tuple[int, float, float]:
    """Rows, accuracy and log loss of all folds."""
    weight = sum(row[2] for row in folds)
    accuracy, log_loss = (sum(row[2] * row[index] for row in folds) / weight for index in (3, 4))
    return sum(row[1] for row in folds), accuracy, log_loss


def _rank(score: tuple[int, float, float], by: str) -> tuple[float, float]:
    _, accuracy, log_loss = score
    return (log_loss, -accuracy) if by == "log_loss" else (-accuracy, log_loss)


def _texts(setting: Options) -> tuple[float, str, str]:
    """A setting as the ranking shows it: families as the command line takes them."""
    prior, families = setting.prior, setting.families
    alpha = 0.0 if setting.alpha is None and setting.method == "joint" else setting.pseudo_count
    shown = ", ".join(f"{label}={p:g}" for label, p in prior.items()) if isinstance(prior, Mapping) else prior
    return alpha, shown, ", ".join(f"{column}={_family(value)}" for column, value in families.items())


def _family(value: str | Family) -> str:
    family = named(value)
    options: list[str] = []
    for item in fields(family):
        found = getattr(family, item.name)
        if item.name == "columns":
            options += map(str, found)
        elif found != item.default and found not in ((), {}):
            options.append(f"{item.name}={found}")
    return family.name + (f"({', '.join(options)})" if options else "")
