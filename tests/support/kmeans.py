"""k-means as sql/macros/learning/kmeans.sql has it, in numpy: for the tests of classes with components."""

from typing import Any

import duckdb
import numpy as np

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def squared(rows: Matrix, centre: Matrix, weights: Matrix) -> Matrix:
    """Squared distances of rows from a centre, over the numbers that they have."""
    found: Matrix = np.nansum((rows - centre) ** 2 * weights, axis=1)
    return found


def nearest(rows: Matrix, centres: Matrix, weights: Matrix) -> Any:
    """The number of the nearest centre of each row, from 0; the first of equally near ones."""
    return np.argmin(np.array([squared(rows, centre, weights) for centre in centres]), axis=0)


def deviations(rows: Matrix, n: Matrix) -> Matrix:
    """The standard deviations of the numbers, to six digits."""
    present = ~np.isnan(rows)
    total = (present * n[:, None]).sum(axis=0)
    mean = np.nansum(rows * n[:, None], axis=0) / total
    return np.array([float(f"{x:.6g}") for x in np.sqrt(np.nansum((rows - mean) ** 2 * n[:, None], axis=0) / total)])


def build(con: duckdb.DuckDBPyConnection, rows: Matrix, n: Matrix, weights: Matrix, k: int) -> Matrix:
    """The first centres, among all rows of at most 256: each makes the sum of the distances to the nearest least."""
    distinct: dict[str, tuple[Matrix, float]] = {}
    for row, times in zip(rows, n, strict=True):
        if not np.isnan(row).all():
            distinct[str(row.tolist())] = row, distinct.get(str(row.tolist()), (row, 0.0))[1] + times
    assert len(distinct) <= 256
    rows, n = np.array([row for row, _ in distinct.values()]), np.array([times for _, times in distinct.values()])
    present = ~np.isnan(rows)
    distances = np.array([squared(rows, row, weights) for row in rows])
    shared = (present[:, None, :] & present[None, :, :]).sum(axis=2)
    size = rows.shape[1]
    distances = np.where(shared > 0, size * distances / np.maximum(shared, 1), 2 * size)
    values = ", ".join(f"({', '.join('NULL' if np.isnan(x) else repr(float(x)) + '::DOUBLE' for x in row)})" for row in rows)
    names = ", ".join(f"x{i}" for i in range(size))
    hashes = [row[0] for row in con.execute(f"SELECT hash(hash({names})) FROM (VALUES {values}) AS t({names})").fetchall()]
    chosen: list[int] = []
    covered = np.full(len(rows), np.inf)
    while len(chosen) < k and (covered > 0).any():
        costs = ((n * np.minimum(distances, covered)).sum(axis=1) / n.sum()).astype(np.float32)
        free = [i for i in range(len(rows)) if covered[i] > 0]
        chosen.append(min(free, key=lambda i: (costs[i], hashes[i])))
        covered = np.minimum(covered, distances[chosen[-1]])
    return rows[chosen]


def lloyd(rows: Matrix, n: Matrix, centres: Matrix, weights: Matrix) -> Matrix:
    """Lloyd's iterations until the squared moves of the centres, in variances, are 1e-4 on average; the components by rows."""
    for _ in range(100):
        found = nearest(rows, centres, weights)
        kept = [j for j in range(len(centres)) if (found == j).any()]
        moved = []
        for j in kept:
            own, times = rows[found == j], n[found == j][:, None]
            total = (~np.isnan(own) * times).sum(axis=0)
            mean = np.nansum(own * times, axis=0) / np.maximum(total, 1e-300)
            moved.append(np.where(total > 0, mean, centres[j]))
        after = np.array(moved)
        sizes = np.array([n[found == j].sum() for j in kept])
        stands = len(kept) == len(centres) and ((after - centres) ** 2 * weights).mean() <= 1e-4
        centres = after
        if stands:
            break
    return centres[np.argsort(-sizes, kind="stable")]


def kmeans(con: duckdb.DuckDBPyConnection, rows: Matrix, n: Matrix, k: int) -> tuple[Matrix, Matrix]:
    """The centres and the standard deviations by which distances are taken."""
    scales = deviations(rows, n)
    weights = np.array([1 / scale**2 if scale else 0.0 for scale in scales])
    total = (~np.isnan(rows) * n[:, None]).sum(axis=0)
    means = np.nansum(rows * n[:, None], axis=0) / total
    first = build(con, rows, n, weights, k)
    return lloyd(rows, n, np.where(np.isnan(first), means, first), weights), scales
