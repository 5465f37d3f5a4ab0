"""The tables that are measured: what they hold, made by SQL from hashes, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

NUMBERS, CATEGORIES, VALUES = 20, 20, 20
WORDS, TOKENS = 50_000, 60


@dataclass(frozen=True)
class Case:
    """A table: `rows` rows of `classes` classes, with so many columns of each kind, and the method to fit it by."""

    name: str
    rows: int
    classes: int = 5
    numbers: int = 0
    categories: int = 0
    tokens: int = 0
    words: int = 0
    method: str = "naive"

    @property
    def table(self) -> str:
        return f"{self.name}_{self.classes}_{self.rows}"

    @property
    def number_columns(self) -> list[str]:
        return [f"x{i}" for i in range(self.numbers)]

    @property
    def category_columns(self) -> list[str]:
        return [f"c{i}" for i in range(self.categories)]

    @property
    def text_columns(self) -> list[str]:
        return ["text"] if self.tokens else []

    @property
    def title(self) -> str:
        return f"{self.name}, {self.classes} classes, {self.rows:,} rows"


def cases(*, quick: bool) -> list[Case]:
    """Every table, small ones first in each kind."""
    made = [Case("numeric", rows, numbers=NUMBERS) for rows in (200_000, 1_000_000, 5_000_000, 10_000_000)]
    made += [Case("categorical", rows, categories=CATEGORIES) for rows in (200_000, 1_000_000, 3_000_000)]
    made += [Case("text", rows, classes, tokens=TOKENS, words=WORDS) for rows in (20_000, 100_000) for classes in (20, 2)]
    made += [Case("mixed", rows, numbers=10, categories=10, tokens=12, words=5_000) for rows in (100_000, 500_000)]
    made += [Case("lda", rows, numbers=NUMBERS, method="lda") for rows in (200_000, 1_000_000)]
    return [case for case in made if not quick or case.rows <= {"text": 20_000, "mixed": 100_000}.get(case.name, 200_000)]


def create(con: duckdb.DuckDBPyConnection, case: Case) -> None:
    """Create the table of a case: id, y, the feature columns.

    Every third row or so takes a value that its class prefers, so that the classes can be told apart, but not always.
    """
    columns = [_number(i) for i in range(case.numbers)] + [_category(i) for i in range(case.categories)]
    if case.tokens:
        columns.append(_text(case))
    con.execute(f"""
        CREATE TABLE {case.table} AS
        SELECT id, y, {", ".join(columns)}
        FROM (SELECT id, CAST(hash(id) % {case.classes} AS INTEGER) AS y FROM range({case.rows}) AS ids(id)) AS labelled
    """)


def _uniform(salt: int) -> str:
    return f"(hash(id, {salt}) % 1000003) / 1000003.0"


def _number(i: int) -> str:
    """Nearly normal: the sum of four uniform numbers, with a mean and a spread of the class."""
    uniform = " + ".join(_uniform(1000 + 4 * i + j) for j in range(4))
    return f"CAST(({uniform} - 2) * (1 + ((y + {i}) % 3) / 4.0) + ((y * {i + 1}) % 5) / 8.0 + {10 * i} AS DOUBLE) AS x{i}"


def _category(i: int) -> str:
    drawn, preferred = f"hash(id, {2000 + i}) % {VALUES}", f"(y * {i + 1} + hash(id, {3000 + i}) % 4) % {VALUES}"
    return f"'value ' || CASE WHEN {_uniform(4000 + i)} < 0.15 THEN {preferred} ELSE {drawn} END AS c{i}"


def _text(case: Case) -> str:
    """Words of a long-tailed frequency; now and then one that the class prefers."""
    skewed = f"CAST(floor(power({case.words}, (hash(id, i) % 1000003) / 1000003.0)) AS BIGINT)"
    word = f"'w' || CASE WHEN hash(id, i, 7) % 20 = 0 THEN (y * 37 + hash(id, i, 8) % 200) % {case.words} ELSE {skewed} END"
    return f"array_to_string(list_transform(range({case.tokens}), lambda i: {word}), ' ') AS text"
