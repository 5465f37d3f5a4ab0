"""The features of a scorer for other engines: the numbers of a model, arranged as its macros read them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import NotSupportedError
from nbsql.family.binned import bin_labels
from nbsql.family.checks import MOST_NUMBER
from nbsql.plan import Plan
from nbsql.plan.context import Context
from nbsql.queries.standalone.foreign import category_kind, comparison_kind, is_single
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Feature, Spec
from nbsql.spec.traits import check_features

MAX_JOINS = 40  # of categories with their values; engines join at most some 60 relations
IMPOSSIBLE = -1e305  # stands for minus infinity (sql/macros/engines/standalone/primitives.txt)

Parameters = Sequence[Mapping[str, float | None]]  # of a feature by name, one mapping for each class
Scores = Sequence[Sequence[float]]  # of each value, one number for each class


@dataclass(frozen=True, eq=False)
class Term(Feature):
    """A feature as the macros of a scorer render it (sql/macros/scoring/standalone/terms.sql)."""

    shape: str = ""
    numbers: Parameters = ()  # its parameters by name, one mapping for each class
    kind: str = "number"  # of a category, the kind by which its values are compared
    keys: Sequence[Any] = ()  # its values, as literals
    # The contributions of each value, one number for each class.
    scores: Scores = ()
    missing: Sequence[float] = ()  # the contribution of a missing value to each class
    unseen: Sequence[float] = ()  # the contribution of any other value to each class
    joined: bool = False  # whether its values are in a table of their own
    edges: Sequence[float] = ()  # of bins, the edges between them
    # The largest deviation in each class whose square is still a double; None where no finite number is beyond it.
    widest: Sequence[float | None] = ()
    # Of pairs and lists of categories, the categories, each of which adds the code of its value to a single class.
    parts: Sequence[Term] = ()
    strides: Sequence[int] = ()  # of a list, the factor of each part's code in the key of the list
    nested: bool = False  # whether a part counts only if those before it, after the first, have a known value
    parents: int = 0  # of pairs, the highest code of a value that may be a super-parent
    stride: int = 1  # of pairs, the factor of a parent's code in the key of a pair
    backoff: int | None = None  # the list of which no value may be known, for this term to count

    @property
    def macro(self) -> str:
        """The macro of its term in a class: that of models if its parameters may be numbers there."""
        if self.shape in ("weighted", "multivariate_gaussian", "multinomial"):
            return f"{self.shape}_term"
        return "standalone_levels" if self.shape in ("cells", "lists") else f"standalone_{self.shape}"

    @property
    def input_macro(self) -> str | None:
        """The macro of the column that it reads; None if it reads those that a model's own term reads."""
        own = ("levels", "edges", "cells", "lists", "density")
        return f"standalone_{self.shape}_input" if self.shape in own else None

    @property
    def is_shared(self) -> bool:
        """Whether all classes share a covariance matrix."""
        return self.shape == "multivariate_gaussian" and self.family.shared

    @property
    def common_macro(self) -> str:
        """The macro of the part of its term that all classes share."""
        return f"{self.shape}_common" if self.is_shared else f"standalone_{self.shape}_common"


class Terms:
    """Builds the terms from the numbers of a model."""

    def __init__(
        self, engine: Engine, plan: Plan, context: Context, renderer: Renderer, rows: Sequence[Sequence[Any]], spec: Spec
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.features = context.facts.features
        self.renderer = renderer
        self.coded: dict[tuple[Any, ...], Term] = {}  # the columns of codes of pairs and lists, by what they code
        self.backoffs = {each.index: backoff.feature.index for backoff in context.facts.backoffs for each, _ in backoff.masked}
        self.parameters: dict[int, list[dict[str, float | None]]] = {f.index: [{} for _ in rows] for f in self.features}
        for k, row in enumerate(rows):
            for parameter_, value in zip(context.facts.parameters, row[3:], strict=True):
                parameter = parameter_.parameter
                name = parameter.name if parameter.column is None else f"{parameter.name}_{parameter.column}"
                self.parameters[parameter_.feature.index][k][name] = None if value is None else _score(value)
        self.lookups: dict[str, dict[str, list[float]]] = {}
        self.columns = {feature.index: feature.columns for feature in plan.spec.features}
        columns = {feature.index: feature.columns for feature in spec.features}  # the names that the source has for them
        self.features = tuple(replace(feature, columns=columns[feature.index]) for feature in self.features)

    def make_terms(self) -> list[Term]:
        if any(feature.family.level for feature in self.features):
            self._read_lookups()
        terms = [replace(self._term(feature), backoff=self.backoffs.get(feature.index)) for feature in self.features]
        most, read = self.renderer.layout.case_values, set(self.backoffs.values())
        large = [t for t in terms if t.shape in ("levels", "cells", "lists") and (len(t.keys) > most or t.index in read)]
        large.sort(key=lambda term: (term.index not in read, -len(term.keys)))
        joined = {term.index for term in large[:MAX_JOINS]}
        return [replace(term, joined=term.index in joined) for term in terms]

    def _read_lookups(self) -> None:
        relation = self.plan.relations["lookups"]
        names = [column.name for column in self.engine.columns(relation)]
        scores = [place for place, name in enumerate(names) if name.startswith("class_")]
        for row in self.engine.query_macro("sorted_by", relation, ["feature", "value"]):
            numbers = [row[place] for place in scores] if scores else row[names.index("scores")]
            self.lookups.setdefault(row[0], {})[row[1]] = [*map(_score, numbers)]

    def _term(self, feature: Feature) -> Term:
        if feature.family.cell == "token":
            check_features([feature], "sql(..., dialect=...)", NotSupportedError)
        shapes: dict[str, Callable[..., Term]] = {
            "level": self._levels,
            "boolean": self._bernoulli,
            "weight": self._weighted,
            "bin": self._bins,
            "place": self._cells,
            "pair": self._pairs,
            "list": self._lists,
            "number": self._density,
            "column": lambda feature, of: term_of(feature, "multinomial", numbers=of),
            "matrix": self._matrix,
        }
        if feature.family.cell not in shapes:
            raise NotSupportedError(
                f"{feature.name!r} is {feature.family.name}, which has no query in the dialect {self.renderer.dialect.name!r}; "
                "leave it out of the model, or score on DuckDB with ⟨inline=True⟩"
            )
        return shapes[feature.family.cell](feature, self.parameters[feature.index])

    def _density(self, feature: Feature, of: Parameters) -> Term:
        return term_of(feature, "density", numbers=of, widest=[_widest(p.get("precision")) for p in of])

    def _matrix(self, feature: Feature, of: Parameters) -> Term:
        family: Any = feature.family
        if family.shared:  # the model stores what all classes share once
            of = [{**of[0], **{name: value for name, value in p.items() if value is not None}} for p in of]
        return term_of(feature, "multivariate_gaussian", numbers=of)

    def _levels(self, feature: Feature, of: Parameters) -> Term:
        kind = category_kind(self.engine, feature, numbers=True)
        scores_by_value = self.lookups.get(feature.name, {})
        values = self._distinguished(feature, [*scores_by_value], kind)
        return self._category("levels", feature, of, kind, [*values], [scores_by_value[value] for value in values.values()])

    def _distinguished(self, feature: Feature, values: Sequence[str], kind: str) -> dict[Markup, str]:
        """The values of a category that the dialect can tell apart, by their literals: a FLOAT also by that of its double.

        Raises NotSupportedError if one is a number that not every engine has.
        """
        if beyond := [v for v in values if kind == "number" and not (abs(float(v)) <= MOST_NUMBER and is_held(v, kind))]:
            raise NotSupportedError(
                f"{feature.name!r} is a category with the value {beyond[0]}, a number that not every engine has; "
                "make it a text, or leave it out of the model"
            )
        if self.renderer.traits.pads_text and kind == "text":
            values = list({value.rstrip(" "): value for value in reversed(values)}.values())[::-1]
        by_literal = {literal(self.renderer, value, kind): value for value in values}
        if kind == "number" and is_single(self.engine, feature.types[0]):
            by_literal |= {self.renderer.dialect.number(_widened(float(value))): value for value in values}
        return by_literal

    def _category(
        self, shape: str, feature: Feature, of: Parameters, kind: str, keys: Sequence[Any], scores: Scores, **options: Any
    ) -> Term:
        return term_of(feature, shape, kind=kind, keys=keys, scores=scores, **options, **self._missing_and_unseen(feature, of))

    def _missing_and_unseen(self, feature: Feature, of: Parameters) -> dict[str, Any]:
        """The contributions of a missing value, and of a value that was never seen."""
        unseen = [p.get("unseen") for p in of]
        missing = [
            (u if p.get("missing") is None else p["missing"]) if feature.family.nulls == "category" else None
            for p, u in zip(of, unseen, strict=True)
        ]
        return {"missing": [*map(_score, missing)], "unseen": [*map(_score, unseen)]}

    def _bernoulli(self, feature: Feature, of: Parameters) -> Term:
        scores = [[_score(p[answer]) for p in of] for answer in ("true", "false")]
        return self._binary(feature, scores, [_score(p.get("unseen" if p.get("missing") is None else "missing")) for p in of])

    def _binary(self, feature: Feature, scores: Scores, missing: Sequence[float]) -> Term:
        """The term of a number that is 1 or 0. Any other number counts as missing."""
        kind = comparison_kind(self.engine, feature.types[0]) if feature.types else "boolean"
        if kind == "boolean":
            keys: list[Any] = [self.renderer.fragment("true_literal"), self.renderer.fragment("false_literal")]
        else:
            kind, keys = "number", [1, 0]
        return term_of(feature, "levels", kind=kind, keys=keys, scores=scores, missing=missing, unseen=missing)

    def _weighted(self, feature: Feature, of: Parameters) -> Term:
        family: Any = feature.family
        missing = [_score(p.get("missing")) for p in of]
        if not family.binary:
            return term_of(feature, "weighted", numbers=of)
        scores = [[0.0 if p["mean"] is None else (p["weight"] or 0.0) * (x - p["mean"]) for p in of] for x in (1, 0)]
        return self._binary(feature, scores, missing)

    def _bins(self, feature: Feature, of: Parameters) -> Term:
        family: Any = feature.family
        scores_by_value = self.lookups.get(feature.name, {})
        nothing = [0.0] * len(of)
        scores = [scores_by_value.get(text, nothing) for text in family.labels]
        return self._category("edges", feature, of, "number", (), scores, edges=family.edges)

    def _cells(self, feature: Feature, of: Parameters) -> Term:
        scores_by_value = self.lookups.get(feature.name, {})
        cells = sorted(map(int, scores_by_value))
        return self._category("cells", feature, of, "number", cells, [scores_by_value[str(cell)] for cell in cells])

    def _lists(self, feature: Feature, of: Parameters) -> Term:
        """Lists of values, each by one number: the sum of the codes of its values, each times its stride."""
        family: Any = feature.family
        scores_by_list = {tuple(json.loads(text)): scores for text, scores in self.lookups.get(feature.name, {}).items()}
        self._check_literals(feature, "combinations of values", len(scores_by_list))
        nested = family.parent is not None
        edges = [family.edges, *(parent.edges for parent in family.all_parents)] if nested else [None] * len(feature.columns)
        codes: list[dict[str | None, int]] = []
        for place in range(len(feature.columns)):
            texts: Sequence[str | None] = list(dict.fromkeys(v[place] for v in scores_by_list if len(v) > place))
            if nested and place:
                parent = family.all_parents[place - 1]
                texts = [*parent.labels, *([None] if family.has_missing(parent) else [])]
            ordered = sorted(dict.fromkeys(texts), key=lambda text: (text is None, text or ""))
            codes.append({text: code for code, text in enumerate(ordered, start=1)})
        strides = [math.prod(len(each) + 1 for each in codes[:place]) for place in range(len(codes) + 1)]
        if strides[-1] > 2**53:
            raise NotSupportedError(
                f"{feature.name!r} combines columns of so many values that a double cannot number their combinations, as a "
                "query in another dialect does; fit it without some, or score on DuckDB with ⟨inline=True⟩"
            )
        scores_by_key = {
            sum(stride * code[value] for stride, code, value in zip(strides, codes, values, strict=False)): scores
            for values, scores in scores_by_list.items()
            if all(value in code for code, value in zip(codes, values, strict=False))
        }
        keys = [*map(self.renderer.dialect.number, scores_by_key)]
        return replace(
            self._category("lists", feature, of, "number", keys, [*scores_by_key.values()]),
            parts=[self._coded(feature, place, edges[place], codes[place]) for place in range(len(codes))],
            strides=strides,
            nested=nested,
        )

    def _pairs(self, feature: Feature, of: Parameters) -> Term:  # noqa: ARG002
        """The categories, with codes in place of scores, and the likelihood ratios by the codes of two values."""
        family: Any = feature.family
        scores_by_pair = {
            tuple(map(tuple, json.loads(text))): scores for text, scores in self.lookups.get(feature.name, {}).items()
        }
        pairs = {values: scores for values, scores in scores_by_pair.items() if len(values) > 1}
        self._check_literals(feature, "pairs of values", len(pairs))
        parents = dict.fromkeys(values[0] for values in scores_by_pair)
        codes = {value: n for n, value in enumerate(dict.fromkeys([*parents, *(child for _, child in pairs)]), start=1)}
        of_column = [{text: code for (name, text), code in codes.items() if name == column} for column in family.columns]
        return term_of(
            feature,
            "pairs",
            keys=[codes[parent] * (len(codes) + 1) + codes[child] for parent, child in pairs],
            scores=[*pairs.values()],
            parts=[self._coded(feature, at, family.edges[at], {None: 0} | of_column[at]) for at in range(len(of_column))]
            if pairs
            else (),
            kind="integer",
            parents=len(parents),
            stride=len(codes) + 1,
        )

    def _check_literals(self, feature: Feature, what: str, count: int) -> None:
        most = self.renderer.layout.literal_pairs
        if count > most:
            raise NotSupportedError(
                f"{feature.name!r} has {count:,} {what}, and a query in another dialect takes {most:,}; "
                "fit it without columns of many values, or score on DuckDB with ⟨inline=True⟩"
            )

    def _coded(self, feature: Feature, place: int, edges: Sequence[float] | None, codes: Mapping[str | None, int]) -> Term:
        """A column of a feature over several that contributes the code of its value: 0 if it is new, NULL if it is missing."""
        family: Any = feature.family
        whole = self.columns[feature.index][place] in family.integers
        column = replace(
            feature, columns=feature.columns[place : place + 1], types=feature.types[place : place + 1], whole=whole
        )
        wanted = (column.columns, whole, edges, tuple(codes.items()))
        if wanted not in self.coded:
            column = replace(column, index=len(self.columns) + len(self.coded) + 1)
            nothing: dict[str, Any] = {"missing": [codes.get(None)], "unseen": [0]}
            if edges is not None:
                scores = [[codes.get(label, 0)] for label in bin_labels(edges)]
                term = term_of(column, "edges", scores=scores, edges=edges, **nothing)
            else:
                kind = category_kind(self.engine, column, numbers=True)
                values = self._distinguished(column, [text for text in codes if text is not None], kind)
                scores = [[codes[value]] for value in values.values()]
                term = term_of(column, "levels", kind=kind, keys=[*values], scores=scores, **nothing)
            self.coded[wanted] = term
        return self.coded[wanted]


def term_of(feature: Feature, shape: str, **options: Any) -> Term:
    return Term(**vars(feature), shape=shape, **options)


def _score(value: float | None) -> float:
    """The contribution of a value: 0 where the model has no number for it."""
    return 0.0 if value is None else max(float(value), IMPOSSIBLE)


def _widest(precision: float | None) -> float | None:
    """The largest deviation whose square, times the precision, is still a double; None where no finite number is beyond it."""
    if precision is None or precision < 1e7:
        return None
    return math.sqrt(1.7e308 / precision)


def _widened(value: float) -> float:
    """The double that a FLOAT, which is written as this number, is cast to."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def is_held(value: str, kind: str) -> bool:
    """Whether every engine has the number: an integer is a BIGINT, any other number what a double writes."""
    if kind == "integer":
        return -(2**63) <= int(value) < 2**63
    return kind != "number" or (math.isfinite(float(value)) and Decimal(value) == Decimal(repr(float(value))))


def literal(renderer: Renderer, value: str, kind: str) -> Markup:
    """The literal, of its own kind, of a value that the model's engine wrote as text. Dates and all other kinds stay texts."""
    if kind == "boolean":
        return renderer.fragment("true_literal" if value == "true" else "false_literal")
    if kind == "integer":
        return Markup(int(value))  # noqa: S704 - digits
    return renderer.dialect.number(float(value)) if kind == "number" else renderer.dialect.text(value)
