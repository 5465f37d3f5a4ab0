"""Greedy forward selection by cross-validated log loss, without a fit for each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.judging.folds import Folds
from nbsql.learning.selection import rounded, with_features
from nbsql.plan.context import Context
from nbsql.spec.capabilities import check_features
from nbsql.spec.options import Forward
from nbsql.spec.spec import Feature, Spec


def select_forward(engine: Engine, source: Source, spec: Spec, options: Forward) -> Spec:
    """The spec with the features that forward selection chooses (sql/macros/judging/forward.sql).

    Raises InputError if a feature cannot be judged by itself, or if there are not enough rows for the folds.
    """
    check_features(spec.features, "nbsql.Forward")
    judged = replace(spec, slice_by=None, segment_by=None, segment_shrinkage=0.0)
    with engine.temporaries() as temporary:
        search = _Search(engine, source, temporary)
        search.prepare(judged, options.folds, options.fold)
        return with_features(spec, search.select(spec, options.count))


@dataclass
class _Search:
    """One forward selection, in temporary tables."""

    engine: Engine
    source: Source
    temporary: Callable[[str], Markup]

    def __post_init__(self) -> None:
        names = ("keyed", "contributions", "standing")
        self.keyed, self.contributions, self.row_scores = map(self.temporary, names)

    def prepare(self, spec: Spec, folds: int, fold: str | None) -> None:
        """Count by fold, and store the contribution of each feature to each row by the model of the other folds."""
        engine, query = self.engine, self.engine.renderer.fragment
        cv = Folds(engine, self.source, [spec], self.temporary, folds=folds, fold=fold)
        (spec,) = cv.specs
        context, prior = cv.context(spec), cv.context(replace(spec, features=()))
        engine.create("number the rows", self.keyed, query("rows_with_keys", cv.rows_with_folds))
        classes = cv.create("classes", query("classes_of_cells", context, cv.cells))
        models = cv.models(spec)
        parts = [(prior, None), *((context.of_one_feature(feature), feature) for feature in spec.features)]

        def contributions(part: Context, feature: Feature | None) -> Markup:
            scored = query("subquery", query("scored", part, self.keyed, models.parameters, models.lookups))
            return query("feature_contributions", part, scored, models.parameters, classes, feature)

        engine.gather("judge each feature", self.contributions, (contributions(*part) for part in parts))
        engine.create(
            "stand", self.row_scores, query("scores_of_prior_alone", context, self.keyed, self.contributions, classes)
        )

    def select(self, spec: Spec, count: int) -> list[str]:
        """The selected features by name, one in each step, as long as the log loss decreases."""
        engine = self.engine
        (loss,) = engine.ask("mean_loss", self.row_scores)[0]
        if loss is None:
            raise InputError(f"no row of {self.source.label} is in a fold and has a class")
        index = {feature.name: feature.index for feature in spec.features}
        selected: list[str] = []
        row_scores = self.row_scores
        while len(selected) < min(count, len(index)):
            changes = dict(engine.ask("changes_of_loss", row_scores, self.contributions))
            remaining = [name for name in index if name not in selected]
            best = min(remaining, key=lambda name: (rounded(loss + changes.get(name, 0.0)), index[name]))
            if selected and rounded(loss + changes.get(best, 0.0)) >= rounded(loss):
                break
            loss += changes.get(best, 0.0)
            selected.append(best)
            new_scores = self.temporary(f"standing {len(selected)}")
            query = engine.renderer.fragment("scores_with_feature", row_scores, self.contributions, best)
            engine.create(f"take {best}", new_scores, query)
            engine.ask("drop_if_exists", row_scores)
            engine.run(f"leave {best}", engine.renderer.statement("drop_contributions", self.contributions, best))
            row_scores = new_scores
        return selected
