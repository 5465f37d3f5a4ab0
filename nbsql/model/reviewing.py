"""Rows without a class: those that a person should label next, and the shares of the classes among them."""

from collections.abc import Sequence
from typing import Any, Literal

from nbsql.errors import InputError, ModelError, listed, suggestion
from nbsql.evaluation.shares import class_shares
from nbsql.family.checks import whole_number
from nbsql.model.base import Handle
from nbsql.plan import REVIEW, Rows
from nbsql.queries.decisions import cost_matrix
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded

Review = Literal["margin", "evidence", "novelty", "expected cost"]


class Reviewing(Handle):
    """The queue of rows whose labels would tell the model most, and what rows without labels are."""

    def class_shares(self, source: Any, *, calibrated: bool | None = None) -> Query:
        """The shares of the classes among the rows of `source`, whose class need not be known: class, prior, posterior, share.

        The mean posterior of new rows stays near the prior of the model if the classes have become more or less frequent; share
        is the maximum of the likelihood, as long as the rows of each class look as they did (Saerens, Latinne and Decaestecker
        2002). It is estimated at once, by expectation and maximisation on the posteriors, which should be calibrated.

        Args:
            source: the rows; those that no class explains are left out.
            calibrated: as in `predict`: None for calibrated posteriors if the model is calibrated.

        Raises:
            InputError: the source lacks a feature, or has no row that a class explains.
            ModelError: the model has segments, each with priors of its own.

        >>> days = "SELECT unnest(['sun', 'sun', 'sun', 'rain']) AS sky"
        >>> [(label, round(prior, 2)) for label, prior, _, _ in model.class_shares(days)]
        [('no', 0.5), ('yes', 0.5)]
        """
        self._require("class_shares")
        with self.state.engine.turn():
            data = self._source(source)
            method = self.state.calibration(calibrated)
            return class_shares(self.state, self._rows("predict", data, []), data.label, method)

    def unusual(self, source: Any, n: int = 20, *, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source` that are least like those of the fit, with reasons: those of the lowest ln p(x).

        This is `review` by "evidence", for which a model needs no classes: `nbsql.fit(..., target=None)` describes all rows
        together. With features in bins its order is that of the histogram-based outlier score (Goldstein and Dengel, *HBOS*,
        2012).

        Args:
            source: the rows to choose from, such as those of the fit.
            n: the most patterns to return.
            columns: the columns of the source to return; [] returns none of them, None all.

        Raises:
            InputError: the source lacks a feature, or already has a column that would be added.
            ModelError: the model has no evidence.

        >>> days = "SELECT * FROM (VALUES ('sun'), ('hail'), ('sun')) AS t(sky)"
        >>> shape = nbsql.fit(con, "SELECT unnest(['sun', 'sun', 'rain']) AS sky", target=None)
        >>> [row[-1] for row in shape.unusual(days, 1, columns=[])]
        ['least likely: sky = hail']
        """
        return self.review(source, n, by="evidence", columns=columns)

    def review(
        self,
        source: Any,
        n: int = 50,
        *,
        by: Review = "margin",
        costs: Any = None,
        calibrated: bool | None = None,
        columns: Sequence[str] | None = None,
    ) -> Query:
        """The rows of `source` that a person should label next, the most informative first.

        Call `update` with the labels, then call this again. A row for each pattern: rows that are equal in all features are
        one pattern, shown by its first row. The columns are those of the source, prediction, probability, the number that
        they are sorted by (margin, log_evidence, unseen or expected_cost), stands_for, the number of rows of the pattern, and
        reason, a text. Ties are broken by the id of the model and then by all columns, so that the same rows always give the
        same result.

        Args:
            source: the rows to choose from, such as those without a class.
            n: the most patterns to return.
            by: "margin": the smallest difference between the two highest posteriors (uncertainty sampling, Settles 2009).
                "evidence": the lowest ln p(x), rows unlike all that was learnt. "novelty": the most unseen values and words;
                rows with the same ones are one pattern. "expected cost": the highest cost of the prediction of least cost.
            costs: the costs of predictions, as `predict` takes them, for the expected cost; None: every mistake costs 1.
            calibrated: as in `predict`: None for calibrated posteriors if the model is calibrated.
            columns: the columns of the source to return; [] returns none of them, None all.

        Raises:
            InputError: the source lacks a feature, or already has a column that would be added; or an option is invalid.
            ModelError: the model has one class, no evidence, or no feature that could have unseen values.

        >>> days = "SELECT * FROM (VALUES ('sun'), ('rain'), ('sun'), ('hail')) AS t(sky)"
        >>> [(sky, stands_for, reason) for sky, _, _, _, stands_for, reason in model.review(days, 2)]
        [('hail', 1, 'no 50 %, yes 50 %'), ('sun', 2, 'no 60 %, yes 40 %')]
        >>> [row[-1] for row in model.review(days, by="novelty")]
        ['never seen: sky = hail']
        """
        kinds = [*REVIEW.options]
        if by not in kinds:
            raise InputError(f"⟨by⟩ must be one of {listed(kinds)}, not {by!r}{suggestion(str(by), kinds)}")
        whole_number(n, "n")
        if costs is not None and by != "expected cost":
            raise InputError(f"⟨costs⟩ go with ⟨by='expected cost'⟩, not with ⟨by={by!r}⟩")
        if calibrated is not None and by in ("evidence", "novelty"):
            raise InputError(f"⟨calibrated⟩ is about posteriors, which ⟨by={by!r}⟩ does not ask; leave it out")
        data = self._source(source)
        if by == "evidence":
            self.state.require("log_evidence")
        elif by == "novelty":
            if not any(each.family.has_lookups for each in self.state.spec.features):
                raise ModelError(f"{self.state.title} has numbers alone, which are never new; review ⟨by='evidence'⟩")
        elif len(self.state.classes) < 2:
            raise ModelError(f"{self.state.title} has one class only, and is never in doubt; review ⟨by='evidence'⟩")
        matrix = cost_matrix(costs or {}, self.state) if by == "expected cost" else None

        def render(rows: Rows) -> str:
            method = self.state.calibration(calibrated)
            passed_names = {folded(name) for name in rows.columns} if rows.passed_columns is not None else None
            kinds = {each.name: each.kind for each in data.columns if passed_names is None or folded(each.name) in passed_names}
            passed = data.passed_names if rows.passed_columns is None else rows.passed_columns
            rows = Rows(data.relation, list(kinds), passed_columns=passed)
            return self.state.plan.review(by, rows, self.state.classes, n, kinds, calibration=method, costs=matrix)

        return self._scoring_query(f"review with {by}", data, render, columns, by_row=False)
