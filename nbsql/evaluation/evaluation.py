"""The result of an evaluation."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from nbsql.errors import Cure, InputError, counted, in_words, listed
from nbsql.evaluation.slices import Slices
from nbsql.family.checks import label as label_text
from nbsql.learning.count import check_weight_sums
from nbsql.queries.query import Query
from nbsql.queries.table import Displayed, Table, plain
from nbsql.spec.rules import RULES
from nbsql.spec.spec import Check

ALL = "all"  # what `learnt` is if a source has all rows that the model has learnt


def rows_in_words(learnt: str | None, share: float) -> str:
    """The rows of an evaluation that a model has learnt: `learnt` and `share_learnt` of the evaluation."""
    return "these rows" if learnt else f"about {share:.0%} of these rows"


_COUNTS = ("rows", "left_out", "unknown", "unexplained")
TABLES = ("intervals", "confusion", "roc", "precision_recall", "calibration", "lift", "thresholds")
QUERIES = ("metrics", *TABLES)
SLICES = ("slices", "slice_intervals")  # present if there are columns to slice by


@dataclass(frozen=True)
class ClassEvaluation:
    """One class against the rest. Undefined numbers are None, such as the recall of a class that never occurs nor is predicted.

    Args:
        label: the class, in its own type.
        support: the number of rows of the class, or their weight.
        precision: the share of the predictions of the class that are right.
        recall: the share of the rows of the class that are predicted as such.
        f1: the harmonic mean of precision and recall.
        roc_auc: how often a row of the class has a higher posterior of it than a row of another class; a tie counts half.
        average_precision: the mean precision over the recalls, without interpolation.
        ks: the largest distance between the shares of its rows and of all others whose posterior is above a threshold, from 0
            to 1 (the statistic of Kolmogorov and Smirnov).

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> first = model.evaluate(data).classes[0]
    >>> first.label, first.precision, first.recall
    ('no', 0.6666666666666666, 1.0)
    """

    label: Any
    support: float
    precision: float | None
    recall: float | None
    f1: float | None
    roc_auc: float | None
    average_precision: float | None
    ks: float | None


@dataclass(frozen=True, repr=False)
class Evaluation(Displayed):
    """How well a model predicted a source: numbers, a table of the classes, and curves as queries.

    The definitions are those of scikit-learn's `metrics`. A row that no class can explain counts as a wrong prediction with a
    posterior of 0 in every class; so does a row whose class the model does not know. The means named `_macro` and `_weighted`
    (by support) are over the classes for which the number is defined.

    Args:
        rows: the number of rows evaluated: rows with a class and a weight above 0.
        weight: their weight; without weights, their number.
        left_out: the number of rows without a class, which are not evaluated.
        unknown: the number of evaluated rows whose class the model does not know.
        unexplained: the number of evaluated rows that no class can explain.
        accuracy: the share of the rows that are predicted right.
        majority: the share of the most frequent class, which is the accuracy of always predicting it.
        balanced_accuracy: the mean recall of the classes that occur.
        log_loss: the mean of -ln p of the true class, in nats; p is kept between 2^-52 and 1 - 2^-52.
        brier: the mean of the sum over the classes of (p - 1 or 0)^2; half of it with two classes.
        calibration_error: the mean gap, over bins, between the probability of a prediction and how often it is right.
        roc_auc: with two classes, that of the larger label; otherwise the macro mean of each class against the rest.
        average_precision: likewise.
        ks: likewise (see `ClassEvaluation`).
        classes: one `ClassEvaluation` for each class, ordered by label.
        metrics: all these numbers: class (NULL for the whole), metric, value.
        intervals: their uncertainty: class (NULL for the whole), metric, value, standard_error, and low and high, the 95 %
            confidence interval for all rows of this kind (shares by Wilson 1927, roc_auc by DeLong et al. 1988, log_loss and
            brier by the error of a mean). A weight w counts as w independent rows. Classes also have selection_rate, the
            share of all rows that are predicted as the class, false_positive_rate, that share among the rows of other
            classes, and false_negative_rate, the share of the rows of the class that are not predicted as such.
        confusion: class, prediction, n.
        roc: class, threshold, false_positive_rate, true_positive_rate.
        precision_recall: class, threshold, precision, recall.
        calibration: class (NULL for the prediction, whatever its class), bin, lower, upper, n, probability, frequency.
        lift: class, depth, gain, lift.
        thresholds: class, threshold, the four counts, precision, recall, specificity, f1, accuracy.
        cost: with costs, the mean cost of the predictions, over the rows whose class the model knows and can explain.
        expected_cost: the mean cost that the posteriors predict for them.
        slices: with `by`, the numbers of each slice, the most certainly bad first (see `Slices`); otherwise None.
        calibrated_by: the method by which the posteriors are calibrated (see `Model.calibrate`); None: they are not.
        learnt: "all" if these are the rows that the model has learnt, or the name of its batch that they are, so that the
            numbers are too good; None for other rows.
        share_learnt: the share of the rows that the model has learnt. Of a part of them it is an estimate, and above 0 only if
            this connection has learnt them.
        log_loss_of_priors: the log loss of the priors of the model alone, on the same rows.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> evaluation = model.evaluate(data)
    >>> evaluation.rows, evaluation.accuracy, evaluation.majority
    (4, 0.75, 0.5)
    """

    rows: int
    weight: float
    left_out: int
    unknown: int
    unexplained: int
    accuracy: float
    majority: float
    balanced_accuracy: float
    log_loss: float
    brier: float
    calibration_error: float
    roc_auc: float | None
    average_precision: float | None
    ks: float | None
    precision_macro: float
    recall_macro: float
    f1_macro: float
    roc_auc_macro: float | None
    average_precision_macro: float | None
    ks_macro: float | None
    precision_weighted: float
    recall_weighted: float
    f1_weighted: float
    roc_auc_weighted: float | None
    average_precision_weighted: float | None
    ks_weighted: float | None
    classes: tuple[ClassEvaluation, ...]
    metrics: Query = field(compare=False)
    intervals: Query = field(compare=False)
    confusion: Query = field(compare=False)
    roc: Query = field(compare=False)
    precision_recall: Query = field(compare=False)
    calibration: Query = field(compare=False)
    lift: Query = field(compare=False)
    thresholds: Query = field(compare=False)
    cost: float | None = None
    expected_cost: float | None = None
    slices: Slices | None = field(default=None, compare=False)
    calibrated_by: str | None = None
    learnt: str | None = None
    share_learnt: float = 0.0
    log_loss_of_priors: float | None = None
    _takes_weights: bool = field(
        default=False, repr=False, compare=False
    )  # whether its model could be fitted anew with weights, and has none
    _gain: Callable[[], str] = field(default=str, repr=False, compare=False)  # `Model.evaluate` adds it

    def gain(self) -> str:
        """What would gain most on these rows, in one line: "method='tan' gains 0.39 of log loss on five folds (1 s)".

        The fit of the model and the methods that `CrossValidation.gain` names, of the same columns and with the options of a
        fit by default, are cross-validated on the evaluated rows by five folds; so each learns four fifths of them, and
        nothing is calibrated.

        Raises:
            NotSupportedError: the model cannot be fitted anew to folds of rows.

        >>> import duckdb, nbsql
        >>> data = "SELECT 'a' || i % 2 AS a, 'b' || i // 2 % 2 AS b, (i + i // 2) % 2 AS y FROM range(400) AS r(i)"
        >>> con = duckdb.connect()
        >>> held_out = f"FROM ({data}) LIMIT 300"
        >>> nbsql.fit(con, f"FROM ({data}) OFFSET 300", target="y").evaluate(held_out).gain().split(" of log loss")[0]
        "method='tan' gains 0.68"
        """
        return self._gain()

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the classes, in types that JSON has. A label of another type is text."""
        left = (
            *QUERIES,
            "slices",
            "classes",
            "_gain",
            "_takes_weights",
            *(("cost", "expected_cost") if self.cost is None else ()),
        )
        names = [item.name for item in dataclasses.fields(self) if item.name not in left]
        classes = [dataclasses.asdict(item) for item in self.classes]
        for item in classes:
            if not isinstance(item["label"], (str, int, float)):
                item["label"] = float(item["label"]) if isinstance(item["label"], Decimal) else str(item["label"])
        return {**{name: getattr(self, name) for name in names}, "classes": classes}

    def summary(self) -> list[tuple[str, float | None]]:
        """The overall numbers, with their names in reports."""
        return [
            ("accuracy", self.accuracy),
            ("accuracy of the majority", self.majority),
            ("balanced accuracy", self.balanced_accuracy),
            ("log loss", self.log_loss),
            ("Brier score", self.brier),
            ("calibration error", self.calibration_error),
            ("ROC AUC", self.roc_auc),
            ("average precision", self.average_precision),
            *([] if self.cost is None else [("cost", self.cost), ("expected cost", self.expected_cost)]),
        ]

    def table(self) -> list[tuple[Any, ...]]:
        """A row for each class, and the two means: label, precision, recall, f1, ROC AUC, average precision, support."""
        rates = ("precision", "recall", "f1", "roc_auc", "average_precision")
        lines: list[tuple[Any, ...]] = [
            (item.label, *(getattr(item, rate) for rate in rates), item.support) for item in self.classes
        ]
        lines += [
            (f"{kind} mean", *(getattr(self, f"{rate}_{kind}") for rate in rates), self.weight)
            for kind in ("macro", "weighted")
        ]
        return lines

    def notes(self) -> list[str]:
        """Notes on rows that were left out or counted as wrong, and on the posteriors."""
        counts = [
            (self.left_out, "without a class, not evaluated"),
            (self.unknown, "of a class that the model does not know, counted as wrong"),
            (self.unexplained, "that no class can explain, counted as wrong"),
        ]
        named = [f"{counted(count, 'row')} {what}" for count, what in counts if count]
        how = "not calibrated" if self.calibrated_by is None else f"calibrated by {self.calibrated_by}"
        return [*named, f"probabilities {how}"]

    def cautions(self, words: Callable[[Cure], str] = str) -> list[str]:
        """Why the numbers must not be taken as they are, and what to do; `Model.evaluate` warns of it, too.

        `words` writes the arguments that a line names, by default as in Python.
        """
        lines = []
        if self.unknown == self.rows:
            known, others = ([each.label for each in self.classes if (each.support == 0) == kind] for kind in (True, False))
            lines.append(
                f"no row is of a class that the model knows, {listed(known)}; the rows have {listed(others)}: cast or trim them"
            )
        if self.share_learnt:
            part = "" if self.learnt in (None, ALL) else f", as batch {self.learnt!r}"
            cure = "them by folds, with ⟨folds=5⟩" if self.learnt == ALL else "it on rows that it has not learnt"
            rows = rows_in_words(self.learnt, self.share_learnt)
            lines.append(f"the model has learnt {rows}{part}, so that the numbers are too good; evaluate {cure}")
        if self.log_loss_of_priors is not None and round(self.log_loss, 4) > round(self.log_loss_of_priors, 4):  # as written
            other = "⟨method='weighted'⟩" if self._takes_weights else ""
            cure = "calibrate the model" + (f", or try a fit with {other}" if other else "")
            if self.calibrated_by:
                cure = f"more rows, fewer features or {other or 'another method'} may help"
            lines.append(
                f"the log loss, {self.log_loss:.4f}, is above that of the priors alone, {self.log_loss_of_priors:.4f}: the "
                f"probabilities are worse than none; {cure}"
            )
        return [in_words(line, words) for line in lines]

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        whole = Table(["of all rows", "value"], [[name, _rounded(value)] for name, value in self.summary()], right=[1])
        headings = ["class", "precision", "recall", "f1", "ROC AUC", "average precision", "support"]
        lines = [[plain(label_text(label)), *map(_rounded, rates), f"{support:,g}"] for label, *rates, support in self.table()]
        judged = f"{counted(self.rows, 'row')} evaluated"
        sliced = [] if self.slices is None else [f"by {listed(self.slices.names)}: .slices has the numbers of each"]
        return [judged, *sliced, *self.notes(), *self.cautions()], [whole, Table(headings, lines, right=range(1, 7))]


def read_evaluation(
    queries: Mapping[str, Query],
    weight: str | None,
    explain_no_rows: Callable[[int | None], str] = lambda _: "there is no row whose class is known; nothing can be evaluated",
) -> Evaluation:
    """The evaluation, read from its queries by name.

    `explain_no_rows` returns the message for no rows to evaluate, given the number of rows that were left out.
    """
    overall: dict[str, Any] = {}
    by_class: dict[Any, dict[str, Any]] = {}
    for label, metric, value in queries["metrics"]:
        if label is None:
            overall[metric] = int(value or 0) if metric in _COUNTS else value
        else:
            by_class.setdefault(label, {})[metric] = value
    broken = int(overall.pop("broken_weights") or 0)
    if broken:
        raise InputError(Check("weight", str(weight), RULES["weight"]).violation_message(broken))
    if not overall["rows"]:
        raise InputError(explain_no_rows(overall["left_out"]))
    check_weight_sums(str(weight), [overall["weight"]], of="")
    items = tuple(ClassEvaluation(label=label, **metrics) for label, metrics in by_class.items())
    fields: dict[str, Any] = {**overall, **queries}
    return Evaluation(**fields, classes=items)


def _rounded(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4f}"
