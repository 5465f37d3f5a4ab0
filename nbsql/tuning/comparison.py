"""Settings that are judged on the same rows, and which of them is chosen."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markupsafe import Markup

from nbsql.tuning.candidate_terms import CandidateTerms, Score
from nbsql.tuning.held_out import ROUNDING
from nbsql.tuning.methods import Setting

_MIN_STANDARD_ERRORS = 1.0  # of the gain of a setting, of which there are few
_LEAST_SHRINKAGE = 0.05  # below which it is not worth a calibration
MOST_SHRINKAGE = 0.95
_FAR = 3.0  # standard errors in one fold by which a method is so far behind another that no further fold is fitted
_MIN_ROWS = 1_000  # of which the standard error of one fold is sure enough


class FarBehindError(Exception):
    """A method is far behind another in the first fold; the text says by how much."""


@dataclass
class Comparison:
    """Settings with the losses that they have on the rows; the simpler ones come first, and the default before all."""

    terms: CandidateTerms
    settings: list[Setting] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)  # with the gain over the default
    temperatures: list[float] = field(default_factory=list)
    _losses: list[Markup] = field(default_factory=list)

    def add(self, settings: Sequence[Setting], row_scores: Markup) -> None:
        """Judge settings that differ only in whether they are calibrated, by the joint log-likelihoods of the rows."""
        for setting in settings:
            best, by_fold = self.terms.temperatures(row_scores) if setting.calibrated else (1.0, None)
            self._losses.append(self.terms.losses(row_scores, by_fold))
            self.settings.append(setting)
            self.temperatures.append(best)
            self.scores.append(self.terms.compare(self._losses[-1], self._losses[0]))

    def check_first_fold(self, row_scores: Markup) -> None:
        """Raise FarBehindError if a method is far behind the best of the others by the rows of one fold.

        The method has the best temperature for these rows, so that the others are not favoured.
        """
        best = min(range(len(self.scores)), key=lambda number: self.scores[number].loss)
        found = self.terms.compare(self.terms.least_losses(row_scores), self._losses[best])
        if found.gain < -_FAR * found.error and self.rows >= _MIN_ROWS:
            behind = f"{-found.gain:.4f} ± {found.error:.4f} behind {self.settings[best].name}"
            raise FarBehindError(f"in the first fold its log loss is {behind}; name it in methods to try it in all")

    @property
    def rows(self) -> int:
        """The number of rows on which they were judged."""
        found: int = self.terms.engine.query_value("row_count", self._losses[0])
        return found

    def winner(self, nothing: Mapping[str, int] | None = None) -> int:
        """The number of the best setting: naive Bayes, and no temperature, unless another gains more than a standard error.

        If its log loss is above that of the priors, it is these: `nothing` has no candidate of any column, if that may be.
        Among other methods the lowest log loss decides, but a matrix beside weights must gain more than a standard error. A
        temperature must also gain half the logarithm of the rows, in nats (Schwarz, Estimating the dimension of a model, Annals
        of Statistics 6, 1978): few rows that are all predicted right call for one that is nearly certain.
        """
        winner, rows = 0, self.rows
        for number, setting in enumerate(self.settings):
            found, best = self.terms.compare(self._losses[number], self._losses[winner]), self.settings[winner]
            is_warmer = setting.calibrated and not best.calibrated
            is_larger = bool(setting.matrix) and not best.matrix
            is_alike = best.method is not None and setting.method is not None and not is_warmer and not is_larger
            is_worth_it = not setting.calibrated or found.gain * rows > math.log(rows) / 2
            if is_worth_it and found.is_sure(0.0 if is_alike else _MIN_STANDARD_ERRORS):
                winner = number
        if nothing is None or self._gain(winner) > -ROUNDING:
            return winner
        self.add([Setting("priors alone", nothing, False)], self.terms.priors)
        return len(self.settings) - 1

    def shrinkage(self, number: int) -> float:
        """How much of what a setting says beyond the priors luck explains, at most 0.95; 0 if it is below a twentieth.

        It is 2 ln m / L for one of m settings, where L is twice what it gains over the priors, in nats of all rows: the largest
        of m such gains by luck is about 2 ln m (Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, Biometrika
        81, 1994). What p parameters gain is drawn toward nothing by p / L (Van Houwelingen and Le Cessie, Predictive value of
        statistical models, Statistics in Medicine 9, 1990). What is left still orders the rows, if there is something.
        """
        luck, gain = math.log(len(self.settings)), self._gain(number) * self.rows
        found = luck / gain if gain * MOST_SHRINKAGE > luck else MOST_SHRINKAGE
        return found if found >= _LEAST_SHRINKAGE else 0.0

    def _gain(self, number: int) -> float:
        """How much lower the log loss of a setting is than that of the priors."""
        return self.terms.compare(self._losses[number], self._losses_of_priors).gain

    @cached_property
    def _losses_of_priors(self) -> Markup:
        return self.terms.losses(self.terms.priors, None)

    def by_loss(self) -> list[Setting]:
        """The settings, those of the lowest log loss first."""
        return [self.settings[number] for number in self._order()]

    def _order(self) -> list[int]:
        return sorted(range(len(self.settings)), key=lambda number: (float(f"{self.scores[number].loss:.9g}"), number))

    def ranking(self, winner: int) -> list[tuple[Any, ...]]:
        """The rows of `Auto.ranking`: the chosen setting comes first, whatever its rank."""
        rows = [
            (rank, self.settings[number].name, *self.scores[number].figures, number == winner)
            for rank, number in enumerate(self._order(), start=1)
        ]
        return sorted(rows, key=lambda row: not row[-1])
