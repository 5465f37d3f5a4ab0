"""What separates the classes: the features, their values, and the pairs that depend on each other."""

from collections.abc import Sequence
from typing import Any

from nbsql.engines.source import column_names
from nbsql.evaluation.profile import dependence, discrimination, feature_named, profile
from nbsql.learning.selection import solved_relevance
from nbsql.model.base import Handle
from nbsql.queries.query import Query


class Separating(Handle):
    """The verbs that say what tells the classes apart."""

    def relevance(self, *, values: bool = False) -> Query:
        """How much each feature tells about the class, from the counts alone, the most informative first.

        A row for each feature: feature, mutual_information (or information gain, in nats), symmetrical_uncertainty,
        chi_square, for numbers f_statistic, of the analysis of variance, by_chance, the mutual information that a feature with
        these values has if it tells nothing, and gain, the difference, by which the features are ordered.
        sql/macros/evaluation/relevance.sql has the formulas.

        Args:
            values: return a row for each value or token, or for each of the columns that share a covariance matrix: feature,
                value, n, mutual_information, chi_square.

        >>> [feature for feature, *_ in model.relevance()]
        ['sky']
        """
        self._require("drift")
        statistics, features = self.state.plan.current_cells(), self.state.spec.features
        if values:
            return self._macro_query("relevance_of_values", statistics, self.state.relations["priors"], features)
        return self._macro_query("relevance", statistics, features, solved_relevance(self.state.engine, statistics, features))

    def discrimination(self, a: Any, b: Any) -> Query:
        """What distinguishes class `a` from class `b`, from the counts alone, the strongest evidence first.

        A row for each feature and value (or word) with a likelihood in both classes: feature, value, n and other_n, how often
        it was counted in `a` and in `b`, likelihood, other_likelihood, and log_ratio = ln P(value | a) / P(value | b), in
        nats, infinite for a value that only one of them has (with alpha=0). Values that neither has come last. Numbers have no
        single values and are left out; `profile` has their densities.

        Args:
            a: a class, as the model has it.
            b: the class to compare with.

        Raises:
            InputError: the model has no such class.

        >>> [(value, n_a, n_b) for _, value, n_a, n_b, *_ in model.discrimination("yes", "no")]
        [('rain', 1.0, 0.0), ('sun', 1.0, 2.0)]
        """
        self._refresh()
        return discrimination(self.state, a, b)

    def profile(self, feature: str, source: Any = None) -> Query:
        """The distribution of one feature in each class.

        For categories and words, a row for each class and value: class, value, n (how often it was counted), share (of
        everything counted in the class), likelihood, log_odds (of the value in the class against the others, by their priors,
        in nats) and of_value (n over all classes). For a number, a row for each class and point: class, part, lower, upper,
        n, density; the part "density" is p(x | class) of its family at 100 points, "histogram" the rows of `source` by bins;
        a zero-inflated number has "probability", P(0 | class), too, and its bins are of the numbers other than 0.

        Args:
            feature: the name of the feature.
            source: rows whose class is known, for the histogram of a number, by weight if the source has the column of
                weights of the fit, and the range of the points; None: the density alone, over nearly all that is probable.

        Raises:
            InputError: the model has no such feature, or the source lacks it.
            ModelError: the model has segments or components, or the feature has no distribution by itself.

        >>> model.profile("sky").columns
        ['class', 'value', 'n', 'share', 'likelihood', 'log_odds', 'of_value']
        """
        self._refresh()
        data = None if source is None else self._source(source, reads_target=True)
        if data is not None:
            self._check("evaluate", data)
        return profile(self.state, feature_named(self.state.spec, feature, self.state.title), data)

    def dependence(self, source: Any, *, features: Sequence[str] | None = None) -> Query:
        """Where the naive assumption fails: how strongly each pair of features depends on each other within the classes.

        A row for each pair, the most dependent first: feature, other, n (rows with both), mutual_information, I(X; Y | class)
        in nats, which is 0 for independent features, by_chance, what independent features would show with so many rows, gain,
        the difference (by which the mean log-likelihood of a row grows if the two are modelled together), and family, the
        family that does so: `nbsql.Joint` of two categories, `nbsql.MultivariateGaussian` of two numbers. Numbers are cut
        into eight bins; texts, bags and features over several columns are left out. `nbsql.TAN` models many pairs together.

        Args:
            source: rows whose class is known. They count by the weights of the fit, if the source has that column.
            features: the features to compare, by default all. The number of pairs grows with their square.

        Raises:
            InputError: the source lacks a feature or the class, or there are no two features to compare.

        >>> data = "SELECT i % 2 AS y, 'a' || i // 2 % 4 AS a, 'b' || i // 8 % 4 AS b FROM range(320) AS t(i)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="y")
        >>> model.dependence(data).columns
        ['feature', 'other', 'n', 'mutual_information', 'by_chance', 'gain', 'family']
        """
        named = None if features is None else column_names(features, "features")
        data = self._source(source, reads_target=True, weighted=True)
        self._check("evaluate", data)
        return dependence(self.state, data, named)
