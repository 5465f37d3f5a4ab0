"""Clusters of rows without a class, by expectation-maximisation (clusters.sql)."""

from collections.abc import Callable
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import InputError
from nbsql.learning.count import Count, counting_plan
from nbsql.learning.draft import Draft
from nbsql.learning.em import Expectation, SoftCount, is_settled, warn_of_end
from nbsql.plan.context import Context
from nbsql.spec.method import Clusters
from nbsql.spec.spec import CLUSTER, Spec
from nbsql.warn import warn_user

FIRST_STEPS = 10  # of each start


class _Search(SoftCount):
    def __init__(self, engine: Engine, spec: Spec, count: Count, temporary: Callable[[str], Markup], found: Clusters) -> None:
        super().__init__(engine, spec, count, temporary)
        self.options = found
        self.kinds = {column.name: column.kind for column in engine.columns(self.rows)}
        self.values = [name for name in self.columns if name != "nbsql_slice"]

    def run(self) -> Markup:
        """The query of the cells of the start with the largest log-likelihood."""
        best: tuple[Expectation, Markup] | None = None
        starts = 1 if self.options.k == 1 else self.options.starts
        for start in range(starts):
            with self.engine.part(f"clusters, start {start + 1} of {starts}"):
                first = self._start(start)
                cells, current, _ = self.climb(first, self._has_begun)
            if best is None or current.mean > best[0].mean:
                self.drop(None if best is None else best[1])
                best = current, cells or first
            else:
                self.drop(cells)
        if best is None:
            raise RuntimeError("there is at least one start")
        with self.engine.part("clusters, from the best start"):
            cells, *_ = self.climb(best[1], self._has_ended)
        return self.engine.renderer.fragment("cells_by_size", cells or best[1], self.options.k)

    def _start(self, start: int) -> Markup:
        """The counts with which the clusters start. Raises InputError if there are fewer different rows."""
        context, render, k = Context.of(self.spec), self.engine.renderer.fragment, self.options.k
        number = str(self.options.seed * 1000 + start)
        with self.engine.temporaries() as temporary:
            query = render("first_rows_of_clusters", context, self.rows, self.values, self.kinds, k, number)
            firsts = self.engine.create("choose the first rows", temporary("firsts"), query)
            if self.engine.query_value("row_count", firsts) < k:
                raise InputError(f"{self.source.label} has fewer than {k} different rows; ask for fewer clusters")
            rows = render("rows_at_the_start", context, self.rows, firsts, self.columns, k)
            return self._count(counting_plan(self.engine, self.spec), rows, temporary)

    def _has_begun(self, steps: int, _previous: Expectation | None, _current: Expectation) -> bool:
        return steps >= min(FIRST_STEPS, self.options.iterations)

    def _has_ended(self, steps: int, previous: Expectation | None, current: Expectation) -> bool:
        if is_settled(previous, current, self.options.tolerance):
            return True
        if steps + FIRST_STEPS < self.options.iterations:
            return False
        warn_of_end("clusters", self.options.iterations, previous, current)
        return True


def find_clusters(draft: Draft) -> Draft:
    """The step of a fit that finds the clusters of rows without a class. The model does not know how its class was derived."""
    spec = draft.spec
    if spec.clusters is None:
        return draft
    if not spec.features:
        raise InputError("clusters need a feature by which rows differ")
    if CLUSTER not in draft.source.facts.added:
        warn_user(f"the column {spec.target!r} of {draft.source.label} is no feature, as the clusters have its name")
    cells = _Search(draft.engine, spec, draft.count, draft.temporary, spec.clusters).run()
    learnt = {"statistics": draft.engine.renderer.fragment("subquery", cells)}
    return replace(draft.with_spec(derived=tuple(each for each in spec.derived if each.name != CLUSTER)), learnt=learnt)
