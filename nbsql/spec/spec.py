"""The spec of a model as plain data: its columns, features and priors, and the JSON text that a model stores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, cast

from nbsql import family as family_module
from nbsql.errors import ModelError
from nbsql.family import NUMBERS, SCALARS, Estimate, Family
from nbsql.rendering.dialect import FRACTION, TIME, folded
from nbsql.spec.column import value_kind
from nbsql.spec.components import Components
from nbsql.spec.dependence import AODE, KDB, TAN, FoundParents
from nbsql.spec.derived import Derived, inputs
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Dimension
from nbsql.spec.method import EM, Clusters, Logistic, Weighted

FORMAT = 2  # the version of the JSON text in the table `spec`
_OPTIONAL: dict[str, Any] = {
    "half_life": HalfLife,
    "logistic": Logistic,
    "weighted": Weighted,
    "em": EM,
    "clusters": Clusters,
}  # parts that a spec may lack
# Of a feature, where they are true.
_MARKS = {"complete": "is_complete", "near": "has_near_means", "few": "has_few_values", "empty": "is_empty"}


@dataclass(frozen=True)
class Feature:
    """One feature of a model: a column, or the columns of a family over several."""

    name: str  # the column, or the key under which the user gave the family
    family: Family
    columns: tuple[str, ...]  # the names of the columns
    index: int  # the number of the feature, from 1 in the order of the source; it numbers the parameters in the model's tables
    floating: bool  # whether a column may hold NaN or infinities
    whole: bool = False  # whether the column holds whole numbers
    types: tuple[str, ...] = ()  # the types of the columns, as the engine writes them; empty where they are not known
    is_complete: bool = False  # whether every row of the fit has a value, and the values differ
    # For a number, whether the means of the classes were within a hundred standard deviations of each other.
    has_near_means: bool = False
    has_few_values: bool = False  # for bins, and a category among many categories, whether it has few values
    is_empty: bool = False  # whether its family was inferred, and no row of the fit had a value
    why: str = field(default="", compare=False)  # what the family was inferred from, if from the values
    # Whether the fit inferred the family from the column; a model does not store this.
    is_inferred: bool = field(default=False, compare=False)
    alone: Family | None = field(default=None, compare=False)  # the family before the fit chose its parents

    def without_fitted(self) -> Feature:
        """The feature without what depended on the classes of the rows."""
        if self.alone is None:
            return replace(self, family=self.family.without_fitted())
        return replace(self, family=self.alone.without_fitted(), alone=None, columns=self.columns[:1], types=self.types[:1])

    @property
    def unregularised(self) -> Feature:
        """The feature, several numbers, with the covariance matrices of its rows, neither shared nor shrunk."""
        family: Any = self.family
        return replace(
            self, family=replace(family, shared=False, shrinkage=None, toward="identity", variance="population", estimate=None)
        )

    def without_column(self, column: str) -> Feature:
        """The feature, several numbers, without one of them."""
        kept, family = [place for place, each in enumerate(self.columns) if each != column], cast("Any", self.family)
        found = {"columns": self.columns, "scales": family.scales, "means": family.means}
        narrowed = {name: given and tuple(given[place] for place in kept) for name, given in found.items()}
        return replace(self, columns=narrowed["columns"], family=replace(family, **narrowed))

    @property
    def fraction_types(self) -> dict[str, str]:
        """The types of the columns whose numbers need not be whole."""
        return {column: kind for column, kind in zip(self.columns, self.types, strict=False) if FRACTION.fullmatch(kind)}

    @property
    def time_types(self) -> dict[str, str]:
        """The types of the columns of dates, times and intervals, in lower case."""
        return {column: kind.lower() for column, kind in zip(self.columns, self.types, strict=False) if TIME.match(kind)}

    @property
    def untyped(self) -> list[str]:
        """The columns whose types are not known, because the values were given or counted elsewhere."""
        return [column for column, kind in zip(self.columns, self.types, strict=False) if not kind]

    @property
    def is_scored_in_lists(self) -> bool:
        """Whether it is scored in lists together with other numbers (gaussian.sql)."""
        return self.is_complete and self.has_near_means and self.family.needs_guard

    @property
    def bins(self) -> Sequence[str]:
        """The bins of a number, by the stretches between its edges; none if its values are others, or more than bins."""
        family: Any = self.family
        return family.labels if family.cell == "bin" and not family.parent else ()

    @property
    def column(self) -> str:
        return self.columns[0]

    @property
    def is_category(self) -> bool:
        """Whether its values are told apart by what they are: a category, or several columns as one."""
        return self.family.accepts == SCALARS

    @property
    def is_number(self) -> bool:
        """Whether it is a single column of numbers, of any distribution."""
        return self.family.accepts == NUMBERS and not self.family.over_columns


@dataclass(frozen=True)
class Check:
    """A rule that training rows must obey (sql/macros/counting/rules.sql), and the message for rows that violate it."""

    rule: str
    column: str
    message: str

    def violation_message(self, count: int | None = None) -> str:
        """The message when `count` rows violate the rule, or some."""
        text, values = self.message, "some values" if count is None else f"{count} values"
        if count == 1:
            text, values = text.replace(" are ", " is ", 1).replace(" hold ", " holds ", 1), "1 value"
        return text.replace("{n}", values, 1).replace("{column}", repr(self.column), 1)


@dataclass(frozen=True)
class Prior:
    """The prior of the classes: "empirical", "uniform", "smoothed" (with alpha) or "given" (label as text, probability).

    The smoothed prior is the mean or the mode of its posterior distribution, depending on `estimate`.
    """

    kind: Literal["empirical", "uniform", "smoothed", "given"]
    alpha: float = 0.0
    given: tuple[tuple[str, float], ...] = ()
    estimate: Estimate = "mean"

    @property
    def added_count(self) -> float:
        """The number that is added to the count of a class."""
        return self.alpha - 1 if self.estimate == "mode" else self.alpha


NO_TARGET = "no target"  # the name of the class column of a model that has one class, and describes all rows
CLUSTER = "cluster"  # that of a model whose classes are clusters


@dataclass(frozen=True)
class Spec:
    """The complete specification of a model: no option is left to a default."""

    target: str
    features: tuple[Feature, ...]
    prior: Prior
    id: tuple[str, ...] = ()
    weight: str | None = None
    half_life: HalfLife | None = None  # the weights are computed from it, and cells are counted by its periods
    target_type: str = ""
    slice_by: str | None = None
    given: bool = False  # whether the user supplied its probabilities (nbsql/library/from_tables.py); there are no counts
    segment_by: str | None = None
    segment_shrinkage: float = 0.0
    logistic: Logistic | None = None
    weighted: Weighted | None = None
    dependence: TAN | KDB | AODE | None = None  # not found yet (nbsql/learning/); a fitted model stores it as features
    found_dependence: TAN | KDB | AODE | None = field(default=None, compare=False)  # what `dependence` was before the fit
    em: EM | None = None
    clusters: Clusters | None = None
    components: Components | None = None
    joins: tuple[Dimension, ...] = ()
    derived: tuple[Derived, ...] = ()
    shared: tuple[str, ...] = ()  # how the counts were protected when they were shared, also those of merged models
    classes: tuple[str, ...] = ()  # all possible labels as text, if the user named them
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def tree(self) -> FoundParents | None:
        """The method that finds, or has found, the parents of the categories; None if there is none."""
        method = self.dependence or self.found_dependence
        return method if isinstance(method, FoundParents) else None

    @property
    def has_target(self) -> bool:
        """Whether rows have classes that can be told apart, and not one that all are of."""
        return self.target != NO_TARGET

    @property
    def describes_rows(self) -> bool:
        """Whether all rows are of one class, as for a model that finds unusual ones."""
        return not self.has_target and self.clusters is None

    @property
    def slice_expression(self) -> str | None:
        """The expression of the slices or the segments, by whose value the cells are counted."""
        return self.slice_by or self.segment_by

    @property
    def text_columns(self) -> set[str]:
        """The columns of a source that it has learnt as texts, of its class and of its joins too, by folded name."""
        made = {each.name for each in self.derived}
        types = [(self.target, self.target_type)]
        types += [pair for feature in self.features for pair in zip(feature.columns, feature.types, strict=False)]
        types += [(key, kind) for join in self.joins for (key, _), kind in zip(join.on, join.types, strict=True)]
        types = [*((name, kind) for name, kind in types if name not in made), *inputs(self.derived).items()]
        return {folded(name) for name, kind in types if value_kind(kind) == "text"}

    @property
    def has_weights(self) -> bool:
        """Whether scores have weights that were learnt from rows, in the relation `weights`, and so are no likelihoods."""
        return self.logistic is not None or self.weighted is not None

    @property
    def is_soft(self) -> bool:
        """Whether rows were counted in several classes, in each with its posterior."""
        return self.em is not None or self.clusters is not None

    @property
    def is_sliced(self) -> bool:
        """Whether the cells are counted by slice: by the value of an expression, or by component."""
        return self.slice_expression is not None or self.components is not None

    @property
    def columns(self) -> list[str]:
        """The columns that training reads, without duplicates."""
        weights = [*([self.weight] if self.weight else []), *(self.half_life.columns if self.half_life else [])]
        wanted = [self.target, *weights, *(c for f in self.features for c in f.columns)]
        return list(dict.fromkeys(wanted))

    @property
    def separate_reads(self) -> int:
        """How many features are counted by a read of their own: categories and bags. All numbers are counted by one read."""
        return sum(feature.family.level or feature.family.bag for feature in self.features)

    @property
    def non_additive_parts(self) -> list[str]:
        """The parts that depend on all rows at once: features whose cells cannot be added, and learnt weights."""
        return [
            *(feature.name for feature in self.features if feature.family.non_additive_option is not None),
            *(["weights"] if self.logistic is not None else []),
        ]

    def without_fitted(self) -> Spec:
        """The spec without what depended on the classes of the rows, such as parents, for rows that must not influence it."""
        is_found = self.found_dependence is not None
        features = (feature.without_fitted() for feature in self.features if not (is_found and feature.family.kind == "pairs"))
        return replace(self, features=tuple(features), dependence=self.found_dependence, found_dependence=None)

    def to_json(self) -> str:
        """The text of the table `spec`."""
        return json.dumps(
            {
                "format": FORMAT if self.derived else 1,  # an older nbsql reads what it understands
                **{name: getattr(self, name) for name in ("target", "target_type", "id", "weight", "slice_by", "given")},
                **{name: asdict(part) for name in _OPTIONAL if (part := getattr(self, name)) is not None},
                **({found.name: asdict(found)} if (found := self.found_dependence) is not None else {}),
                **({"shared": self.shared} if self.shared else {}),
                **({"segment_by": self.segment_by, "segment_shrinkage": self.segment_shrinkage} if self.segment_by else {}),
                **({"components": self.components.to_dict()} if self.components else {}),
                **({"joins": [dimension.to_dict() for dimension in self.joins]} if self.joins else {}),
                **({"derived": [each.to_dict() for each in self.derived]} if self.derived else {}),
                **({"classes": self.classes} if self.classes else {}),
                "prior": {name: each for name, each in asdict(self.prior).items() if (name, each) != ("estimate", "mean")},
                "features": [
                    {
                        **{name: getattr(f, name) for name in ("name", "columns", "floating", "whole", "types")},
                        **{mark: True for mark, name in _MARKS.items() if getattr(f, name)},
                        **({"why": f.why} if f.why else {}),
                        **({"alone": f.alone.to_dict()} if f.alone is not None else {}),
                        **f.family.to_dict(),
                    }
                    for f in self.features
                ],
                "defaults": self.defaults,
            },
            ensure_ascii=False,
            indent=2,
        )

    @classmethod
    def from_json(cls, text: str, model: str) -> Spec:
        """The spec that `to_json` wrote. Raises ValueError if the text is damaged, ModelError if a newer nbsql wrote it."""
        try:
            data = json.loads(text)
            if data["format"] > FORMAT:
                raise ModelError(f"model {model!r} was written by a newer nbsql; upgrade nbsql to read it")
            features = []
            for index, entry in enumerate(data["features"], start=1):
                before = {"normal_form": None} if entry["family"] == "text" else {}  # of texts when there was no such option
                options = {"types": (), **before, **entry}
                name, columns, types = options.pop("name"), tuple(options.pop("columns")), tuple(options.pop("types"))
                if family_module.STORED[options["family"]].over_columns:
                    options["columns"] = columns
                marks = {name: options.pop(mark, False) for mark, name in _MARKS.items()}
                marks |= {mark: options.pop(mark) for mark in ("floating", "whole")}
                why, alone = str(options.pop("why", "")), options.pop("alone", None)
                found = Feature(name, family_module.from_dict(options), columns, index, types=types, why=why, **marks)
                features.append(found if alone is None else replace(found, alone=family_module.from_dict(alone)))
            return cls(
                **{name: data[name] for name in ("target", "target_type", "weight", "slice_by", "defaults")},
                id=tuple(data["id"]),
                given=data.get("given", False),
                **{name: kind(**data[name]) for name, kind in _OPTIONAL.items() if name in data},
                found_dependence=next((kind(**data[kind.name]) for kind in (TAN, KDB, AODE) if kind.name in data), None),
                shared=tuple(map(str, data.get("shared", ()))),
                segment_by=data.get("segment_by"),
                segment_shrinkage=data.get("segment_shrinkage", 0.0),
                components=Components.from_dict(data["components"]) if "components" in data else None,
                classes=tuple(map(str, data.get("classes", ()))),
                joins=tuple(map(Dimension.from_dict, data.get("joins", ()))),
                derived=tuple(map(Derived.from_dict, data.get("derived", ()))),
                features=tuple(features),
                prior=Prior(**{**data["prior"], "given": tuple((label, p) for label, p in data["prior"]["given"])}),
            )
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ValueError(str(error)) from None
