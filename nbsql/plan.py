"""From a spec to ordered, named statements. Pure: knows no connection, renders and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbsql.context import ClassColumn, Context, blocks, is_wide, scored
from nbsql.dialect import restore
from nbsql.errors import NotSupportedError
from nbsql.functions import functions
from nbsql.relations import Relations
from nbsql.render import Renderer
from nbsql.spec import Check, Feature, Spec

# A statement reads so many categorical features at once: enough to keep every core busy, few enough to plan quickly.
LEVELS_A_STATEMENT = 50
FEATURES_A_STATEMENT = 100

VERBS = ("predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain")
MACROS = (*VERBS, "scored")  # what is in a model's schema; the verbs share the last
CALIBRATED = {"predict_calibrated": "predict", "predict_proba_calibrated": "predict_proba"}  # and when it is calibrated


@dataclass(frozen=True)
class Statement:
    """One statement of a plan and what it is for."""

    name: str
    sql: str


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: its number, from 1; its name; what was done, with what, and how many rows that was."""

    number: int
    batch: str
    operation: str
    source: str
    rows: int


def _statement_name(act: str, block: Sequence[Feature]) -> str:
    first, last = block[0].name, block[-1].name
    return f"{act} {first}" if len(block) == 1 else f"{act} {first} to {last}"


class Plan:
    """The statements of one model.

    Args:
        renderer: of the engine.
        spec: what to model.
        relations: where the model's relations are.
        wide: the form of the tables that scoring reads; None chooses it by their size.
    """

    def __init__(self, renderer: Renderer, spec: Spec, relations: Relations, *, wide: bool | None = None) -> None:
        self._wide = wide
        self.renderer = renderer
        self.spec = spec
        self.relations = relations
        self._rendered: dict[tuple[Any, ...], Markup] = {}

    @property
    def wide(self) -> bool | None:
        return self._wide

    def is_wide(self, class_count: int) -> bool:
        """Whether a model of so many classes takes the wide form, a column a class."""
        return is_wide(self.spec, class_count) or not self.renderer.dialect.long_form

    # Fitting. ------------------------------------------------------------------------------------------------------

    @property
    def scanned(self) -> list[Feature]:
        return [feature for feature in self.spec.features if feature.family.scanned]

    @property
    def centred(self) -> list[Feature]:
        return [feature for feature in self.spec.features if feature.family.centred]

    @property
    def reads(self) -> int:
        """How often a fit reads its source."""
        return 1 + sum(feature.family.level or feature.family.bag for feature in self.spec.features)

    def stage(self, source: Markup, staged: Markup) -> Statement:
        query = self.renderer.fragment("staged", source, [*self.spec.columns, *(["nbsql_slice"] if self.spec.is_cut else [])])
        return self._table("read the source once", staged, query, temporary=True)

    def sliced(self, source: Markup) -> Markup:
        """The source with the slice, segment or component of every row, if the model has some."""
        if self.spec.components is not None:
            return self.renderer.fragment("in_components", source, self.spec.components, self.spec.target)
        if not self.spec.cut_by:
            return source
        return self.renderer.fragment("sliced", source, self.renderer.dialect.query(self.spec.cut_by))

    def segmented(self, source: Markup) -> Markup:
        """The source with the segment of every row, if the model has segments."""
        return self.sliced(source) if self.spec.segment_by else source

    def centres(self, source: Markup) -> str:
        return self.renderer.statement("centres", source, self.centred)

    def scan(self, source: Markup, scan: Markup, checks: Sequence[Check], centres: Mapping[int, Any]) -> Statement:
        number = self.renderer.dialect.number
        numbers = {
            index: [number(value) for value in centre] if isinstance(centre, list) else number(centre)
            for index, centre in centres.items()
        }
        query = self.renderer.fragment("scan", Context(self.spec), source, self.scanned, checks, numbers)
        return self._table("scan", scan, query, temporary=True)

    def untrusted(self, scan: Markup) -> Iterator[str]:
        """Queries for the indices of the features that need the careful scan."""
        for block in blocks(self.scanned if self.centred else [], FEATURES_A_STATEMENT):
            yield self.renderer.statement("untrusted", self._summed_cells(scan, block))

    def _summed_cells(self, scan: Markup, features: Sequence[Feature]) -> Markup:
        key = (scan, *(feature.index for feature in features))
        if key not in self._rendered:  # asked for twice: to hold against the rules, and to write
            self._rendered[key] = self.renderer.fragment("summed_cells", Context(self.spec), scan, features)
        return self._rendered[key]

    def rescan(self, source: Markup, rescan: Markup, features: Sequence[Feature]) -> Statement:
        query = self.renderer.fragment("scan", Context(self.spec), source, features, careful=True)
        return self._table("scan again, carefully", rescan, query, temporary=True)

    def create_schema(self) -> Statement:
        return Statement("schema", self.renderer.statement("create_schema", self.relations.schema))

    def cells(
        self,
        relation: Markup,
        batch: str,
        source: Markup,
        scan: Markup,
        rescan: Markup,
        careful: Sequence[Feature],
        *,
        temporary: bool,
    ) -> Iterator[Statement]:
        """A new table of cells: from what the scans found, and those of categories and tokens from the source.

        Args:
            relation: the table to create.
            batch: the line of the ledger that the cells come with.
            source: what is counted.
            scan: the table of the wide scan.
            rescan: the table of the careful scan, of the features in `careful`.
            careful: see `rescan`.
            temporary: whether the table is one.
        """
        context = Context(self.spec, batch=batch)
        yield self._table("statistics", relation, self.renderer.fragment("class_cells", context, scan), temporary=temporary)
        trusted = [feature for feature in self.scanned if feature not in careful]
        for scanned, features in ((scan, trusted), (rescan, careful)):
            for block in blocks(features, FEATURES_A_STATEMENT):
                cells = self.renderer.fragment("feature_cells", context, self._summed_cells(scanned, block))
                yield self._insert(_statement_name("cells of", block), relation, cells)
        levels = [feature for feature in self.spec.features if feature.family.level]
        for block in blocks(levels, LEVELS_A_STATEMENT):
            name = _statement_name("count", block)
            yield self._insert(name, relation, self.renderer.fragment("level_cells", context, source, block))
        for feature in self.spec.features:
            if feature.family.bag:
                cells = self.renderer.fragment("token_cells", context, source, feature)
                yield self._insert(f"count the tokens of {feature.name}", relation, cells)

    def kept(self, name: str, relation: Markup) -> Statement:
        """One of the model's tables, of the rows of a temporary one."""
        return self._table(name, self.relations[name], self.renderer.fragment("everything", relation))

    def keep_features(self) -> Statement:
        """Drop the cells of features that the spec does not have."""
        statement = self.renderer.statement("keep_features", self.relations["statistics"], self.spec.features)
        return Statement("keep the best features", statement)

    # The spec and the ledger. --------------------------------------------------------------------------------------

    def described(self, version: str, entry: Entry) -> Iterator[Statement]:
        """What surrounds the statistics: the spec, the ledger with its first line, and the views of the estimates."""
        yield self._table("spec", self.relations["spec"], self.renderer.fragment("spec_row", self.spec.to_json(), version))
        yield self._table("batches", self.relations["batches"], self._entry(entry))
        yield from self.estimates()

    def enter(self, entry: Entry) -> Statement:
        """One more line of the ledger."""
        return self._insert("ledger", self.relations["batches"], self._entry(entry))

    def _entry(self, entry: Entry) -> Markup:
        return self.renderer.fragment("batch_row", entry.number, entry.batch, entry.operation, entry.source, entry.rows)

    # From statistics to what scoring reads. ------------------------------------------------------------------------

    def priors(self, statistics: Markup | None = None) -> Markup:
        return self.renderer.fragment("priors", Context(self.spec), statistics or self.relations["statistics"])

    def estimates(self) -> Iterator[Statement]:
        """The views of priors and likelihoods."""
        yield from self._analysed("statistics")
        yield self._view("priors", self.priors())
        arguments = (Context(self.spec), self.relations["statistics"], self.relations["priors"])
        if self.spec.features:
            yield self._view("likelihoods", self.renderer.fragment("likelihoods", *arguments))
        else:
            yield self._view("likelihoods", self.renderer.fragment("no_likelihoods", self.relations["priors"]))
        if self.spec.components is not None:
            yield self._view("components", self.renderer.fragment("components", *arguments, self.spec.components))

    def compiled(self, classes: Sequence[ClassColumn], *, again: bool = False) -> Iterator[Statement]:
        """The tables that scoring reads; `again`: in place of what they hold."""
        context = self._context(classes)
        self._check_size(context)
        arguments = (context, self.relations["statistics"], self.relations["priors"])
        if context.learnt:
            weights = self.relations["weights"]
            arguments = (context, weights, self.renderer.fragment("biased", self.relations["priors"], weights))
        kind = "segment_" if self.spec.segment_by else "mixture_" if self.spec.components is not None else ""
        query = self.renderer.fragment(f"{kind}parameters", *arguments)
        yield from self._made("parameters", query, again=again)
        if any(feature.family.looked_up for feature in self.spec.features):
            yield from self._made("lookups", self.renderer.fragment(f"{kind}lookups", *arguments), again=again)

    def _made(self, name: str, query: Markup, *, again: bool) -> Iterator[Statement]:
        relation = self.relations[name]
        if again:
            yield Statement(f"empty {name}", self.renderer.statement("delete_all", relation))
            yield self._insert(name, relation, query)
        else:
            yield self._table(name, relation, query)
        yield from self._analysed(name)

    def _analysed(self, name: str) -> Iterator[Statement]:
        """Let an engine that does not do so by itself look at a new table, whose size it would guess at."""
        if self.renderer.dialect.analyzes:
            yield Statement(f"analyze {name}", self.renderer.statement("analyze", self.relations[name]))

    def _check_size(self, context: Context) -> None:
        """Raise NotSupportedError if the parameters are more than a row can hold, labels of usual length among them."""
        most, classes, parameters = self.renderer.dialect.most_numbers, len(context.class_columns), len(context.parameters)
        if most is not None and classes * (5 + parameters) > most:
            raise NotSupportedError(
                f"{classes} classes with {parameters} parameters each do not fit into a row of this engine's tables, "
                f"which holds some {most:,} numbers; take fewer classes or features"
            )

    def macros(self, classes: Sequence[ClassColumn]) -> Iterator[Statement]:
        """The table macros by which the model is used in SQL, or the functions, where an engine has no such macros."""
        if not self.renderer.dialect.table_macros:
            yield from (Statement(f"function {name}", sql) for name, sql in functions(self, classes))
            return
        context = self._context(classes)
        queried = self.segmented(self.renderer.fragment("queried"))
        parameters, lookups = map(self.relations.within, ("parameters", "lookups"))
        yield self._macro("scored", self.renderer.fragment("scored", context, queried, parameters, lookups))
        scored = self._scored_in_macros(context)
        for verb in VERBS:
            if verb == "explain":
                query = self.renderer.fragment(verb, context, queried, parameters, lookups)
            else:
                query = self.renderer.fragment(verb, context, scored)
            yield self._macro(verb, query)

    def calibrated_macros(self, classes: Sequence[ClassColumn], method: str) -> Iterator[Statement]:
        """The table macros of a calibrated model."""
        context = self._context(classes)
        relations = map(self.relations.within, ("parameters", "calibration"))
        query = self.renderer.fragment("calibrated", context, self._scored_in_macros(context), *relations, method)
        scored = self.renderer.fragment("subquery", query)
        for name, verb in CALIBRATED.items():
            yield self._macro(name, self.renderer.fragment(verb, context, scored))

    def _scored_in_macros(self, context: Context) -> Markup:
        if self.relations.is_current:
            return self.renderer.fragment("call_macro", self.relations.within("scored"))
        # To make a macro, DuckDB looks for those it calls in the current database, and there only.
        arguments = (self.renderer.fragment("queried"), *map(self.relations.within, ("parameters", "lookups")))
        return self.renderer.fragment("subquery", self.renderer.fragment("scored", context, *arguments))

    def class_order(self, priors: Markup | None = None) -> str:
        if self.spec.components is not None:
            return self.renderer.statement("class_order_of_components", self.relations["statistics"], self.relations["priors"])
        return self.renderer.statement("class_order", priors or self.relations["priors"])

    def score(
        self,
        verb: str,
        source: Markup,
        classes: Sequence[ClassColumn],
        *,
        ordered: bool = False,
        calibration: str | None = None,
        columns: Sequence[str] = (),
    ) -> str:
        """The query of a verb over a source of these columns; calibrated by the method `calibration`, if there is one."""
        return restore(self.query(verb, source, classes, ordered=ordered, calibration=calibration, columns=columns))

    def query(
        self,
        verb: str,
        source: Markup,
        classes: Sequence[ClassColumn],
        *,
        ordered: bool = False,
        calibration: str | None = None,
        tables: tuple[Markup, Markup] | None = None,
        columns: Sequence[str] = (),
    ) -> Markup:
        """The query of a verb over a source, not yet whole; `tables` stand for the parameters and lookups of the model."""
        if verb == "explain":
            tables = tables or (self.relations["parameters"], self.relations["lookups"])
            return self.renderer.fragment(verb, self._context(classes, ordered=ordered), self.segmented(source), *tables)
        context, scored = self._scored(source, classes, tables, ordered=ordered, calibration=calibration, columns=columns)
        return self.renderer.fragment(verb, context, scored)

    def decide(
        self,
        macro: str,
        argument: Any,
        source: Markup,
        classes: Sequence[ClassColumn],
        *,
        ordered: bool = False,
        calibration: str | None = None,
    ) -> str:
        """The query of predictions made otherwise than by the highest posterior; see nbsql/decisions.py."""
        context, scored = self._scored(source, classes, ordered=ordered, calibration=calibration)
        return self.renderer.statement(macro, context, scored, self.relations["parameters"], argument)

    def log_joint(self, source: Markup, classes: Sequence[ClassColumn]) -> str:
        """The query of the total log-likelihood of rows and their classes."""
        context, scored = self._scored(source, classes)
        return self.renderer.statement("total_log_joint", context, scored, self.relations["parameters"])

    def judged(
        self,
        source: Markup,
        classes: Sequence[ClassColumn],
        weight: str | None,
        *,
        as_text: bool,
        calibration: str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
    ) -> Markup:
        """The common table expressions of the queries that judge the model on a source."""
        context, scored = self._scored(source, classes, calibration=calibration, costs=costs)
        return self.renderer.fragment("judged", context, scored, self.relations["parameters"], weight, as_text)

    def paid(
        self,
        source: Markup,
        classes: Sequence[ClassColumn],
        weight: str | None,
        *,
        as_text: bool,
        calibration: str | None,
        costs: Sequence[Sequence[float]],
    ) -> str:
        """The query of what the predictions that cost least did cost."""
        context, scored = self._scored(source, classes, calibration=calibration, costs=costs)
        return self.renderer.statement("paid", context, scored, self.relations["parameters"], weight, as_text)

    def calibration_rows(self, source: Markup, classes: Sequence[ClassColumn], weight: str | None, *, as_text: bool) -> Markup:
        """The query of what a calibration is fitted on, of a source."""
        context, scored = self._scored(source, classes)
        return self.renderer.fragment("calibration_rows", context, scored, self.relations["parameters"], weight, as_text)

    def context(self, classes: Sequence[ClassColumn]) -> Context:
        """What the macros know as `model`."""
        return self._context(classes)

    def _scored(
        self,
        source: Markup,
        classes: Sequence[ClassColumn],
        tables: tuple[Markup, Markup] | None = None,
        *,
        ordered: bool = False,
        calibration: str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        columns: Sequence[str] = (),
    ) -> tuple[Context, Markup]:
        context = self._context(classes, ordered=ordered, columns=columns)
        parameters, lookups = tables or (self.relations["parameters"], self.relations["lookups"])
        scored = self.renderer.fragment(
            "subquery", self.renderer.fragment("scored", context, self.segmented(source), parameters, lookups)
        )
        if calibration is not None:
            query = self.renderer.fragment(
                "calibrated", context, scored, parameters, self.relations["calibration"], calibration
            )
            scored = self.renderer.fragment("subquery", query)
        if costs is not None:
            query = self.renderer.fragment("decided_at_cost", context, scored, parameters, costs)
            scored = self.renderer.fragment("subquery", query)
        return context, scored

    def _context(self, classes: Sequence[ClassColumn], *, ordered: bool = False, columns: Sequence[str] = ()) -> Context:
        wide = self.is_wide(scored(classes)) if self._wide is None else self._wide
        return Context(self.spec, classes, wide=wide, ordered=ordered, columns=columns)

    # Statements. ---------------------------------------------------------------------------------------------------

    def _table(self, name: str, relation: Markup, query: Markup, *, temporary: bool = False) -> Statement:
        temporary = temporary or self.relations.temporary
        return Statement(name, self.renderer.statement("create_table_as", relation, query, temporary=temporary))

    def _view(self, name: str, query: Markup) -> Statement:
        temporary = self.relations.temporary
        return Statement(name, self.renderer.statement("create_view_as", self.relations[name], query, temporary=temporary))

    def _macro(self, name: str, query: Markup) -> Statement:
        return Statement(f"macro {name}", self.renderer.statement("create_table_macro", self.relations[name], query))

    def _insert(self, name: str, relation: Markup, query: Markup) -> Statement:
        return Statement(name, self.renderer.statement("insert_into", relation, query))
