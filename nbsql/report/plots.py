"""`model.plot`: a picture a panel."""

from __future__ import annotations

from typing import Any

from nbsql.errors import InputError
from nbsql.report.panel import Figure, Request, check_least
from nbsql.report.panels import panel_named
from nbsql.report.picture import Picture
from nbsql.report.subject import Subject, score_source


def picture(
    model: Subject,
    name: str,
    source: Any = None,
    *,
    feature: str | None = None,
    classes: tuple[Any, Any] | None = None,
    row: int = 1,
    least: int = 5,
    folds: int | str | None = "auto",
    by: str | None = None,
    reference: Any = None,
) -> Picture:
    """The picture of a panel.

    Args:
        model: of which.
        name: of the panel.
        source: rows whose class is known; some panels need them.
        feature: of a profile; None: the only one.
        classes: two to be told apart; None: the most probable ones.
        row: of a waterfall: which of the rows that tell most.
        least: counts below are folded together.
        folds: by which rows that the model has learnt are judged; see `Model.report`.
        by: what period a row is of; see `Model.monitor`.
        reference: rows that periods are held against.

    Raises:
        InputError: there is no such panel, it needs a source, or an argument is of no use.
        ModelError: the model has nothing to show.
    """
    panel = panel_named(name)
    check_least(least)
    if panel.needs_source and source is None:
        raise InputError(f"{name} is about rows whose class is known; give them as the source")
    if isinstance(row, bool) or not isinstance(row, int) or row < 1:
        raise InputError(f"row must be a whole number of at least 1, not {row!r}")
    model._refresh()
    if panel.of_periods:
        if source is None or by is None:
            raise InputError(f"{name} is about rows of several periods; give them as the source, and by, which says the period")
        against = None if reference is None else model._source(reference)
        request = Request(model, least=least, watched=model._source(source), against=against, by=by)
        return Picture(panel, next(iter(panel.figures(request))))
    if panel.of_feature and feature is None and len(model._spec.features) == 1:
        feature = model._spec.features[0].name
    with score_source(model, source, folds) as found:
        request = Request(model, found, least, row if row > 4 else 4, feature, classes)
        figures: list[Figure] = list(panel.figures(request))
    if row > len(figures):
        raise InputError(f"there is no row {row}; {len(figures)} rows tell most")
    return Picture(panel, figures[row - 1])


class Plots:
    """The pictures of a model, `model.plot`. Each shows itself in a notebook, and has `.spec`, `.sql` and `.save(path)`."""

    def __init__(self, model: Subject) -> None:
        self._model = model

    def card(self, *, least: int = 5) -> Picture:
        """What the model is: its classes, their priors, what it has learnt from."""
        return picture(self._model, "card", least=least)

    def verdict(self, source: Any = None, *, folds: int | str | None = "auto") -> Picture:
        """Whether it is any good on the rows of `source`, beside knowing the priors alone; without any, what can be at best."""
        return picture(self._model, "verdict", source, folds=folds)

    def ranking(self) -> Picture:
        """What matters: the features by their mutual information with the class, and how often they are missing."""
        return picture(self._model, "ranking")

    def profile(self, feature: str | None = None, source: Any = None, *, least: int = 5) -> Picture:
        """What a feature says: shares of categories, densities of a number (over a histogram of `source`), telling words."""
        return picture(self._model, "profile", source, feature=feature, least=least)

    def discrimination(self, a: Any = None, b: Any = None, *, least: int = 5) -> Picture:
        """What tells class `a` from class `b`; of the two most probable classes, if nothing is said."""
        if (a is None) != (b is None):
            raise InputError("discrimination is between two classes; give both, or none")
        return picture(self._model, "discrimination", classes=None if a is None else (a, b), least=least)

    def nomogram(self, *, least: int = 5) -> Picture:
        """What if: what each value adds to the total of every class, and the posterior of the values that are chosen."""
        return picture(self._model, "nomogram", least=least)

    def waterfall(self, source: Any, *, row: int = 1) -> Picture:
        """Why a row of `source` is predicted so; `row` is one of those that tell most: surest right, surest wrong, ..."""
        return picture(self._model, "waterfall", source, row=row)

    def confusion(self, source: Any, *, least: int = 5, folds: int | str | None = "auto") -> Picture:
        """Which classes of `source` are taken for which."""
        return picture(self._model, "confusion", source, least=least, folds=folds)

    def threshold(self, source: Any, *, least: int = 5, folds: int | str | None = "auto") -> Picture:
        """Where to cut: precision, recall, share flagged and cost by the threshold, and the same point on ROC and PR."""
        return picture(self._model, "threshold", source, least=least, folds=folds)

    def reliability(self, source: Any, *, least: int = 5, folds: int | str | None = "auto") -> Picture:
        """Whether posteriors are as often right as they say; of a calibrated model before and after."""
        return picture(self._model, "reliability", source, least=least, folds=folds)

    def lift(self, source: Any, *, least: int = 5, folds: int | str | None = "auto") -> Picture:
        """How deep to go: the share of a class that is found among the rows most likely to be of it."""
        return picture(self._model, "lift", source, least=least, folds=folds)

    def slices(self, source: Any, *, least: int = 5) -> Picture:
        """Where it is worst: the accuracy by the values of the features, the surely worst first."""
        return picture(self._model, "slices", source, least=least, folds=None)

    def drift(self) -> Picture:
        """Whether the world has moved: how far each feature has, from slice to slice, or from batch to batch."""
        return picture(self._model, "drift")

    def monitor(self, source: Any, *, by: str, reference: Any = None, least: int = 5) -> Picture:
        """Whether it is still good: what has moved from period to period, and how well the model does; see `Model.monitor`."""
        return picture(self._model, "monitor", source, by=by, reference=reference, least=least)

    def dependence(self, source: Any) -> Picture:
        """Where naive is wrong: how much features tell of each other within the classes."""
        return picture(self._model, "dependence", source)
