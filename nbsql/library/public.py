"""All that `nbsql` offers, by its name there."""

from nbsql.engines.watch import watch
from nbsql.errors import DatabaseError, InputError, ModelError, NbsqlError, NbsqlWarning, NotSupportedError
from nbsql.evaluation.calibration import Calibration
from nbsql.evaluation.evaluation import ClassEvaluation, Evaluation
from nbsql.evaluation.slices import Slices
from nbsql.evaluation.validation import CrossValidation
from nbsql.family import (
    Bernoulli,
    Beta,
    Binned,
    Calendar,
    Categorical,
    Complement,
    Conditional,
    Exponential,
    Family,
    Gamma,
    Gaussian,
    Geometric,
    Joint,
    Kernel,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    NormalInverseGamma,
    Poisson,
    Text,
    TokenCounts,
    Tokens,
    ZeroInflated,
)
from nbsql.library.from_tables import from_tables
from nbsql.library.from_weights import from_weights
from nbsql.library.sharing import from_statistics, import_, merge
from nbsql.library.verbs import classify, drop, families, fit, fit_sql, load, models
from nbsql.model import Model
from nbsql.model.scorecard import Scorecard
from nbsql.queries.query import Query
from nbsql.spec.dependence import AODE, KDB, TAN
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import EM, LDA, QDA, Clusters, JointBayes, Logistic, Mixture, Weighted
from nbsql.spec.options import Best, Segments, Smoothed, Target
from nbsql.tuning.choice import Auto
from nbsql.tuning.first_report import write_report
from nbsql.tuning.sweep import Sweep, sweep
from nbsql.tuning.verbs import auto, cross_validate, dependence
from nbsql.version import __version__

__all__ = [
    "AODE", "EM", "KDB", "LDA", "QDA", "TAN", "Auto", "Bernoulli", "Best", "Beta", "Binned", "Calendar", "Calibration",
    "Categorical", "ClassEvaluation", "Clusters", "Complement", "Conditional", "CrossValidation", "DatabaseError", "Evaluation",
    "Exponential", "Family", "Gamma", "Gaussian", "Geometric", "HalfLife", "InputError", "Join", "Joint",
    "JointBayes", "Kernel", "LogNormal", "Logistic", "Mixture", "Model", "ModelError", "Multinomial",
    "MultivariateGaussian", "NbsqlError", "NbsqlWarning", "NormalInverseGamma", "NotSupportedError", "Poisson", "Query",
    "Scorecard", "Segments", "Slices", "Smoothed", "Sweep", "Target", "Text", "TokenCounts", "Tokens", "Weighted",
    "ZeroInflated",
    "__version__", "auto", "classify", "cross_validate", "dependence", "drop", "families", "fit", "fit_sql", "from_statistics",
    "from_tables", "from_weights", "import_", "load", "merge", "models", "sweep", "watch", "write_report",
]  # fmt: skip
