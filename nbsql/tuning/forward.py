"""Forward selection by cross-validated log loss: greedy, and without a fit a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.judging.folds import Folds
from nbsql.learning.derive import derive, drop_derived
from nbsql.learning.selection import rounded, with_features
from nbsql.plan import Entry, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.spec.capabilities import check_features
from nbsql.spec.options import Forward
from nbsql.spec.spec import Spec


def forward(engine: Engine, source: Source, spec: Spec, wanted: Forward) -> Spec:
    """The spec with the features that forward selection chooses (sql/macros/judging/forward.sql).

    Raises:
        InputError: a feature cannot be judged by itself, or there are not enough rows for the folds.
    """
    check_features(spec.features, "nbsql.Forward")
    judged = replace(spec, slice_by=None, segment_by=None, segment_shrinkage=0.0)
    with engine.temporaries() as temporary:
        search = _Search(engine, source, temporary)
        search.prepare(judged, wanted.folds, wanted.fold)
        return with_features(spec, search.chosen(spec, wanted.count))


@dataclass
class _Search:
    """One forward selection, in temporary tables."""

    engine: Engine
    source: Source
    temporary: Callable[[str], Markup]

    def __post_init__(self) -> None:
        names = ("keyed", "contributions", "standing")
        self.keyed, self.contributions, self.standing = map(self.temporary, names)

    def prepare(self, spec: Spec, folds: int, fold: str | None) -> None:
        """Count by fold, and note what every feature adds to every row by the model of the other folds."""
        engine, query = self.engine, self.engine.renderer.fragment
        dealt = Folds(engine, self.source, [spec], self.temporary, folds=folds, fold=fold)
        spec = replace(dealt.specs[0], id=("nbsql_key",))
        engine.create("number the rows", self.keyed, query("rows_with_keys", dealt.dealt))
        entry = Entry(1, "1", "fit", self.source.label, 0)
        whole, classes = derive(engine, spec, dealt.whole(spec), [entry])
        for number, name in enumerate(dealt.names):
            part, known = derive(engine, spec, dealt.others(spec, name), [entry])
            added = self._added(part, known, classes, name)
            if number:
                engine.run(f"judge fold {number + 1}", engine.renderer.statement("insert_into", self.contributions, added))
            else:
                engine.create(f"judge fold {number + 1}", self.contributions, added)
            drop_derived(engine, part)
        context, priors = whole.context(classes), whole.relations["priors"]
        engine.create("stand", self.standing, query("scores_of_prior_alone", context, self.keyed, self.contributions, priors))
        drop_derived(engine, whole)

    def _added(self, part: Plan, known: list[ClassColumn], classes: list[ClassColumn], fold: str) -> Markup:
        """The query of what the features add to the rows of a fold."""
        query = self.engine.renderer.fragment
        rows = query("rows_of_fold", self.keyed, fold)
        context, relations = part.context(known), part.relations
        explained = query("unordered_explanation", context, rows, relations["parameters"], relations["lookups"], numbered=True)
        numbers = {column.label: column.number for column in known}
        return query("fold_contributions", explained, [numbers.get(column.label) for column in classes])

    def chosen(self, spec: Spec, count: int) -> list[str]:
        """The features by name, one a step, as long as one lowers the log loss."""
        engine = self.engine
        (loss,) = engine.ask("mean_loss", self.standing)[0]
        if loss is None:
            raise InputError(f"no row of {self.source.label} is in a fold and has a class")
        index = {feature.name: feature.index for feature in spec.features}
        found: list[str] = []
        standing = self.standing
        while len(found) < min(count, len(index)):
            changes = dict(engine.ask("changes_of_loss", standing, self.contributions))
            left = [name for name in index if name not in found]
            best = min(left, key=lambda name: (rounded(loss + changes.get(name, 0.0)), index[name]))
            if found and rounded(loss + changes.get(best, 0.0)) >= rounded(loss):
                break
            loss += changes.get(best, 0.0)
            found.append(best)
            following = self.temporary(f"standing {len(found)}")
            query = engine.renderer.fragment("scores_with_feature", standing, self.contributions, best)
            engine.create(f"take {best}", following, query)
            engine.ask("drop_if_exists", standing)
            engine.run(f"leave {best}", engine.renderer.statement("drop_contributions", self.contributions, best))
            standing = following
        return found
