"""The base of a model's handle: its newest state, where it is, what it reads, and how its queries are made."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from nbsql.engines.source import Source, passed_columns
from nbsql.errors import DatabaseError, InputError, NbsqlError, NoPartError, counted, no_column
from nbsql.family import Family
from nbsql.learning.feature_weights import stale_weights
from nbsql.learning.follow import learn_changes
from nbsql.learning.model_source import check_columns, read_source
from nbsql.model.overview import overview, overview_html
from nbsql.plan import REVIEW, VERBS, Rows
from nbsql.plan.verbs import POSTERIORS, USES_OF_VERBS
from nbsql.queries.explanation import Explanation
from nbsql.queries.query import Query, macro_query
from nbsql.queries.table import number, paragraph
from nbsql.rendering.dialect import folded
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState


class States:
    """The state of each thread, which no other thread changes in the middle of a verb."""

    def __init__(self, state: ModelState) -> None:
        self._by_thread = threading.local()
        self.newest = state

    @property
    def current(self) -> ModelState:
        """The state of this thread; the newest of all if it has none yet."""
        found: ModelState = getattr(self._by_thread, "state", self.newest)
        return found

    def adopt(self, state: ModelState) -> ModelState:
        """Make a state that of this thread, and of threads that have none yet."""
        if state is not self.current:
            self._by_thread.state = self.newest = state
        return state

    def refreshed(self) -> ModelState:
        """The state, read again if the model was changed elsewhere. Every verb does so before it uses what it knows."""
        return self.adopt(learn_changes(self.current.refreshed(known=self.newest)))

    @contextmanager
    def guard(self) -> Iterator[None]:
        """As that of the state, after the model has learnt what has changed in the table that it follows."""
        with self.refreshed().guard():
            yield

    def read(self, source: Any, *, reads_target: bool = False, weighted: bool = False) -> Source:
        """The source that the user means, as `read_source` returns it; the model is read again if it was changed."""
        state, data = read_source(self.current, source, reads_target=reads_target, weighted=weighted, known=self.newest)
        self.adopt(state if weighted else learn_changes(state))  # who learns has refreshed it in the same transaction
        return data

    def rendering(self, render: Callable[..., str]) -> Callable[..., str]:
        """A function that returns what `render` does, and calls it again only if the model has changed."""
        rendered: dict[tuple[Any, ...], tuple[Any, str]] = {}

        def text(*arguments: Any, refresh: bool = True) -> str:
            # A query learns changes before its transaction (`guard`), in which it only reads.
            state = self.adopt(self.current.refreshed(known=self.newest)) if refresh else self.current
            known = rendered.get(arguments)
            if known is None or known[0] != state.version:
                known = rendered[arguments] = state.version, render(*arguments)
            return known[1]

        return text

    def query(self, render: Callable[[], str], source: Source | None = None) -> Query:
        """A query that contains numbers of the model, and is therefore rendered again if it has changed when the query runs."""
        text = self.rendering(render)
        text()
        return Query(self.current.engine, text, source, guard=self.guard)


if TYPE_CHECKING:
    from typing_extensions import Self

_FEATURES = 8  # features that a repr names
_IN_SQL = {  # the names of a model's schema that a model of Python lacks, and what it has instead
    "reasons": "('rows'); in Python it is a sum of ⟨explain⟩",
    "likelihood_ratios": "('a', 'b'); in Python it is ⟨discrimination⟩",
    "features": "; in Python it is ⟨families⟩",
    "predict_uncalibrated": "('rows'); in Python it is predict with ⟨calibrated=False⟩",
    "predict_proba_uncalibrated": "('rows'); in Python it is predict_proba with ⟨calibrated=False⟩",
    "evaluate_uncalibrated": "('rows'); in Python it is evaluate with ⟨calibrated=False⟩",
    "predict_certain": "('rows'); in Python it is predict with ⟨certain=...⟩",
}


class Handle:
    """A handle to a model in a database; its name is None if it is transient."""

    def __init__(self, state: ModelState) -> None:
        self.name = state.name
        state = replace(state, catalog=None if state.name is None else state.engine.catalog())
        self._states = States(replace(state, version=state.version or state.updated_at()))

    @property
    def state(self) -> ModelState:
        """What is known of the model, for the rest of nbsql. It is internal, and may change between versions."""
        return self._states.current

    def __repr__(self) -> str:
        state = self.state
        title = f"model {self.name!r}" if self.name else "transient model"
        shown = [f"{feature.name} {feature.family.name}" for feature in state.spec.features[:_FEATURES]]
        more = len(state.spec.features) - len(shown)
        try:
            priors = state.engine.query_macro("all_rows", state.relations["priors"])
            where, counts = f" in {self._database!r}", [row[1] for row in priors]
            stale = ", with stale weights" if stale_weights(state.engine, state.spec, state.relations["batches"]) else ""
        except DatabaseError:  # the model was dropped, or the connection is closed
            where, counts, stale = ", which cannot be read", [], ""
        rows = "" if not counts or None in counts else f" from {number(sum(counts))} rows"
        rows += " so far" if rows and state.follows else ""  # it learns the others when it answers
        features = ", ".join([*shown, *([f"{more} more"] if more else [])]) or "no features"
        method = state.plan.calibration
        calibrated = f", calibrated by {method}" if method else ""
        of = f"{state.spec.target!r} of {counted(len(state.classes), 'class')}" if state.spec.has_target else state.spec.target
        learnt = f"{of}{rows}, by {features}"
        follows = f", follows {state.follows}" if state.follows else ""
        return f"<nbsql {title}{where}: {learnt}{calibrated}{stale}{follows}>"

    if not TYPE_CHECKING:  # for which every name would be one of a model

        def __getattr__(self, name: str) -> Any:
            """Raise the error that says what a macro or a view of SQL is called in Python."""
            if name not in _IN_SQL:
                return super().__getattribute__(name)  # again, since a property may have raised its own error
            raise NoPartError(f"{name!r} of a model is read in SQL, FROM {self.name or 'model'}.{name}{_IN_SQL[name]}")

    def __reduce__(self) -> NoReturn:
        self.state.__reduce__()

    @property
    def _database(self) -> str:
        return self.state.relations.database or self.state.engine.current()[0]

    def _repr_html_(self) -> str:
        """The overview, as a notebook shows it."""
        try:
            self._refresh()
            with self.state.guard():
                return overview_html(self.state, f"{self.state.title} in {self._database}")
        except NbsqlError as error:
            return str(paragraph(str(error)))

    def show(self) -> None:
        """Print an overview, as `nbsql show` does: features and families, classes, and what the model has learnt from."""
        self._refresh()
        title = f"{self.state.title} in {self._database}" if self.name is None else f"model {self.name} in {self._database}"
        with self.state.guard():
            lines = list(overview(self.state, title))
        if sys.stdout is not None:  # where there is none, print is as quiet
            sys.stdout.write("\n".join([*lines, ""]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, if it was opened by its path."""
        self.state.engine.close()

    @property
    def target(self) -> str:
        """The column that is predicted."""
        self._refresh()
        return self.state.spec.target

    @property
    def classes(self) -> list[Any]:
        """The labels in their own type, the most probable first."""
        with self._states.guard():
            return [row[0] for row in self.state.engine.query_macro("class_values", self.state.relations["priors"])]

    @property
    def families(self) -> dict[str, Family]:
        """The family of each feature, with all its options."""
        self._refresh()
        return {feature.name: feature.family for feature in self.state.spec.features}

    @property
    def priors(self) -> Query:
        """The classes and their priors, a row for each class, with class, n, prior and log_prior."""
        return self._relation("priors", "class")

    @property
    def likelihoods(self) -> Query:
        """The likelihood of each value in each class, with log_likelihood or mean, variance and rate, a row for each."""
        return self._relation("likelihoods", "feature", "value", "class")

    @property
    def statistics(self) -> Query:
        """The counts of the model, with slice, class, feature, value, n, mean and m2."""
        return self._relation("statistics", "feature", "value", "class")

    @property
    def counts(self) -> Query:
        """The counts summed over all batches, with slice, class, feature, value, n, mean, m2 and batch ("all")."""
        return self._macro_query("folded_cells", self.state.relations["statistics"], "all")

    def _relation(self, name: str, *order: str) -> Query:
        """The query of a relation of the model, sorted by some columns."""
        return self._macro_query("sorted_by", self.state.relations[name], order)

    def _macro_query(self, macro: str, *arguments: Any) -> Query:
        """The query that a macro renders from relations of the model, which is refreshed when it runs."""
        return macro_query(self.state, macro, *arguments, guard=self._states.guard)

    def _query(self, verb: str, source: Any, *, calibrated: bool | None = None, columns: Sequence[str] | None = None) -> Query:
        data = self._source(source)
        if verb in USES_OF_VERBS:
            self.state.require(USES_OF_VERBS[verb])

        def render(rows: Rows) -> str:
            method = self.state.calibration(calibrated) if verb in POSTERIORS else None
            return self.state.plan.score(verb, rows, self.state.classes, calibration=method)

        query = self._scoring_query(verb, data, render, columns)
        return Explanation.of(query, self.state.spec, self.state.plan.calibration) if verb == "explain" else query

    def _scoring_query(
        self,
        verb: str,
        source: Source,
        render: Callable[[Rows], str],
        columns: Sequence[str] | None = None,
        *,
        by_row: bool = True,
        reduce_spec: Callable[[Spec], Spec] = lambda spec: spec,
    ) -> Query:
        """A query that is rendered again if the model has changed when it runs, since it contains the classes of the model.

        `render` makes the text, given the rows, of which it returns `columns`. `by_row` says whether the first rows of the
        result depend only on the first rows of the source; `reduce_spec` removes the features that a row need not have.
        """
        passed = passed_columns(source, columns, exact=self.state.engine.exact)

        def sql(count: int | None = None) -> str:
            rows = self._rows(verb, source, passed, reduce_spec(self.state.spec))
            if count is not None:
                rows = replace(rows, relation=self.state.engine.renderer.fragment("excerpt", rows.relation, count))
            return render(rows)

        text = self._states.rendering(sql)
        whole = text(refresh=False)  # the model was refreshed when the source was resolved
        first, added = text if by_row else None, len(self._added_columns(verb))
        # A row for each row of the frame, in its order.
        index = getattr(source.label, "frame_index", None) if by_row and verb not in ("explain", "predict with top_k") else None
        engine, guard = self.state.engine, self._states.guard
        return Query(engine, text, source, guard=guard, first=first, rendered=whole, added=added, index=index)

    def _rows(self, verb: str, source: Source, passed: Sequence[str] | None, spec: Spec | None = None) -> Rows:
        """The rows of a source that a verb scores by a spec; only the columns in `passed` are returned, all if it is None."""
        rows, spec = replace(source.rows, passed_columns=passed), spec or self.state.spec
        if passed is None:
            self._check(verb, source, spec=spec)
            return rows
        left_out = {folded(name) for name in self._added_columns(verb)} - {folded(name) for name in passed}
        self._check(verb, source, left_out, spec)
        unread = left_out - {folded(name) for each in spec.features for name in each.columns}
        columns = [name for name in rows.columns if folded(name) not in unread]
        if len(columns) == len(rows.columns):
            return rows
        narrowed = self.state.engine.renderer.subquery("selected_columns", rows.relation, columns)
        return replace(rows, relation=narrowed, columns=columns)

    def _added_columns(self, verb: str) -> list[str]:
        name, _, option = verb.partition(" with ")
        verbs = {**VERBS, "review": REVIEW}
        return verbs[name].all_added_columns(self.state.classes, option or None) if name in verbs else []

    def _check(self, verb: str, source: Source, left_out: Collection[str] = (), spec: Spec | None = None) -> None:
        """Raise InputError unless the source has the features and lacks the columns that the verb adds (but `left_out`)."""
        columns = check_columns(self.state, source, spec)
        if verb == "explain":
            for name in self.state.spec.id:
                if folded(name) not in columns:
                    raise no_column(name, source.names, source.label, f"the id of {self.state.title}")
            return
        for name in self._added_columns(verb):
            if folded(name) in columns and folded(name) not in left_out:
                has = "have" if source.label == "the rows" else "has"
                added = f"{source.label} {has} a column {name!r} already, which {verb} adds"
                raise InputError(f"{added}; choose what comes back by ⟨columns=[...]⟩")

    def _refresh(self) -> None:
        self._states.refreshed()

    def _require(self, use: str) -> None:
        """Read the model again if it was changed elsewhere, and raise an error unless it supports the use."""
        self._refresh()
        self.state.require(use)

    def _source(self, source: Any, *, reads_target: bool = False, weighted: bool = False, spec: Spec | None = None) -> Source:
        """The source that the user means, joined with the dimensions that the model needs.

        `reads_target` says whether the class is read, `weighted` whether rows are weighted by their age. `spec` may derive
        other columns than the model, which has just been read.
        """
        if spec is not None and spec.derived != self.state.spec.derived:
            state = replace(self.state, plan=replace(self.state.plan, spec=spec))
            return read_source(state, source, reads_target=reads_target)[1]
        return self._states.read(source, reads_target=reads_target, weighted=weighted)
