"""Expectation-maximisation: rows without a class are counted in each class, with its posterior as their weight."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from markupsafe import Markup

from nbsql.engines.connect import transient_relations
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import counted
from nbsql.learning.collinear import check_covariances
from nbsql.learning.count import Count
from nbsql.learning.draft import Draft
from nbsql.plan import Entry, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context
from nbsql.spec.method import EM
from nbsql.spec.spec import Spec
from nbsql.storage.schema import build, drop_transient
from nbsql.warn import warn_user

BATCH = "em"  # the ledger entry of the rows without a class
WEIGHT = "nbsql_weight"


@dataclass(frozen=True)
class Expectation:
    """The evidence of the rows by a model (sql/macros/learning/em.sql)."""

    evidence: float  # the log-likelihood of all rows
    weight: float  # the weight of all rows
    soft: int  # the number of rows without a class
    unexplained: int  # the number of these that no class can explain

    @property
    def mean(self) -> float:
        """The mean evidence of a row."""
        return self.evidence / self.weight


def run_em(
    engine: Engine, spec: Spec, options: EM, count: Count, temporary: Callable[[str], Markup]
) -> tuple[Markup, Entry | None]:
    """The query of the cells of a source including its rows without a class, and the ledger entry of these rows.

    The source has been scanned by `count`. Raises InputError if a row without a class breaks a rule.
    """
    count.check_unlabelled()
    return _Search(engine, spec, options, count, temporary).run()


class SoftCount:
    """Rows that are divided among classes: each step scores them by a model, and counts them by their posteriors."""

    def __init__(
        self,
        engine: Engine,
        spec: Spec,
        count: Count,
        temporary: Callable[[str], Markup],
        *,
        labelled: Markup | None = None,
        weight: float = 1.0,
        batch: str = "1",
    ) -> None:
        self.engine = engine
        self.source = count.source
        self.batch = batch
        texts = [feature for feature in spec.features if feature.family.of_terms is not feature.family]
        # The rows, which are scored and counted in every step, are joined and their texts are cut only once.
        cut = tuple(replace(feature, family=feature.family.of_terms) for feature in spec.features)
        self.spec = replace(spec, joins=(), features=cut)
        self.temporary = temporary
        self.labelled = labelled  # the cells of the rows that have a class
        self.weight = weight  # of a row without a class
        columns = [*spec.columns, *(["nbsql_slice"] if spec.is_sliced else [])]
        query = engine.renderer.fragment("numbered_rows", Context.of(spec), count.relation, columns, texts)
        self.rows = engine.create("number the rows", temporary("rows"), query)
        self.columns = [name for name in columns if name not in (spec.target, spec.weight)]
        self._made = 0  # tables of counts

    def climb(
        self, soft_cells: Markup | None, has_ended: Callable[[int, Expectation | None, Expectation], bool]
    ) -> tuple[Markup | None, Expectation, int]:
        """The counts of the rows without a class, the evidence of their model, and the number of steps to them from some.

        `has_ended` is asked after so many steps, with the evidence before the last one and after it.
        """
        previous: Expectation | None = None
        steps = 0
        while True:
            with self._model(soft_cells) as (plan, classes), self.engine.temporaries() as temporary:
                expected = temporary("expected")
                current = self._expect_classes(plan, classes, self.rows, expected)
                if current.soft == current.unexplained or has_ended(steps, previous, current):
                    return soft_cells, current, steps
                counted = self._count(plan, self._divided(plan, classes, expected), temporary)
            self.drop(soft_cells)
            steps, previous, soft_cells = steps + 1, current, counted

    def drop(self, soft_cells: Markup | None) -> None:
        """Drop counts that are of no more use."""
        if soft_cells is not None:
            self.engine.query_macro("drop_if_exists", soft_cells)

    def evidence(self, soft_cells: Markup, rows: Markup) -> Expectation:
        """The evidence of some rows by the model of counts."""
        with self._model(soft_cells) as (plan, classes), self.engine.temporaries() as temporary:
            return self._expect_classes(plan, classes, rows, temporary("expected"))

    @contextmanager
    def _model(self, soft_cells: Markup | None) -> Iterator[tuple[Plan, list[ClassColumn]]]:
        """The model of the labelled rows and of some soft counts, as far as scoring reads it, while the context is open."""
        engine, relations = self.engine, transient_relations(self.engine)
        engine.create("statistics", relations["statistics"], self.cells(soft_cells), temporary=True)
        try:
            check_covariances(engine, self.spec, engine.renderer.fragment("cells_of", relations["statistics"]))
            single = self.labelled is None and not self.spec.is_sliced  # one count alone
            yield build(engine, Plan(engine.renderer, self.spec, relations), single=single)
        finally:
            drop_transient(engine, relations)

    def cells(self, soft_cells: Markup | None) -> Markup:
        """The query of the cells of all rows."""
        render = self.engine.renderer.fragment
        parts = [render("cells_of", relation) for relation in (self.labelled, soft_cells) if relation is not None]
        return render("union_of_rows", parts)

    def _expect_classes(self, plan: Plan, classes: list[ClassColumn], rows: Markup, expected: Markup) -> Expectation:
        """Score rows, and return their evidence."""
        self.engine.create("expect the classes", expected, plan.expected_classes(rows, classes, self.weight))
        evidence, weight, soft, unexplained = self.engine.query_macro("evidence_of_rows", expected)[0]
        return Expectation(float(evidence or 0), float(weight or 0), soft, unexplained)

    def _divided(self, plan: Plan, classes: list[ClassColumn], expected: Markup) -> Markup:
        """The rows without a class, once for each class that they may have, weighted by its posterior."""
        arguments = (self.rows, expected, plan.relations["parameters"], self.columns)
        return self.engine.renderer.fragment("posterior_weighted_rows", plan.context(classes), *arguments)

    def _count(self, plan: Plan, rows: Markup, temporary: Callable[[str], Markup]) -> Markup:
        """A table of the cells of rows that have a class and a weight."""
        self._made += 1
        counted = self.temporary(f"soft {self._made}")
        weighted_plan = Plan(self.engine.renderer, replace(self.spec, weight=WEIGHT), plan.relations)
        source = Source(rows, self.source.label, self.source.columns)
        count = Count(self.engine, source, weighted_plan, temporary, sliced=rows, is_scan=False)
        count.rules = []  # all rows have been checked already
        count.scan()
        return count.create_cells(counted, self.batch)


def is_settled(previous: Expectation | None, current: Expectation, tolerance: float) -> bool:
    """Whether the evidence has changed by no more than a tolerance."""
    return previous is not None and abs(current.mean - previous.mean) <= tolerance * max(1.0, abs(current.mean))


def warn_of_end(method: str, steps: int, previous: Expectation | None, current: Expectation) -> None:
    """Warn that the evidence still changed in the last of all steps that were allowed."""
    count = counted(steps, "step")
    change = None if previous is None else abs(current.mean - previous.mean)
    by = "" if change is None else f", the last of which changed the log evidence by {change:.2g} per row"
    warn_user(f"⟨method={method!r}⟩ has not converged after {count}{by}; allow more iterations")


class _Search(SoftCount):
    """One search for the counts at which the evidence no longer changes."""

    def __init__(self, engine: Engine, spec: Spec, options: EM, count: Count, temporary: Callable[[str], Markup]) -> None:
        labelled = count.create_cells(temporary("labelled"))
        super().__init__(engine, spec, count, temporary, labelled=labelled, weight=options.weight, batch=BATCH)
        self.options = options

    def run(self) -> tuple[Markup, Entry | None]:
        """The query of the cells, and the ledger entry of the rows without a class."""
        soft_cells, current, steps = self.climb(None, self._has_ended)
        self._warn_of_useless_rows(current)
        return self.cells(soft_cells), self._entry(current, steps) if soft_cells is not None else None

    def _has_ended(self, steps: int, previous: Expectation | None, current: Expectation) -> bool:
        # The model of the labelled rows skips values that it has not seen, so its evidence is not comparable.
        comparable = previous if steps > 1 else None
        if is_settled(comparable, current, self.options.tolerance):
            return True
        if steps < self.options.iterations:
            return False
        warn_of_end("em", steps, comparable, current)
        return True

    def _entry(self, current: Expectation, steps: int) -> Entry:
        weight = "" if self.options.weight == 1 else f", each counting {self.options.weight:g}"
        source = f"{self.source.label} without {self.spec.target!r}{weight}, {counted(steps, 'step')}"
        return Entry(2, BATCH, "em", source, current.soft - current.unexplained)

    def _warn_of_useless_rows(self, current: Expectation) -> None:
        """Warn about rows that count for nothing."""
        label, target = self.source.label, self.spec.target
        if not current.soft:
            warn_user(f"every row of {label} has a {target!r}, so ⟨method='em'⟩ counts what ⟨method='naive'⟩ does")
        elif current.unexplained:
            rows, are = ("row", "is") if current.unexplained == 1 else ("rows", "are")
            warn_user(f"{current.unexplained} {rows} of {label} without {target!r} could be of no class and {are} left out")


def count_softly(draft: Draft) -> Draft:
    """The step of a fit that finds the cells with the rows without a class, and the line of the ledger of these rows."""
    if draft.spec.em is None:
        return draft
    cells, soft = run_em(draft.engine, draft.spec, draft.spec.em, draft.count, draft.temporary)
    learnt = {"statistics": draft.engine.renderer.fragment("subquery", cells)}
    return replace(draft, learnt=learnt, entries=(*draft.entries, *([soft] if soft is not None else [])))
