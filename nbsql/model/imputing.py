"""Missing values and columns other than the target, predicted from the other columns of a row."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nbsql.engines.source import Source, column_names
from nbsql.errors import InputError
from nbsql.model.base import Handle
from nbsql.plan import Plan, Rows
from nbsql.queries.impute import imputable_columns, predictable
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded
from nbsql.spec.rules import check_source
from nbsql.spec.spec import Spec


class Imputing(Handle):
    """Imputation, and prediction of columns other than the target."""

    def impute(self, source: Any, *, features: Sequence[str] | None = None, labelled: bool = False) -> Query:
        """The rows of `source` in their order with missing values of features replaced by what the rest of the row implies.

        A missing value of x is inferred through the class: p(x = v | rest) is the sum over the classes c of p(c | rest) p(v |
        c). For a category, a boolean or a number in bins, the most probable of the values seen in the fit is filled in (for
        bins, the middle; a single bin has none), and the column `probability_<x>` is its probability among them. For a number
        with a density, the mean is filled in, rounded if its column holds whole numbers, and `deviation_<x>` is its standard
        deviation. Both columns are NULL where nothing was filled in: where there was a value, or no class can explain the row.
        Several missing values of a row are filled one by one, not jointly.

        Args:
            source: rows with missing values.
            features: the columns to fill, by name; None is all columns of the source that the model can infer.
            labelled: take the class in the target column of a row as certain, if the model knows it; values then follow from
                p(v | c), whatever else the row has.

        Raises:
            InputError: the source lacks a feature, or already has a column that would be added; or a column cannot be
                inferred: it has words, a family over several columns, a parent or a child, or nulls='category'.
            ModelError: the model is logistic, or has segments or components.

        >>> rows = "('sun', 'hot', 'dry'), ('sun', 'hot', 'dry'), ('rain', 'mild', 'wet'), ('rain', 'mild', 'wet')"
        >>> data = f"SELECT * FROM (VALUES {rows}) AS t(sky, heat, day)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="day")
        >>> query = model.impute("SELECT 'rain' AS sky, NULL AS heat UNION ALL SELECT 'sun', 'hot'")
        >>> query.columns
        ['sky', 'heat', 'probability_sky', 'probability_heat']
        >>> [(sky, heat, p and round(p, 4)) for sky, heat, _, p in query]
        [('rain', 'mild', 0.625), ('sun', 'hot', None)]
        """
        data = self._source(source, reads_target=labelled)
        self.state.require("impute")
        named = [] if features is None else column_names(features, "features")
        columns = data.passed_names

        def render(rows: Rows) -> str:
            imputed = imputable_columns(
                self.state.spec, named, columns, self.state.engine.renderer.dialect, data.label, self.state.title
            )
            existing = {folded(name) for name in columns}
            for each in imputed:
                if folded(each.added) in existing:
                    added = f"a column {each.added!r} already, which impute adds"
                    raise InputError(f"{data.label} has {added}; rename it or leave it out")
            return self.state.plan.impute("imputed_rows", rows, self.state.classes, imputed, labelled, columns)

        self._check_labelled(data, labelled)
        return self._scoring_query("impute", data, render)

    def _predict_column(self, source: Any, target: Any, top_k: Any, columns: Sequence[str] | None, *, labelled: bool) -> Query:
        """The query of `predict(source, target=...)` for a column that is not the target of the model."""
        self._require("impute")
        dialect = self.state.engine.renderer.dialect

        def without_target(spec: Spec) -> Spec:
            known = {folded(predictable(spec, target, dialect, self.state.title).feature.column)}
            # What is computed from the column, or joined by it, would tell its value.
            made = [(each.read_names, [each.name]) for each in spec.derived]
            made += [({folded(key) for key, _ in join.on}, join.names) for join in spec.joins]
            for _ in made:  # as each may be made of any other
                known.update(folded(name) for read, names in made if read & known for name in names)
            features = tuple(each for each in spec.features if not known & {*map(folded, each.columns)})
            derived = tuple(each for each in spec.derived if labelled or folded(each.name) not in known)
            return replace(spec, features=features, derived=derived)

        derived = without_target(self.state.spec).derived
        data = self._source(source, reads_target=labelled, spec=replace(self.state.spec, derived=derived))

        def render(rows: Rows) -> str:
            one = predictable(self.state.spec, target, dialect, self.state.title)
            if top_k is not None and not one.is_value:
                raise InputError(f"⟨top_k⟩ goes with values, and {target!r} is a number with a density")
            renderer, spec = self.state.engine.renderer, self.state.spec
            plan = Plan(renderer, without_target(spec), self.state.relations, wide=self.state.plan.wide, full_spec=spec)
            return plan.impute("predicted_column", rows, self.state.classes, [one], labelled, top_k)

        self._check_labelled(data, labelled)
        number = not predictable(self.state.spec, target, dialect, self.state.title).is_value
        verb = "predict with target" if number else "predict with top_k" if top_k is not None else "predict"
        return self._scoring_query(verb, data, render, columns, reduce_spec=without_target)

    def _check_labelled(self, data: Source, labelled: bool) -> None:
        """Raise InputError unless the source has the target, of the type of the classes, if it is read."""
        if labelled:
            needed = replace(self.state.spec, features=(), weight=None)
            check_source(needed, data.columns, data.label, self.state.title, exact=self.state.engine.exact, training=True)
