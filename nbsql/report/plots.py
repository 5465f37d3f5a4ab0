"""`model.plot`: one method for each panel."""

from typing import Any, NoReturn

from nbsql.errors import InputError, listed
from nbsql.family.checks import whole_number
from nbsql.learning.follow import learn_changes
from nbsql.learning.model_source import read_source
from nbsql.queries.table import Displayed, Table
from nbsql.report.panel import Request, distinct_names
from nbsql.report.panels import PANELS, panel_named
from nbsql.report.picture import Picture
from nbsql.report.scored_source import files_read, score_source
from nbsql.storage.state import ModelState


@distinct_names()
def picture(
    state: ModelState,
    name: str,
    source: Any = None,
    *,
    feature: str | None = None,
    classes: tuple[Any, Any] | None = None,
    row: int | None = None,
    least: int | None = None,
    folds: int | str | None = "auto",
    by: str | None = None,
    reference: Any = None,
) -> Picture:
    """The picture of a panel; the arguments are those of the methods of `Plots`.

    Raises InputError if there is no such panel, it needs a source or it does not use an argument, ModelError if the model has
    nothing to show.
    """
    panel = panel_named(name)
    least, least_to_tell = (1, 5) if least is None else (whole_number(least, "least"),) * 2
    if panel.needs_source and source is None:
        raise InputError(f"{name} is about rows whose class is known; give them as the source")
    chosen = () if row is None else (whole_number(row, "row"),)
    if chosen and not panel.shows_rows:
        raise InputError(f"row is of a waterfall, and {name} shows no rows; leave it out")
    state = learn_changes(state.refreshed())
    if panel.of_periods:
        if source is None or by is None:
            raise InputError(
                f"{name} is about rows of several periods; give them as the source, and ⟨by⟩, which says the period"
            )
        against = None
        if reference is not None:
            state, against = read_source(state, reference)
        state, watched = read_source(state, source)
        request = Request(state, least=least, watched=watched, against=against, by=by)
        return Picture(panel, next(iter(panel.drawn(request))), files_read(state, watched, against))
    if panel.of_feature and feature is None and len(state.spec.features) == 1:
        feature = state.spec.features[0].name
    with score_source(state, source, folds) as (state, found):
        request = Request(state, found, least, least_to_tell, 1, chosen, feature, classes)
        return Picture(panel, next(iter(panel.drawn(request))), files_read(state, None if found is None else found.source))


class Plots(Displayed):
    """The pictures of a model, which `model.plot` lists. Each is displayed, and has `.spec`, `.sql` and `.save(path)`."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        needs = {panel.name: "source, by" if panel.of_periods else "source" if panel.needs_source else "" for panel in PANELS}
        rows = [[f"model.plot.{panel.name}({needs[panel.name]})", panel.question] for panel in PANELS]
        return ["pictures of the model; each has .save(path), for .svg, .png, .pdf, .html or .json"], [
            Table(["picture", "question"], rows, widest=80)
        ]

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Say how a picture is made."""
        raise InputError(
            f"model.plot has a method for each picture, such as model.plot.ranking(): {listed(p.name for p in PANELS)}"
        )

    def card(self, *, least: int | None = None) -> Picture:
        """The model in short: its classes, their priors, and its ledger."""
        return picture(self._state, "card", least=least)

    def data(self) -> Picture:
        """What was counted of each feature: the share of rows with a value, its distinct values, and notes on odd ones."""
        return picture(self._state, "data")

    def verdict(self, source: Any = None, *, folds: int | str | None = "auto") -> Picture:
        """The metrics on the rows of `source`, compared with the priors alone; without a source, the best that is possible."""
        return picture(self._state, "verdict", source, folds=folds)

    def ranking(self) -> Picture:
        """The features by their mutual information with the class, and the shares of their missing values."""
        return picture(self._state, "ranking")

    def profile(self, feature: str | None = None, source: Any = None, *, least: int | None = None) -> Picture:
        """A feature: shares of categories, densities of a number (over a histogram of `source`), or informative words."""
        return picture(self._state, "profile", source, feature=feature, least=least)

    def discrimination(self, a: Any = None, b: Any = None, *, least: int | None = None) -> Picture:
        """The values that distinguish class `a` from class `b`; by default the two most probable classes."""
        if (a is None) != (b is None):
            raise InputError("discrimination is between two classes; give both, or none")
        return picture(self._state, "discrimination", classes=None if a is None else (a, b), least=least)

    def nomogram(self, *, least: int | None = None) -> Picture:
        """The contributions of each value to the total of every class, and the posterior of the chosen values."""
        return picture(self._state, "nomogram", least=least)

    def waterfall(self, source: Any, *, row: int | None = None) -> Picture:
        """An explanation of row `row` of `source`, from 1; by default of the row that the model is surest of, and right."""
        return picture(self._state, "waterfall", source, row=row)

    def confusion(self, source: Any, *, least: int | None = None, folds: int | str | None = "auto") -> Picture:
        """The confusion matrix on `source`: which classes are predicted for which."""
        return picture(self._state, "confusion", source, least=least, folds=folds)

    def threshold(self, source: Any, *, least: int | None = None, folds: int | str | None = "auto") -> Picture:
        """Precision, recall, share flagged and cost by threshold, and the same point on the ROC and PR curves."""
        return picture(self._state, "threshold", source, least=least, folds=folds)

    def reliability(self, source: Any, *, least: int | None = None, folds: int | str | None = "auto") -> Picture:
        """The accuracy of predictions by posterior; for a calibrated model before and after calibration."""
        return picture(self._state, "reliability", source, least=least, folds=folds)

    def lift(self, source: Any, *, least: int | None = None, folds: int | str | None = "auto") -> Picture:
        """The share of a class that is found among the rows most likely to be of it."""
        return picture(self._state, "lift", source, least=least, folds=folds)

    def slices(self, source: Any, *, least: int | None = None) -> Picture:
        """The accuracy by values of the features, the values that are most certainly bad first."""
        return picture(self._state, "slices", source, least=least, folds=None)

    def drift(self) -> Picture:
        """The drift of each feature from slice to slice, or from batch to batch."""
        return picture(self._state, "drift")

    def monitor(self, source: Any, *, by: str, reference: Any = None, least: int | None = None) -> Picture:
        """The drift of features from period to period, and the metrics of the model; see `Model.monitor`."""
        return picture(self._state, "monitor", source, by=by, reference=reference, least=least)

    def dependence(self, source: Any) -> Picture:
        """The conditional mutual information of features within the classes, where the naive assumption is violated."""
        return picture(self._state, "dependence", source)
