"""Classifiers other than naive Bayes, compared on the same folds with the families that were chosen for it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.family import Categorical, Family
from nbsql.learning.collinear import features_with_covariance
from nbsql.learning.folds import resolve_settings
from nbsql.spec.classifier import Classifier
from nbsql.spec.dependence import AODE, KDB, TAN, FoundParents, OneDependence
from nbsql.spec.method import BINS_OF_WEIGHTS, CUTS, QDA, Discriminant, Method, NaiveBayes, Weighted, method_named
from nbsql.spec.options import Options
from nbsql.tuning.candidate_terms import DEFAULT, OUT

# The methods that are tried by default. The others must be better than the first.
METHODS: tuple[Method, ...] = (
    "naive", "weighted", "lda", QDA(shrinkage=0.2), QDA(shrinkage=0.2, toward="pooled"), QDA(shrinkage=0.05, toward="pooled"),
    "aode", TAN(bins=10), KDB(2), KDB(2, bins=20),
    Weighted(penalty=10, views=True, triples=40, parents=2),
)  # fmt: skip

# What is not tried unasked.
MAX_WEIGHED = 300  # columns by classes: the products of all pairs are summed
MAX_WEIGHED_OF_TREE = 400  # the same where the columns depend on each other, which gains more
MAX_CUT = 20  # numbers of which all pairs of quantiles are counted, or all products
MAX_SHRUNK = 64  # the same of products whose covariances are shrunk, which many columns need not determine
MAX_POOLED = 40  # the same where they are shrunk toward each other, which leaves columns collinear
MAX_PAIRED = 100  # columns of which every pair is scored
MIN_ROWS = 25  # of fewer the folds differ in the rows of a class, from which weights of noise learn to tell it
MIN_ROWS_OF_TREE = 5  # for each of more columns than may be cut that depends on others and has a weight


@dataclass(frozen=True)
class Setting:
    """A setting to compare with others. Simpler settings come first, so that ties go to them."""

    name: str  # the name in the ranking
    chosen: Mapping[str, int]  # the number of the candidate of each column, for naive Bayes
    calibrated: bool  # whether a temperature is tried
    method: Classifier | None = None  # the classifier, if it is not naive Bayes
    matrix: Mapping[str, Family] = field(default_factory=dict)  # of numbers, a further feature by its name


def other_methods(methods: Any) -> list[tuple[str, Classifier]]:
    """The names and the classifiers to try besides naive Bayes. Raises InputError unless `methods` is a list of methods."""
    if isinstance(methods, (str, Classifier, Mapping)) or not isinstance(methods, Sequence):
        raise InputError(f"⟨methods⟩ must be a list of methods, such as ['naive', 'tan'], not {methods!r}")
    classifiers: dict[str, Classifier] = {}
    for each in methods:
        method = method_named(each)
        if not isinstance(method, NaiveBayes):
            classifiers[str(method)] = method
    return list(classifiers.items())


def settings_to_try(
    methods: Sequence[tuple[str, Classifier]],
    default: Mapping[str, int],
    own: Mapping[str, int],
    chosen: Sequence[Mapping[str, int]],
) -> list[Setting]:
    """The settings of the search, simpler ones first: those without chosen families, and those with them.

    `own` are the candidates of weights, and `chosen` those that the search has found, without a temperature and with it.
    """
    suffixes = ["", ", calibrated"][: len(chosen)]
    weighted = [(name, method) for name, method in methods if isinstance(method, Weighted) and not method.parents]
    others = [each for each in methods if each not in weighted]
    # A column that says nothing by itself may say something beside others.
    kept = {name: own[name] if place == OUT else place for name, place in chosen[-1].items()}
    return [
        *(Setting(f"default{suffix}", default, bool(suffix)) for suffix in suffixes),
        *(Setting(name, own, False, method) for name, method in weighted),
        *(Setting(f"families chosen{suffix}", each, bool(suffix)) for suffix, each in zip(suffixes, chosen, strict=True)),
        *(Setting(f"{name}, families chosen", chosen[-1], False, method) for name, method in weighted if chosen[-1] != own),
        *(Setting(name, kept, False, method) for name, method in others),
    ]


def settings_with_matrix(
    engine: Engine,
    source: Source,
    options_of: Callable[[Setting], Options],
    fold: str | None,
    by_loss: Callable[[], Sequence[Setting]],
) -> Iterator[Setting]:
    """The best weights, with the best matrix for each class as one more feature.

    `by_loss` are the settings that were judged, of the lowest log loss first, when the first of these is asked for.
    """
    judged = by_loss()
    found = next((each for each in judged if isinstance(each.method, QDA)), None)
    weighted = next((each for each in judged if isinstance(each.method, Weighted) and OUT not in each.chosen.values()), None)
    if weighted is None or found is None or found.method is None:
        return
    spec = resolve_settings(engine, source, [options_of(found)], fold)[0]
    columns = {name for each in features_with_covariance(spec) for name in each.columns}
    matrix = found.method.families([each for each in source.columns if each.name in columns], nulls="skip")
    name = " with ".join(each.name.removesuffix(", calibrated") for each in (weighted, found))
    yield replace(weighted, name=name, calibrated=False, matrix=matrix)


def without_columns(setting: Setting, columns: Collection[str]) -> Setting:
    """A setting that leaves out columns, which its name says."""
    out = {name: OUT for name in columns if setting.chosen.get(name, OUT) != OUT}
    return replace(setting, name=f"{setting.name} without {listed(out)}", chosen={**setting.chosen, **out}) if out else setting


def place_of_weights(tried: Mapping[int, Family], chosen: int, *, is_number: bool) -> int:
    """The candidate of a column that has a weight, unless its family is chosen.

    A number is cut where the classes differ, or a category if it has few values; a text has the words that were chosen.
    """
    if is_number:
        return max((place for place, each in tried.items() if each in (Categorical(), BINS_OF_WEIGHTS)), default=DEFAULT)
    return chosen if chosen in tried and tried[chosen].bag else DEFAULT


def reason_not_tried(method: Classifier, columns: int, classes: int, rows: int, numbers: int = 0) -> str | None:
    """Why a method is not tried unasked on so many columns, numbers among them, classes and rows; None if it is."""
    if rows < MIN_ROWS:
        return f"{rows} rows are few to tell methods apart; name it in methods to try it"
    is_weighed_tree = isinstance(method, FoundParents) and method.has_weights()
    most = MAX_WEIGHED_OF_TREE if is_weighed_tree else MAX_WEIGHED
    if (is_weighed_tree or isinstance(method, Weighted)) and columns * classes > most:
        return f"the weights of {columns} columns in {classes} classes take long; name it in methods to try it"
    if method.is_cut_at_quantiles and numbers > MAX_CUT:
        return f"the pairs of the quantiles of {numbers} columns take long; name it in methods to try it"
    if (
        (is_weighed_tree or (isinstance(method, Weighted) and method.parents))
        and columns > MAX_CUT
        and rows < MIN_ROWS_OF_TREE * columns
    ):
        return f"{rows:,} rows are few for the weights of {columns} columns that depend on others; name it in methods to try it"
    if isinstance(method, AODE) and columns > MAX_PAIRED:
        return f"the pairs of {columns} columns take long; name it in methods to try it"
    of_covariances = MAX_CUT
    if isinstance(method, QDA) and method.shrinkage:
        of_covariances = MAX_POOLED if method.toward == "pooled" else MAX_SHRUNK
    if isinstance(method, Discriminant) and columns > of_covariances:
        return f"the covariances of {columns} columns take long; name it in methods to try it"
    return None


def can_differ(method: Classifier, columns: int, numbers: int, flags: int = 0) -> bool:
    """Whether a method can differ from the others, for so many columns: numbers, and flags, which are 0 or 1, among them.

    Quadratic ones need most columns: their covariances are costly, and gain little where categories tell the classes apart.
    """
    if isinstance(method, Discriminant):
        return numbers > max(1, columns / 2 if isinstance(method, QDA) else 1)
    return numbers + flags > 0 or not method.is_cut_at_quantiles or (isinstance(method, Weighted) and method.triples > 0)


def adds_features(method: Classifier, families: Sequence[Family]) -> bool:
    """Whether a method makes several features of a column, or one of a pair."""
    if isinstance(method, Weighted) and method.pairs:
        return True
    return any(words not in CUTS for each in families for words in method.other_views(each, is_own=False))


def kept_families(method: Classifier, families: Mapping[str, Family]) -> dict[str, Family]:
    """Those of the chosen families that another method cannot infer: texts as words and, among categories, numbers as such."""
    has_categories = isinstance(method, OneDependence)
    return {name: each for name, each in families.items() if each.bag or (has_categories and each == Categorical())}
