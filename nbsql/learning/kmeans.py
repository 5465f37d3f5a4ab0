"""k-means within each class, in SQL (kmeans.sql). Between scans, Python holds the centres and no rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, counted, listed
from nbsql.family import Gaussian
from nbsql.learning.count import Count, counting_plan, stage_source
from nbsql.learning.draft import Draft
from nbsql.learning.selection import rounded
from nbsql.plan.context import Context
from nbsql.spec.components import ClassSplit, Components
from nbsql.spec.spec import Spec
from nbsql.storage.written import places_of_labels
from nbsql.warn import warn_user

MAX_DISTANCES = 4_000_000  # distances between candidates, in all classes together
TOLERANCE = 1e-4  # a class has converged when its centres' mean squared move, in variances, is at most this


def split(draft: Draft) -> Draft:
    """The step of a fit that finds the components of each class, by k-means on rows that are quick to read again.

    There are none if no class is to be split. Raises InputError if a class is missing, or has fewer rows than components, or
    if the rows break a rule.
    """
    engine, spec, components = draft.engine, draft.spec, draft.spec.components
    if components is None:
        return draft
    source = stage_source(engine, spec, draft.source, draft.temporary("rows"))
    search = _Search(engine, spec, source, components)
    counts = _component_counts(engine, components.requested, search.labels, spec, source.label)
    splits = tuple(search.splits(counts)) if counts else ()
    component_counts = {split.label: len(split.centres) for split in splits}
    for label, count in counts.items():
        if component_counts.get(label, 1) < count:
            fewer = f"{component_counts[label]} components" if label in component_counts else "one component"
            warn_user(
                f"class {label!r} has {fewer} and not {count}: its rows differ no more, or no row is nearest to the others"
            )
    requested = components.requested if isinstance(components.requested, int) else dict(counts)
    found = Components(requested, components.numbers, splits) if counts else None
    return replace(draft, source=source, spec=replace(spec, components=found))


def _component_counts(
    engine: Engine, requested: int | Mapping[Any, int], labels: Sequence[tuple[Any, ...]], spec: Spec, source: str
) -> dict[str, int]:
    """The number of components of each class by label as text, without classes that have one."""
    numbers = [1] * len(labels)
    if not isinstance(requested, Mapping):
        numbers = [requested] * len(labels)
    else:
        texts, values = ([row[place] for row in labels] for place in (0, 1))
        places = places_of_labels(engine, [*requested], texts, spec.target_type, lambda: values)
        for (label, count), place in zip(requested.items(), places, strict=True):
            if place is None:
                raise InputError(f"⟨components⟩ names {str(label)!r}, which is no class of {spec.target!r}")
            numbers[place] = count
    for (label, _, rows, _), count in zip(labels, numbers, strict=True):
        if count > rows:
            has = f"has {counted(rows, 'row')}, fewer than its {count} components"
            raise InputError(f"class {label!r} of {source} {has}; ask for fewer")
    return {row[0]: count for row, count in zip(labels, numbers, strict=True) if count > 1}


class _Search:
    """The k-means search of one fit. `sizes` are the rows of each centre of a class, by label, once its centres have moved."""

    def __init__(self, engine: Engine, spec: Spec, source: Source, components: Components) -> None:
        self.engine = engine
        self.layout = engine.renderer.layout
        self.source = source.relation
        self.numbers = components.numbers
        self.sizes: dict[str, list[float]] = {}
        spec = replace(spec, components=None)
        self.context = Context.of(spec)
        # The classes, and the means and standard deviations of their numbers, from the scan of a fit of numbers.
        gaussian = Gaussian().with_defaults(alpha=1.0, nulls="skip", unseen="skip")  # any number is counted with its moments
        numbers = (replace(feature, family=gaussian) if feature.is_number else feature for feature in spec.features)
        spec = replace(spec, features=tuple(numbers))
        plan = counting_plan(engine, spec)
        with engine.temporaries() as temporary:
            count = Count(engine, source, plan, temporary)
            self.labels = count.scan(quiet=True)
            cells = temporary("moments")
            engine.run_all(count.moments(cells, [feature for feature in spec.features if feature.is_number]))
            moments = {
                (label, name): (mean, scale) for label, name, mean, scale in engine.query_macro("class_deviations", cells)
            }
        pairs = {row[0]: [moments.get((row[0], name), (0.0, 0.0)) for name in self.numbers] for row in self.labels}
        self.means = {label: [mean for mean, _ in of] for label, of in pairs.items()}
        self.scales = {label: [rounded(scale, digits=6) for _, scale in of] for label, of in pairs.items()}

    def splits(self, counts: Mapping[str, int]) -> list[ClassSplit]:
        """The classes with several components, numbered by their rows, the largest first."""
        with self.engine.temporaries() as temporary:
            first = self._initial_splits(counts, temporary)
            moving = {split.label: split for split in first if len(split.centres) > 1}
            large = {
                label: moving[label] for label, _, _, n in self.labels if label in moving and n >= self.layout.cluster_rows
            }
            sample = self._sample(sum(n for label, _, _, n in self.labels if label in large), temporary)
            if sample is not None:
                moving.update(self._run_lloyd(large, sample)[0])
        moving_by_label, unsettled = self._run_lloyd(moving)
        if unsettled:
            scans = self.layout.cluster_scans
            warn_user(f"the centres of class {listed(unsettled)} still moved after {scans} scans; they are taken as they are")
        found = [moving_by_label[label] for label in counts if label in moving_by_label]
        return [self._by_size(split) for split in found if len(split.centres) > 1]

    def _sample(self, rows: float, temporary: Callable[[str], Markup]) -> Markup | None:
        """A table of some of the rows, chosen by a hash of their numbers; None if there are few rows, or few distinct ones."""
        size = self.layout.sample_rows
        if rows < 4 * size:
            return None
        numbers = list(self.numbers)
        query = self.engine.renderer.fragment("sampled_rows", self.context, self.source, numbers, int(rows // size))
        sample = self.engine.create("take a sample", temporary("sample"), query)
        ((different,),) = self.engine.query_macro("distinct_rows", sample, numbers)
        return sample if different >= self.layout.cluster_rows else None

    def _run_lloyd(
        self, moving: Mapping[str, ClassSplit], sample: Markup | None = None
    ) -> tuple[dict[str, ClassSplit], list[str]]:
        """Lloyd's iterations until all classes have converged, on all rows or a sample, and the classes that have not."""
        remaining, moving_by_label = dict(moving), dict(moving)
        for _ in range(self.layout.cluster_scans):
            if not remaining:
                break
            for label, (after, is_settled) in self._move_centres(remaining, sample).items():
                moving_by_label[label] = remaining[label] = after
                if is_settled or len(after.centres) == 1:
                    del remaining[label]
        return moving_by_label, list(remaining)

    def _initial_splits(self, counts: Mapping[str, int], temporary: Callable[[str], Markup]) -> list[ClassSplit]:
        """The splits with the initial centres. Missing numbers of such a row are replaced by the mean of the class."""
        engine, numbers = self.engine, list(self.numbers)
        max_components = max(counts.values())
        size = max(min(self.layout.cluster_candidates, math.isqrt(MAX_DISTANCES // len(counts))), 2 * max_components)
        scaled = [ClassSplit(label, tuple(self.scales[label]), ()) for label in counts]
        query, create = engine.renderer.fragment, engine.create
        points = query("candidate_points", self.context, self.source, numbers, list(counts), size)
        candidates = create("choose candidates", temporary("candidates"), points)
        distances_of = query("distances_of_candidates", candidates, numbers, scaled)
        distances = create("measure distances", temporary("distances"), distances_of)
        chosen = create("choose the first centres", temporary("chosen"), query("empty_centres", distances))
        for component in range(1, max_components + 1):
            following = query("next_centres", distances, chosen, component)
            engine.run("choose the first centres", engine.renderer.statement("insert_into", chosen, following))
        centres: dict[str, list[tuple[float, ...]]] = {label: [] for label in counts}
        for label, _, row in engine.query_macro("first_centres", chosen, candidates, numbers):
            if len(centres[label]) < counts[label]:
                pairs = zip(row, self.means[label], strict=True)
                centres[label].append(tuple(mean if x is None else x for x, mean in pairs))
        return [replace(split, centres=tuple(centres[split.label])) for split in scaled]

    def _move_centres(self, moving: Mapping[str, ClassSplit], sample: Markup | None) -> dict[str, tuple[ClassSplit, bool]]:
        """The splits after one scan, and whether each has converged. A centre that is nearest to no row is dropped."""
        splits = [*moving.values()]
        most = max(len(split.centres) for split in splits)
        source = self.source if sample is None else sample
        rows = self.engine.query_macro("updated_centres", self.context, source, list(self.numbers), splits, most)
        moves_by_component = {(label, component): (n, moves) for label, component, n, moves in rows}
        result = {}
        for split in splits:
            centres, sizes, total_move = [], [], 0.0
            for component, before in enumerate(split.centres, start=1):
                nothing = (0.0, None if sample is None else [None] * len(before))
                n, moves = moves_by_component.get((split.label, component), nothing)
                if moves is None:
                    total_move = math.inf
                    continue
                pairs = zip(before, split.centres[0], moves, strict=True)
                after = tuple(old if move is None else first + move for old, first, move in pairs)
                total_move += sum((a - b) ** 2 * w for a, b, w in zip(after, before, split.weights, strict=True))
                centres.append(after)
                sizes.append(float(n))
            is_settled = total_move <= TOLERANCE * len(split.centres) * len(self.numbers)
            result[split.label] = replace(split, centres=tuple(centres)), is_settled
            self.sizes[split.label] = sizes
        return result

    def _by_size(self, split: ClassSplit) -> ClassSplit:
        """The components, the largest first; ties keep the order of the initial centres."""
        pairs = zip(self.sizes[split.label], split.centres, strict=True)
        return replace(split, centres=tuple(centre for _, centre in sorted(pairs, key=lambda pair: -pair[0])))
