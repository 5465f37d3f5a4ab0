"""The table of a model's verbs: the columns that each adds to the rows of a source, and the forms in which it exists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nbsql.plan.classes import ClassColumn


@dataclass(frozen=True)
class Verb:
    added_columns: tuple[str, ...] = ()  # the columns that it adds; no source may have columns of these names
    column_per_class: Literal["probability", "joint"] | None = None  # the column that it adds for each class, if any
    keeps_rows: bool = True  # whether it returns one row for each row of the source, with the columns of the source
    has_posteriors: bool = False  # whether its result has posteriors, which a calibration changes
    # The arguments that change the decision, and the columns that each of them adds.
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def all_added_columns(self, classes: Sequence[ClassColumn], option: str | None = None) -> list[str]:
        """The names of all columns that the verb adds, for a model with these classes."""
        of_classes = [] if self.column_per_class is None else [getattr(column, self.column_per_class) for column in classes]
        return [*self.added_columns, *of_classes, *(self.options[option] if option else ())]


VERBS: dict[str, Verb] = {
    "predict": Verb(
        ("prediction", "probability"),
        has_posteriors=True,
        options={
            "costs": ("expected_cost",),
            "thresholds": (),
            "top_k": ("rank",),
            "coverage": ("prediction_set",),
            "certain": ("reason",),
            "target": ("deviation",),
        },
    ),
    "predict_proba": Verb(("prediction", "probability"), column_per_class="probability", has_posteriors=True),
    "joint_log_likelihood": Verb(column_per_class="joint"),
    "log_evidence": Verb(("log_evidence",)),
    "explain": Verb(keeps_rows=False),
}

# `review` is not a macro of a model: it reads a whole source, and returns only a few of its rows.
REVIEW = Verb(
    ("prediction", "probability", "stands_for", "reason"),
    keeps_rows=False,
    options={"margin": ("margin",), "evidence": ("log_evidence",), "novelty": ("unseen",), "expected cost": ("expected_cost",)},
)

ROW_VERBS = tuple(name for name, verb in VERBS.items() if verb.keeps_rows)
POSTERIORS = tuple(name for name, verb in VERBS.items() if verb.has_posteriors)
USES_OF_VERBS = {"log_evidence": "log_evidence", **dict.fromkeys(POSTERIORS, "prediction")}  # (capabilities.py)
# The macros that a calibration changes, each by its form without the calibration, which only a calibrated model has.
UNCALIBRATED = {f"{name}_uncalibrated": name for name in (*POSTERIORS, "evaluate")}
MACROS = ("class_scores", *VERBS, "reasons", "evaluate", "likelihood_ratios")  # the macros of a model's schema
