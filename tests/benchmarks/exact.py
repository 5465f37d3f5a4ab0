"""Naive Bayes by its definition, in plain Python: sums are fractions, exact, and nothing is taken from nbsql.

The formulas are those of the pages on families and estimates. Logarithms and densities are doubles, of exact estimates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

Row = dict[str, Any]
Term = Callable[[str, Row], float]
Key = tuple[str, Hashable]  # a column and its value
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Feature:
    """A feature: its family by name, the columns of the table that it reads, their type, and the family's options."""

    name: str
    family: str
    columns: tuple[str, ...]
    type: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def alpha(self) -> Fraction:
        """What is added to the count of a value."""
        return self.added(self.options.get("alpha", 1.0))

    def added(self, alpha: Any) -> Fraction:
        estimate = self.options.get("estimate", "mean")
        return ZERO if estimate == "mle" else exact(1.0 if isinstance(alpha, Mapping) else alpha) - (estimate == "mode")

    @property
    def gamma(self) -> tuple[Fraction, Fraction]:
        """a and b of the prior of a rate, as they stand in its mean."""
        a, b = exact(self.options.get("a", 0.0)), exact(self.options.get("b", 0.0))
        less = self.options.get("estimate") == "mode" and (a > 0 or b > 0)
        return a - less, b - (less and self.family == "geometric")


@cache
def exact(value: float) -> Fraction:
    return Fraction(value)


def total(values: Iterable[Fraction]) -> Fraction:
    return sum(values, ZERO)


def ln(value: Fraction) -> float:
    return math.log(value) if value > 0 else -math.inf


@dataclass
class Moments:
    """Of some numbers with weights: how many, their mean, and the sum of the squared deviations."""

    n: Fraction
    mean: Fraction
    m2: Fraction

    @staticmethod
    def of(pairs: Sequence[tuple[Fraction, Fraction]]) -> Moments:
        n = total(w for _, w in pairs)
        mean = total(w * x for x, w in pairs) / n
        return Moments(n, mean, total(w * (x - mean) ** 2 for x, w in pairs))


class Reference:
    """A model of some rows, {column: value, "c": label, "w": weight}; paired, with the pairs of its categories, too."""

    def __init__(
        self, features: Sequence[Feature], prior: str, prior_alpha: float, rows: Sequence[Row], *, paired: bool = False
    ) -> None:
        self.features, self.prior, self.prior_alpha = features, prior, prior_alpha
        self.rows = [row for row in rows if row["c"] is not None and row["w"] > 0]
        self.classes = sorted({row["c"] for row in self.rows})
        self.weights = {c: total(exact(row["w"]) for row in self.rows if row["c"] == c) for c in self.classes}
        self.has_prior = not all("complement" in (feature.family, feature.options.get("event")) for feature in features)
        self.terms: list[Term] = [getattr(self, feature.family)(feature) for feature in features]
        categories = [feature for feature in features if feature.family == "categorical"]
        if paired and len(categories) > 1:
            self.terms.append(self.pairs(categories))
        n, k = total(self.weights.values()), len(self.classes)
        a = exact(prior_alpha) if prior == "smoothed" else ZERO
        self.log_priors = {
            c: -math.log(k) if prior == "uniform" else ln((w + a) / (n + a * k)) for c, w in self.weights.items()
        }

    def joint(self, row: Row) -> dict[str, float]:
        """ln p(x, c) by class."""
        return {
            c: math.fsum([self.log_priors[c] if self.has_prior else 0.0, *(term(c, row) for term in self.terms)])
            for c in self.classes
        }

    def posterior(self, row: Row) -> dict[str, float] | None:
        """The posteriors; None of a row that no class explains."""
        joint = self.joint(row)
        most = max(joint.values())
        if most == -math.inf:
            return None
        shares = {c: math.exp(value - most) for c, value in joint.items()}
        whole = math.fsum(shares.values())
        return {c: share / whole for c, share in shares.items()}

    # Categories, words and columns of counts: one Dirichlet estimate.

    def dirichlet(
        self,
        feature: Feature,
        counts: Mapping[tuple[str, Hashable], Fraction],
        declared: Mapping[Hashable, Fraction] | None = None,
        opposed: bool = False,
    ) -> Callable[[str, Hashable], float]:
        """ln P(value | class), from the counts of the class; opposed, from those of all others."""
        everywhere: dict[Hashable, Fraction] = {}
        for (_, value), n in counts.items():
            everywhere[value] = everywhere.get(value, ZERO) + n
        least = feature.options.get("min_count", 1)
        everywhere = {value: n for value, n in everywhere.items() if least == 1 or n >= least}
        alphas = {**dict.fromkeys(everywhere, feature.alpha), **(declared or {})}
        size, k = total(alphas.values()), len(alphas)
        own = {c: total(n for (label, value), n in counts.items() if label == c and value in everywhere) for c in self.classes}
        whole = total(everywhere.values())

        @cache
        def log_likelihood(c: str, value: Hashable) -> float:
            if not alphas or (value not in alphas and feature.options.get("unseen", "skip") == "skip"):
                return 0.0
            found, n = counts.get((c, value), ZERO) if value in everywhere else ZERO, own[c]
            if opposed:
                found, n = everywhere.get(value, ZERO) - found, whole - n
            if n + size == 0:
                return -math.log(k)
            return ln((found + alphas.get(value, feature.alpha)) / (n + size))

        return log_likelihood

    def counts(self, values: Callable[[Row], Iterable[Hashable]]) -> dict[tuple[str, Hashable], Fraction]:
        found: dict[tuple[str, Hashable], Fraction] = {}
        for row in self.rows:
            for value in values(row):
                found[row["c"], value] = found.get((row["c"], value), ZERO) + exact(row["w"])
        return found

    def levels(
        self, feature: Feature, value: Callable[[Row], Hashable], declared: Mapping[Hashable, Fraction] | None = None
    ) -> Term:
        counted = feature.options.get("nulls") == "category"

        def of(row: Row) -> list[Hashable]:
            found = value(row)
            return [found] if found is not None or counted else []

        log_likelihood = self.dirichlet(feature, self.counts(of), declared)
        return lambda c, row: math.fsum(log_likelihood(c, level) for level in of(row))

    def categorical(self, feature: Feature) -> Term:
        alpha = feature.options.get("alpha")
        named = {value: feature.added(a) for value, a in alpha.items()} if isinstance(alpha, Mapping) else {}
        return self.levels(feature, lambda row: row[feature.columns[0]], named)

    def bernoulli(self, feature: Feature) -> Term:
        beta = feature.options.get("beta")
        declared = {True: feature.alpha, False: feature.alpha if beta is None else feature.added(beta)}
        return self.levels(feature, lambda row: row[feature.columns[0]], declared)  # type: ignore[arg-type]

    def joint_columns(self, feature: Feature) -> Term:
        def value(row: Row) -> Hashable:
            values = tuple(row[column] for column in feature.columns)
            return None if None in values else values

        return self.levels(feature, value)

    def binned(self, feature: Feature) -> Term:
        (column,), by, bins = feature.columns, feature.options["by"], feature.options.get("bins", 0)
        numbers = sorted((float(row[column]), exact(row["w"])) for row in self.rows if row[column] is not None)
        if isinstance(by, list):
            edges = by
        elif not numbers:
            edges = []
        elif by == "width":
            least, largest = numbers[0][0], numbers[-1][0]
            edges = sorted({edge for i in range(1, bins) if (edge := least + i * (largest - least) / bins) > least})
        else:
            whole, up_to, cumulated = total(n for _, n in numbers), ZERO, {}
            for x, n in numbers:
                up_to += n
                cumulated[x] = up_to
            chosen = {min(x for x, n in cumulated.items() if n * bins >= whole * i) for i in range(1, bins)}
            edges = sorted(edge for edge in chosen if edge > numbers[0][0])
        declared: dict[Hashable, Fraction] = dict.fromkeys(range(len(edges) + 1), feature.alpha)
        return self.levels(
            feature, lambda row: None if row[column] is None else sum(edge <= row[column] for edge in edges), declared
        )

    def words(self, feature: Feature) -> Term:
        """Texts and lists of tokens; of texts, by their words or by whether they are there."""
        (column,), event = feature.columns, feature.options.get("event", "multinomial")

        def of(row: Row) -> list[str]:
            found = row[column]
            found = re.findall(r"[^\W_]+", found.lower()) if isinstance(found, str) else found or []
            return sorted(set(found)) if event == "bernoulli" else found

        counts = self.counts(of)
        if event == "bernoulli":
            return self.presence(feature, counts, of)
        log_likelihood = self.dirichlet(feature, counts, opposed=event == "complement")
        sign = -1.0 if event == "complement" else 1.0
        return lambda c, row: sign * math.fsum(log_likelihood(c, word) for word in of(row))

    def presence(
        self, feature: Feature, counts: Mapping[tuple[str, Hashable], Fraction], of: Callable[[Row], list[str]]
    ) -> Term:
        least = feature.options.get("min_count", 1)
        documents = {
            c: total(exact(row["w"]) for row in self.rows if row["c"] == c and row[feature.columns[0]] is not None)
            for c in self.classes
        }
        words = sorted({word for _, word in counts})
        words = [word for word in words if least == 1 or total(n for (_, other), n in counts.items() if other == word) >= least]

        @cache
        def chance(c: str, word: str) -> Fraction:
            return (counts.get((c, word), ZERO) + feature.alpha) / (documents[c] + 2 * feature.alpha)

        def term(c: str, row: Row) -> float:
            if row[feature.columns[0]] is None:
                return 0.0
            there = of(row)
            return math.fsum(ln(chance(c, word) if word in there else 1 - chance(c, word)) for word in words)

        return term

    text = tokens = words

    def multinomial(self, feature: Feature) -> Term:
        alpha = feature.options.get("alpha", 1.0)
        declared: dict[Hashable, Fraction] = {
            column: feature.added(alpha.get(column, 1.0) if isinstance(alpha, Mapping) else alpha) for column in feature.columns
        }
        counts: dict[tuple[str, Hashable], Fraction] = {}
        for row in self.rows:
            for column in feature.columns:
                if row[column] is not None:
                    more = exact(row["w"]) * exact(row[column])
                    counts[row["c"], column] = counts.get((row["c"], column), ZERO) + more
        opposed = feature.family == "complement"
        log_likelihood = self.dirichlet(feature, counts, declared, opposed)

        def term(c: str, row: Row) -> float:
            scale = -math.fsum(log_likelihood(c, column) for column in feature.columns) if feature.options.get("norm") else 1.0
            terms = (row[column] * log_likelihood(c, column) for column in feature.columns if row[column])
            return (-1.0 if opposed else 1.0) * math.fsum(terms) / scale

        return term

    complement = multinomial

    def pairs(self, categories: Sequence[Feature]) -> Term:
        """What averaged one-dependence estimators add: ln of the mean, over the parents, of the products of the ratios."""

        def of(row: Row) -> list[Key]:
            return [
                (feature.name, row[feature.name])
                for feature in categories
                if row[feature.name] is not None or feature.options.get("nulls") == "category"
            ]

        alphas = {feature.name: feature.alpha for feature in categories}
        alone = self.counts(of)
        both = self.counts(lambda row: [(one, other) for one in of(row) for other in of(row)])
        met: dict[Key, Fraction] = {}
        for (_, key), n in alone.items():
            met[key] = met.get(key, ZERO) + n
        values = {name: [key for key in met if key[0] == name] for name in alphas}

        def share(n: Fraction, whole: Fraction, name: str) -> Fraction:
            size = whole + alphas[name] * len(values[name])
            return (n + alphas[name]) / size if size else Fraction(1, len(values[name]))

        @cache
        def ratio(c: str, parent: Key, child: Key) -> float:
            name = child[0]
            by_itself = share(alone.get((c, child), ZERO), total(alone.get((c, key), ZERO) for key in values[name]), name)
            whole = total(both.get((c, (parent, key)), ZERO) for key in values[name])
            known = any((label, (parent, key)) in both for label in self.classes for key in values[name])
            if not known or not by_itself or whole + alphas[name] == 0:
                return 0.0
            return ln(share(both.get((c, (parent, child)), ZERO), whole, name) / by_itself)

        def term(c: str, row: Row) -> float:
            keys = [key for key in of(row) if key in met]
            sums = [math.fsum(ratio(c, i, j) for j in keys if j != i) for i in keys if met[i] >= 1]
            most = max(sums, default=0.0)
            return (
                most + math.log(math.fsum(math.exp(x - most) for x in sums) / len(sums)) if sums and most > -math.inf else most
            )

        return term

    # Numbers.

    def zero_inflated(self, feature: Feature) -> Term:
        """A 0 with a probability, and any other number with the rest of it and the density of the numbers that are not 0."""
        (column,) = feature.columns
        zeros = self.counts(lambda row: [] if row[column] is None else [row[column] == 0])
        others = [{**row, column: row[column] or None} for row in self.rows]
        options = {name: value for name, value in feature.options.items() if name == "floor"}
        of = Feature(feature.name, feature.options["of"], feature.columns, feature.type, options)
        (density,) = Reference([of], self.prior, self.prior_alpha, others).terms

        @cache
        def share(c: str, is_zero: bool) -> Fraction:
            n = total(zeros.get((c, each), ZERO) for each in (True, False)) + 2 * feature.alpha
            return (zeros.get((c, is_zero), ZERO) + feature.alpha) / n if n else Fraction(1, 2)

        def term(c: str, row: Row) -> float:
            x = row[column]
            if x is None or (x < 0 and of.family != "gaussian"):  # outside, it says nothing
                return 0.0
            return ln(share(c, True)) if x == 0 else ln(share(c, False)) + density(c, row)

        return term

    def moments(self, feature: Feature, of: Callable[[Any], Fraction] = exact) -> tuple[dict[str, Moments], Moments | None]:
        """By class, of the classes that have a number, and of all."""
        (column,) = feature.columns
        found: dict[str, list[tuple[Fraction, Fraction]]] = {}
        for row in self.rows:
            if row[column] is not None:
                found.setdefault(row["c"], []).append((of(row[column]), exact(row["w"])))
        pooled = [pair for pairs in found.values() for pair in pairs]
        return {c: Moments.of(pairs) for c, pairs in found.items()}, Moments.of(pooled) if pooled else None

    def gaussian(self, feature: Feature) -> Term:
        logarithmic, (column,) = feature.family == "lognormal", feature.columns
        of: Callable[[Any], Fraction] = (lambda x: exact(math.log(x))) if logarithmic else exact
        by_class, pooled = self.moments(feature, of)
        estimate = self.conjugate if feature.options.get("prior") else self.plain
        parameters = {c: estimate(feature, by_class, c, pooled) if pooled else None for c in self.classes}

        def term(c: str, row: Row) -> float:
            x, known = row[column], parameters[c]
            if x is None or known is None or not known[1] or (logarithmic and x <= 0):  # outside, it says nothing
                return 0.0
            (mean, variance), y = known, of(x)
            density = -0.5 * math.log(2 * math.pi * variance) - float((y - mean) ** 2 / (2 * variance))
            return density - float(y) if logarithmic else density

        return term

    lognormal = gaussian

    def plain(
        self, feature: Feature, by_class: Mapping[str, Moments], c: str, pooled: Moments
    ) -> tuple[Fraction, Fraction | None]:
        lost = int(feature.options.get("variance") == "sample")
        known = by_class.get(c, pooled)
        if feature.options.get("shared_variance"):
            rest = total(one.n for one in by_class.values()) - lost * len(by_class)
            variance = total(one.m2 for one in by_class.values()) / rest if rest > 0 else ZERO
        else:
            variance = known.m2 / (known.n - lost) if known.n > lost else ZERO
        spread = pooled.m2 / pooled.n
        return known.mean, max(variance, exact(feature.options.get("floor", 1e-9)) * spread) if spread else None

    def conjugate(
        self, feature: Feature, by_class: Mapping[str, Moments], c: str, pooled: Moments
    ) -> tuple[Fraction, Fraction | None]:
        """By a normal-inverse-gamma prior."""
        prior = feature.options["prior"]
        kappa, a, spread = exact(prior["kappa"]), exact(prior["a"]), pooled.m2 / pooled.n
        divisor = exact(1.5) if feature.options.get("estimate") == "mode" else -ONE
        centre = pooled.mean if prior.get("mean") is None else exact(prior["mean"])
        b = (a + divisor) * spread if prior.get("b") is None else exact(prior["b"])
        known = by_class.get(c, Moments(ZERO, centre, ZERO))
        gap, n = known.mean - centre, known.n
        variance = (b + known.m2 / 2 + kappa * n * gap**2 / (2 * (kappa + n))) / (a + n / 2 + divisor)
        return centre + n * gap / (kappa + n), max(variance, exact(feature.options.get("floor", 1e-9)) * spread)

    def beta(self, feature: Feature) -> Term:
        by_class, pooled = self.moments(feature)
        (column,) = feature.columns
        spread = pooled.m2 / pooled.n if pooled else ZERO

        @cache
        def parameters(c: str) -> tuple[float, float, float]:
            assert pooled is not None
            known = by_class.get(c, pooled)
            most = known.mean * (1 - known.mean)
            variance = max(known.m2 / known.n, exact(feature.options["floor"]) * spread, most / 10**10)
            size = most / min(variance, most / (1 + exact(1e-9))) - 1
            a, b = float(known.mean * size), float((1 - known.mean) * size)
            return a, b, math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

        def term(c: str, row: Row) -> float:
            x = row[column]
            if x is None or not spread or not 0 < x < 1:  # outside, it says nothing
                return 0.0
            a, b, log_beta = parameters(c)
            return (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta

        return term

    def rate(self, feature: Feature, term: Callable[[Fraction, float], float], rate: Callable[..., Fraction | None]) -> Term:
        by_class, pooled = self.moments(feature)
        (column,), (a, b) = feature.columns, feature.gamma
        rates = {}
        for c in self.classes:
            known = by_class.get(c, Moments(ZERO, ZERO, ZERO))
            rates[c] = rate(known.n, known.n * known.mean, a, b, pooled.mean if pooled else None)

        def scored(c: str, row: Row) -> float:
            x, found = row[column], rates[c]
            return 0.0 if x is None or x < 0 or found is None else term(found, x)  # outside, it says nothing

        return scored

    def poisson(self, feature: Feature) -> Term:
        def rate(n: Fraction, s: Fraction, a: Fraction, b: Fraction, pooled: Fraction | None) -> Fraction | None:
            return (s + a) / (n + b) if n + b > 0 else pooled

        def term(rate: Fraction, x: float) -> float:
            return (x * ln(rate) if x else 0.0) - float(rate) - math.lgamma(x + 1)

        return self.rate(feature, term, rate)

    def exponential(self, feature: Feature) -> Term:
        def rate(n: Fraction, s: Fraction, a: Fraction, b: Fraction, pooled: Fraction | None) -> Fraction | None:
            mean = (s + b) / (n + a) if n + a > 0 else pooled
            mean = max(
                (value for value in (mean, exact(1e-9) * pooled if pooled is not None else None) if value is not None),
                default=None,
            )
            return 1 / mean if mean else None

        return self.rate(feature, lambda rate, x: ln(rate) - float(rate * exact(x)), rate)

    def geometric(self, feature: Feature) -> Term:
        def rate(n: Fraction, s: Fraction, a: Fraction, b: Fraction, pooled: Fraction | None) -> Fraction | None:
            if n + a + s + b > 0:
                return (n + a) / (n + a + s + b)
            return None if pooled is None else 1 / (1 + pooled)

        return self.rate(feature, lambda rate, x: ln(rate) + (x * ln(1 - rate) if x else 0.0), rate)
