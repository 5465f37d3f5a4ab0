"""The verbs of a model: one table, of what each adds to the rows of a source and where it is offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nbsql.plan.classes import ClassColumn


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes:
        adds: the columns that it adds, and no source may have.
        a_class: which column a class it adds beside them, if any.
        a_row: whether it has a row a row of the source, which passes the columns of the source on.
        calibrated: whether there is a form with calibrated posteriors.
        options: the arguments by which it decides otherwise, and the columns that each adds beside the others.
    """

    added_columns: tuple[str, ...] = ()
    column_per_class: Literal["probability", "joint"] | None = None
    keeps_rows: bool = True
    has_calibrated_form: bool = False
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def all_added_columns(self, classes: Sequence[ClassColumn], option: str | None = None) -> list[str]:
        """The names of all columns that it adds, of a model with these classes."""
        of_classes = [] if self.column_per_class is None else [getattr(column, self.column_per_class) for column in classes]
        return [*self.added_columns, *of_classes, *(self.options[option] if option else ())]


VERBS: dict[str, Verb] = {
    "predict": Verb(
        ("prediction", "probability"),
        has_calibrated_form=True,
        options={
            "costs": ("expected_cost",),
            "thresholds": (),
            "top_k": ("rank",),
            "coverage": ("prediction_set",),
            "target": ("deviation",),
        },
    ),
    "predict_proba": Verb(("prediction", "probability"), column_per_class="probability", has_calibrated_form=True),
    "joint_log_likelihood": Verb(column_per_class="joint"),
    "log_evidence": Verb(("log_evidence",)),
    "explain": Verb(keeps_rows=False),
}

# What `review` adds, which is no macro of a model: it takes a whole source, and answers with a few rows of it.
REVIEW = Verb(
    ("prediction", "probability", "stands_for", "reason"),
    keeps_rows=False,
    options={"margin": ("margin",), "evidence": ("log_evidence",), "novelty": ("unseen",), "expected cost": ("expected_cost",)},
)

ROW_VERBS = tuple(name for name, verb in VERBS.items() if verb.keeps_rows)
CALIBRATED = {f"{name}_calibrated": name for name, verb in VERBS.items() if verb.has_calibrated_form}
MACROS = ("class_scores", *VERBS, "evaluate", "likelihood_ratios")  # what is in a model's schema
EARLIER_MACROS = ("scored",)  # that the verbs of models of earlier versions call
