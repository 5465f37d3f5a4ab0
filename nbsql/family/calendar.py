"""The family of dates and times, whose parts are categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError, suggestion
from nbsql.family.base import Cell
from nbsql.family.categorical import Categorical
from nbsql.family.checks import set_attributes, texts
from nbsql.family.kinds import Level

PARTS = ("year", "month", "day", "weekday", "hour", "minute")
OF_DAYS = PARTS[:4]
OF_TIMES = PARTS[4:]
EXPLICIT = ("minute",)  # the parts that are taken only if they are named


@dataclass(frozen=True)
class Calendar(Level):
    """A date or a time: each of its parts is a category of its own, such as "weekday of sent_at".

    The model computes the parts from the rows that it learns or scores. A weekday is a text, such as Sunday; the others are
    whole numbers, and the day is that of the month. The parts of a missing or infinite date are missing. The other options are
    those of each part; `families={"weekday of sent_at": ...}` gives one part another family.

    Args:
        parts: "year", "month", "day", "weekday", "hour" and "minute", or some of them. None takes those, without the minute,
            that have several values in the rows of the fit, and at least twice as many rows as values.
        zone: the time zone of the parts, as "Europe/Berlin", for a column of times with a time zone; None is UTC, whatever the
            session's time zone.

    >>> import duckdb, nbsql
    >>> days = "SELECT DATE '2026-01-01' + i::INTEGER AS day, i % 7 IN (2, 3) AS closed FROM range(56) AS t(i)"
    >>> model = nbsql.fit(duckdb.connect(), days, target="closed", families={"day": nbsql.Calendar(["weekday"])})
    >>> model.predict_one({"day": "2026-08-01"})["prediction"]  # a Saturday
    True
    """

    parts: Sequence[str] | None = None
    zone: str | None = None

    name: ClassVar[str] = "calendar"
    cell: ClassVar[Cell] = "part"
    accepts: ClassVar[tuple[str, ...]] = ("temporal",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parts is not None:
            parts = texts([self.parts] if isinstance(self.parts, str) else self.parts, "parts must be a list of parts")
            for part in parts:
                if part not in PARTS:
                    known = f"; the parts are {', '.join(map(repr, PARTS))}"
                    raise InputError(f"no part {part!r} of a date{suggestion(part, PARTS) or known}")
            if not parts:
                raise InputError("parts must have at least one part; to leave the column out, use exclude")
            set_attributes(self, parts=tuple(dict.fromkeys(parts)))
        if self.zone is not None and not (isinstance(self.zone, str) and self.zone.strip()):
            raise InputError(f"zone must be the name of a time zone, such as 'Europe/Berlin', not {self.zone!r}")

    @property
    def family_of_part(self) -> Categorical:
        """The family of each part."""
        return Categorical(alpha=self.alpha, nulls=self.nulls, unseen=self.unseen, estimate=self.estimate)


def part_name(part: str, column: str) -> str:
    """The name of a part of a column, as a column and a feature.

    >>> part_name("weekday", "sent_at")
    'weekday of sent_at'
    """
    return f"{part} of {column}"
