"""The columns of a row that a model can infer from the others, and how statements name them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, listed, suggestion
from nbsql.queries.sample import castable_type, usual_type
from nbsql.rendering.dialect import Dialect, folded
from nbsql.spec.spec import Feature, Spec
from nbsql.spec.traits import FEATURES, TRAITS, check_features


@dataclass(frozen=True)
class ImputedColumn:
    """A column that is inferred from the others."""

    feature: Feature  # the feature that reads it
    column: str  # its name in the source
    type: Markup | None  # the type of the imputed values, which is that of the training rows; None is text

    @property
    def is_value(self) -> bool:
        """Whether it takes values with a probability each, and is not a number with a density."""
        return self.feature.family.sampling_kind == "value"

    @property
    def added(self) -> str:
        """The name of the column that is added for it."""
        return f"{'probability' if self.is_value else 'deviation'}_{self.column}"


def imputable_columns(
    spec: Spec, names: Sequence[str], columns: Collection[str], dialect: Dialect, label: str, title: str, *, fills: bool = True
) -> list[ImputedColumn]:
    """The features of these columns or, if none are named, of all columns of a source that a model can infer.

    The source has `columns`. `fills` says whether gaps are filled, for which a number in bins needs more than one bin. Raises
    InputError if a name is not a column of the model or of the source, if the model cannot infer it, or if it can infer none.
    """
    spelling = {folded(name): name for name in columns}
    imputed = []
    for feature in _named(spec, names, title) if names else [each for each in spec.features if _is_imputable(spec, each)]:
        check_features([feature], "impute")
        if others := _other_readers(spec, feature):
            raise InputError(f"impute does not take {feature.column!r}, which {listed(others)} reads, too; fit it without")
        if fills and _is_single_bin(feature):
            raise InputError(
                f"impute does not take {feature.column!r}, all of which is one bin, without a middle; leave it out"
            )
        if folded(feature.column) in spelling:
            kind = castable_type((feature.types or ("",))[0] or usual_type(feature), dialect.query)
            imputed.append(ImputedColumn(feature, spelling[folded(feature.column)], kind))
        elif names:
            raise InputError(f"{label} has no column {feature.column!r}, whose gaps are to be filled")
    if not imputed:
        missing_is_value = any(each.family.nulls == "category" for each in spec.features)
        cure = "; with ⟨nulls='category'⟩ a missing value is no gap" if missing_is_value else ""
        raise InputError(f"{title} has no feature of a column of {label} whose gaps others could fill{cure}")
    return imputed


def predictable(spec: Spec, name: Any, dialect: Dialect, title: str) -> ImputedColumn:
    """The feature of a column that is to be predicted. Raises InputError unless it is a column that the model can infer."""
    if not isinstance(name, str):
        raise InputError(f"⟨target⟩ must be the name of a column, not {name!r}")
    columns = [column for feature in spec.features for column in feature.columns]
    return imputable_columns(spec, [name], columns, dialect, title, title, fills=False)[0]


def _named(spec: Spec, names: Sequence[str], title: str) -> list[Feature]:
    """The features that read these columns, each once. Features over several columns take precedence."""
    readers = {folded(column): feature for feature in spec.features for column in _columns(feature)}
    readers |= {folded(feature.column): feature for feature in reversed(spec.features)}
    readers |= {
        folded(column): feature for feature in spec.features if feature.family.over_columns for column in feature.columns
    }
    for name in names:
        if folded(name) not in readers:
            columns = list(dict.fromkeys(column for feature in spec.features for column in _columns(feature)))
            hint = suggestion(name, columns) or f"; its columns are {listed(columns)}"
            raise InputError(f"{title} has no feature of a column {name!r}{hint}")
    return list({readers[folded(name)].index: readers[folded(name)] for name in names}.values())


def _columns(feature: Feature) -> Sequence[str]:
    """The columns of a feature itself, without its parent."""
    return feature.columns[:1] if feature.family.parent else feature.columns


def _is_imputable(spec: Spec, feature: Feature) -> bool:
    refused = any(TRAITS[trait].matches(feature.family) for trait in FEATURES["impute"])
    return not refused and not _other_readers(spec, feature) and not _is_single_bin(feature)


def _is_single_bin(feature: Feature) -> bool:
    """Whether a feature is a number that is not cut anywhere, so that its bin has no ends."""
    return bool(feature.family.edges == ())


def _other_readers(spec: Spec, feature: Feature) -> list[str]:
    """The names of other features that read the column."""
    return [each.name for each in spec.features if each is not feature and feature.column in each.columns]
