"""Given means and covariance matrices, as the cells of a model of several numbers."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nbsql.errors import InputError
from nbsql.family import Family, MultivariateGaussian
from nbsql.family.multivariate_gaussian import powers_of_two

Row = tuple[str, str, str, float | None, float]  # label, feature, column or pair of columns, mean, covariance
TOLERANCE = 1e-9  # by which a covariance matrix may be asymmetric, relative to the deviations


def rows_of_matrix(where: str, columns: Sequence[str], mean: Any, covariance: Any) -> Iterator[dict[str, Any]]:
    """The rows of one class, as in `Model.likelihoods`: value, mean, variance."""
    p = len(columns)
    try:
        means, matrix = [float(number) for number in mean], [[float(number) for number in row] for row in covariance]
    except OverflowError:
        raise InputError(f"the means and covariances of {where} must be finite numbers") from None
    except (TypeError, ValueError):
        means, matrix = [], []
    if len(means) != p or len(matrix) != p or any(len(row) != p for row in matrix):
        raise InputError(f"{where} must have {p} means and a covariance matrix of {p} rows and columns")
    if not all(math.isfinite(number) for row in [means, *matrix] for number in row):
        raise InputError(f"the means and covariances of {where} must be finite numbers")
    for i, column in enumerate(columns):
        yield {"value": column, "mean": means[i], "variance": matrix[i][i]}
        for j in range(i + 1, p):
            if abs(matrix[i][j] - matrix[j][i]) > TOLERANCE * math.sqrt(abs(matrix[i][i] * matrix[j][j])):
                raise InputError(f"the covariance matrix of {where} is not symmetric: {matrix[i][j]:g} and {matrix[j][i]:g}")
            yield {"value": _pair(column, columns[j]), "mean": None, "variance": matrix[i][j]}


def cells_of_matrices(rows: Sequence[Row], families: dict[str, Family]) -> Iterator[dict[str, Any]]:
    """The rows of likelihoods that represent covariances. Adds the families of such features to `families`.

    Raises InputError if a matrix lacks a number, has one twice, or is not that of a normal distribution.
    """
    entries_by_feature: dict[str, dict[str, dict[str, tuple[float | None, float]]]] = {}
    for label, feature, value, mean, covariance in rows:
        entries = entries_by_feature.setdefault(feature, {}).setdefault(label, {})
        if value in entries:
            raise InputError(f"value {value!r} of feature {feature!r} of class {label!r} is given twice; give it once")
        entries[value] = mean, covariance
    for feature, classes in entries_by_feature.items():
        family: Any = families.get(feature)
        columns = list(family.columns) if family is not None and family.over_columns else _columns(classes)
        matrices = {
            label: _matrix(f"feature {feature!r} of class {label!r}", entries, columns) for label, entries in classes.items()
        }
        alike = len({str(matrix) for _, matrix in matrices.values()}) == 1
        if family is None or family.kind != "matrix":
            if family is not None:
                raise InputError(f"family {family.name!r} of {feature!r} has no covariances; leave it out of ⟨families⟩")
            family = MultivariateGaussian(columns, shared=alike)
        sizes = [sum(matrix[i][i] for _, matrix in matrices.values()) / len(matrices) for i in range(len(columns))]
        # What is given is the estimate itself, whatever the one that it comes from was made of.
        families[feature] = family = replace(
            family,
            scales=family.scales or powers_of_two(sizes),
            shared=family.shared and alike,
            shrinkage=None,
            toward="identity",
            variance="population",
            fourth=None,
        )
        for label, (means, matrix) in matrices.items():
            for value, mean, variance in family.moments_of(means, matrix):
                yield {"label": label, "feature": feature, "value": value, "mean": mean, "variance": variance}


def _columns(classes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return sorted({value for entries in classes.values() for value in entries if not value.startswith("[")})


def _matrix(
    where: str, entries: Mapping[str, tuple[float | None, float]], columns: Sequence[str]
) -> tuple[list[float], list[list[float]]]:
    """The means and the covariance matrix; InputError unless it is that of a normal distribution."""
    entries_left = dict(entries)
    means, matrix = [], [[0.0] * len(columns) for _ in columns]
    for i, column in enumerate(columns):
        for j in range(i, len(columns)):
            pairs = [column] if i == j else [_pair(column, columns[j]), _pair(columns[j], column)]
            mean, covariance = next((entries_left.pop(pair) for pair in pairs if pair in entries_left), (None, None))
            if covariance is None or (i == j and mean is None):
                what = f"mean and variance of {column!r}" if i == j else f"covariance of {column!r} and {columns[j]!r}"
                raise InputError(f"{where} lacks the {what}")
            if i == j:
                means.append(float(mean or 0.0))
            matrix[i][j] = matrix[j][i] = float(covariance)
    for value in entries_left:
        raise InputError(f'{where} has a value {value!r}, which is none of its columns, nor a pair of them such as ["a","b"]')
    if not _is_positive(matrix):
        raise InputError(f"the covariance matrix of {where} is not positive definite; leave out what its other columns tell")
    return means, matrix


def _is_positive(matrix: Sequence[Sequence[float]]) -> bool:
    """Whether a symmetric matrix is positive definite: its Cholesky factors are real."""
    factor: list[list[float]] = []
    for i, row in enumerate(matrix):
        factor.append([])
        for j in range(i + 1):
            rest = row[j] - sum(a * b for a, b in zip(factor[i], factor[j], strict=False))
            if i == j and not rest > 1e-14 * abs(row[i]):
                return False
            factor[i].append(math.sqrt(rest) if i == j else rest / factor[j][j])
    return True


def _pair(one: str, other: str) -> str:
    return f"[{json.dumps(one, ensure_ascii=False)},{json.dumps(other, ensure_ascii=False)}]"
