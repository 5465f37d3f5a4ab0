"""The relations and macros of a model's schema, for the catalogue, the comments in the database and the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Part:
    """A relation or a macro of a model."""

    kind: Literal["macro", "view", "table"]  # its type in the catalogue; on engines without table macros a macro is a function
    text: str  # a description of its rows or of its result
    internal: bool = False  # whether only other parts use it, and not users
    optional: bool = False  # whether a model may lack it, because not every model needs it

    @property
    def comment(self) -> str:
        """The text of its comment in the database."""
        return f"nbsql, internal: {self.text}" if self.internal else f"nbsql: {self.text}"


SCHEMA = "nbsql: a naive Bayes model. Its counts are in statistics; everything else is made of them."

# In an order in which they can be dropped.
PARTS: dict[str, Part] = {
    "predict_uncalibrated": Part("macro", "As predict, without the calibration of the model.", optional=True),
    "predict_proba_uncalibrated": Part("macro", "As predict_proba, without the calibration of the model.", optional=True),
    "evaluate_uncalibrated": Part("macro", "As evaluate, without the calibration of the model.", optional=True),
    "predict": Part("macro", "The rows of a relation with prediction and its probability."),
    "predict_proba": Part("macro", "The rows of a relation with prediction and probability_<class> of every class."),
    "joint_log_likelihood": Part("macro", "The rows of a relation with ln p(x, c) of every class c."),
    "log_evidence": Part("macro", "The rows of a relation with ln p(x), low for a row that fits no class."),
    "explain": Part("macro", "A row a row of a relation, class and feature: its contribution to the joint log-likelihood."),
    "evaluate": Part(
        "macro",
        "How well the model does on a relation whose class is known: class (NULL for the whole), metric, value.",
    ),
    "likelihood_ratios": Part(
        "macro",
        "How much likelier each value is in one class than in another, which are its arguments: feature, value, likelihood, "
        "other_likelihood, ratio, log_ratio.",
    ),
    "class_scores": Part(
        "macro",
        "The rows of a relation with their scores by class, which predict and the others read.",
        internal=True,
    ),
    "features": Part("view", "A row a feature: feature, family, columns, types, options (JSON)."),
    "likelihoods": Part("view", "A row a class, feature and value: its likelihood; of a number mean and variance, or rate."),
    "components": Part("view", "A row a component of a class that was split: its share and what it has learnt.", optional=True),
    "priors": Part("view", "A row a class, the most probable first: class, n, prior, log_prior."),
    "calibration": Part("table", "What calibrations of posteriors and of sets have fitted.", internal=True, optional=True),
    "estimates": Part("table", "The smoothed tables that likelihoods reads.", internal=True, optional=True),
    "lookups": Part("table", "What scoring looks up: a row a value, with its log-likelihoods.", internal=True, optional=True),
    "parameters": Part("table", "What scoring reads of the classes and of numbers.", internal=True),
    "weights": Part("table", "The weights that logistic regression has learnt.", optional=True),
    "batches": Part("table", "The ledger: a row a change of the model, what it learnt or forgot and when."),
    "spec": Part("table", "What the model was asked for, as JSON; nbsql's version, and when it was made and changed."),
    "statistics": Part("table", "The model itself, additive counts: slice, class, feature, value, n, mean, m2, batch."),
}

_VALUE = "A category or a token as text, or a column of a feature over several; NULL for numbers."

# Comments on columns, for somebody who opens the file, if the names do not suffice. Only a few: each comment is a statement.
COLUMNS: dict[str, dict[str, str]] = {
    "statistics": {
        "slice": "The value of slice_by or segment_by, a half-life, or a component; NULL where rows are counted together.",
        "feature": "The feature; NULL where it is of the class itself.",
        "value": _VALUE,
        "n": "How many rows, or tokens, weighted; below 0 where some were forgotten.",
        "m2": "Of a number: the sum of squared deviations from the mean.",
        "batch": "The line of batches that it came with.",
    },
    "likelihoods": {
        "value": _VALUE,
        "mean": "Of a number, or of its logarithm.",
        "variance": "Of a number, or of its logarithm.",
        "rate": "Of a number that is scored by one.",
    },
    "features": {"types": "Of its columns, in the rows that it was fitted to."},
    "batches": {
        "operation": "What was done: fit, update, forget, merge, import or export.",
        "rows": "How many rows were learnt; below 0 for those forgotten.",
    },
}

# The order in which an engine without transactions publishes the relations: the last one completes the model.
PUBLISHED = (
    "statistics", "batches", "priors", "estimates", "components", "weights", "likelihoods", "parameters", "lookups",
    "calibration", "spec",
)  # fmt: skip
