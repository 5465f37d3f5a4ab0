"""The relations and macros of a model's schema, for the catalogue, the comments in the database and the documentation."""

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
    "predict_certain": Part(
        "macro",
        "As predict, but NULL unless so certain that a share of the predictions is right, with a reason.",
        optional=True,
    ),
    "predict": Part("macro", "The rows of a relation with prediction and its probability."),
    "predict_proba": Part("macro", "The rows of a relation with prediction and probability_<class> of every class."),
    "joint_log_likelihood": Part("macro", "The rows of a relation with ln p(x, c) of every class c."),
    "log_evidence": Part("macro", "The rows of a relation with ln p(x), low for a row that fits no class."),
    "explain": Part("macro", "One row per scored row, class and feature: the contribution to the joint log-likelihood."),
    "reasons": Part(
        "macro",
        "One row per scored row and value: how many times likelier it is in one of the two most probable classes than in the "
        "other. The prior comes first, and the total last.",
        optional=True,
    ),
    "evaluate": Part(
        "macro", "How well the model predicts rows whose class is known: class (NULL for all rows), metric, value."
    ),
    "likelihood_ratios": Part(
        "macro",
        "How many times likelier each value is in one class than in another: feature, value, likelihood, "
        "other_likelihood, ratio, log_ratio.",
    ),
    "class_scores": Part(
        "macro", "The rows of a relation with the score of each class, which the other macros read.", internal=True
    ),
    "features": Part("view", "One row per feature: feature, family, columns, types, options (JSON)."),
    "likelihoods": Part(
        "view", "One row per class, feature and value with its likelihood; for numbers, the mean and variance, or the rate."
    ),
    "components": Part(
        "view",
        "One row per component of a class, feature and value: the share of the class, and the parameters.",
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
    "estimates": Part("table", "The smoothed estimates, which the view likelihoods reads.", internal=True, optional=True),
    "lookups": Part(
        "table",
        "For scoring: one row per value of a feature, with its log-likelihood in each class.",
        internal=True,
        optional=True,
    ),
    "parameters": Part("table", "For scoring: the priors, and the parameters of numbers in each class.", internal=True),
    "weights": Part("table", "The weights of logistic regression, or of the features of a weighted model.", optional=True),
    "batches": Part("table", "One row per fit, update or forget: what it added or took away, and when."),
    "spec": Part(
        "table", "The options of the model as JSON, the version of nbsql that wrote it, and when it was created and changed."
    ),
    "statistics": Part("table", "The model itself, counts that add up: slice, class, feature, value, n, mean, m2, batch."),
}

_VALUE = "A category or a token as text, or a column of a feature over several; NULL for numbers."

# Comments on columns, for somebody who opens the file, if the names do not suffice. Only a few: each comment is a statement.
COLUMNS: dict[str, dict[str, str]] = {
    "statistics": {
        "slice": "The value of slice_by or segment_by, a half-life, or a component; NULL if rows are counted together.",
        "feature": "The feature; NULL for the counts of the classes.",
        "value": _VALUE,
        "n": "The number of rows or tokens, by weight; negative if rows were forgotten.",
        "m2": "The sum of squared deviations of a number from its mean.",
        "batch": "The fit or update that added it; see batches.",
    },
    "likelihoods": {
        "value": _VALUE,
        "mean": "The mean of a number, or of its logarithm (lognormal).",
        "variance": "The variance of a number, or of its logarithm (lognormal).",
        "rate": "The rate of a count or waiting time, or the share of zeros.",
    },
    "features": {"types": "The SQL types of its columns in the fit."},
    "batches": {
        "operation": "What was done: fit, update, forget, follow, merge or import.",
        "rows": "The number of rows learnt; negative for rows forgotten.",
    },
}

# The order in which an engine without transactions publishes the relations: the last one completes the model.
PUBLISHED = (
    "statistics", "batches", "priors", "estimates", "components", "weights", "likelihoods", "parameters", "lookups",
    "calibration", "spec",
)  # fmt: skip
