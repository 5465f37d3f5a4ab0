"""Random models against a reference in plain Python, which adds fractions exactly and takes nothing from nbsql (exact.py).

    python tests/benchmarks/random_models.py --models 2500 --seed 1

Each model has random types of labels and features, values (missing, unseen, extreme), weights, priors, families and their
options. It comes to be in a random way (a fit; rows learnt, forgotten, heavy ones too, taken back or merged; slices; a file),
under random settings of the session, and is asked in random forms (a query, the long form, numbers in the query, a macro, a row
at a time, another database in use, joint log-likelihoods, costs, thresholds). Of some the log losses of an evaluation, of folds
and of leave-one-out are compared, too. What is printed is how many models, and the largest difference of each kind of answer.
"""

import argparse
import math
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

import nbsql
from nbsql.rendering.layout import Layout
from nbsql.rendering.renderer import Renderer

sys.path.insert(0, str(Path(__file__).parent))

from exact import Feature, Reference, Row

LABELS: dict[str, list[str]] = {
    "VARCHAR": ["a", "B", "A", "", "NULL"],
    "INTEGER": ["-1", "0", "7", "2147483647"],
    "HUGEINT": ["9007199254740993", "9007199254740992", "-170141183460469231731687303715884105728", "1"],
    "UBIGINT": ["18446744073709551615", "18446744073709551614", "0", "1"],
    "DECIMAL(38,0)": ["9007199254740993", "9007199254740992", "-99999999999999999999999999999999999999", "1"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["2020-01-01", "1969-12-31", "2020-01-02", "0001-01-01"],
    "TIMESTAMP": ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001", "1969-12-31 23:59:59"],
}
CATEGORIES: dict[str, list[Any]] = {
    "VARCHAR": ["u", "U", "v", "é", "", "o'x", "w"],
    "INTEGER": [0, 1, -1, 2147483647, 5],
    "HUGEINT": [2**53, 2**53 + 1, -(2**127), 2**127 - 1, 1],
    "BOOLEAN": [True, False],
}
WORDS = ["red", "Red", "green", "blue", "BLUE", "old", "new", "x1"]
FAMILIES = (
    "categorical", "categorical", "gaussian", "gaussian", "bernoulli", "poisson", "exponential", "geometric", "lognormal",
    "beta", "zero_inflated", "binned", "multinomial", "complement", "joint_columns", "text", "tokens",
)  # fmt: skip
WAYS = ("fit",) * 8 + ("update", "forget", "forget heavy", "file", "merge", "slices", "rollback", "compact")
FORMS = (
    "query", "query", "inline", "one row", "other database", "joint log-likelihood", "costs", "thresholds", "macro",
    "evaluation",
)  # fmt: skip
SETTINGS = (
    "", "", "", "default_order = 'DESC'", "default_collation = 'nocase'", "integer_division = true",
    "default_null_order = 'nulls_first'",
)  # fmt: skip
FOLDED = {"categorical", "gaussian", "bernoulli", "joint_columns", "multinomial"}  # of which every class explains every row


@dataclass
class Case:
    """A random model: how the table is typed, what is learnt, how, and what is asked."""

    label: str
    features: list[Feature]
    rows: list[Row]
    asked: list[Row]
    prior: str
    prior_alpha: float
    way: str
    forms: list[str]
    folds: int
    long: bool
    setting: str
    method: str

    @property
    def columns(self) -> dict[str, str]:
        return {column: feature.type for feature in self.features for column in feature.columns}

    @property
    def learnt(self) -> list[Row]:
        """The rows of the model: of two slices of three, if it is one of slices."""
        return [row for number, row in enumerate(self.rows) if self.way != "slices" or number % 3 < 2]

    def reference(self, rows: list[Row]) -> Reference:
        return Reference(self.features, self.prior, self.prior_alpha, rows, paired=self.method == "aode")

    def options(self) -> dict[str, Any]:
        prior = nbsql.Smoothed(self.prior_alpha) if self.prior == "smoothed" else self.prior
        singles = [feature.name for feature in self.features if feature.columns == (feature.name,)]
        return {
            "target": "c", "weight": "w", "features": singles,
            "families": {feature.name: made(feature) for feature in self.features}, "prior": prior,
            "method": self.method,
        }  # fmt: skip


def made(feature: Feature) -> Any:
    """The family as nbsql has it."""
    options = {**feature.options}
    if "prior" in options:
        options["prior"] = nbsql.NormalInverseGamma(**options["prior"])
    classes = {
        "categorical": nbsql.Categorical, "gaussian": nbsql.Gaussian, "bernoulli": nbsql.Bernoulli, "poisson": nbsql.Poisson,
        "exponential": nbsql.Exponential, "geometric": nbsql.Geometric, "lognormal": nbsql.LogNormal, "beta": nbsql.Beta,
        "zero_inflated": nbsql.ZeroInflated,
        "binned": nbsql.Binned, "text": nbsql.Text, "tokens": nbsql.Tokens,
    }  # fmt: skip
    several: dict[str, Any] = {"multinomial": nbsql.Multinomial, "complement": nbsql.Complement, "joint_columns": nbsql.Joint}
    if feature.family in several:
        return several[feature.family](list(feature.columns), **options)
    return classes[feature.family](**options)


# What is random. ----------------------------------------------------------------------------------------------------


def random_case(random_: random.Random) -> Case:
    label = random_.choice(list(LABELS))
    classes = random_.sample(LABELS[label], k=random_.randint(2, len(LABELS[label])))
    heavy = random_.choice(["none", "none", "whole", "fractions", "far apart"])
    way, folds = random_.choice(WAYS), random_.choice([0] * 11 + [3])
    whole = heavy in ("none", "whole") and way == "fit" and not folds  # so that bins are cut in one way only
    features = [random_feature(random_, f"f{number}", whole) for number in range(random_.choice([1, 2, 2, 3, 3, 4]))]
    method = random_.choice(["naive"] * 4 + ["aode"]) if heavy in ("none", "whole") and not folds else "naive"
    if method == "aode":  # of categories, mostly, without pseudo-counts of their own
        features = [random_category(random_, feature) if feature.family != "text" else feature for feature in features]

    def weight() -> float:
        if heavy == "none":
            return 1.0
        if heavy == "whole":
            return float(random_.choice([0, 1, 2, 5]))
        return random_.choice([0.5, 0.1, 1.7, 3.0]) if heavy == "fractions" else random_.choice([1.0, 1e-3, 1e4])

    def row(c: str | None, unseen: bool = False) -> Row:
        values = {column: random_value(random_, feature, unseen) for feature in features for column in feature.columns}
        return {"c": c, "w": weight(), **values}

    rows = [row(c) for c in classes for _ in range(random_.randint(1, 8))]
    for c in classes:  # every class is there, whatever the weights
        rows += [{**row(c), "w": 1.0} for _ in range(3)]
    rows += [row(None) for _ in range(random_.randint(0, 1))]
    asked = [row(random_.choice(classes), unseen=True) for _ in range(5)]
    prior = random_.choice(["empirical", "uniform", "smoothed"])
    if all("complement" in (feature.family, feature.options.get("event")) for feature in features):
        prior = "empirical"  # which no complement uses: a fit refuses another
    return Case(
        label, features, rows, asked, prior, random_.choice([0.5, 1.0, 3.0]), way,
        random_.sample(FORMS, k=2), folds, random_.random() < 0.2, random_.choice(SETTINGS), method,
    )  # fmt: skip


def random_feature(random_: random.Random, name: str, whole: bool) -> Feature:
    family = random_.choice(FAMILIES)
    options: dict[str, Any] = {}
    if family in ("categorical", "bernoulli", "binned", "joint_columns", "multinomial", "text", "tokens"):
        estimate = random_.choice(["mean", "mean", "mean", "mode", "mle"])
        event = random_.choice(["multinomial", "multinomial", "bernoulli", "complement"]) if family == "text" else "multinomial"
        if event != "multinomial":
            estimate, options["event"] = "mean", event
        if estimate != "mle":
            options["alpha"] = random_.choice([0.5, 1.0, 2.0, 0.01] if estimate == "mean" else [1.0, 1.5, 3.0])
        if estimate != "mean":
            options["estimate"] = estimate
        if random_.random() < 0.3 and event != "bernoulli" and estimate == "mean":
            options["unseen"] = "smooth"
        if family in ("categorical", "bernoulli") and random_.random() < 0.4:
            options["nulls"] = "category"
    if family == "categorical":
        kind = random_.choice(list(CATEGORIES))
        if "alpha" in options and kind in ("VARCHAR", "INTEGER") and random_.random() < 0.2:
            options["alpha"] = {CATEGORIES[kind][-1]: 2.0, CATEGORIES[kind][0]: 3.0}
        return Feature(name, family, (name,), kind, options)
    if family == "bernoulli":
        if "alpha" in options and random_.random() < 0.5:
            options["beta"] = random_.choice([1.0, 2.5])
        return Feature(name, family, (name,), "BOOLEAN", options)
    if family == "binned":
        options["by"] = random_.choice(["width", "quantile", [-10.0, 0.0, 10.5]]) if whole else [-10.0, 0.0, 10.5]
        if isinstance(options["by"], str):
            options["bins"] = random_.choice([2, 3, 5])
        return Feature(name, family, (name,), random_.choice(["INTEGER", "DECIMAL(12,2)"]), options)
    if family in ("multinomial", "complement", "joint_columns"):
        columns = tuple(f"{name}_{number}" for number in range(random_.randint(2, 3)))
        if family == "complement":
            options = {"alpha": random_.choice([0.5, 1.0, 2.0])}
            options |= {"norm": True} if random_.random() < 0.4 else {}
        if family != "joint_columns" and "alpha" in options and random_.random() < 0.3:
            options["alpha"] = {columns[0]: 2.5}
        return Feature(name, family, columns, "VARCHAR" if family == "joint_columns" else "INTEGER", options)
    if family == "text":
        if whole and random_.random() < 0.3 and options.get("unseen") is None:
            options["min_count"] = 2
        return Feature(name, family, (name,), "VARCHAR", options)
    if family == "tokens":
        return Feature(name, family, (name,), "VARCHAR[]", options)
    return random_number(random_, name, family)


def random_category(random_: random.Random, feature: Feature) -> Feature:
    """A category of the name of a feature, smoothed."""
    options: dict[str, Any] = {"alpha": random_.choice([0.5, 1.0, 2.0, 0.01])}
    options |= {"nulls": "category"} if random_.random() < 0.3 else {}
    return Feature(feature.name, "categorical", (feature.name,), random_.choice(["VARCHAR", "INTEGER", "BOOLEAN"]), options)


def random_number(random_: random.Random, name: str, family: str) -> Feature:
    options: dict[str, Any] = {}
    if family in ("poisson", "exponential", "geometric"):
        if random_.random() < 0.5:
            mode = random_.random() < 0.4
            options = {"a": random_.choice([1.0, 2.0, 4.5]), "b": random_.choice([1.0, 3.0, 1.5])}
            options |= {"estimate": "mode"} if mode else {}
        elif random_.random() < 0.3:
            options = {"estimate": "mle"}
        return Feature(name, family, (name,), "DOUBLE" if family == "exponential" else "INTEGER", options)
    if family == "zero_inflated":
        of = random_.choice(["lognormal", "exponential", "gaussian"])
        options |= {"of": of, "alpha": random_.choice([0.5, 1.0, 2.0]), "floor": random_.choice([1e-9, 1e-3])}
        return Feature(name, family, (name,), random_.choice(["DOUBLE", "INTEGER", "DECIMAL(12,2)"]), options)
    options["floor"] = random_.choice([1e-2, 1e-3]) if family == "beta" else random_.choice([1e-9, 1e-9, 1e-3])
    if family == "beta":
        return Feature(name, family, (name,), "DOUBLE", options)
    if random_.random() < 0.3:
        options["prior"] = {"kappa": random_.choice([1.0, 0.1]), "a": random_.choice([2.0, 1.5, 4.0])}
        options["prior"] |= random_.choice([{}, {"mean": 2.0}, {"b": 3.0}, {"mean": -1.0, "b": 0.5}])
        options |= random_.choice([{}, {"estimate": "mode"}])
    else:
        options |= random_.choice([{}, {"shared_variance": True}])
        options |= random_.choice([{}, {"variance": "sample"}])
    kind = random_.choice(["DOUBLE", "INTEGER", "DECIMAL(12,2)"])
    return Feature(name, family, (name,), kind, options)


def random_value(random_: random.Random, feature: Feature, unseen: bool) -> Any:
    if random_.random() < 0.12:
        return None
    family, outside = feature.family, unseen and random_.random() < 0.05
    if family in ("categorical", "bernoulli"):
        values = CATEGORIES[feature.type]
        return random_.choice(values if unseen else values[:-1] if len(values) > 2 else values)
    if family == "joint_columns":
        return random_.choice(["p", "q", "q", "r"] if unseen else ["p", "q"])
    if family in ("text", "tokens"):
        words = [random_.choice(WORDS if unseen else WORDS[:-1]) for _ in range(random_.choice([0, 1, 2, 3, 6]))]
        return words if family == "tokens" else " ".join(words)
    if family in ("poisson", "geometric", "multinomial", "complement"):
        return -1 if outside and family not in ("multinomial", "complement") else random_.choice([0, 1, 1, 2, 3, 8])
    if family == "exponential":
        return -0.5 if outside else random_.choice([0.0, 0.25, random_.expovariate(1.0), random_.expovariate(1e-6)])
    if family == "beta":
        return random_.choice([0.0, 1.0, 1.5]) if outside else random_.choice([random_.uniform(0.001, 0.999), 0.25, 0.875])
    if family == "zero_inflated" and random_.random() < 0.4:
        return 0
    if feature.type == "DOUBLE":
        value = random_.choice([random_.gauss(0, 1), random_.gauss(1e6, 3), random_.gauss(0, 1e-6), 0.5])
    else:
        value = random_.randint(-50, 50) if feature.type == "INTEGER" else random_.randint(-500, 500) / 4
    if family == "zero_inflated":
        return value if feature.options["of"] == "gaussian" else -1 if outside else abs(value)
    if family != "lognormal":
        return value
    return 0 if outside else abs(value) or 1


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]::VARCHAR[]"
    return repr(value) + "::DOUBLE" if isinstance(value, float) else "'" + str(value).replace("'", "''") + "'"


def make_table(con: duckdb.DuckDBPyConnection, name: str, case: Case, rows: list[Row]) -> None:
    types = {"c": case.label, "w": "DOUBLE", **case.columns, "i": "INTEGER"}
    listed = ", ".join(f"{column} {kind}" for column, kind in types.items())
    values = ", ".join(
        "(" + ", ".join(literal(value) for value in (*row.values(), number)) + ")" for number, row in enumerate(rows)
    )
    con.execute(f"CREATE OR REPLACE TABLE {name} ({listed}); INSERT INTO {name} VALUES {values}")


# What nbsql answers. ------------------------------------------------------------------------------------------------


def learnt(con: duckdb.DuckDBPyConnection, case: Case) -> nbsql.Model:
    """The model of the rows, come to be in the way of the case; with a name where a macro is asked."""
    options, name = case.options(), "m" if "macro" in case.forms else None
    rest = "FROM t WHERE i % 4 = 0 AND w > 0 AND c IS NOT NULL"
    if case.way in ("update", "merge") and con.execute(rest).fetchall():
        first = "FROM t WHERE i % 4 > 0"
        model = nbsql.fit(con, first, name=name if case.way == "update" else None, **options)
        if case.way == "merge":
            return nbsql.merge(con, [model, nbsql.fit(con, rest, **options)], name=name)
        model.update(rest)
        return model
    if case.way.startswith("forget"):
        whole = all(row["w"] == int(row["w"]) for row in case.rows)  # which a double adds to a heavy one exactly
        weight = 2.5 if case.way == "forget" else 1e10 if whole else 1e3
        model = nbsql.fit(con, "t", name=name, **options)
        more = f"SELECT * REPLACE ({weight} AS w) FROM t WHERE i % 5 = 0"
        model.update(more, batch="more")
        model.forget(more)
        return model
    if case.way == "slices":
        return nbsql.fit(con, "t", name=name, slice_by="i % 3", **options)
    model = nbsql.fit(con, "t", name=name, **options)
    if case.way == "compact":
        model.update("FROM t WHERE w = 1")
        model.forget("FROM t WHERE w = 1")
        model.compact()
    if case.way == "rollback":
        model.update("FROM t WHERE w = 1")
        model.rollback("1")
    if case.way == "file":
        with tempfile.TemporaryDirectory() as folder:
            model.export(Path(folder) / "m.parquet")
            return nbsql.import_(con, Path(folder) / "m.parquet", name=name, replace=True)
    return model


@dataclass
class Asker:
    """Asks a model in a form, and says how far the answers are from the reference."""

    con: duckdb.DuckDBPyConnection
    case: Case
    model: nbsql.Model
    reference: Reference
    expected: list[dict[str, float] | None] = field(init=False)
    labels: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.expected = [self.reference.posterior(row) for row in self.case.asked]
        labels = [
            label for (label,) in self.con.execute(f"SELECT unnest({self.reference.classes})::{self.case.label}").fetchall()
        ]
        self.labels = dict(zip(self.reference.classes, labels, strict=True))

    def difference(self, form: str) -> tuple[str, float]:
        if form == "one row":
            return "posterior", self.posteriors(self.single())
        if form in ("costs", "thresholds"):
            return form, getattr(self, form)()
        if form == "joint log-likelihood":
            return form, self.joint()
        if form == "evaluation":
            return form, self.evaluation()
        return "posterior", self.posteriors(self.proba(form))

    def ask(self, sql: str, prefix: str) -> list[dict[str, float] | None]:
        """By row and label, what the columns of that prefix say, which are in the order of the labels."""
        answer = self.con.execute(sql)
        names = [column[0] for column in answer.description or ()]
        at = names.index("i")
        rows = sorted(answer.fetchall(), key=lambda row: row[at])
        found = [place for place, name in enumerate(names) if name.startswith(prefix) and place > at]
        texts = {label: c for c, label in self.labels.items()}
        places = dict(
            zip([texts[label] for label in sorted(self.model.classes)] if len(found) > 1 else [""], found, strict=True)
        )
        return [
            None if None in (row[place] for place in places.values()) else {c: row[place] for c, place in places.items()}
            for row in rows
        ]

    def proba(self, form: str) -> list[dict[str, float] | None]:
        if form == "macro" and self.model.name:
            sql = "FROM m.predict_proba('asked')"
        elif form == "inline":
            sql = self.model.sql("predict_proba", "memory.main.asked", inline=True)
        else:
            if form == "other database":
                self.con.execute("USE other")
            sql = self.model.predict_proba("memory.main.asked").sql
        try:
            return self.ask(sql, "probability_")
        finally:
            self.con.execute("USE memory")

    def single(self) -> list[dict[str, float] | None]:
        found = []
        texts = {label: c for c, label in self.labels.items()}
        for row in self.case.asked:
            one = self.model.predict_one({name: value for name, value in row.items() if name not in ("c", "w")})[
                "probabilities"
            ]
            found.append(None if None in one.values() else {texts[label]: p for label, p in one.items()})
        return found  # type: ignore[return-value]

    def posteriors(self, found: list[dict[str, float] | None]) -> float:
        worst = 0.0
        for one, expected in zip(found, self.expected, strict=True):
            if one is None or expected is None:
                worst = max(worst, 0.0 if one is expected else math.inf)
            else:
                worst = max([worst, *(abs(one.get(c, math.inf) - p) for c, p in expected.items())])
        return worst

    def joint(self) -> float:
        """Relative to the largest of a row."""
        worst = 0.0
        found = self.ask(self.model.joint_log_likelihood("memory.main.asked").sql, "joint_log_likelihood_")
        for row, one in zip(self.case.asked, found, strict=True):
            expected = self.reference.joint(row)
            size = max([1.0, *(abs(value) for value in expected.values() if value > -math.inf)])
            for c, value in expected.items():
                there = one[c] if one else -math.inf
                worst = max(worst, 0.0 if there == value else abs(there - value) / size)
        return worst

    def costs(self) -> float:
        """Of the expected cost of the class that is predicted."""
        drawn = random.Random(len(self.case.rows))  # noqa: S311
        classes = self.reference.classes
        costs = {(a, b): float(drawn.choice([0, 1, 5, 0.1, -1])) for a in classes for b in classes}
        asked = {(self.labels[a], self.labels[b]): cost for (a, b), cost in costs.items()}
        found = self.ask(self.model.predict("memory.main.asked", costs=asked).sql, "expected_cost")
        worst = 0.0
        for one, expected in zip(found, self.expected, strict=True):
            if one is None or expected is None:
                worst = max(worst, 0.0 if one is expected else math.inf)
            else:
                least = min(math.fsum(p * costs[a, b] for a, p in expected.items()) for b in classes)
                worst = max(worst, abs(one[""] - least))
        return worst

    def thresholds(self) -> float:
        """Of the posterior of the class that is predicted; a posterior at its threshold may fall on either side."""
        drawn = random.Random(len(self.case.rows))  # noqa: S311
        limits = {c: drawn.choice([0.05, 0.3, 0.6]) for c in self.reference.classes if drawn.random() < 0.6}
        limits = limits or {self.reference.classes[0]: 0.3}
        asked = {self.labels[c]: limit for c, limit in limits.items()}
        found = self.ask(self.model.predict("memory.main.asked", thresholds=asked).sql, "probability")
        worst = 0.0
        for one, expected in zip(found, self.expected, strict=True):
            if expected is None:
                worst = max(worst, 0.0 if one is None else math.inf)
            elif all(abs(expected[c] - limit) > 1e-9 for c, limit in limits.items()):
                reached = [expected[c] for c, limit in limits.items() if expected[c] >= limit]
                others = reached or [p for c, p in expected.items() if c not in limits]
                there = one[""] if one else None
                if not others or there is None:
                    worst = max(worst, 0.0 if not others and there is None else math.inf)
                else:
                    worst = max(worst, abs(there - max(others)))
        return worst

    def evaluation(self) -> float:
        """Of the log loss of the rows that are learnt, or none, where a class explains no row."""
        loss = log_loss([(self.reference, [row for row in self.case.rows if row["c"] in self.labels and row["w"] > 0])])
        if loss is None:
            return 0.0
        judged = self.model.evaluate("FROM memory.main.t WHERE w > 0", weight="w")
        return abs(judged.log_loss - loss) / max(1.0, loss)


def log_loss(parts: Sequence[tuple[Reference, list[Row]]]) -> float | None:
    """Of rows by their references, weighed; None where there is a row that no class explains."""
    losses, weights = [], []
    for reference, rows in parts:
        for row in rows:
            found = reference.posterior(row)
            if found is None:
                return None
            losses.append(-row["w"] * math.log(min(max(found[row["c"]], 2.0**-52), 1.0)))
            weights.append(row["w"])
    return math.fsum(losses) / math.fsum(weights)


def validation(con: duckdb.DuckDBPyConnection, case: Case) -> dict[str, float]:
    """Of the log losses of folds and of leave-one-out."""
    found: dict[str, float] = {}
    rows = [row for row in case.rows if row["c"] is not None and row["w"] > 0]
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT *, row_number() OVER (ORDER BY i ASC) % {case.folds} AS fold "
        "FROM t WHERE w > 0 AND c IS NOT NULL"
    )
    parts = []
    for k in range(case.folds):
        rest = case.reference([row for number, row in enumerate(rows, start=1) if number % case.folds != k])
        parts.append((rest, [row for number, row in enumerate(rows, start=1) if number % case.folds == k]))
    if all(rest.classes == parts[0][0].classes and len(rest.classes) == len({row["c"] for row in rows}) for rest, _ in parts):
        loss = log_loss(parts)
        if loss is not None:
            found["folds"] = abs(nbsql.cross_validate(con, "t", fold="fold", **case.options()).log_loss - loss)
    loss = log_loss([(case.reference([*rows[:k], *rows[k + 1 :]]), [row]) for k, row in enumerate(rows)])
    if loss is not None:
        found["leave-one-out"] = abs(nbsql.cross_validate(con, "t", folds="loo", **case.options()).log_loss - loss)
    return found


def differences(con: duckdb.DuckDBPyConnection, case: Case) -> dict[str, float]:
    """The largest difference of each kind of answer; infinite where one of both has none."""
    make_table(con, "t", case, case.rows)
    make_table(con, "asked", case, case.asked)
    con.execute("ALTER TABLE asked DROP c; ALTER TABLE asked DROP w")
    usual = Renderer.layout
    Renderer.layout = Layout(wide_classes=0) if case.long else usual
    if case.setting:
        con.execute(f"SET {case.setting}")
    model = None
    try:
        model = learnt(con, case)
        asked = model.slices([0, 1]) if case.way == "slices" else model
        asker = Asker(con, case, asked, case.reference(case.learnt))
        found: dict[str, float] = {}
        for form in case.forms:
            kind, difference = asker.difference(form)
            found[kind] = max(found.get(kind, 0.0), difference)
        if case.folds and all(feature.family in FOLDED for feature in case.features):
            found |= validation(con, case)
        return found
    finally:
        Renderer.layout = usual
        if case.setting:
            con.execute(f"RESET {case.setting.split(' ')[0]}")
        if model is not None:
            model.drop()


# All of them. -------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """How many models there were, of what, and the largest difference by kind of answer with the number of models asked."""

    models: int = 0
    largest: dict[str, tuple[float, int]] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, case: Case, found: dict[str, float]) -> None:
        self.models += 1
        for kind, difference in found.items():
            before, count = self.largest.get(kind, (0.0, 0))
            self.largest[kind] = max(before, difference), count + 1
        for key, values in {
            "family": {feature.family for feature in case.features}, "type": {case.label, *case.columns.values()},
            "way": {case.way}, "method": {case.method}, "form": {*case.forms, *(["long form"] if case.long else [])},
            "setting": {case.setting or "none"},
        }.items():  # fmt: skip
            self.counts.setdefault(key, Counter()).update(values)

    def __str__(self) -> str:
        lines = [f"{self.models:,} models"]
        lines += [f"{kind}: {count:,} models, largest difference {worst:.1e}" for kind, (worst, count) in self.largest.items()]
        lines += [
            f"by {key}: {', '.join(f'{name} {n:,}' for name, n in sorted(found.items()))}" for key, found in self.counts.items()
        ]
        return "\n".join(lines)


def compare(
    models: int,
    seed: int,
    *,
    seconds: float = math.inf,
    tell: Callable[[int, Case, dict[str, float], Tally], None] | None = None,
) -> Tally:
    """Of the models of a seed; none is begun after so many seconds."""
    end = time.perf_counter() + seconds
    con = duckdb.connect()
    con.execute("ATTACH ':memory:' AS other; SET threads = 1")
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        for number in range(models):
            if time.perf_counter() > end:
                break
            case = random_case(random.Random(f"{seed} {number}"))  # noqa: S311 - they shall come again
            try:
                found = differences(con, case)
            except Exception as error:  # one that is refused, or fails, is as wrong as can be
                found = {"error": math.inf}
                tally.errors.append(f"model {number} of seed {seed}: {error!r}")
            tally.add(case, found)
            if tell is not None:
                tell(number, case, found, tally)
    con.close()
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--models", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no model is begun")
    parser.add_argument("--show", type=float, default=1e-8, help="models that differ by more are printed")
    parser.add_argument("--every", type=int, default=250, help="what is known so far is printed after so many models")
    arguments = parser.parse_args()

    def tell(number: int, case: Case, found: dict[str, float], tally: Tally) -> None:
        if max(found.values()) > arguments.show:
            print(
                f"model {number}:",
                case.method,
                case.way,
                case.forms,
                case.label,
                case.prior,
                case.setting,
                found,
                case.features,
                *tally.errors[-1:],
                flush=True,
            )
        if (number + 1) % arguments.every == 0 and number + 1 < arguments.models:
            print(f"so far {tally}", flush=True)

    tally = compare(arguments.models, arguments.seed, seconds=arguments.seconds, tell=tell)
    print(f"seed {arguments.seed}: {tally}")
    print(f"{time.process_time():.0f} s of a processor")


if __name__ == "__main__":
    main()
