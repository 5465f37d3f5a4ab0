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


SCHEMA = "nbsql: a naive Bayes model. Its counts are in statistics; everything else is computed from them."

# In an order in which they can be dropped.
PARTS: dict[str, Part] = {
    "predict_uncalibrated": Part("macro", "As predict, without the calibration of the model.", optional=True),
    "predict_proba_uncalibrated": Part("macro", "As predict_proba, without the calibration of the model.", optional=True),
    "evaluate_uncalibrated": Part("macro", "As evaluate, without the calibration of the model.", optional=True),
    "predict": Part("macro", "The rows of a relation with prediction and its probability."),
    "predict_proba": Part("macro", "The rows of a relation with prediction and probability_<class> of every class."),
    "joint_log_likelihood": Part("macro", "The rows of a relation with ln p(x, c) of every class c."),
    "log_evidence": Part("macro", "The rows of a relation with ln p(x), low for a row that fits no class."),
    "explain": Part("macro", "One row per scored row, class and feature: its contribution to the joint log-likelihood."),
    "reasons": Part(
        "macro",
        "One row per scored row and value: how much likelier it is in one of the two most probable classes than in the "
        "other, after the prior and before the total.",
        optional=True,
    ),
    "evaluate": Part(
        "macro",
        "How good the model is on rows whose class is known: class (NULL for all of them), metric, value.",
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
    "features": Part("view", "One row per feature: feature, family, columns, types, options (JSON)."),
    "likelihoods": Part(
        "view",
        "One row per class, feature and value: its likelihood; for a number the mean and variance, or the rate.",
    ),
    "components": Part(
        "view",
        "One row per component of a class that was split: its share of the class, and its parameters.",
        optional=True,
    ),
    "priors": Part("view", "One row per class, the most probable first: class, n, prior, log_prior."),
    "calibration": Part(
        "table",
        "The parameters of the calibration of posteriors, and of that of sets of classes.",
        internal=True,
        optional=True,
    ),
    "changes": Part(
        "table",
        "The rows of the followed table that were inserted (nbsql_sign 1) or deleted (-1), and are not learnt yet.",
        internal=True,
        optional=True,
    ),
    "estimates": Part("table", "The smoothed estimates that likelihoods reads.", internal=True, optional=True),
    "lookups": Part(
        "table",
        "Read by scoring: one row per value of a feature, with its log-likelihood in each class.",
        internal=True,
        optional=True,
    ),
    "parameters": Part("table", "Read by scoring: the priors, and the parameters of numbers in each class.", internal=True),
    "weights": Part("table", "The weights of logistic regression, or of the features of a weighted model.", optional=True),
    "batches": Part("table", "The ledger: one row per fit, update or forget, with what it added or took away, and when."),
    "spec": Part(
        "table",
        "The options of the model as JSON; the version of nbsql, and when the model was made and last changed.",
    ),
    "statistics": Part("table", "The model itself, as counts that add up: slice, class, feature, value, n, mean, m2, batch."),
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
        "operation": "What was done: fit, update, forget, follow, merge or import.",
        "rows": "How many rows were learnt; below 0 for those forgotten.",
    },
}

# The order in which an engine without transactions publishes the relations: the last one completes the model.
PUBLISHED = (
    "statistics", "batches", "priors", "estimates", "components", "weights", "likelihoods", "parameters", "lookups",
    "calibration", "spec",
)  # fmt: skip
