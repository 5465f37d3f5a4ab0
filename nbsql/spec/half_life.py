"""Half-lives: weights of rows that decay with age."""

import datetime
import math
import re
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from nbsql.errors import InputError, written
from nbsql.family.checks import is_finite, set_attributes

_UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", re.IGNORECASE)
_EPOCH = datetime.datetime(1970, 1, 1)

# The columns that are added to a source (sql/macros/counting/half_life.sql).
WEIGHT, PERIOD, WEIGHT_NOW = "nbsql_decayed", "nbsql_period", "nbsql_weight_now"

NEGLIGIBLE_AGE = 500  # in half-lives: an older row counts for nothing, long before a double underflows


@dataclass(frozen=True)
class HalfLife:
    """Weights that halve with every half-life of age: `nbsql.fit(..., weight=nbsql.HalfLife("30 days", at="sent_at"))`.

    A row of age 0 has weight 1, one of the age `half_life` has 1/2, and so on. Time is divided into periods of one half-life
    each, numbered since 1970, and rows are counted by period. The decay over whole periods is applied when the counts are
    read, so that counts still add up, and no weight overflows. The model stores a set of cells for each period that has rows.

    Args:
        half_life: the age at which a row weighs half: a number with a unit (seconds, minutes, hours, days or weeks), or a plain
            number in the units of `at`, if that is a column of whole numbers.
        at: the column with the time of a row: a date, a timestamp or a whole number.
        weight: a column of row weights, by which the decayed weight is multiplied.
        now: the time at which a row has weight 1: a date, a time (UTC if it has no zone) or a whole number, as `at` has. None
            takes the end of the newest period that has rows, so that the newest rows weigh between a half and 1. It changes
            only how much smoothing weighs beside the counts, not their ratios.

    >>> import duckdb, nbsql
    >>> data = "SELECT i AS day, i < 4 AS late, i % 2 AS x FROM range(8) AS t(i)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="late", weight=nbsql.HalfLife(4, at="day", now=8))
    >>> [(label, round(n, 3)) for label, n, *_ in model.priors]  # 2^(-8/4) + ... + 2^(-5/4), and 2^(-4/4) + ... + 2^(-1/4)
    [(False, 2.643), (True, 1.321)]
    """

    half_life: str | float
    at: str
    weight: str | None = None
    now: Any = None

    def __post_init__(self) -> None:
        length = _length(self.half_life)
        if length is None:
            units = "seconds, minutes, hours, days or weeks"
            raise InputError(f"a half-life is a number of {units}, such as '30 days', not {written(self.half_life)}")
        if not 0 < length < math.inf:
            raise InputError(f"a half-life must be above 0, such as '30 days', not {written(self.half_life)}")
        for name, column in (("at", self.at), *([] if self.weight is None else [("weight", self.weight)])):
            if not isinstance(column, str) or not column:
                raise InputError(f"{name} of a half-life must be the name of a column, not {column!r}")
        if self.now is not None and self.is_duration:  # stored as text, for JSON
            set_attributes(self, now=(_EPOCH + datetime.timedelta(microseconds=self.instant(self.now))).isoformat())
        elif self.now is not None:
            self.instant(self.now)

    @property
    def columns(self) -> list[str]:
        """The columns that the weights are computed from."""
        return [self.at, *([] if self.weight is None else [self.weight])]

    @property
    def is_duration(self) -> bool:
        """Whether the half-life is a length of time rather than a plain number."""
        return isinstance(self.half_life, str)

    @property
    def length(self) -> float:
        """The half-life in microseconds, or in the units of the column."""
        return _length(self.half_life) or 0.0

    def instant(self, value: Any) -> int:
        """A time in microseconds since 1970, or a whole number if the half-life is no duration; InputError if it is neither."""
        if isinstance(value, Integral) and not isinstance(value, bool) and not self.is_duration:
            return int(value)
        if self.is_duration and isinstance(value, str):
            try:
                value = datetime.datetime.fromisoformat(value)
            except ValueError:
                value = None
        if self.is_duration and isinstance(value, datetime.date) and value == value:  # as NaT of pandas is not
            time = value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
            if time.tzinfo is not None:
                time = time.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return (time - _EPOCH) // datetime.timedelta(microseconds=1)
        kind = "a date or a time" if self.is_duration else "a whole number"
        raise InputError(f"now of a half-life at {self.at!r} must be {kind}, not {value!r}")

    def described(self, period: int) -> str:
        """The beginning of a half-life, by its number."""
        start = period * self.length
        if not self.is_duration:
            return f"{self.at} = {start:g}"
        try:
            return (_EPOCH + datetime.timedelta(microseconds=start)).date().isoformat()
        except OverflowError:
            return f"the year {1970 + start / 3.1556952e13:.0f}"

    @property
    def whole_periods(self) -> int:
        """The number of whole half-lives up to now. Together with `period_fraction` it is exact."""
        return math.floor(self.instant(self.now) / self.length)

    @property
    def period_fraction(self) -> float:
        """The part of a half-life that remains after the whole ones up to now."""
        return (self.instant(self.now) - self.whole_periods * self.length) / self.length


def _length(half_life: Any) -> float | None:
    """The length in microseconds of a text such as "30 days"; a number is returned unchanged. None for anything else."""
    if isinstance(half_life, str):
        text = _LENGTH.fullmatch(half_life)
        return None if text is None or text[2].lower() not in _UNITS else float(text[1]) * _UNITS[text[2].lower()] * 1e6
    return float(half_life) if is_finite(half_life) else None
