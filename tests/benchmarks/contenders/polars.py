"""Polars, by hand."""

import math
from typing import Any

import polars as pl
from tables import Case

from contenders.base import SAMPLE, Contender, posterior

WORD = r"[^\W_]+"
Counts = dict[str, pl.DataFrame]


class Polars(Contender):
    """What a user of Polars would write: lazy frames over a Parquet file, aggregates to fit, expressions and joins to predict.

    Numbers are fitted and predicted by the streaming engine, which is the faster one there; so are texts. A star of joins is
    faster in memory.
    """

    title = "Polars by hand"
    rows = dict.fromkeys(("numeric", "categorical", "text", "vocabulary", "mixed"), math.inf)
    lacks = "expressions and joins do not invert a matrix"

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        self.source = pl.scan_parquet(self.parquet())
        self.engine = "in-memory" if case.categories else "streaming"

    @classmethod
    def version(cls) -> str:
        return f"Polars {pl.__version__}"

    def fit(self) -> None:
        case = self.case
        numbers = pl.col(case.number_columns)
        moments = [numbers.mean().name.suffix("_mean"), numbers.var(ddof=0).name.suffix("_variance")] if case.numbers else []
        queries = [self.source.group_by("y").agg(pl.len().alias("n"), *moments)]
        queries += [self.source.group_by("y", pl.col(c).alias("value")).len() for c in case.category_columns]
        if case.tokens:
            tokens = self.source.select("y", words().alias("value")).explode("value").drop_nulls()
            queries.append(tokens.group_by("y", "value").len())
        self.classes, *counts = pl.collect_all(queries, engine="streaming")
        self.classes = self.classes.sort("y")
        self.lookups = {c: lookup(c, n) for c, n in zip(case.category_columns + case.text_columns, counts, strict=True)}

    def scored(self) -> pl.LazyFrame:
        """One row a row, with id and a joint log-likelihood a class, j0, j1, ..."""
        case = self.case
        labels = self.classes["y"].to_list()
        log_prior = [math.log(n / self.classes["n"].sum()) for n in self.classes["n"]]
        frame = self.source
        for column in case.category_columns:
            frame = frame.join(self.lookups[column].lazy(), on=column, how="left")
        if case.tokens:
            tokens = self.source.select("id", words().alias("text")).explode("text")
            scores = tokens.join(self.lookups["text"].lazy(), on="text").group_by("id").agg(pl.col(self._of("text")).sum())
            frame = frame.join(scores, on="id", how="left") if case.numbers or case.categories else scores
        joints = []
        for number, (y, row) in enumerate(zip(labels, self.classes.iter_rows(named=True), strict=True)):
            terms = [pl.col(f"{column}_{y}").fill_null(0) for column in case.category_columns + case.text_columns]
            constant = log_prior[number]
            for x in case.number_columns:
                mean, variance = row[f"{x}_mean"], row[f"{x}_variance"]
                terms.append((pl.col(x) - mean) ** 2 * (-0.5 / variance))
                constant -= math.log(2 * math.pi * variance) / 2
            joints.append((sum(terms[1:], terms[0]) + constant).alias(f"j{number}"))
        return frame.select("id", *joints)

    def _of(self, column: str) -> list[str]:
        return [f"{column}_{y}" for y in self.classes["y"]]

    def predicted(self) -> pl.LazyFrame:
        names = [f"j{number}" for number in range(self.classes.height)]
        best = self.scored().with_columns(pl.max_horizontal(names).alias("best"))
        labels = self.classes["y"].to_list()
        choices = [pl.when(pl.col(name) == pl.col("best")).then(y) for name, y in zip(names, labels, strict=True)]
        mass = pl.sum_horizontal([(pl.col(name) - pl.col("best")).exp() for name in names])
        return best.select("id", pl.coalesce(choices).alias("prediction"), (1 / mass).alias("probability"))

    def predict(self) -> None:
        self.predictions = self.predicted().drop("id").collect(engine=self.engine)

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        predictions = self.predicted().sort("id").collect(engine=self.engine)["prediction"].to_numpy()
        joint = self.scored().filter(pl.col("id") < SAMPLE).sort("id").drop("id").collect(engine=self.engine).to_numpy()
        return {"predictions": predictions, "posterior": posterior(joint)}


def words() -> pl.Expr:
    return pl.col("text").str.to_lowercase().str.extract_all(WORD)


def lookup(column: str, counts: pl.DataFrame) -> pl.DataFrame:
    """A row a value: the value, and its smoothed log-likelihood in every class."""
    wide = counts.pivot(on="y", index="value", values="len", sort_columns=True).fill_null(0)
    classes = [pl.col(y) for y in wide.columns if y != "value"]
    scores = [((n + 1) / (n.sum() + wide.height)).log().name.prefix(f"{column}_") for n in classes]
    return wide.select(pl.col("value").alias(column), *scores)
