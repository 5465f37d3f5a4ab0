"""The statements that make the other relations of a model from the table of cells."""

from collections.abc import Collection, Iterator, Sequence

from markupsafe import Markup

from nbsql.errors import NotSupportedError
from nbsql.plan.base import Entry, Statement, query_of_estimates
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions, SegmentTables
from nbsql.plan.form import numbers_per_class
from nbsql.plan.parts import COLUMNS, PARTS, SCHEMA
from nbsql.plan.scoring import Scoring
from nbsql.plan.table_macros import create_functions, create_table_macros
from nbsql.spec.spec import Feature


class Estimating(Scoring):
    """The statements for the spec, the ledger, the estimates, the tables that scoring reads, and the macros."""

    def create_schema(self) -> Statement:
        return Statement("schema", self.renderer.statement("create_schema", self.relations.schema))

    def describe_model(
        self, version: str, entry: Entry, rows: Markup | None = None, *, has_unique_cells: bool = False
    ) -> Iterator[Statement]:
        """The relations that describe the statistics: the spec, the ledger with its first line, and the views of the estimates.

        A script, in which the number of rows is not known yet, gives the query of it as `rows`. With `has_unique_cells` no
        class has two cells of the same value of a feature.
        """
        yield self._table("spec", self.relations["spec"], self.renderer.fragment("spec_row", self.spec.to_json(), version))
        yield self._table("batches", self.relations["batches"], self._entry(entry, rows))
        yield from self.create_estimates(has_unique_cells=has_unique_cells)

    def add_ledger_line(self, entry: Entry, rows: Markup | int | None = None) -> Statement:
        """Insert a line into the ledger; `rows` is an expression of the number of rows, if that is to be computed."""
        return self._insert("ledger", self.relations["batches"], self._entry(entry, rows))

    def _entry(self, entry: Entry, rows: Markup | int | None = None) -> Markup:
        counted = entry.rows if rows is None else rows
        return self.renderer.fragment("batch_row", entry.number, entry.batch, entry.operation, entry.source, counted)

    def create_estimates(self, *, again: bool = False, has_unique_cells: bool = False) -> Iterator[Statement]:
        """The table of estimates, and the views (or tables) of priors and likelihoods; `again` after a change of the model."""
        traits = self.renderer.traits
        again = again and not traits.materializes_estimates
        yield from self._analyze("statistics")
        if not again:
            yield self._table_or_view("priors", self.priors())
        if self.tabulated_features:
            if again and not traits.refills_tables:
                drop = self.renderer.statement("drop_relation", "table", self.relations["estimates"], if_exists=True)
                yield Statement("drop estimates", drop)
            context = Context.of(self.spec, options=QueryOptions(has_unique_cells=has_unique_cells))
            solved = self.relations["matrices"]
            arguments = (context, self.current_cells(), self.relations["priors"], self.tabulated_features, solved)
            before, query = query_of_estimates(self.renderer, *arguments)
            yield from before
            yield from self._create_or_refill("estimates", query, again=again and traits.refills_tables)
            if before:
                yield Statement("drop the matrices", self.renderer.statement("drop_if_exists", solved))
        if again:
            return
        yield self.create_likelihoods_view()
        if self.spec.components is not None:
            tables = (self.relations["statistics"], self._priors_of_views())
            query = self.renderer.fragment("components", Context.of(self.spec), *tables, self.spec.components)
            yield self._table_or_view("components", query)

    def _table_or_view(self, name: str, query: Markup) -> Statement:
        """A table, on engines that would run the query wherever its view is read, or else a view."""
        if self.renderer.traits.materializes_estimates:
            return self._table(name, self.relations[name], query)
        return self._view(name, query)

    @property
    def tabulated_features(self) -> list[Feature]:
        """The features whose likelihoods are stored in a table: not tokens, whose vocabulary times classes is large."""
        everything = self.renderer.traits.materializes_estimates
        return [feature for feature in self.spec.features if everything or not feature.family.bag]

    def _with_estimates(self, context: Context, estimates: Markup) -> Context:
        if not self.tabulated_features:
            return context
        return context.with_options(estimates=estimates, without_tokens=not self.renderer.traits.materializes_estimates)

    def create_likelihoods_view(self) -> Statement:
        priors = self._priors_of_views()
        if not self.spec.features:
            return self._view("likelihoods", self.renderer.fragment("no_likelihoods", priors))
        context = self._with_estimates(self.context([]), self.relations["estimates"])
        return self._view("likelihoods", self.renderer.fragment("likelihoods", context, self.current_cells(), priors))

    def _priors_of_views(self) -> Markup:
        """The priors for use in other views, which must not read the view: DuckDB restores the views of an export by name."""
        if self.renderer.traits.materializes_estimates:
            return self.relations["priors"]
        return self.renderer.fragment("subquery", self.priors())

    def create_scoring_tables(
        self, classes: Sequence[ClassColumn], *, again: bool = False, has_unique_cells: bool = False, in_script: bool = False
    ) -> Iterator[Statement]:
        """The tables that scoring reads; `again` replaces their rows. For `has_unique_cells` see `describe_model`.

        The statements of a script fail if the rows have other classes when it runs.
        """
        context = self._with_estimates(self.context(classes), self.relations["estimates"]).with_options(
            has_unique_cells=has_unique_cells
        )
        self._check_size(context)
        arguments = (context, self.current_cells(), self.relations["priors"])
        if context.facts.is_logistic or self.spec.weighted is not None:
            weights, is_linear = self.relations["weights"], context.facts.is_logistic
            priors = self.renderer.fragment("priors_with_offsets", self.relations["priors"], weights, is_linear)
            context = context if is_linear else context.with_weights(weights)
            arguments = (context, weights if is_linear else self.current_cells(), priors)
        kind = "segment_" if self.spec.segment_by else "mixture_" if self.spec.components is not None else ""
        if context.facts.has_segments and self.renderer.traits.materializes_estimates:
            context, statements = self._with_segment_tables(context)
            yield from statements
            arguments = (context, *arguments[1:])
        query = self.renderer.fragment(f"{kind}parameters", *(arguments if not in_script else self._checked(arguments)))
        yield from self._create_or_refill("parameters", query, again=again)
        if any(feature.family.has_lookups for feature in self.spec.features):
            yield from self._create_or_refill("lookups", self.renderer.fragment(f"{kind}lookups", *arguments), again=again)
        for name, relation in vars(context.options.segment_tables).items() if context.options.segment_tables else ():
            yield Statement(f"drop the {name} of members", self.renderer.statement("drop_if_exists", relation))

    def _checked(self, arguments: tuple[Context, Markup, Markup]) -> tuple[Context, Markup, Markup]:
        """The arguments of `parameters` with priors that are an error unless their classes are those of the context."""
        context, cells, priors = arguments
        message = "the rows have other classes than when this script was made; make it again"
        return context, cells, self.renderer.fragment("with_current_classes", context, priors, message)

    def _with_segment_tables(self, context: Context) -> tuple[Context, list[Statement]]:
        """The context with temporary tables for the parts that queries of segments read repeatedly, and their statements."""
        ident, temporary = self.renderer.dialect.ident, self.renderer.traits.temporary
        names = [f"members {part}" for part in ("table", "cells", "estimates")]
        tables = [self.relations[name] if self.relations.temporary else ident(*temporary, f"nbsql {name}") for name in names]
        arguments = (self.relations["statistics"], self.relations["priors"])
        queries = [self.renderer.fragment("members", *arguments)]
        context = context.with_options(segment_tables=SegmentTables(*tables))
        macros = ("cells_of_members", "estimates_of_members") if self.spec.features else ()
        queries += [self.renderer.fragment(macro, context, *arguments) for macro in macros]
        made = zip(names, tables, queries, strict=False)
        return context, [self._table(name, relation, query, temporary=True) for name, relation, query in made]

    def _create_or_refill(self, name: str, query: Markup, *, again: bool) -> Iterator[Statement]:
        relation = self.relations[name]
        if again:
            yield Statement(f"empty {name}", self.renderer.statement("delete_all", relation))
            yield self._insert(name, relation, query)
        else:
            yield self._table(name, relation, query)
        yield from self._analyze(name)

    def _analyze(self, name: str) -> Iterator[Statement]:
        """Analyze a new table, if the engine does not do so by itself and would guess its size."""
        if self.renderer.traits.analyzes:
            yield Statement(f"analyze {name}", self.renderer.statement("analyze", self.relations[name]))

    def _check_size(self, context: Context) -> None:
        """Raise NotSupportedError if the parameters and a label of usual length do not fit into a row."""
        most, parameters = self.renderer.traits.max_numbers, len(context.facts.parameters)
        if most is not None and not context.form.class_numbers and numbers_per_class(self.spec) > most:
            raise NotSupportedError(
                f"the {parameters} parameters of a class do not fit into a row of this engine's tables, "
                f"which holds some {most:,} numbers; take fewer features"
            )

    def create_macros(self, classes: Sequence[ClassColumn], names: Collection[str] | None = None) -> Iterator[Statement]:
        """The table macros by which SQL uses the model, or functions, if the engine has no table macros: all, or `names`."""
        made: Iterator[tuple[str, str]] = iter(())
        if self.renderer.traits.table_macros:
            kind, made = "macro", create_table_macros(self, classes)
        elif self.renderer.traits.row_functions:
            kind, made = "function", create_functions(self, classes)
        return (Statement(f"{kind} {name}", sql, small=True) for name, sql in made if names is None or name in names)

    def create_user_views(self) -> Iterator[Statement]:
        yield self._view("features", self.renderer.fragment("features", self.relations["spec"]))

    def add_comments(self, made: Sequence[Statement], more: Sequence[str] = ()) -> Iterator[Statement]:
        """A script of comments on the relations that these statements make, and on those named in `more`."""
        names: dict[str, None] = dict.fromkeys(
            [*more, *(statement.name.removeprefix("macro ").removeprefix("function ") for statement in made)]
        )
        comments = [(PARTS[name].kind, self.relations[name], self._comment(name)) for name in names if name in PARTS]
        is_complete = "spec" in names
        if is_complete:
            comments.append((PARTS["statistics"].kind, self.relations["statistics"], PARTS["statistics"].comment))
            names["statistics"] = None
        columns = [(self.relations[name], column, text) for name in names for column, text in COLUMNS.get(name, {}).items()]
        sql = self.renderer.statement("comments", self.relations.schema if is_complete else None, SCHEMA, comments, columns)
        if sql:
            yield Statement("comments", sql, small=True)

    def _comment(self, name: str) -> str:
        told = self.renderer.traits.table_macros and PARTS[name].kind == "macro"
        return PARTS[name].comment + (" In an attached database, add database := 'its name'." if told else "")
