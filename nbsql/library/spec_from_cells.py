"""The spec of a model whose counts are known and whose rows are not: its columns are inferred from its cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, suggestion
from nbsql.family import Estimate, Family, Nulls, Text, Unseen, all_named
from nbsql.learning.declared import with_declared, with_given_priors
from nbsql.model.destination import key_columns
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column
from nbsql.spec.half_life import HalfLife
from nbsql.spec.options import Options, PriorArgument, Target
from nbsql.spec.resolve import resolve
from nbsql.spec.spec import Spec
from nbsql.spec.used import check_used

_UNKNOWN = "?"  # stands for a type until all others are assumed
_AD_HOC_KINDS = {"boolean": "boolean", "category": "text", "number": "float", "word": "text"}  # the kinds of ad_hoc.sql


class CountsOptions(TypedDict, total=False):
    """The options of `nbsql.fit` that say what counts are counts of."""

    target: str | Target
    families: Mapping[str, str | Family] | None
    id: str | Sequence[str]
    weight: str | None
    alpha: float | None
    estimate: Estimate | Literal["map"] | None
    prior: PriorArgument
    nulls: Nulls
    unseen: Unseen


@dataclass(frozen=True)
class _FeatureCells:
    """The cells of a feature, as the macro `counted_features` describes them."""

    feature: str
    kind: str | None  # the kind that ad_hoc.sql gives it; None if there is none
    cells: int  # the number of cells
    means: int  # the number of cells with a mean
    squares: int  # the number of cells with a sum of squared deviations
    has_many_values: bool  # whether it has more values than there are rows
    is_boolean: bool  # whether its values are true and false
    has_words: bool  # whether any of its values is neither a number nor a date or time

    def column(self, family: Family | None) -> Column:
        """The column that was counted. Raises InputError if the kind of the cells is unclear, or does not fit the family."""
        if family is not None:
            self._check(family)
            return self._of_kind(_kind_of_values(family))
        if self.kind is not None:
            if self.kind == "part":
                raise InputError(
                    f"cells of {self.feature!r} are of a part of a date, which only rows tell how to read; "
                    "name a model of such rows, ⟨like=...⟩, or leave these cells out: WHERE kind <> 'part'"
                )
            if self.kind not in _AD_HOC_KINDS:
                kinds = ", ".join(map(repr, _AD_HOC_KINDS))
                raise InputError(f"cells of {self.feature!r} are of the kind {self.kind!r}; the kinds are {kinds}")
            return self._of_kind(_AD_HOC_KINDS[self.kind])
        if self.means and not self.squares:
            raise InputError(self._unclear_message("have means and no m2", "poisson"))
        if self.has_many_values:
            raise InputError(self._unclear_message("count more values than there are rows", "text"))
        return self._of_kind("float" if self.means else "boolean" if self.is_boolean else "text")

    def _of_kind(self, kind: str) -> Column:
        """The column, which has no type yet. That of categories without a word, such as numbers or dates, stays unknown."""
        return Column(self.feature, "" if self.has_words or kind != "text" or self.means else _UNKNOWN, kind)

    def _check(self, family: Family) -> None:
        """Raise InputError unless the family has such cells."""
        moments = family.centred, family.kind in ("density", "matrix") and not family.zeros
        cells = self.means if family.zeros else self.cells  # without those of its zeros
        fits = self.squares == cells, self.means == cells
        if moments != (False, False) and not (fits[1] and (fits[0] or not moments[0])):
            needs = "a mean and m2" if moments[0] else "a mean"
            raise InputError(f"family {family.name!r} of {self.feature!r} needs {needs} in every cell")
        if moments == (False, False) and self.means:
            raise InputError(f"family {family.name!r} of {self.feature!r} counts values, and its cells have means")

    def _unclear_message(self, what: str, family: str) -> str:
        return f"cells of {self.feature!r} {what}; say what they are: ⟨families={{{self.feature!r}: {family!r}}}⟩"


def spec_of_cells(engine: Engine, source: Source, options: CountsOptions) -> Spec:
    """The spec of the cells of a source, with the options of a fit.

    Raises InputError if an option is invalid, or if it is unclear what a feature's cells are.
    """
    others = {name: value for name, value in options.items() if name != "target"}
    settings = Options.of(options.get("target", "class"), others, among=list(CountsOptions.__annotations__))
    families = all_named(settings.families)
    kinds = any(folded(column.name) == "kind" for column in source.columns)
    cells_by_feature = {
        row[0]: _FeatureCells(*row) for row in engine.query_macro("counted_features", source.relation, has_kinds=kinds)
    }
    for key in families:
        if key not in cells_by_feature:
            hint = suggestion(key, cells_by_feature)
            raise InputError(f"⟨families⟩ names {key!r}, which has no cells in {source.label}{hint}")
    families |= {name: Text() for name, each in cells_by_feature.items() if each.kind == "word" and name not in families}
    columns = []
    for name, each in cells_by_feature.items():
        family = families.get(name)
        if family is not None and family.over_columns:
            kind = _kind_of_values(family)
            columns += [
                Column(column, "", kind) for column in family.columns if column == name or column not in cells_by_feature
            ]
        else:
            columns.append(each.column(family))
    if isinstance(settings.weight, HalfLife):
        raise InputError("counts from elsewhere have no age; leave out ⟨weight=nbsql.HalfLife(...)⟩, or fit the rows")
    target = next(column for column in source.columns if folded(column.name) == "class")
    roles = [
        replace(target, name=settings.target),
        *(Column(name, "", "other") for name in key_columns(settings.id)),
        *([] if settings.weight is None else [Column(settings.weight, "", "float")]),
    ]
    typed = [
        replace(column, type={"": _assumed_type(engine, column.kind), _UNKNOWN: ""}.get(column.type, column.type))
        for column in [*roles, *columns]
    ]
    settings = replace(settings, families=families)
    spec = resolve(typed, settings, source.label)
    check_used(settings, spec)
    for feature in spec.features:
        if feature.family.fit_query is not None:
            raise InputError(
                f"family {feature.family.name!r} of {feature.name!r} is made to fit the rows, which are not here; "
                "say what it was there, or fit it to rows"
            )
    spec, declared = with_declared(engine, spec, settings.classes)
    counted = engine.query_macro("labels", source.relation, "class")
    for label in (str(label) for _, label in counted if declared and label not in spec.classes):
        cure = suggestion(label, spec.classes) or "; name every class there may be"
        raise InputError(f"{source.label} has cells of class {label!r}, which ⟨classes⟩ does not name{cure}")
    return with_given_priors(engine, spec, declared or [(label, value) for value, label in counted])


def _kind_of_values(family: Family) -> str:
    return next(kind for kind in ("text", "float", *family.accepts) if kind in family.accepts)


def _assumed_type(engine: Engine, kind: str) -> str:
    render = engine.renderer
    if kind == "boolean":
        return "BOOLEAN"
    return str(render.fragment("double" if kind == "float" else "string"))
