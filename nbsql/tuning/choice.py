"""What a search of families and methods has chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from nbsql.family import Family
from nbsql.spec.method import Classifier, Method
from nbsql.spec.options import Best, Forward, Options


@dataclass(frozen=True)
class Choice:
    """What was chosen, and how it was found.

    Args:
        rows: that it was judged on.
        families: by column, where they are not the default's.
        exclude: the columns that are left out.
        calibrated: whether a temperature earned its place.
        method: the classifier.
        ranking: the rows of `Auto.ranking`.
        tried: those of `Auto.tried`.
    """

    rows: int
    families: dict[str, Family]
    exclude: list[str]
    calibrated: bool
    method: Classifier | None
    ranking: list[tuple[Any, ...]]
    tried: list[tuple[Any, ...]]

    def options(self, options: Options) -> Options:
        """The options of a fit with what was chosen."""
        exclude = [options.exclude] if isinstance(options.exclude, str) else list(options.exclude)
        features = options.features
        if self.exclude and features is not None and not isinstance(features, (Best, Forward)):
            features = [name for name in ([features] if isinstance(features, str) else features) if name not in self.exclude]
        excluded = [*exclude, *self.exclude] if features is None else exclude
        options = replace(options, families={**options.families, **self.families}, features=features, exclude=excluded)
        return options if self.method is None else replace(options, method=cast("Method", self.method))
