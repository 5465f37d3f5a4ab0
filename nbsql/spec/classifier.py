"""The base class of the classifiers that `method` of a fit accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from nbsql.family import Family, Nulls
from nbsql.spec.column import Column


@dataclass(frozen=True)
class Classifier:
    """The base class of the classifiers: which families the columns have that the user gave none."""

    name: ClassVar[str]
    is_cut_at_quantiles: ClassVar[bool] = False  # whether numbers become categories by their quantiles
    added: ClassVar[tuple[type[Family], ...]] = ()  # the families of features that it adds, whatever families a user gives
    unsmoothed: ClassVar[tuple[str, ...]] = ()  # the keys of families that no pseudo-count smooths unless the fit names one

    def __str__(self) -> str:
        """The method with the options that differ from their defaults, as the command line takes it."""
        changed = [f"{name}={value}" for name, value in self._changed().items()]
        return self.name + (f"({', '.join(changed)})" if changed else "")

    @property
    def code(self) -> str:
        """The Python that makes it, `'weighted'` or `nbsql.Weighted(pairs=3)`."""
        changed = [f"{name}={value!r}" for name, value in self._changed().items()]
        return f"nbsql.{type(self).__name__}({', '.join(changed)})" if changed else repr(self.name)

    def _changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    def families(self, columns: Sequence[Column], *, nulls: Nulls) -> Mapping[str, Family]:  # noqa: ARG002
        """The families of columns by name, or by key for a family over several; other columns have the family of their type.

        The columns are those that become features and that `families` of the fit does not name; `nulls` is that of the fit.
        Raises InputError if the classifier cannot use the columns.
        """
        return {}

    def other_views(self, family: Family, *, is_own: bool) -> Mapping[str, Family]:  # noqa: ARG002
        """The families of further features of a column with this family, by what is added to their names.

        `is_own` says whether the family is the classifier's, and not the user's.
        """
        return {}
