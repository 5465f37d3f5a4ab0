"""The family of numbers whose density is estimated by a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.base import NUMBERS, Cell, Estimate, Family, Macros, macros_of
from nbsql.family.checks import checked, non_negative, set_attributes, whole_number
from nbsql.family.kinds import Level

MOST_CELLS = 4096


@dataclass(frozen=True, kw_only=True)
class Kernel(Level):
    """A number with any density, estimated as the mean of normal densities around the values of the class, on a grid of cells.

    With phi the normal density and h the bandwidth of a class, p(x | c) = (sum over its values v of phi((x - v) / h) / h +
    alpha / range) / (n_c + alpha). Every number is moved to the middle of its cell, and alpha rows are spread evenly over the
    range of the grid. Numbers beyond the grid count as if they were in its outermost cells.

    Args:
        bandwidth: h; None takes Silverman's rule, s (3 n_c / 4)^(-1/5), s the standard deviation in the class. It is at least
            the width of a cell.
        cells: the number of cells of the grid, which extends three bandwidths of the whole column beyond its values.
        low: the lower end of the grid, as the fit found it.
        width: the width of a cell, as the fit found it.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Kernel(cells=64)})
    >>> model.predict_one({"x": 5.5})["prediction"]
    'b'
    """

    bandwidth: float | None = None
    cells: int = 512
    low: float | None = None
    width: float | None = None

    name: ClassVar[str] = "kernel"
    macros: ClassVar[Macros] = macros_of("kernel", "value drawn middle")
    cell: ClassVar[Cell] = "place"
    accepts: ClassVar[tuple[str, ...]] = NUMBERS
    distribution: ClassVar[str] = "kernel"
    degree: ClassVar[None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, non_negative, "bandwidth")
        if self.bandwidth == 0:
            raise InputError("bandwidth must be above 0, not 0")
        set_attributes(self, cells=whole_number(self.cells, "cells", 2, MOST_CELLS))

    def with_estimate(self, estimate: Estimate) -> Family:
        return super().with_estimate("mean" if estimate == "mode" else estimate)  # rows that are spread out have no mode

    @property
    def fit_query(self) -> str | None:
        return "kernel_range" if self.width is None else None

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Family:
        least, largest, bandwidth = rows[0] if rows else (0.0, 0.0, 0.0)
        beyond = 3 * (bandwidth if self.bandwidth is None else self.bandwidth) if least < largest else 0.5
        if (largest - least + 2 * beyond) / self.cells < 1e-290:  # so narrow that a density overflows
            beyond = 0.5
        return replace(self, low=least - beyond, width=(largest - least + 2 * beyond) / self.cells)
