"""Greedy forward selection by cross-validated log loss, without a fit for each step."""

from __future__ import annotations

from dataclasses import replace

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

    The contribution of each feature to each row, by the model of the other folds, is stored; each step then takes the feature
    that lowers the log loss most, as long as it decreases. Raises InputError if a feature cannot be evaluated by itself, or if
    there are not enough rows for the folds.
    """
    check_features(spec.features, "nbsql.Forward")
    judged = replace(spec, slice_by=None, segment_by=None, segment_shrinkage=0.0)
    with engine.temporaries() as temporary:
        query = engine.renderer.fragment
        cv = Folds(engine, source, [judged], temporary, folds=options.folds, fold=options.fold)
        (counted,) = cv.specs
        context, prior = cv.context(counted), cv.context(replace(counted, features=()))
        keyed = engine.create("numbering the rows", temporary("keyed"), query("rows_with_keys", cv.rows_with_folds))
        classes = cv.create("classes", query("classes_of_cells", context, cv.cells))
        models = cv.models(counted)
        parts = [(prior, None), *((context.of_one_feature(feature), feature) for feature in counted.features)]

        def contributions_of(part: Context, feature: Feature | None) -> Markup:
            scored = query("subquery", query("scored", part, keyed, models.parameters, models.lookups))
            return query("feature_contributions", part, scored, models.parameters, classes, feature)

        queries = (contributions_of(*part) for part in parts)
        contributions = engine.gather("contributions of each feature", temporary("contributions"), queries)
        alone = query("scores_of_prior_alone", context, keyed, contributions, classes)
        row_scores = engine.create("scoring the rows", temporary("standing"), alone)
        (loss,) = engine.ask("mean_loss", row_scores)[0]
        if loss is None:
            raise InputError(f"no row of {source.label} is in a fold and has a class")
        index = {feature.name: feature.index for feature in spec.features}
        selected: list[str] = []
        while len(selected) < min(options.count, len(index)):
            changes = dict(engine.ask("changes_of_loss", row_scores, contributions))
            losses = {name: rounded(loss + changes.get(name, 0.0)) for name in index if name not in selected}
            best = min(losses, key=lambda name: (losses[name], index[name]))
            if selected and losses[best] >= rounded(loss):
                break
            loss += changes.get(best, 0.0)
            selected.append(best)
            previous, row_scores = row_scores, temporary(f"standing {len(selected)}")
            engine.create(f"adding {best}", row_scores, query("scores_with_feature", previous, contributions, best))
            engine.ask("drop_if_exists", previous)
            engine.run(f"drop terms of {best}", engine.renderer.statement("drop_contributions", contributions, best))
        return with_features(spec, selected)
