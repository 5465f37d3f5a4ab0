"""The classifiers in which categories depend on other categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nbsql.family import NUMBERS, Binned, Categorical, Family, Pairs
from nbsql.family.binned import MOST_BINS
from nbsql.family.checks import checked, non_negative, set_attributes, true_or_false, whole_number
from nbsql.spec.classifier import Classifier
from nbsql.spec.column import Column


@dataclass(frozen=True, kw_only=True)
class OneDependence(Classifier):
    """The base class of the classifiers in which a category depends on other categories."""

    shrinkage: float | None = None
    bins: int | Literal["mdl"] = "mdl"

    def __post_init__(self) -> None:
        checked(self, non_negative, "shrinkage")
        if self.bins != "mdl":
            set_attributes(self, bins=whole_number(self.bins, "bins", 2, MOST_BINS), is_cut_at_quantiles=True)

    def families(self, columns: Sequence[Column], **_: Any) -> Mapping[str, Family]:
        numbers = [column for column in columns if column.inferred_kind in Binned.accepts]
        found: dict[str, Family] = {column.name: self._binned for column in numbers}
        return found | {column.name: Categorical() for column in columns if column.kind == "boolean"}

    def category(self, family: Family) -> Family | None:
        """The family of a column as a category that may depend on others, from that which it has; None if it has none."""
        if family.over_columns or family.cell not in ("level", "boolean", "bin", "number", "place"):
            return None
        if family.accepts == NUMBERS:
            return self._binned
        return Categorical() if family.cell == "boolean" else family

    @property
    def _binned(self) -> Binned:
        return Binned(by="mdl") if self.bins == "mdl" else Binned(bins=self.bins)


@dataclass(frozen=True, kw_only=True)
class FoundParents(OneDependence):
    """The base class of the classifiers that find the parents of each category, and may then find weights."""

    weighted: bool | None = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighted is not None:
            checked(self, true_or_false, "weighted")

    def has_weights(self, *, has_target: bool = True) -> bool:
        """Whether the features have weights, which need a target."""
        return has_target if self.weighted is None else self.weighted


@dataclass(frozen=True)
class TAN(FoundParents):
    """Tree-augmented naive Bayes, "tan": every category may depend on one other: `method=nbsql.TAN(shrinkage=5)`.

    The fit finds the tree over the categories with the largest sum of I(X; Y | class), and each category becomes conditional
    on its parent, an `nbsql.Conditional` (Friedman, Geiger and Goldszmidt, Bayesian network classifiers, Machine Learning 29,
    1997). Numbers without a family of their own are binned. Features that are not categories, and categories of more than a
    thousand values, are not part of the tree and have no parent.

    Args:
        shrinkage: as how many rows the estimate without the parent counts, the s of (n_cuv + s P(v | c)) / (n_cu + s) for the
            value v of a feature whose parent is u; None smooths by alpha.
        bins: how numbers are binned: "mdl" cuts them where the classes differ (`nbsql.Binned(by="mdl")`), which leaves whole
            a number that tells the classes apart only together with another; a number is that of their quantiles
            (10 without a target).
        weighted: whether the features then have weights, as of `nbsql.Weighted()`.

    >>> TAN(shrinkage=5)
    TAN(shrinkage=5.0, bins='mdl', weighted=False)
    """

    name: ClassVar[str] = "tan"


@dataclass(frozen=True)
class KDB(FoundParents):
    """Bayesian classifier of limited dependence, "kdb": a category may depend on k others: `method=nbsql.KDB(k=2)`.

    The categories stand in the order of what they say of the class, I(X; class), and the parents of each are the k before it
    with the largest I(X; Y | class) (Sahami, Learning limited dependence Bayesian classifiers, KDD 1996). Each is an
    `nbsql.Conditional`. Numbers without a family of their own are binned. Features that are not categories, and categories of
    more than a thousand values, have no parents and are none.

    Args:
        shrinkage: as how many rows the estimate without the last parent counts, the s of
            P(v | u, w, c) = (n_cuwv + s P(v | u, c)) / (n_cuw + s), and so on for each parent.
        bins: how numbers are binned, as for `nbsql.TAN`.
        weighted: whether the features then have weights, as of `nbsql.Weighted()`. By default (None) they have if there is a
            target, as deep counts are overconfident. They are learnt from likelihoods by the counts of the other folds; the
            parents are those of all rows.
        k: the largest number of parents; a category has fewer where fewer come before it. By default (None) it is 0, 1, 2 or 3,
            whichever has the lowest log loss of rows of held-out folds, all of them or some 20,000, with the same order and
            parents (Martinez, Webb, Chen and Zaidi, Scalable learning of Bayesian network classifiers, Journal of Machine
            Learning Research 17, 2016).

    >>> KDB(k=2)
    KDB(shrinkage=20.0, bins='mdl', weighted=None, k=2)
    """

    k: int | None = None
    shrinkage: float | None = field(default=20.0, kw_only=True)
    weighted: bool | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "kdb"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is not None:
            checked(self, whole_number, "k")


@dataclass(frozen=True, kw_only=True)
class AODE(OneDependence):
    """Averaged one-dependence estimators, "aode": each category is the parent in turn: `method=nbsql.AODE(least=30)`.

    P(c, x) is the mean over the features i of P(c) P(x_i | c) times the product over the others j of P(x_j | c, x_i). No tree
    has to be found, so the model follows from its counts alone (Webb, Boughton and Wang, Not so naive Bayes: aggregating
    one-dependence estimators, Machine Learning 58, 2005). Numbers without a family of their own are binned. Features that are
    not categories, and categories of more than a thousand values, take no part in the average.

    Args:
        shrinkage: as how many rows the estimate without the parent counts, the s of (n_cuv + s P(v | c)) / (n_cu + s) for the
            value v of a feature whose parent is u; None smooths by alpha.
        bins: how numbers are binned: "mdl" cuts them where the classes differ (`nbsql.Binned(by="mdl")`), which leaves whole
            a number that tells the classes apart only together with another; a number is that of their quantiles
            (10 without a target).
        least: how often a value must occur for its feature to be a parent in the rows with that value. A row without any parent
            is scored by naive Bayes. The paper uses 30, and Weka 1.

    >>> AODE(least=30)
    AODE(shrinkage=None, bins='mdl', least=30)
    """

    least: int = 1

    name: ClassVar[str] = "aode"
    added: ClassVar[tuple[type[Family], ...]] = (Pairs,)

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, whole_number, "least")
