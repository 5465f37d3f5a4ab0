"""The floor."""

from typing import Any

from tables import Case

from contenders.base import Contender


class Scan(Contender):
    """Every column is read and summed, nothing else.

    The class is summed too: DuckDB answers max() alone from the statistics of the table, without reading a row. For
    categories, max() is no tight floor, as most of its time goes into comparing texts.
    """

    title = "bare scan"

    @classmethod
    def same(cls, case: Case) -> dict[str, Any] | None:
        return None

    def fit(self) -> None:
        case = self.case
        sums = ["sum(y)", *(f"sum({column})" for column in case.number_columns)]
        sums += [f"max({column})" for column in case.category_columns]
        sums += [f"sum(length({column}))" for column in case.text_columns]
        self.con.execute(f"SELECT {', '.join(sums)} FROM {self.table}").fetchall()

    predict = fit
