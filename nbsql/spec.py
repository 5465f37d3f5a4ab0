"""What to model, as plain data: columns, features, priors, and the spec that a model keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from nbsql import family as family_module
from nbsql.components import Components
from nbsql.dialect import FRACTION
from nbsql.errors import InputError, ModelError, listed, suggestion
from nbsql.family import Estimate, Family, Nulls, Unseen
from nbsql.joins.join import Dimension, Join

if TYPE_CHECKING:
    from nbsql.selection import Best, Forward

FORMAT = 1  # of the JSON text in the table `spec`


@dataclass(frozen=True)
class Column:
    """A column of a source.

    Args:
        name: as the catalogue spells it.
        type: as the engine writes it.
        kind: what nbsql makes of the type: "text", "boolean", "integer", "float", "decimal", "temporal", "tokens",
            "token counts" or "other".
    """

    name: str
    type: str
    kind: str


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
        few: whether these are few, of one of many categories.
    """

    name: str
    family: Family
    columns: tuple[str, ...]
    index: int
    floating: bool
    whole: bool = False
    types: tuple[str, ...] = ()
    complete: bool = False
    few: bool = False

    @property
    def plain(self) -> Feature:
        """The feature with the covariance matrix of its rows as it is, neither shared nor shrunk."""
        return replace(self, family=self.family.plain)

    @property
    def fractions(self) -> dict[str, str]:
        """The types of the columns whose numbers need not be whole."""
        return {column: kind for column, kind in zip(self.columns, self.types, strict=False) if FRACTION.fullmatch(kind)}

    @property
    def column(self) -> str:
        return self.columns[0]


@dataclass(frozen=True)
class Check:
    """A rule that training rows must keep (sql/macros/rules.sql), and what to say of those that do not."""

    rule: str
    column: str
    message: str

    def broken(self, count: int) -> str:
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
    def added(self) -> float:
        """What is added to the count of a class."""
        return self.alpha - 1 if self.estimate == "mode" else self.alpha


@dataclass(frozen=True)
class Logistic:
    """How the weights of a logistic model are learnt (nbsql/logistic.py).

    Args:
        penalty: what the sum of the squares of the weights is multiplied with.
        iterations: how many at most.
        tolerance: the change of a weight, of standardised numbers, at which the search ends.
    """

    penalty: float
    iterations: int
    tolerance: float


@dataclass(frozen=True)
class Spec:
    """A model as asked for, complete: nothing in it is left to a default."""

    target: str
    features: tuple[Feature, ...]
    prior: Prior
    id: tuple[str, ...] = ()
    weight: str | None = None
    target_type: str = ""
    slice_by: str | None = None
    given: bool = False  # whether somebody supplied its probabilities (nbsql/given.py); it has no counts then
    segment_by: str | None = None
    segment_shrinkage: float = 0.0
    logistic: Logistic | None = None
    components: Components | None = None
    joins: tuple[Dimension, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def cut_by(self) -> str | None:
        """The expression by whose value the cells are counted: that of the slices, or of the segments."""
        return self.slice_by or self.segment_by

    @property
    def is_cut(self) -> bool:
        """Whether the cells are counted by slice: by the value of an expression, or by component."""
        return self.cut_by is not None or self.components is not None

    @property
    def columns(self) -> list[str]:
        """The columns that training reads, each once."""
        wanted = [self.target, *([self.weight] if self.weight else []), *(c for f in self.features for c in f.columns)]
        return list(dict.fromkeys(wanted))

    @property
    def stuck(self) -> list[str]:
        """What depends on all rows at once: features whose cells do not add up, and weights that were learnt."""
        return [
            *(feature.name for feature in self.features if feature.family.binding is not None),
            *(["weights"] if self.logistic is not None else []),
        ]

    def need_counts(self, title: str) -> None:
        """Raise ModelError if the model, which messages call `title`, has none."""
        if self.given:
            raise ModelError(f"{title} was made from probabilities and has no counts; make it anew with nbsql.from_tables")

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
                **({"segment_by": self.segment_by, "segment_shrinkage": self.segment_shrinkage} if self.segment_by else {}),
                **({"logistic": asdict(self.logistic)} if self.logistic is not None else {}),
                **({"components": self.components.to_dict()} if self.components else {}),
                **({"joins": [dimension.to_dict() for dimension in self.joins]} if self.joins else {}),
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
                        **({"complete": True} if f.complete else {}),
                        **({"few": True} if f.few else {}),
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
                if family_module.FAMILIES[options["family"]].over_columns:
                    options["columns"] = columns
                floating, whole = options.pop("floating"), options.pop("whole")
                types = tuple(options.pop("types", ()))
                complete, few = options.pop("complete", False), options.pop("few", False)
                family = family_module.from_dict(options)
                features.append(Feature(name, family, columns, index, floating, whole, types, complete, few))
            prior = data["prior"]
            return cls(
                target=data["target"],
                target_type=data["target_type"],
                id=tuple(data["id"]),
                weight=data["weight"],
                slice_by=data["slice_by"],
                given=data.get("given", False),
                segment_by=data.get("segment_by"),
                segment_shrinkage=data.get("segment_shrinkage", 0.0),
                logistic=Logistic(**data["logistic"]) if "logistic" in data else None,
                components=Components.from_dict(data["components"]) if "components" in data else None,
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


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `nbsql.fit` that say what to model; that function's docstring explains them."""

    target: str
    joins: Sequence[Join] | Join = ()
    features: Sequence[str] | Best | Forward | None = None
    exclude: Sequence[str] = ()
    families: Mapping[str, str | Family] = field(default_factory=dict)
    id: str | Sequence[str] = ()
    weight: str | None = None
    alpha: float | None = None
    prior: str | Mapping[Any, float] = "empirical"
    prior_alpha: float | None = None
    nulls: Nulls = "skip"
    unseen: Unseen = "skip"
    slice_by: str | None = None
    segment_by: str | None = None
    segment_shrinkage: float | None = None
    components: int | Mapping[Any, int] | None = None
    method: str = "naive"
    backoff: Literal["naive"] | None = None
    shrinkage: float | str | None = None
    penalty: float | None = None
    iterations: int | None = None
    tolerance: float | None = None
    estimate: Estimate | None = None

    @classmethod
    def of(cls, target: str, options: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Options:
        """The options of keyword arguments; None is none of what may be several.

        Args:
            target: of the model.
            options: by name.
            beside: names that are understood, too, and are no options of what to model.

        Raises:
            InputError: there is no such option.
        """
        names = [each.name for each in fields(cls) if each.name != "target"]
        for name in options:
            if name not in names and name not in beside:
                raise InputError(f"no option {name!r}{suggestion(name, names) or f'; the options are {listed(names, 30)}'}")
        several = ("joins", "exclude", "families", "id")
        return cls(target, **{k: v for k, v in options.items() if k in names and not (v is None and k in several)})

    @property
    def pseudo_count(self) -> float:
        """The alpha of the families that have none of their own."""
        if self.alpha is None:
            return 0.0 if self.estimate == "mle" else 1.0
        return self.alpha
