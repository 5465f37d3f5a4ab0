"""A table of 10,000 rows whose model has 20 features, 50 classes and 10,000 words, for any engine."""


def large_table(numbers_from: str, *, text: str = "VARCHAR", double: str = "DOUBLE PRECISION") -> str:
    """The statement that makes the table `large`: the class y, ten categories, nine numbers, and words of three a row.

    Args:
        numbers_from: what a query selects the numbers `i` from 0 to 9,999 from.
        text: the engine's type of texts.
        double: its type of numbers.
    """
    values = [f"CAST((i * {7919 + 2 * k} % 10007 + i % 50 * {k}) % {k + 2} AS {text}) AS c{k}" for k in range(10)]
    numbers = [f"CAST(i * {7907 + 2 * k} % 10009 % 1000 + i % 50 * 500 AS {double}) AS x{k}" for k in range(9)]
    words = " || ' ' || ".join(f"'w' || CAST({e} AS {text})" for e in ("i % 50", "i % 10000", "i * 7919 % 10007 % 10000"))
    columns = ", ".join([f"'class ' || CAST(i % 50 AS {text}) AS y", *values, *numbers, f"{words} AS words"])
    return f"CREATE TABLE large AS SELECT {columns} FROM {numbers_from}"
