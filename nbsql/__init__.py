"""A naive Bayes classifier that lives in the database: SQL fits it, SQL scores with it, and rows never leave."""

from nbsql.errors import DatabaseError, InputError, ModelError, NbsqlError, NbsqlWarning, NotSupportedError
from nbsql.family import (
    Bernoulli,
    Binned,
    Categorical,
    Complement,
    Exponential,
    Family,
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
)
from nbsql.joins.join import Join
from nbsql.judging.calibration import Calibration
from nbsql.judging.evaluation import ClassEvaluation, Evaluation
from nbsql.judging.sweep import Sweep
from nbsql.judging.validation import CrossValidation
from nbsql.judging.verbs import cross_validate, sweep
from nbsql.library import families, fit, fit_sql, from_tables, load, models
from nbsql.model import Model
from nbsql.query import Query
from nbsql.selection import Best, Forward
from nbsql.sharing import from_statistics, import_, merge
from nbsql.version import __version__

__all__ = [
    "Bernoulli",
    "Best",
    "Binned",
    "Calibration",
    "Categorical",
    "ClassEvaluation",
    "Complement",
    "CrossValidation",
    "DatabaseError",
    "Evaluation",
    "Exponential",
    "Family",
    "Forward",
    "Gaussian",
    "Geometric",
    "InputError",
    "Join",
    "Joint",
    "Kernel",
    "LogNormal",
    "Model",
    "ModelError",
    "Multinomial",
    "MultivariateGaussian",
    "NbsqlError",
    "NbsqlWarning",
    "NormalInverseGamma",
    "NotSupportedError",
    "Poisson",
    "Query",
    "Sweep",
    "Text",
    "TokenCounts",
    "Tokens",
    "__version__",
    "cross_validate",
    "families",
    "fit",
    "fit_sql",
    "from_statistics",
    "from_tables",
    "import_",
    "load",
    "merge",
    "models",
    "sweep",
]
