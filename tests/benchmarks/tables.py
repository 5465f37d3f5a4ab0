"""The tables that are measured: what they hold, made by SQL from hashes, the same on every machine."""

from dataclasses import dataclass

import duckdb

NUMBERS, CATEGORIES, VALUES = 20, 20, 20
WORDS, TOKENS = 50_000, 60
WIDE = 1_000  # columns of a wide table
CLASSES = {"text": (20, 2), "vocabulary": (20,), "classes": (1_000,)}
VOCABULARY = 2_300_000  # words to draw from, of which 100,000 texts hold some two million


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
        parts = [f"{self.numbers} numbers"] * bool(self.numbers) + [f"{self.categories} categories"] * bool(self.categories)
        parts += [f"a text of {self.tokens} words"] * bool(self.tokens)
        method = f', method="{self.method}"' * (self.method != "naive")
        drawn = f" of {self.words:,}" * (self.name == "vocabulary")
        return f"{self.rows:,} rows x {', '.join(parts)}{drawn}, {self.classes} classes{method}"


def cases(*, quick: bool) -> list[Case]:
    """Every table, small ones first in each kind; the smallest are for contenders that are slow."""
    sizes = {
        "numeric": (10_000, 200_000, 1_000_000, 5_000_000, 10_000_000),
        "categorical": (10_000, 200_000, 1_000_000, 3_000_000),
        "text": (5_000, 20_000, 100_000),
        "vocabulary": (100_000,),
        "mixed": (100_000, 500_000, 2_000_000),
        "lda": (200_000, 1_000_000),
        "wide_numbers": (100_000,),
        "wide_categories": (100_000,),
        "classes": (50_000,),
    }
    if quick:
        large = ("vocabulary", "wide_numbers", "wide_categories", "classes")
        sizes = {kind: rows[:1] for kind, rows in sizes.items() if kind not in large}
    return [case_of(kind, rows, classes) for kind in sizes for rows in sizes[kind] for classes in CLASSES.get(kind, (5,))]


def case_of(kind: str, rows: int, classes: int = 5) -> Case:
    """A table of a kind."""
    if kind in ("numeric", "classes"):
        return Case(kind, rows, classes, numbers=NUMBERS)
    if kind == "categorical":
        return Case(kind, rows, classes, categories=CATEGORIES)
    if kind == "wide_numbers":
        return Case(kind, rows, classes, numbers=WIDE)
    if kind == "wide_categories":
        return Case(kind, rows, classes, categories=WIDE)
    if kind == "text":
        return Case(kind, rows, classes, tokens=TOKENS, words=WORDS)
    if kind == "vocabulary":
        return Case(kind, rows, classes, tokens=TOKENS, words=VOCABULARY)
    if kind == "mixed":
        return Case(kind, rows, classes, numbers=10, categories=10, tokens=12, words=5_000)
    return Case(kind, rows, classes, numbers=NUMBERS, method="lda")


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
    """Words of a long-tailed frequency, or all as rare; now and then one that the class prefers."""
    drawn = f"CAST(floor(power({case.words}, (hash(id, i) % 1000003) / 1000003.0)) AS BIGINT)"
    if case.name == "vocabulary":
        drawn = f"hash(id, i) % {case.words}"
    word = f"'w' || CASE WHEN hash(id, i, 7) % 20 = 0 THEN (y * 37 + hash(id, i, 8) % 200) % {case.words} ELSE {drawn} END"
    return f"array_to_string(list_transform(range({case.tokens}), lambda i: {word}), ' ') AS text"
