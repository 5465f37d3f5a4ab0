"""The classifiers that `method` of a fit accepts, each with its own options as arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError, suggestion
from nbsql.family import Binned, Family, Gaussian, Interaction, Joint, MultivariateGaussian, Nulls
from nbsql.family.base import Unseen
from nbsql.family.checks import checked, choice, non_negative, set_attributes, true_or_false, whole_number
from nbsql.family.multivariate_gaussian import Toward, shrinkage_named
from nbsql.spec.classifier import Classifier
from nbsql.spec.column import Column
from nbsql.spec.dependence import AODE, KDB, TAN, FoundParents


@dataclass(frozen=True)
class NaiveBayes(Classifier):
    """Naive Bayes, "naive": the features are independent given the class."""

    name: ClassVar[str] = "naive"


@dataclass(frozen=True)
class JointBayes(Classifier):
    """The plug-in Bayes classifier, "joint": P(x, y) is the share of the rows with x and y: `method=nbsql.JointBayes()`.

    All columns without a family of their own form one category (`nbsql.Joint`). The prediction of a row that was never seen is
    NULL. A missing value is treated as a value, as in GROUP BY.

    Args:
        backoff: "naive" predicts a row that was never seen by naive Bayes; None leaves it without a prediction.

    >>> JointBayes(backoff="naive")
    JointBayes(backoff='naive')
    """

    backoff: Literal["naive"] | None = None

    name: ClassVar[str] = "joint"
    unsmoothed: ClassVar[tuple[str, ...]] = ("joint",)

    def __post_init__(self) -> None:
        if self.backoff is not None:
            choice(self.backoff, Literal["naive"], "backoff")

    def families(self, columns: Sequence[Column], *, nulls: Nulls) -> Mapping[str, Family]:
        if not columns:
            return {}
        missing: Nulls = "error" if nulls == "error" else "category"
        unseen: Unseen | None = "smooth" if self.backoff is None else None
        names = [column.name for column in columns]
        return {"joint": Joint(names, nulls=missing, backoff=self.backoff, unseen=unseen)}


@dataclass(frozen=True)
class Discriminant(Classifier):
    """The base class of both kinds of discriminant analysis."""

    shrinkage: float | Literal["ledoit-wolf"] | None = None

    def __post_init__(self) -> None:
        set_attributes(self, shrinkage=shrinkage_named(self.shrinkage))

    def families(self, columns: Sequence[Column], **_: Any) -> Mapping[str, Family]:
        numbers = [column.name for column in columns if column.inferred_kind in MultivariateGaussian.accepts]
        if not numbers:
            raise InputError(f"⟨method={self.name!r}⟩ needs a number among the features, without a family of its own")
        return {self.name: MultivariateGaussian(numbers, shared=self.name == "lda", **self._changed())}


@dataclass(frozen=True)
class LDA(Discriminant):
    """Linear discriminant analysis, "lda": one covariance matrix for all classes: `method=nbsql.LDA(shrinkage=0.1)`.

    All numbers without a family of their own form one feature (`nbsql.MultivariateGaussian`).

    Args:
        shrinkage: the shrinkage of the covariance matrix: a number from 0 to 1, or "ledoit-wolf"; None is 0.

    >>> LDA(shrinkage="ledoit-wolf")
    LDA(shrinkage='ledoit-wolf')
    """

    name: ClassVar[str] = "lda"


@dataclass(frozen=True)
class QDA(Discriminant):
    """Quadratic discriminant analysis, "qda": a covariance matrix for each class: `method=nbsql.QDA(shrinkage=0.1)`.

    All numbers without a family of their own form one feature (`nbsql.MultivariateGaussian`).

    Args:
        shrinkage: the shrinkage of the covariance matrices: a number from 0 to 1, or "ledoit-wolf"; None is 0.
        toward: what they are shrunk toward: "identity" (times their mean variance, as in scikit-learn), which depends on the
            units of the columns, or "pooled", the covariance within classes, as in LDA (Friedman, Regularized discriminant
            analysis, JASA 84, 1989).

    >>> QDA(shrinkage=0.2, toward="pooled")
    QDA(shrinkage=0.2, toward='pooled')
    """

    toward: Toward = "identity"

    name: ClassVar[str] = "qda"

    def __post_init__(self) -> None:
        set_attributes(self, shrinkage=shrinkage_named(self.shrinkage, self.toward))


@dataclass(frozen=True)
class Logistic(Classifier):
    """Logistic regression, "logistic"; multinomial for more than two classes: `method=nbsql.Logistic(penalty=2)`.

    The features are counted as for naive Bayes, but their weights are learnt from the rows: one weight for a number, and one
    for each value of a category, a boolean or a count column (nbsql/learning/logistic.py).

    Args:
        penalty: the lambda of the minimised sum, -sum ln P(c | x) + lambda times the sum of the squared weights; the bias has
            no penalty. A lambda of 0.5 is scikit-learn's C = 1 / (2 lambda) = 1.
        iterations: the largest number of iterations.
        tolerance: the change of a weight, of numbers with a standard deviation of 1, at which the search ends.

    >>> Logistic(penalty=2)
    Logistic(penalty=2.0, iterations=100, tolerance=1e-08)
    """

    penalty: float = 0.5
    iterations: int = 100
    tolerance: float = 1e-8

    name: ClassVar[str] = "logistic"

    def __post_init__(self) -> None:
        checked(self, non_negative, "penalty", "tolerance")
        checked(self, whole_number, "iterations")
        if self.tolerance == 0:
            raise InputError("⟨tolerance⟩ must be above 0, not 0")


CLASS_AND_FEATURE: Literal["class and feature"] = "class and feature"
EITHER: Literal["either"] = "either"
MOST_PAIRS = 100  # of columns with a weight, and most triples
MOST_PARENTS = 3  # of a column with a weight
# How numbers are cut where columns depend on others, by what is added to the name of a column for that feature of it.
CUTS: dict[str, int | Literal["mdl"]] = {"given others": "mdl", "given others in 10 bins": 10, "given others in 20 bins": 20}
BINS_OF_WEIGHTS = Binned(by="mdl and quantile")  # of numbers without a family of their own
VIEWS = ("as normal", "by share", *CUTS)  # what is added to the name of a column for another feature of it


@dataclass(frozen=True)
class Weighted(Classifier):
    """Naive Bayes whose features have weights, "weighted": `method=nbsql.Weighted(per="feature", penalty=1)`.

    The score of a class is b_c + sum over the features of w_f ln p(x_f | c), with the w and b that minimise
    -sum ln P(c | x) + penalty times the squared weights (Zaidi, Cerquides, Carman and Webb, Alleviating naive Bayes attribute
    independence assumption by attribute weighting, Journal of Machine Learning Research 14, 2013). The likelihoods of a row are
    by the counts of the other folds, so that it does not vouch for itself. With more than 30 classes, b_c is one weight times
    the log of the prior. Numbers without a family of their own are cut where the classes differ, and at the tenths of the rows
    (`nbsql.Binned(by="mdl and quantile")`). See nbsql/learning/weighted.py.

    Args:
        per: "feature" has one weight for each feature; "class and feature" has one for each class, too, which multiplies
            ln p(x_f | c) - ln p(x_f); "either" takes what has the lower log loss of held-out folds, and the model says which.
        penalty: the lambda of the penalty. The weight of a feature is a common weight and the distance from it, whose squares
            lambda multiplies: with much of it the features have one weight, a temperature. By default (None) it is 1, 10 or
            100, whichever has the lowest log loss of held-out folds, and the model says which.
        views: whether a column is two features, each with a weight, so that what both say counts once. A text also has the
            shares of its words (norm="l2"), "message by share". A number without a family of its own also has a normal density
            whose variance all classes share, "age as normal", unless classes may have weights of their own. By default (None)
            numbers have it where all features are at most 200, and the rows at least 5 for each. With False no column has two.
        pairs: the most pairs of columns that are features, too, for what they say beyond each by itself, "age & hours"; 0 for
            none. They are those that gain most on the residuals of the rows by the counts and the weights of the other folds
            (Lou, Caruana, Gehrke and Hooker, Accurate intelligible models with pairwise interactions, KDD 2013), and none if
            all rows together, held out by folds, do not gain 10 nats by them. A number is cut into 8 bins, and a category has
            at most 30 values.
        triples: the most triples of columns that are features, too, for what they say that no two of them say, "age & hours &
            wage"; 0 for none. Each row is predicted by the counts of the others, from the cell of its three values and from
            those of their pairs (Kirkwood, Statistical mechanics of fluid mixtures, Journal of Chemical Physics 3, 1935); a
            triple is a feature if the sum of the differences of ln P is above two standard errors, and above 10. A number is
            cut into 10 bins, and a category has at most 30 values; of more than 16 columns those are tried that say most of the
            class by themselves, and of more than 10 classes none.
        parents: on how many other columns each column depends in further features, "hour given others", at most 3; 0 for none.
            They are those of `nbsql.KDB` with so many parents. Where numbers are among the columns there are three of a column:
            with numbers cut where the classes differ, in 10 quantiles, and in 20, "hour given others in 20 bins". So the scores
            are a logarithmic pool of several models (Heskes, Selecting weighting factors in logarithmic opinion pools, NIPS 10,
            1998).

    >>> Weighted(penalty=2)
    Weighted(per='feature', penalty=2.0, views=None, pairs=0, triples=0, parents=0)
    """

    per: Literal["feature", "class and feature", "either"] = "feature"
    penalty: float | None = None
    views: bool | None = None
    pairs: int = 0
    triples: int = 0
    parents: int = 0

    name: ClassVar[str] = "weighted"
    added: ClassVar[tuple[type[Family], ...]] = (Interaction,)

    def __post_init__(self) -> None:
        choice(self.per, Literal["feature", "class and feature", "either"], "per")
        if self.penalty is not None:
            checked(self, non_negative, "penalty")
        if self.views is not None:
            checked(self, true_or_false, "views")
        for name in ("pairs", "triples"):
            set_attributes(self, **{name: whole_number(getattr(self, name), name, 0, MOST_PAIRS)})
        set_attributes(self, parents=whole_number(self.parents, "parents", 0, MOST_PARENTS))
        if self.parents:
            set_attributes(self, is_cut_at_quantiles=True)

    @property
    def is_by_class(self) -> bool:
        """Whether a feature has a weight for each class."""
        return self.per == CLASS_AND_FEATURE

    @property
    def trees(self) -> dict[str, KDB]:
        """The methods by which columns depend on others, by what is added to the names of their features."""
        return {words: KDB(self.parents, bins=bins, weighted=False) for words, bins in CUTS.items()} if self.parents else {}

    def families(self, columns: Sequence[Column], **_: Any) -> Mapping[str, Family]:
        return {column.name: BINS_OF_WEIGHTS for column in columns if column.inferred_kind in Binned.accepts}

    def other_views(self, family: Family, *, is_own: bool) -> Mapping[str, Family]:
        if family.cell == "token":
            return {"by share": family.by_share} if self.views is not False and family.by_share is not None else {}
        found = {words: of_tree for words, tree in self.trees.items() if (of_tree := tree.category(family)) is not None}
        may_be_normal = self.per == "feature" if self.views is None else self.views and not self.is_by_class
        return {"as normal": Gaussian(shared_variance=True), **found} if is_own and may_be_normal else found


def weights_of(method: Classifier, *, has_target: bool) -> Weighted | None:
    """The weights that the features of a classifier have; None if they have none."""
    if isinstance(method, Weighted):
        return method
    return Weighted() if isinstance(method, FoundParents) and method.has_weights(has_target=has_target) else None


@dataclass(frozen=True)
class Mixture(Classifier):
    """Naive Bayes within the components of each class, which k-means finds from its numbers: `method=nbsql.Mixture(2)`.

    A class is then a mixture of its components, and all features are estimated in each component.

    Args:
        components: the number of components of every class, or {label: number}; classes that are not named have one.

    >>> Mixture({"spam": 3})
    Mixture(components={'spam': 3})
    """

    components: int | Mapping[Any, int] = field(hash=False)

    name: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        if not isinstance(self.components, Mapping):
            checked(self, whole_number, "components")
            return
        of_class = {label: whole_number(count, f"components of class {label!r}") for label, count in self.components.items()}
        set_attributes(self, components=of_class)


@dataclass(frozen=True)
class EM(Classifier):
    """Naive Bayes that also learns from rows without a class, by expectation-maximisation, "em": `method=nbsql.EM(weight=0.1)`.

    The fit begins with the model of the rows that have a class. Each step divides every row without a class among the classes
    by its posterior and counts these parts together with the rows that have a class, until the log-likelihood of all rows
    converges (Nigam, McCallum, Thrun and Mitchell, Machine Learning 39, 2000). The result is deterministic.

    Args:
        weight: the weight of a row without a class, relative to a row with one; above 0.
        iterations: the largest number of steps.
        tolerance: the search ends when a step changes the mean log-likelihood of a row by no more than this share of it; if it
            is less than one nat, by no more than this many nats. Single posteriors may still be far from the converged ones;
            1e-8 takes more steps and is nearer.

    >>> EM(weight=0.1)
    EM(weight=0.1, iterations=100, tolerance=1e-05)
    """

    weight: float = 1.0
    iterations: int = 100
    tolerance: float = 1e-5

    name: ClassVar[str] = "em"

    def __post_init__(self) -> None:
        checked(self, non_negative, "weight", "tolerance")
        if self.weight == 0:
            raise InputError("weight of rows without a class must be above 0, not 0; ⟨method='naive'⟩ leaves them out")
        checked(self, whole_number, "iterations")


@dataclass(frozen=True)
class Clusters(Classifier):
    """Groups of rows that nobody has named, "clusters": `nbsql.fit(..., target=None, method=nbsql.Clusters(3))`.

    A cluster is a class of naive Bayes that no row is known to be of. Expectation-maximisation finds them: each step divides
    every row among the clusters by its posterior and counts these parts, until the log-likelihood of the rows converges
    (Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, Journal of the Royal Statistical
    Society B 39, 1977). A cluster begins as half of the whole table and half one of its rows. Of several such starts, each of
    which takes ten steps, the one with the largest log-likelihood goes on (Biernacki, Celeux and Govaert, Choosing starting
    values for the EM algorithm, Computational Statistics and Data Analysis 41, 2003). The result is deterministic.

    Args:
        k: the number of clusters, which has no default. `model.log_likelihood` of rows held out tells which number is better.
        starts: the number of starts.
        seed: a whole number that chooses the rows of the starts; other seeds may find other clusters.
        iterations: the largest number of steps.
        tolerance: the search ends when a step changes the mean log-likelihood of a row by no more than this share of it; if it
            is less than one nat, by no more than this many nats.

    >>> Clusters(3)
    Clusters(k=3, starts=5, seed=0, iterations=100, tolerance=1e-05)
    """

    k: int = 0
    starts: int = 5
    seed: int = 0
    iterations: int = 100
    tolerance: float = 1e-5

    name: ClassVar[str] = "clusters"

    def __post_init__(self) -> None:
        if self.k == 0:
            raise InputError("say how many clusters there are, one or more: ⟨method=nbsql.Clusters(3)⟩")
        checked(self, whole_number, "k", "starts", "iterations")
        set_attributes(self, seed=whole_number(self.seed, "seed", 0))
        checked(self, non_negative, "tolerance")


OF_NO_CLASS = "⟨method='clusters'⟩ finds groups of rows that have no class; leave out the target: ⟨target=None⟩"

# The classifiers that need no argument, by name.
METHODS: dict[str, type[Classifier]] = {
    kind.name: kind for kind in (NaiveBayes, JointBayes, LDA, QDA, TAN, KDB, AODE, Logistic, Weighted, EM, Clusters)
}

MethodName = Literal["naive", "joint", "lda", "qda", "tan", "kdb", "aode", "logistic", "weighted", "em", "clusters"]
Method = MethodName | JointBayes | LDA | QDA | TAN | KDB | AODE | Logistic | Weighted | EM | Clusters | Mixture


def method_named(method: Any) -> Classifier:
    """The classifier of that name with its default options, or the instance itself. Raises InputError if there is none."""
    if isinstance(method, Classifier):
        return method
    if isinstance(method, type) and issubclass(method, Classifier):
        raise InputError(f"method takes an instance, such as ⟨nbsql.Mixture(2)⟩, not the class nbsql.{method.__name__}")
    if not isinstance(method, str) or method not in METHODS:
        known = f"; the methods are {', '.join(map(repr, METHODS))} and ⟨nbsql.Mixture(2)⟩"
        raise InputError(f"no method {method!r}{suggestion(str(method), METHODS) or known}")
    return METHODS[method]()
