"""A model as numbers that are summed: weights, and points."""

from typing import Any, Literal

from nbsql.errors import InputError, ModelError
from nbsql.model.base import Handle
from nbsql.model.scorecard import Scale, Scorecard, scorecard
from nbsql.queries.query import Query
from nbsql.spec.method import QDA
from nbsql.spec.spec import Feature
from nbsql.storage.state import ModelState


class Weighing(Handle):
    """The linear forms of a model."""

    def scorecard(
        self, *, points: float = 600, odds: float = 50, double: float = 20, target: Any = None, digits: int | None = None
    ) -> Scorecard:
        """The model as a scorecard: points for each value or bin, which sum to the points of a row.

        A row has offset + factor * ln(odds) points, where odds are those of `target` against the rest, factor = double / ln 2
        and offset = points - factor * ln(odds) (Siddiqi, Credit Risk Scorecards, 2006). The base points, of the priors, are a
        line of their own. A value adds factor times its weight of evidence, ln P(value | target) / P(value | the rest), with
        method="weighted" also times the weight of its feature.

        Args:
            points: the points of a row at the odds `odds`.
            odds: the odds of the target against the rest, to 1: 50 is 50 to 1.
            double: the additional points of a row at twice the odds.
            target: the class that is more likely the more points a row has; in credit, the good one. With two classes it
                is by default the larger label. With more than two, the rest is all other classes, weighted by their priors. The
                points then assume that features are independent in the rest as a whole, which the model does not: they are not
                its odds.
            digits: round the points of each line to so many digits; 0 makes them whole.

        Raises:
            InputError: there is no such class, or there are several and none is named; or an argument is not a valid number.
            ModelError: a feature is a number with a density, a text or over several columns; or a value has no points, since
                without smoothing one side never has it; or more than two classes have a weight each.

        >>> model.scorecard(points=100, odds=1, double=10, digits=0).score("SELECT 'rain' AS sky").fetchall()
        [('rain', 110.0)]
        """
        self._require("scorecard")
        labels = [column.label for column in self.state.classes]  # in their order
        if len(labels) < 2:
            raise ModelError(f"{self.state.title} has one class only; points tell two or more apart")
        if target is None and len(labels) > 2:
            raise InputError(
                f"{self.state.title} has {len(labels)} classes; say whose odds the points are: ⟨target={labels[0]!r}⟩, say"
            )
        label = labels[-1] if target is None else self.state.label_text(target)
        return scorecard(self._states, label if target is None else target, label, Scale(points, odds, double, digits))

    def weights(self, degree: Literal[1, 2] = 1) -> Query:
        """The model as weights, a row for each weight: class, feature, value, times, weight.

        The row without a feature is the bias. The score of a row is the sum of the weights, each multiplied by what `times`
        says: 'x', the number; 'is', whether the feature has that value; 'count', how often the token occurs. With two classes
        there is one score, positive where the larger label is predicted, and its probability is 1 / (1 + exp(-score)). With
        more, each class has a score, and the largest wins. With `degree=2` there are weights of squares, too, and a column
        `other`: `times` is 'x^2' for a square, and 'x y' for a product of the columns `value` and `other`.

        Args:
            degree: the highest power that a number may have: 1 is the linear form, 2 the quadratic one.

        Raises:
            ModelError: a feature has no form of that degree; the message names it.

        >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (3.0, 'a'), (5.0, 'b'), (7.0, 'b')) AS t(x, y)"
        >>> family = nbsql.Gaussian(shared_variance=True)
        >>> nbsql.fit(duckdb.connect(), data, target="y", families={"x": family}).weights().fetchall()
        [('b', None, None, '1', -16.0), ('b', 'x', None, 'x', 4.0)]
        """
        if degree not in (1, 2) or isinstance(degree, bool):
            raise InputError(f"⟨degree⟩ must be 1 or 2, not {degree!r}")
        self._require("weights")
        return self._states.query(lambda: weights_query(self.state, degree))

    def linear(self) -> Query:
        """The linear form, as `weights()` returns it.

        >>> model = nbsql.fit(duckdb.connect(), "SELECT i % 2 AS y, 'v' || i % 3 AS v FROM range(9) AS r(i)", target="y")
        >>> model.linear().columns
        ['class', 'feature', 'value', 'times', 'weight']
        """
        return self.weights(1)

    def quadratic(self) -> Query:
        """The quadratic form, as `weights(degree=2)` returns it.

        >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="y")
        >>> model.quadratic().columns
        ['class', 'feature', 'value', 'other', 'times', 'weight']
        """
        return self.weights(2)


def weights_query(state: ModelState, degree: Literal[1, 2]) -> str:
    """The query of the weights (sql/macros/scoring/linear.sql); `degree` is the highest power that a feature may have.

    Raises ModelError if the model has only one class, or a feature without such a form.
    """
    plan = state.plan
    if len(state.classes) < 2:
        raise ModelError(f"{state.title} has one class only; weights tell two or more apart")
    context = plan.context(state.classes)
    refusals = (_refusal(feature, power) for power in (2, degree) for feature in context.facts.features)
    for reason in refusals:  # no cure by the quadratic form for a model that has none
        if reason is not None:
            raise ModelError(f"{state.title} has no {'linear' if degree == 1 else 'quadratic'} form: {reason}")
    return plan.renderer.statement("linear", context, *plan.current_tables(context, by_class=True), degree)


def _refusal(feature: Feature, degree: int) -> str | None:
    """Why a feature has no form of that degree; None if it has one."""
    family = feature.family
    if family.backoff:
        return f"what {feature.name!r} adds depends on whether its values were ever seen together; fit it without the backoff"
    if family.degree is None:
        if family.bag:
            return f"{feature.name!r} divides by the length of the text with norm='l2'"
        cure = f"⟨families={{{feature.name!r}: nbsql.Binned()}}⟩"
        return f"{feature.name!r} is {family.name}, no polynomial of its number; cut it into bins, {cure}"
    if family.degree > degree and family.kind == "weight":
        return f"{feature.name!r} is {'a product' if family.product else 'squared'}; use ⟨quadratic()⟩"
    if family.degree > degree:
        if family.kind != "matrix":
            return f"{feature.name!r} is {family.name} with a variance of its own in every class; {family.linear_cure}"
        columns = ", ".join(map(repr, family.columns))
        shared = f"⟨families={{{feature.name!r}: nbsql.MultivariateGaussian([{columns}], shared=True)}}⟩"
        cure = "⟨method='lda'⟩" if feature.name == QDA.name else shared
        own = f"{feature.name!r} is {family.name} with a covariance matrix of its own in every class"
        return f"{own}; use ⟨quadratic()⟩, or fit it with {cure}"
    return None
