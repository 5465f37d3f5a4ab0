"""What to model, as plain data: columns, features, priors, and the spec that a model keeps."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from nbsql import family as family_module
from nbsql.errors import ModelError
from nbsql.family import Estimate, Family
from nbsql.rendering.dialect import FRACTION
from nbsql.spec.components import Components
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Dimension
from nbsql.spec.method import AODE, EM, TAN, Logistic

FORMAT = 1  # of the JSON text in the table `spec`


@dataclass(frozen=True)
class Feature:
    """One feature of a model: a column, or the columns of a family over several.

    Args:
        name: the column, or the key under which the family was given.
        index: from 1, in the source's order; numbers the parameters in the model's tables.
        floating: whether a column may hold NaN or infinities.
        whole: whether the column holds whole numbers.
        types: of the columns, as the engine writes them; empty if they are not known.
        complete: whether every row that it was fitted to has a value, and these differ.
        near: whether the means of the classes then were within a hundred standard deviations of each, of a number.
        few: whether the values are few, of one of many categories.
        inferred: whether the family follows from the column's type, in the fit that was asked for; a model does not keep it.
    """

    name: str
    family: Family
    columns: tuple[str, ...]
    index: int
    floating: bool
    whole: bool = False
    types: tuple[str, ...] = ()
    is_complete: bool = False
    has_near_means: bool = False
    has_few_values: bool = False
    is_inferred: bool = field(default=False, compare=False)

    @property
    def unregularised(self) -> Feature:
        """The feature with the covariance matrix of its rows as it is, neither shared nor shrunk."""
        return replace(self, family=self.family.unregularised)

    @property
    def fraction_types(self) -> dict[str, str]:
        """The types of the columns whose numbers need not be whole."""
        return {column: kind for column, kind in zip(self.columns, self.types, strict=False) if FRACTION.fullmatch(kind)}

    @property
    def is_scored_in_lists(self) -> bool:
        """Whether lists score it with others of its kind (gaussian.sql)."""
        return self.is_complete and self.has_near_means and self.family.needs_guard

    @property
    def column(self) -> str:
        return self.columns[0]

    @property
    def is_number(self) -> bool:
        """Whether it is a column of numbers, whatever their distribution."""
        return self.family.accepts == ("integer", "float", "decimal") and not self.family.over_columns


@dataclass(frozen=True)
class Check:
    """A rule that training rows must keep (sql/macros/counting/rules.sql), and what to say of those that do not."""

    rule: str
    column: str
    message: str

    def violation_message(self, count: int) -> str:
        """What to say when `count` rows break it."""
        text, values = self.message, f"{count} values"
        if count == 1:
            text, values = text.replace(" are ", " is ", 1).replace(" hold ", " holds ", 1), "1 value"
        return text.replace("{n}", values, 1).replace("{column}", repr(self.column), 1)


@dataclass(frozen=True)
class Prior:
    """The prior of the classes: "empirical", "uniform", "smoothed" (with alpha) or "given" (label as text, probability).

    The smoothed one is the mean of its posterior distribution, or the mode, as `estimate` says.
    """

    kind: Literal["empirical", "uniform", "smoothed", "given"]
    alpha: float = 0.0
    given: tuple[tuple[str, float], ...] = ()
    estimate: Estimate = "mean"

    @property
    def added_count(self) -> float:
        """What is added to the count of a class."""
        return self.alpha - 1 if self.estimate == "mode" else self.alpha


@dataclass(frozen=True)
class Spec:
    """A model as asked for, complete: nothing in it is left to a default."""

    target: str
    features: tuple[Feature, ...]
    prior: Prior
    id: tuple[str, ...] = ()
    weight: str | None = None
    half_life: HalfLife | None = None  # by which the weight is made, and by whose periods the cells are counted
    target_type: str = ""
    slice_by: str | None = None
    given: bool = False  # whether somebody supplied its probabilities (nbsql/models/from_tables.py); it has no counts then
    segment_by: str | None = None
    segment_shrinkage: float = 0.0
    logistic: Logistic | None = None
    dependence: TAN | AODE | None = None  # that is still to be found (nbsql/learning/); a model has it as features
    em: EM | None = None
    components: Components | None = None
    joins: tuple[Dimension, ...] = ()
    shared: tuple[str, ...] = ()  # how its counts, or those of models that were merged, came to be shared
    classes: tuple[str, ...] = ()  # all that there may be, as text, where they were named
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def slice_expression(self) -> str | None:
        """The expression by whose value the cells are counted: that of the slices, or of the segments."""
        return self.slice_by or self.segment_by

    @property
    def is_sliced(self) -> bool:
        """Whether the cells are counted by slice: by the value of an expression, or by component."""
        return self.slice_expression is not None or self.components is not None

    @property
    def columns(self) -> list[str]:
        """The columns that training reads, each once."""
        weights = [*([self.weight] if self.weight else []), *(self.half_life.columns if self.half_life else [])]
        wanted = [self.target, *weights, *(c for f in self.features for c in f.columns)]
        return list(dict.fromkeys(wanted))

    @property
    def non_additive_parts(self) -> list[str]:
        """What depends on all rows at once: features whose cells do not add up, and weights that were learnt."""
        return [
            *(feature.name for feature in self.features if feature.family.non_additive_option is not None),
            *(["weights"] if self.logistic is not None else []),
        ]

    def to_json(self) -> str:
        """The text of the table `spec`."""
        return json.dumps(
            {
                "format": FORMAT,
                "target": self.target,
                "target_type": self.target_type,
                "id": self.id,
                "weight": self.weight,
                "slice_by": self.slice_by,
                "given": self.given,
                **({"half_life": self.half_life.to_dict()} if self.half_life is not None else {}),
                **({"shared": self.shared} if self.shared else {}),
                **({"segment_by": self.segment_by, "segment_shrinkage": self.segment_shrinkage} if self.segment_by else {}),
                **({"logistic": asdict(self.logistic)} if self.logistic is not None else {}),
                **({"em": asdict(self.em)} if self.em is not None else {}),
                **({"components": self.components.to_dict()} if self.components else {}),
                **({"joins": [dimension.to_dict() for dimension in self.joins]} if self.joins else {}),
                **({"classes": self.classes} if self.classes else {}),
                "prior": {
                    "kind": self.prior.kind,
                    "alpha": self.prior.alpha,
                    "given": self.prior.given,
                    **({} if self.prior.estimate == "mean" else {"estimate": self.prior.estimate}),
                },
                "features": [
                    {
                        "name": f.name,
                        "columns": f.columns,
                        "floating": f.floating,
                        "whole": f.whole,
                        "types": f.types,
                        **({"complete": True} if f.is_complete else {}),
                        **({"near": True} if f.has_near_means else {}),
                        **({"few": True} if f.has_few_values else {}),
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
        """The spec that `to_json` wrote.

        Raises:
            ModelError: the text is damaged, or of a newer version of nbsql.
        """
        try:
            data = json.loads(text)
            if data["format"] > FORMAT:
                raise ModelError(f"model {model!r} was written by a newer nbsql; upgrade nbsql to read it")
            features = []
            for index, entry in enumerate(data["features"], start=1):
                options = dict(entry)
                name, columns = options.pop("name"), tuple(options.pop("columns"))
                if family_module.STORED[options["family"]].over_columns:
                    options["columns"] = columns
                floating, whole = options.pop("floating"), options.pop("whole")
                types = tuple(options.pop("types", ()))
                marks = [options.pop(mark, False) for mark in ("complete", "near", "few")]
                family = family_module.from_dict(options)
                features.append(Feature(name, family, columns, index, floating, whole, types, *marks))
            prior = data["prior"]
            return cls(
                target=data["target"],
                target_type=data["target_type"],
                id=tuple(data["id"]),
                weight=data["weight"],
                slice_by=data["slice_by"],
                given=data.get("given", False),
                half_life=HalfLife(**data["half_life"]) if "half_life" in data else None,
                shared=tuple(map(str, data.get("shared", ()))),
                segment_by=data.get("segment_by"),
                segment_shrinkage=data.get("segment_shrinkage", 0.0),
                logistic=Logistic(**data["logistic"]) if "logistic" in data else None,
                em=EM(**data["em"]) if "em" in data else None,
                components=Components.from_dict(data["components"]) if "components" in data else None,
                classes=tuple(map(str, data.get("classes", ()))),
                joins=tuple(map(Dimension.from_dict, data.get("joins", ()))),
                features=tuple(features),
                prior=Prior(
                    prior["kind"],
                    prior["alpha"],
                    tuple((label, p) for label, p in prior["given"]),
                    prior.get("estimate", "mean"),
                ),
                defaults=data["defaults"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the spec of model {model!r} is damaged ({error}); fit it again with replace=True") from None
