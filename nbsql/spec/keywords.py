"""The options of a fit as keywords, for type checkers: `**options: Unpack[ModelOptions]`.

Generated from options.py: after a change there, run python -m nbsql.spec.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from nbsql.family import Estimate, Family, Nulls, Unseen
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import Method
from nbsql.spec.options import Best, Infer, PriorArgument, Segments


class BaseFitOptions(TypedDict, total=False):
    """The options of `nbsql.fit` that describe the model, except its target, alpha, prior and families."""

    id: str | Sequence[str]
    features: Sequence[str] | Best | None
    exclude: Sequence[str]
    derive: Mapping[str, str] | None
    missing: Sequence[str]
    joins: Sequence[Join] | Join
    infer: Infer
    weight: str | HalfLife | None
    method: Method
    nulls: Nulls
    slice_by: str | None
    segment_by: str | Segments | None
    estimate: Estimate | Literal["map"] | None
    unseen: Unseen


class SmoothedOptions(BaseFitOptions, total=False):
    """The options that describe the model, except its target and families."""

    alpha: float | None
    prior: PriorArgument


class ModelOptions(SmoothedOptions, total=False):
    """The options that describe the model, other than its target."""

    families: Mapping[str, str | Family] | None


class UnnamedFitOptions(ModelOptions, total=False):
    """The options of `nbsql.fit` other than the target and the name."""

    replace: bool
    database: str | None


class FitOptions(UnnamedFitOptions, total=False):
    """The options of `nbsql.fit` other than the target."""

    name: str | None
