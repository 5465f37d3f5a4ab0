"""The statements that make, from the table of cells, what else a model is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from nbsql.context import ClassColumn, Context, Members, numbers_a_class
from nbsql.errors import NotSupportedError
from nbsql.functions import functions
from nbsql.plan.base import CALIBRATED, VERBS, Entry, Rows, Statement
from nbsql.plan.scoring import Scoring


class Making(Scoring):
    """From the table of cells to the spec, the ledger, the estimates, what scoring reads, and the macros."""

    def create_schema(self) -> Statement:
        return Statement("schema", self.renderer.statement("create_schema", self.relations.schema))

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

    def estimates(self) -> Iterator[Statement]:
        """The views of priors and likelihoods, or their tables."""
        yield from self._analysed("statistics")
        if self.renderer.dialect.traits.tabulates:
            yield self._table("priors", self.relations["priors"], self.priors())
            if self.spec.features:
                arguments = (Context(self.spec), self.relations["statistics"], self.relations["priors"], self.spec.features)
                yield self._table("estimates", self.relations["estimates"], self.renderer.fragment("smoothed", *arguments))
        else:
            yield self._view("priors", self.priors())
        yield self.likelihoods()
        if self.spec.components is not None:
            tables = (self.relations["statistics"], self.relations["priors"])
            query = self.renderer.fragment("components", Context(self.spec), *tables, self.spec.components)
            if self.renderer.dialect.traits.tabulates:
                yield self._table("components", self.relations["components"], query)
            else:
                yield self._view("components", query)

    def likelihoods(self) -> Statement:
        """The view of the likelihoods."""
        if not self.spec.features:
            return self._view("likelihoods", self.renderer.fragment("no_likelihoods", self.relations["priors"]))
        arguments = (self.context([]), self.relations["statistics"], self.relations["priors"])
        return self._view("likelihoods", self.renderer.fragment("likelihoods", *arguments))

    def compiled(self, classes: Sequence[ClassColumn], *, again: bool = False) -> Iterator[Statement]:
        """The tables that scoring reads; `again`: in place of what they hold."""
        context = self.context(classes)
        self._check_size(context)
        arguments = (context, self.relations["statistics"], self.relations["priors"])
        if context.learnt:
            weights = self.relations["weights"]
            arguments = (context, weights, self.renderer.fragment("biased", self.relations["priors"], weights))
        kind = "segment_" if self.spec.segment_by else "mixture_" if self.spec.components is not None else ""
        if context.segmented and self.renderer.dialect.traits.tabulates:
            yield from self._members(context)
        query = self.renderer.fragment(f"{kind}parameters", *arguments)
        yield from self._made("parameters", query, again=again)
        if any(feature.family.looked_up for feature in self.spec.features):
            yield from self._made("lookups", self.renderer.fragment(f"{kind}lookups", *arguments), again=again)
        for name, relation in vars(context.members).items() if context.members else ():
            yield Statement(f"drop the {name} of members", self.renderer.statement("drop_if_exists", relation))

    def _members(self, context: Context) -> Iterator[Statement]:
        """Temporary tables of what the queries of segments name again and again, of which the context then knows."""
        ident, temporary = self.renderer.dialect.ident, self.renderer.dialect.traits.temporary
        names = [f"members {part}" for part in ("table", "cells", "estimates")]
        tables = [self.relations[name] if self.relations.temporary else ident(*temporary, f"nbsql {name}") for name in names]
        arguments = (self.relations["statistics"], self.relations["priors"])
        queries = [self.renderer.fragment("members", *arguments)]
        context.members = Members(*tables)
        macros = ("cells_of_members", "estimates_of_members") if self.spec.features else ()
        queries += [self.renderer.fragment(macro, context, *arguments) for macro in macros]
        for name, relation, query in zip(names, tables, queries, strict=False):
            yield self._table(name, relation, query, temporary=True)

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
        if self.renderer.dialect.traits.analyzes:
            yield Statement(f"analyze {name}", self.renderer.statement("analyze", self.relations[name]))

    def _check_size(self, context: Context) -> None:
        """Raise NotSupportedError if the parameters are more than a row can hold, labels of usual length among them."""
        most, parameters = self.renderer.dialect.traits.most_numbers, len(context.parameters)
        if most is not None and not context.class_numbers and numbers_a_class(self.spec) > most:
            raise NotSupportedError(
                f"the {parameters} parameters of a class do not fit into a row of this engine's tables, "
                f"which holds some {most:,} numbers; take fewer features"
            )

    def macros(self, classes: Sequence[ClassColumn]) -> Iterator[Statement]:
        """The table macros by which the model is used in SQL, or the functions, where an engine has no such macros."""
        if not self.renderer.dialect.traits.table_macros:
            made = functions(self, classes) if self.renderer.dialect.traits.row_functions else ()
            yield from (Statement(f"function {name}", sql) for name, sql in made)
            return
        rows = self._queried()
        context = self.context(classes, rows)
        tables = self.relations.within("parameters"), self.relations.within("lookups")
        yield self._macro(
            "scored", self.renderer.fragment("scored", context, self.ready(context, rows.relation, *tables), *tables)
        )
        scored = self._scored_in_macros(context)
        for verb in VERBS:
            if verb == "explain":
                query = self.query(verb, rows, classes, tables=tables)
            else:
                query = self.renderer.fragment(verb, context, scored)
            yield self._macro(verb, query)

    def calibrated_macros(self, classes: Sequence[ClassColumn], method: str) -> Iterator[Statement]:
        """The table macros of a calibrated model, or its functions."""
        if not self.renderer.dialect.traits.table_macros:
            made = functions(self, classes, CALIBRATED, method)
            yield from (Statement(f"function {name}", sql) for name, sql in made)
            return
        context = self.context(classes, self._queried())
        relations = map(self.relations.within, ("parameters", "calibration"))
        query = self.renderer.fragment("calibrated", context, self._scored_in_macros(context), *relations, method)
        scored = self.renderer.fragment("subquery", query)
        for name, verb in CALIBRATED.items():
            yield self._macro(name, self.renderer.fragment(verb, context, scored))

    def _queried(self) -> Rows:
        """The rows that a table macro is asked about."""
        return Rows(self.renderer.fragment("queried"), joins=self.joins())

    def _scored_in_macros(self, context: Context) -> Markup:
        if self.relations.is_current:
            return self.renderer.fragment("call_macro", self.relations.within("scored"))
        # To make a macro, DuckDB looks for those it calls in the current database, and there only.
        tables = tuple(map(self.relations.within, ("parameters", "lookups")))
        arguments = (self.ready(context, self.renderer.fragment("queried"), *tables), *tables)
        return self.renderer.fragment("subquery", self.renderer.fragment("scored", context, *arguments))
