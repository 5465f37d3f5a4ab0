"""Models with segments: what can be one."""

from __future__ import annotations

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, ModelError
from nbsql.spec import Spec


def check_segments(engine: Engine, spec: Spec, source: Source) -> None:
    """Raise InputError unless a model of this spec can have segments (sql/macros/segments.sql)."""
    if spec.slice_by is not None:
        raise InputError("a model has slices or segments; leave out slice_by or segment_by")
    engine.check_expression(str(spec.segment_by), source, "segment_by")
    for feature in spec.features:
        family = feature.family
        if family.name in ("kernel", "multivariate_gaussian") or family.backs_off:
            what = f"{family.name} with a backoff" if family.backs_off else family.name
            raise InputError(f"segment_by does not take {feature.name!r}, which is {what}; choose another family")
        if family.complement or family.presence or family.weighed:
            event = "event='bernoulli'" if family.presence else "a complement" if family.complement else "tfidf or norm"
            raise InputError(f"segment_by does not take {feature.name!r}, which is {family.name} with {event}; leave that out")
        if family.kept is not None:
            raise InputError(f"segment_by does not take {feature.name!r}, which is {family.name} with best; leave that out")


def refuse_segments(spec: Spec, title: str, what: str) -> None:
    """Raise ModelError if the model has segments, where something can be said of one model only."""
    if spec.segment_by is not None:
        raise ModelError(f"{title} has a model a segment, and {what} takes one; fit it without segment_by")


def check_segmented(spec: Spec, title: str) -> None:
    """Raise ModelError unless the model has segments."""
    if spec.segment_by is None:
        raise ModelError(f'{title} has no segments; fit it with segment_by="region", say')
