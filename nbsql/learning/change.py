"""Changes to a model over time: update, forget, roll back and compact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.errors import InputError, counted, listed, suggestion, written
from nbsql.learning.collinear import check_covariances
from nbsql.learning.count import Count, total_rows
from nbsql.learning.factorised import make_count
from nbsql.learning.feature_weights import stale_weights
from nbsql.learning.half_life import check_gaps, check_reference_time
from nbsql.learning.spelling_advice import normal
from nbsql.plan import MACROS, UNCALIBRATED, Entry, Plan
from nbsql.plan.classes import check_told_apart, class_columns, scored_class_count
from nbsql.rendering.dialect import folded
from nbsql.spec.capabilities import check
from nbsql.spec.rules import check_range, spec_for_recount
from nbsql.storage.calibration import drop_outdated_calibration
from nbsql.storage.drafts import draft_plan, publish
from nbsql.storage.schema import drop_parts, followed, run_statements
from nbsql.storage.state import ModelState
from nbsql.storage.written import comparable
from nbsql.warn import warn_user

_WEIGHTS = ("weight", "weights", "sample_weight", "sample_weights")  # usual names of weight columns


@dataclass(frozen=True)
class Ledger:
    """The current ledger of a model."""

    entries: Sequence[Entry]  # its entries, oldest first
    title: str  # the name of the model in messages

    @classmethod
    def of(cls, state: ModelState) -> Ledger:
        return cls([Entry(*row) for row in state.engine.query_macro("ledger", state.relations["batches"])], state.title)

    def find(self, batch: str) -> Entry:
        """The entry of that name. Raises InputError if there is none."""
        names = [entry.batch for entry in self.entries]
        for entry in self.entries:
            if entry.batch == batch:
                return entry
        hint = suggestion(written(batch), names) or f"; it has {listed(names)}"
        raise InputError(f"no batch {written(batch)} in {self.title}{hint}")

    def next_entry(self, batch: str | None) -> tuple[int, str]:
        """The number and the name of the next entry. Raises InputError if the name is taken or invalid."""
        number = max(entry.number for entry in self.entries) + 1
        if batch is None:
            names = {entry.batch for entry in self.entries}
            return number, next(name for name in map(str, range(number, number + len(names) + 1)) if name not in names)
        if not isinstance(batch, str) or not batch:
            raise InputError(f"a batch's name must be a text of at least one character, not {batch!r}")
        if any(entry.batch == batch for entry in self.entries):
            raise InputError(f"batch {batch!r} is in {self.title} already; choose another name")
        return number, batch


@contextmanager
def changing(state: ModelState) -> Iterator[Change]:
    """A change to a model, inside the caller's transaction; its `result` is afterwards the state of the model."""
    change = Change(replace(state, plan=draft_plan(state.engine, state.plan)))
    yield change
    plan = publish(state.engine, change.plan, state.relations, state.version)
    follows = state.follows if change.only_adds else followed(state.engine, state.relations)
    change.result = replace(state, plan=plan, classes=change.classes, version=state.updated_at(), follows=follows)


class Change:
    """A change to one model, inside the caller's transaction. It begins with the plan and the classes of a draft of it."""

    result: ModelState  # known at the end
    only_adds = False  # whether it has only added rows of known classes, so that its classes are those of before

    def __init__(self, draft: ModelState) -> None:
        self.draft = draft
        self.engine = draft.engine
        self.plan = draft.plan
        self.classes = draft.classes
        self.title = draft.title
        self._statistics = draft.relations["statistics"]
        self._batches = draft.relations["batches"]

    @property
    def ledger(self) -> Ledger:
        return Ledger.of(self.draft)

    def update(self, source: Source, batch: str | None) -> None:
        """Add the rows of a source to the counts, and rebuild the model."""
        self._check_not_followed(source)
        labels = self.add(source, batch)
        self.only_adds = labels <= {column.label for column in self.classes}
        self.finish()

    def add(self, source: Source, batch: str | None = None) -> set[str]:
        """Add the rows of a source to the counts. Returns the labels of its classes as texts."""
        number, name = self.ledger.next_entry(batch)
        with self._counted(source) as (rows, labels, count, _):
            self.engine.run_all(count.cells(self._statistics, name, is_new=False))
            self._check_covariances()
            self._add_ledger_line(Entry(number, name, "update", source.label, 0), rows)
        if self.plan.spec.half_life is not None:
            slices = self.engine.renderer.subquery("slices", self._statistics)
            check_gaps(self.engine, self.plan.spec.half_life, slices, self.title)
        return {row[0] for row in labels}

    def forget(self, source: Source) -> None:
        """Subtract the rows of a source from the counts, and rebuild the model."""
        self._check_not_followed(source)
        self.subtract(source)
        self.finish()

    def subtract(self, source: Source) -> None:
        """Subtract the rows of a source from the counts."""
        number, name = self.ledger.next_entry(None)
        with self._counted(source, learns=False) as (rows, _, count, temporary):
            self._subtract(count.create_cells(temporary("cells"), name), name, source.label)
            self._add_ledger_line(Entry(number, name, "forget", source.label, 0), rows)

    def check_learnt(self, source: Source) -> None:
        """Raise InputError unless the model has learnt the rows of a source."""
        with self._counted(source, learns=False) as (_, _, count, temporary):
            self._check_learnt(count.create_cells(temporary("cells")), source.label, "follow")

    def write(self, operation: str, source: str) -> None:
        """Write a line of the ledger, of an operation that has learnt no rows yet."""
        number, name = self.ledger.next_entry(None)
        self._add_ledger_line(Entry(number, name, operation, source, 0))

    def join(self, entry: Entry, added: Entry) -> None:
        """Fold the cells of one entry of the ledger into those of another of the same operation."""
        render, batches = self.engine.renderer, (entry.batch, added.batch)
        # Only counts above 0 can be folded: those of a forgetting are negated before, and again afterwards.
        negate = "negated_cells" if entry.operation == "forget" else None
        with self.engine.temporaries() as temporary:
            cells = render.subquery("cells_of_batches", self._statistics, batches)
            if negate:
                cells = render.subquery(negate, cells, entry.batch)
            folded = self.engine.create("cells", temporary("folded"), render.fragment("folded_cells", cells, entry.batch))
            for relation in (self._statistics, self._batches):
                self.engine.run("fold", render.statement("delete_batches_named", relation, batches))
            self._insert_cells(render.fragment(negate, folded, entry.batch) if negate else render.fragment("cells_of", folded))
        self._add_ledger_line(replace(entry, rows=entry.rows + added.rows))

    @contextmanager
    def _counted(
        self, source: Source, *, learns: bool = True
    ) -> Iterator[tuple[Markup | int, Sequence[tuple[Any, ...]], Count, Callable[[str], Markup]]]:
        """The number of rows of a source, whose types may differ from those of the fit, its classes and its count.

        A script computes the number by an expression, and checks the rows when it runs. The last names temporary tables.
        """
        self._warn_of_ignored_weights(source)
        plan = self._counting_plan(source)
        with self.engine.temporaries() as temporary:
            count = make_count(self.engine, source, plan, temporary)
            labels = count.scan()
            if learns:
                check_range(self.plan.spec, (row[1] for row in labels), source.label, self.title)
                self._check_given_priors(labels)
                self._warn_of_spellings([row[1] for row in labels], source.label)
            rows = count.checked_rows() if self.engine.records else total_rows(labels)
            yield rows, labels, count, temporary

    def _warn_of_ignored_weights(self, source: Source) -> None:
        """Warn about a column that looks like row weights if the model was fitted without weights."""
        spec = self.plan.spec
        used = {folded(name) for name in (spec.target, *spec.id, *(name for f in spec.features for name in f.columns))}
        if spec.weight is not None:
            return
        for column in source.columns:
            if folded(column.name) in _WEIGHTS and folded(column.name) not in used:
                warn_user(
                    f"{self.title} was fitted without weights, so every row of {source.label} counts once and column "
                    f"{column.name!r} is left out; fit it with ⟨weight={column.name!r}⟩ to have rows count by it"
                )

    def forget_batch(self, batch: str) -> None:
        """Subtract the cells of one batch."""
        self._check_follows_none("⟨forget(batch=...)⟩")
        entry = self.ledger.find(batch)
        label = f"batch {batch!r}"
        if any(other.operation == "forget" and other.source == label for other in self.ledger.entries):
            raise InputError(f"{label} of {self.title} is forgotten already")
        if entry.operation == "forget":
            raise InputError(f"{label} of {self.title} is itself a forgetting; use rollback to undo it")
        number, name = self.ledger.next_entry(None)
        with self.engine.temporaries() as temporary:
            query = self.engine.renderer.fragment("cells_of_batch", self._statistics, batch)
            self._subtract(self.engine.create("cells", temporary("cells"), query), name, label)
        self._add_ledger_line(Entry(number, name, "forget", label, entry.rows))
        self.finish()

    def rollback(self, batch: str) -> None:
        """Undo all changes after one entry of the ledger."""
        self._check_follows_none("⟨rollback⟩")
        number = self.ledger.find(batch).number
        for relation in (self._statistics, self._batches):
            statement = self.engine.renderer.statement("delete_batches", relation, self._batches, number, after=True)
            self.engine.run(f"roll back to {batch}", statement)
        self.finish()

    def compact(self, through: str | None) -> None:
        """Fold the cells up to one entry of the ledger, or all cells, into one batch."""
        last = self.ledger.find(through) if through is not None else self.ledger.entries[-1]
        compacted = [entry for entry in self.ledger.entries if entry.number <= last.number]
        rows = sum(-entry.rows if entry.operation == "forget" else entry.rows for entry in compacted)
        renderer = self.engine.renderer
        with self.engine.temporaries() as temporary:
            cells = renderer.subquery("cells_through", self._statistics, self._batches, last.number)
            folded_query = renderer.fragment("folded_cells", cells, last.batch)
            folded_cells = self.engine.create("cells", temporary("folded"), folded_query)
            for relation in (self._statistics, self._batches):
                statement = renderer.statement("delete_batches", relation, self._batches, last.number, after=False)
                self.engine.run("fold", statement)
            self._insert_cells(renderer.fragment("cells_of", folded_cells))
        self._add_ledger_line(replace(last, operation="compact", source=counted(len(compacted), "batch"), rows=rows))
        if self.draft.follows is not None and "follow" in [entry.operation for entry in compacted]:
            self.write("follow", self.draft.follows)
        self._rebuild()

    def _check_follows_none(self, act: str) -> None:
        if self.draft.follows is not None:
            raise InputError(f"{self.title} follows {self.draft.follows}, which {act} would contradict; ⟨unfollow⟩ it first")

    def _check_not_followed(self, source: Source) -> None:
        if self.draft.follows == source.label:
            raise InputError(f"{self.title} follows {source.label}, and learns what changes in it by itself")

    # Steps. --------------------------------------------------------------------------------------------------------

    def _counting_plan(self, source: Source) -> Plan:
        spec = self.plan.spec
        check(spec, "change", self.title)
        spec = spec_for_recount(spec, source.columns, source.label, self.title, exact=self.engine.exact)
        if spec.slice_expression is not None:
            argument = "slice_by" if spec.slice_by else "segment_by"
            self.engine.check_expression(spec.slice_expression, source, f"⟨{argument}⟩ of {self.title}")
        return Plan(self.engine.renderer, spec, self.plan.relations)

    def _check_given_priors(self, labels: Sequence[tuple[Any, ...]]) -> None:
        prior = self.plan.spec.prior
        kind = self.plan.spec.target_type
        labels_with_prior = {comparable(label, kind) for label, _ in prior.given}
        for label, *_ in labels:
            if prior.kind == "given" and comparable(label, kind) not in labels_with_prior:
                raise InputError(f"the prior of {self.title} has no probability for class {label!r}; fit it anew with one")

    def _warn_of_spellings(self, labels: Sequence[Any], source: str) -> None:
        """Warn about classes that are new to the model, and differ from one of it only by case or blanks."""
        known = {column.label for column in self.classes}
        for label in (label for label in labels if isinstance(label, str) and label not in known):
            if alike := [name for name in known if normal(name) == normal(label)]:
                warn_user(
                    f"class {label!r} of {source} differs only by case or blanks from {listed(sorted(alike))} of {self.title}, "
                    "and is learnt as another; if it is the same, forget these rows, and write it so"
                )

    def _insert_cells(self, query: Markup) -> None:
        self.engine.run("add the cells", self.engine.renderer.statement("insert_into", self._statistics, query))

    def _subtract(self, cells: Markup, batch: str, label: str) -> None:
        """Subtract cells. Raises InputError unless the model has learnt all of them, and something is left."""
        self._check_learnt(cells, label, "forget")
        if self._violations(cells, label, "nothing_left"):
            raise InputError(f"cannot forget {label}: nothing would be left of {self.title}; drop it instead")
        if self.plan.centred_features:
            for name, feature in self.engine.query_macro("overdrawn_squares", self._statistics, cells, True):
                warn_user(
                    f"the values of {feature!r} that are left in class {name!r} hardly vary beside those of {label}, "
                    f"and their variance is lost in rounding; fit {self.title} again"
                )
        negated = self.engine.renderer.fragment("negated_cells", cells, batch)
        self._check_covariances(negated)
        self._insert_cells(negated)

    def _violations(self, cells: Markup, label: str, macro: str, *arguments: Any) -> list[tuple[Any, ...]]:
        message = f"cannot forget {label}: {self.title} has not learnt all of it, or nothing else; make the script again"
        return self.engine.violations(self.plan.relations["spec"], message, macro, self._statistics, cells, *arguments)

    def _check_learnt(self, cells: Markup, label: str, act: str) -> None:
        """Raise InputError unless the model has learnt all of some cells; `act` is what cannot be done otherwise."""

        def violations(macro: str, *arguments: Any) -> list[tuple[Any, ...]]:
            return self._violations(cells, label, macro, *arguments)

        for name, feature, value, learnt, forgotten in violations("overdrawn_cells"):
            cell = f"class {name!r}"
            if feature is not None:
                cell += f" with {value!r} in {feature!r}" if value is not None else f" with {feature!r}"
            raise InputError(
                f"cannot {act} {label}: it has {forgotten:.15g} of {cell}, "
                f"of which {self.title} has learnt {max(learnt, 0):.15g}"
            )
        moments = {"overdrawn_squares": "its variance"} if self.plan.centred_features else {}
        if any(feature.family.kind == "density" and not feature.family.centred for feature in self.plan.spec.features):
            moments["overdrawn_sums"] = "their sum"
        for macro, moment in moments.items():
            for name, feature in violations(macro):
                raise InputError(
                    f"cannot {act} {label}: {self.title} has not learnt its values of {feature!r} in class {name!r}; "
                    f"{moment} would be negative"
                )
        single = [f for f in self.plan.spec.features if f.family.level or not (f.family.bag or f.family.over_columns)]
        missing = violations("overdrawn_missing", single) if single else ()
        for name, feature, learnt, forgotten in missing:
            raise InputError(
                f"cannot {act} {label}: it has {forgotten:.15g} of class {name!r} without {feature!r}, "
                f"of which {self.title} has learnt {max(learnt, 0):.15g}"
            )

    def _check_covariances(self, *changes: Markup) -> None:
        cells = self.engine.renderer.fragment("cells_of", self._statistics)
        check_covariances(self.engine, self.plan.spec, cells, *changes)

    def _add_ledger_line(self, entry: Entry, rows: Markup | int | None = None) -> None:
        self.engine.run_all([self.plan.add_ledger_line(entry, rows)])

    def finish(self) -> None:
        """Rebuild what is made of the counts, after they have changed."""
        self.plan = drop_outdated_calibration(self.engine, self.plan, self.classes, self.title)
        if stale := stale_weights(self.engine, self.plan.spec, self._batches):
            warn_user(f"{self.title} has changed: {stale}")
        self._rebuild()

    def _rebuild(self) -> None:
        """Rebuild the tables that scoring reads; the macros only if the classes or the form have changed."""
        engine, plan = self.engine, self.plan
        renderer = engine.renderer
        check_reference_time(engine, plan.spec, plan.relations["statistics"], self.title)
        engine.run("time of the change", renderer.statement("set_updated_at", plan.relations["spec"]))
        estimates = list(plan.create_estimates(again=True))
        engine.run_all(estimates)
        classes = self.classes if self.only_adds else class_columns(engine.rows(plan.class_order()))
        check_told_apart(classes, plan.spec.target_type, self.title)
        plan = replace(plan, wide=plan.is_wide(scored_class_count(classes)))
        is_same_form = classes == self.classes and plan.wide == self.plan.wide
        refill = renderer.traits.refills_tables and is_same_form
        has_lookups = any(feature.family.has_lookups for feature in plan.spec.features)
        outdated = [] if refill else ["parameters", *(["lookups"] if has_lookups else [])]
        changes_macros = not plan.relations.temporary and not is_same_form
        drop_parts(engine, plan.relations, [*((*MACROS, *UNCALIBRATED) if changes_macros else ()), *outdated])
        statements = list(plan.create_scoring_tables(classes, again=refill, in_script=engine.records))
        if changes_macros:
            statements += plan.create_macros(classes)
        if not plan.relations.temporary:
            statements += plan.add_comments([*estimates, *statements])
        run_statements(engine, plan, statements)
        self.plan, self.classes = plan, classes
