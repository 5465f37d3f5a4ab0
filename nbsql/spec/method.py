"""Classifiers: what `method` of a fit takes, each with the options that are its own as arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError, suggestion
from nbsql.family import Binned, Categorical, Estimate, Family, Joint, MultivariateGaussian, Nulls, choice, non_negative
from nbsql.family.multivariate_gaussian import shrinkage_named
from nbsql.family.pairs import check_least
from nbsql.spec.column import Column


@dataclass(frozen=True)
class Classifier:
    """What the classifiers share: how the columns that have no family of their own become features."""

    name: ClassVar[str]

    def families(
        self,
        columns: Sequence[Column],  # noqa: ARG002
        *,
        alpha: float | None,  # noqa: ARG002
        estimate: Estimate | None,  # noqa: ARG002
        nulls: Nulls,  # noqa: ARG002
    ) -> Mapping[str, Family]:
        """The families of some of the columns, by name, or over several, by key; what stays out has the family of its type.

        Args:
            columns: those that are to be features, and that `families` of the fit does not name.
            alpha: the fit's.
            estimate: the fit's.
            nulls: the fit's.

        Raises:
            InputError: the columns are none that the classifier takes.
        """
        return {}


@dataclass(frozen=True)
class NaiveBayes(Classifier):
    """Naive Bayes, "naive": the features are independent given the class."""

    name: ClassVar[str] = "naive"


@dataclass(frozen=True)
class JointBayes(Classifier):
    """The plug-in Bayes classifier, "joint": P(x, y) is the share of the rows that are x and y: `method=nbsql.JointBayes()`.

    All columns without a family of their own are one category (`nbsql.Joint`). A row that was never seen has a NULL prediction.
    A missing value is a value like others, as in GROUP BY.

    Args:
        backoff: "naive" gives a row that was never seen the answer of naive Bayes; None leaves it without one.

    >>> JointBayes(backoff="naive")
    JointBayes(backoff='naive')
    """

    backoff: Literal["naive"] | None = None

    name: ClassVar[str] = "joint"

    def __post_init__(self) -> None:
        if self.backoff is not None:
            choice(self.backoff, Literal["naive"], "backoff")

    def families(
        self, columns: Sequence[Column], *, alpha: float | None, estimate: Estimate | None, nulls: Nulls
    ) -> Mapping[str, Family]:
        if not columns:
            return {}
        if alpha is None:  # the share as it is, which the mode has with pseudo-counts of 1
            alpha = 1.0 if estimate == "mode" else 0.0
        missing: Nulls = "error" if nulls == "error" else "category"
        names = [column.name for column in columns]
        if self.backoff is not None:
            return {"joint": Joint(names, alpha=alpha, nulls=missing, backoff=self.backoff)}
        return {"joint": Joint(names, alpha=alpha, nulls=missing, unseen="smooth")}


@dataclass(frozen=True)
class Discriminant(Classifier):
    """What both kinds of discriminant analysis share."""

    shrinkage: float | Literal["ledoit-wolf"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shrinkage", shrinkage_named(self.shrinkage))

    def families(
        self,
        columns: Sequence[Column],
        *,
        alpha: float | None,  # noqa: ARG002
        estimate: Estimate | None,  # noqa: ARG002
        nulls: Nulls,  # noqa: ARG002
    ) -> Mapping[str, Family]:
        numbers = [column.name for column in columns if column.kind in MultivariateGaussian.accepts]
        if not numbers:
            raise InputError(f"method={self.name!r} needs a number among the features")
        return {self.name: MultivariateGaussian(numbers, shared=self.name == "lda", shrinkage=self.shrinkage)}


@dataclass(frozen=True)
class LDA(Discriminant):
    """Linear discriminant analysis, "lda": one covariance matrix for all classes: `method=nbsql.LDA(shrinkage=0.1)`.

    It is of all numbers without a family of their own (`nbsql.MultivariateGaussian`).

    Args:
        shrinkage: of the covariance matrix: a number from 0 to 1, or "ledoit-wolf"; None is 0.

    >>> LDA(shrinkage="ledoit-wolf")
    LDA(shrinkage='ledoit-wolf')
    """

    name: ClassVar[str] = "lda"


@dataclass(frozen=True)
class QDA(Discriminant):
    """Quadratic discriminant analysis, "qda": a covariance matrix a class: `method=nbsql.QDA(shrinkage=0.1)`.

    It is of all numbers without a family of their own (`nbsql.MultivariateGaussian`).

    Args:
        shrinkage: of the covariance matrices: a number from 0 to 1, or "ledoit-wolf"; None is 0.

    >>> QDA(shrinkage=1)
    QDA(shrinkage=1.0)
    """

    name: ClassVar[str] = "qda"


@dataclass(frozen=True)
class OneDependence(Classifier):
    """What the classifiers share in which a category depends on another one, too."""

    shrinkage: float | None = None

    def __post_init__(self) -> None:
        if self.shrinkage is not None:
            object.__setattr__(self, "shrinkage", non_negative(self.shrinkage, "shrinkage"))

    def families(
        self,
        columns: Sequence[Column],
        *,
        alpha: float | None,  # noqa: ARG002
        estimate: Estimate | None,  # noqa: ARG002
        nulls: Nulls,  # noqa: ARG002
    ) -> Mapping[str, Family]:
        found: dict[str, Family] = {column.name: Binned(by="mdl") for column in columns if column.kind in Binned.accepts}
        return found | {column.name: Categorical() for column in columns if column.kind == "boolean"}


@dataclass(frozen=True)
class TAN(OneDependence):
    """Tree-augmented naive Bayes, "tan": every category may depend on one other: `method=nbsql.TAN(shrinkage=5)`.

    Among the features that are categories it finds the tree of the largest sum of I(X; Y | class), and makes each of them one
    given its parent, an `nbsql.Conditional` (Friedman, Geiger and Goldszmidt, Bayesian network classifiers, Machine Learning
    29, 1997). Numbers without a family of their own are cut where the classes differ (`nbsql.Binned(by="mdl")`). Features that
    are no categories, and categories of more than a thousand values, stand beside the tree.

    Args:
        shrinkage: s of (n_cuv + s P(v | c)) / (n_cu + s), for the value v of a feature where its parent is u; None smooths by
            alpha.

    >>> TAN(shrinkage=5)
    TAN(shrinkage=5.0)
    """

    name: ClassVar[str] = "tan"


@dataclass(frozen=True)
class AODE(OneDependence):
    """Averaged one-dependence estimators, "aode": all categories are parents in turn: `method=nbsql.AODE(least=30)`.

    P(c, x) is the mean over the features i of P(c) P(x_i | c) times the product over the others j of P(x_j | c, x_i): so no
    tree is to be found, and a model follows from its counts alone (Webb, Boughton and Wang, Not so naive Bayes: aggregating
    one-dependence estimators, Machine Learning 58, 2005). Numbers without a family of their own are cut where classes differ
    (`nbsql.Binned(by="mdl")`). Features that are no categories, and categories of more than a thousand values, stand beside.

    Args:
        shrinkage: s of (n_cuv + s P(v | c)) / (n_cu + s), for the value v of a feature where its parent is u; None smooths by
            alpha.
        least: how often a value must be met for its feature to be a parent in the rows that have it; naive Bayes is what is
            left where none was. The paper has 30 and Weka 1.

    >>> AODE(least=30)
    AODE(shrinkage=None, least=30)
    """

    least: int = 1

    name: ClassVar[str] = "aode"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self.least)


@dataclass(frozen=True)
class Logistic(Classifier):
    """Logistic regression, "logistic", of several classes multinomial: `method=nbsql.Logistic(penalty=2)`.

    The features are counted as for naive Bayes, and have weights that are learnt from the rows: a weight of a number, one a
    value of a category, of booleans and of count columns (nbsql/learning/logistic.py).

    Args:
        penalty: lambda of -sum ln P(c | x) + lambda times the sum of the squared weights, which is minimised; the bias has no
            penalty. 0.5 is scikit-learn's C = 1 / (2 lambda) = 1.
        iterations: how many at most.
        tolerance: the change of a weight, of numbers with a deviation of 1, at which the search ends.

    >>> Logistic(penalty=2)
    Logistic(penalty=2.0, iterations=100, tolerance=1e-08)
    """

    penalty: float = 0.5
    iterations: int = 100
    tolerance: float = 1e-8

    name: ClassVar[str] = "logistic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", non_negative(self.penalty, "penalty"))
        _check_iterations(self.iterations)
        object.__setattr__(self, "tolerance", non_negative(self.tolerance, "tolerance"))
        if self.tolerance == 0:
            raise InputError("tolerance must be above 0, not 0")


@dataclass(frozen=True)
class Mixture(Classifier):
    """Naive Bayes within the components of a class, into which k-means splits it by its numbers: `method=nbsql.Mixture(2)`.

    A class is then the mixture of its components, in each of which all features are estimated.

    Args:
        components: how many of every class, or {label: how many}; classes that are not named have one.

    >>> Mixture({"spam": 3})
    Mixture(components={'spam': 3})
    """

    components: int | Mapping[Any, int] = field(hash=False)

    name: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        by_label = isinstance(self.components, Mapping)
        for label, count in self.components.items() if isinstance(self.components, Mapping) else [(None, self.components)]:
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                of_class = f" of class {label!r}" if by_label else ""
                raise InputError(f"components{of_class} must be a whole number of at least 1, not {count!r}")
        if isinstance(self.components, Mapping):
            object.__setattr__(self, "components", dict(self.components))


@dataclass(frozen=True)
class EM(Classifier):
    """Naive Bayes that learns of rows without a class, too, by expectation-maximisation, "em": `method=nbsql.EM(weight=0.1)`.

    Begins with the model of the rows that have a class. A step shares every row without one out to the classes, by its
    posterior, and counts these shares beside the rows that have a class, until the log-likelihood of all rows stands still
    (Nigam, McCallum, Thrun and Mitchell, Machine Learning 39, 2000). There is no chance in it.

    Args:
        weight: what a row without a class counts beside one that has a class; above 0.
        iterations: how many steps at most.
        tolerance: the change of the log-likelihood of a row at which the search ends, as a share of it, or in nats where it is
            less than one.

    >>> EM(weight=0.1)
    EM(weight=0.1, iterations=100, tolerance=1e-05)
    """

    weight: float = 1.0
    iterations: int = 100
    tolerance: float = 1e-5

    name: ClassVar[str] = "em"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", non_negative(self.weight, "weight"))
        if self.weight == 0:
            raise InputError("weight of rows without a class must be above 0, not 0; method='naive' leaves them out")
        _check_iterations(self.iterations)
        object.__setattr__(self, "tolerance", non_negative(self.tolerance, "tolerance"))


def _check_iterations(count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"iterations must be a whole number of at least 1, not {count!r}")


# Those that need no argument, by the word that stands for their defaults.
METHODS: dict[str, type[Classifier]] = {kind.name: kind for kind in (NaiveBayes, JointBayes, LDA, QDA, TAN, AODE, Logistic, EM)}

MethodName = Literal["naive", "joint", "lda", "qda", "tan", "aode", "logistic", "em"]
Method = MethodName | JointBayes | LDA | QDA | TAN | AODE | Logistic | EM | Mixture


def method_named(method: Any) -> Classifier:
    """The classifier of that name with its defaults, or the instance itself.

    Raises:
        InputError: there is none.
    """
    if isinstance(method, Classifier):
        return method
    if isinstance(method, type) and issubclass(method, Classifier):
        raise InputError(f"method takes an instance, such as nbsql.Mixture(2), not the class nbsql.{method.__name__}")
    if not isinstance(method, str) or method not in METHODS:
        known = f"; the methods are {', '.join(map(repr, METHODS))} and nbsql.Mixture(2)"
        raise InputError(f"no method {method!r}{suggestion(str(method), METHODS) or known}")
    return METHODS[method]()
