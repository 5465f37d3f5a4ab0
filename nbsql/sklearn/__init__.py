"""nbsql for scikit-learn: estimators for mixed columns, and the exchange of models with scikit-learn."""

try:
    import sklearn as _  # noqa: F401 - before what else needs it, so that it is missed in one line
except ImportError:
    raise ImportError("nbsql.sklearn needs scikit-learn: pip install 'nbsql[sklearn]'") from None

from nbsql.sklearn.classifier import NaiveBayesClassifier
from nbsql.sklearn.exported import to_sklearn
from nbsql.sklearn.imported import from_sklearn
from nbsql.sklearn.search import NaiveBayesCV

__all__ = ["NaiveBayesCV", "NaiveBayesClassifier", "from_sklearn", "to_sklearn"]
