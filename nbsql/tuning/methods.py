"""Classifiers other than naive Bayes, compared on the same folds with the families that were chosen for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from zlib import crc32

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.evaluation.refitted_folds import RefittedFolds, make_folds_for_spec
from nbsql.family import Binned, Categorical, Family
from nbsql.learning.collinear import features_with_covariance
from nbsql.learning.folds import Folds, resolve_settings
from nbsql.learning.interactions import triples
from nbsql.spec.classifier import Classifier
from nbsql.spec.dependence import AODE, KDB, TAN, FoundParents, OneDependence
from nbsql.spec.method import CUTS, QDA, VIEWS, Discriminant, Method, NaiveBayes, Weighted, method_named
from nbsql.spec.options import Options
from nbsql.tuning.budget import Budget
from nbsql.tuning.candidate_terms import DEFAULT, OUT, CandidateTerms, TreeTerms

# The methods that are tried by default. The others must be better than the first.
METHODS: tuple[Method, ...] = (
    "naive", "weighted", "lda", QDA(shrinkage=0.2), QDA(shrinkage=0.2, toward="pooled"), QDA(shrinkage=0.05, toward="pooled"),
    "aode", TAN(bins=10), KDB(2, weighted=True), KDB(2, bins=20, weighted=True),
    Weighted(penalty=10, views=True, triples=40, parents=2),
)  # fmt: skip

# What is not tried unasked.
MAX_WEIGHED = 300  # columns by classes: the products of all pairs are summed
MAX_WEIGHED_OF_TREE = 400  # the same where the columns depend on each other, which gains more
MAX_CUT = 20  # columns of which all pairs of quantiles are counted, or all products of numbers
MAX_SHRUNK = 64  # the same of products whose covariances are shrunk, which many columns need not determine
MAX_POOLED = 40  # the same where they are shrunk toward each other, which leaves columns collinear
MAX_PAIRED = 100  # columns of which every pair is scored
MIN_ROWS_OF_TREE = 5  # for each of more columns than may be cut that depends on others and has a weight


# What may raise an error of the scores of the first fold; None if no method is left before all folds are scored.
Check = Callable[[Markup], object] | None


class OutOfTimeError(Exception):
    """The budget is spent, so that a method is not tried."""


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
    whole = [each for each in by_loss() if OUT not in each.chosen.values()]  # a matrix has all columns
    found = next((each for each in whole if isinstance(each.method, QDA)), None)
    weighted = next((each for each in whole if isinstance(each.method, Weighted)), None)
    if weighted is None or found is None or found.method is None:
        return
    spec = resolve_settings(engine, source, [options_of(found)], fold)[0]
    columns = {name for each in features_with_covariance(spec) for name in each.columns}
    matrix = found.method.families([each for each in source.columns if each.name in columns], nulls="skip")
    name = f"{weighted.name.removesuffix(', calibrated')} with {found.method}"
    yield replace(weighted, name=name, calibrated=False, matrix=matrix)


def place_of_weights(tried: Mapping[int, Family], chosen: int, *, is_number: bool) -> int:
    """The candidate of a column that has a weight, unless its family is chosen.

    A number is cut where the classes differ, or a category if it has few values; a text has the words that were chosen.
    """
    if is_number:
        return max((place for place, each in tried.items() if each in (Categorical(), Binned(by="mdl"))), default=DEFAULT)
    return chosen if chosen in tried and tried[chosen].bag else DEFAULT


def reason_not_tried(method: Classifier, columns: int, classes: int, rows: int) -> str | None:
    """Why a method is not tried unasked on so many columns, classes and rows; None if it is."""
    is_weighed_tree = isinstance(method, FoundParents) and method.weighted
    most = MAX_WEIGHED_OF_TREE if is_weighed_tree else MAX_WEIGHED
    if (is_weighed_tree or isinstance(method, Weighted)) and columns * classes > most:
        return f"the weights of {columns} columns in {classes} classes take long; name it in methods to try it"
    if method.is_cut_at_quantiles and columns > MAX_CUT:
        return f"the pairs of the quantiles of {columns} columns take long; name it in methods to try it"
    if is_weighed_tree and columns > MAX_CUT and rows < MIN_ROWS_OF_TREE * columns:
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


def terms_of_tree(
    engine: Engine,
    source: Source,
    options: Options,
    terms: CandidateTerms,
    budget: Budget,
    check: Callable[[TreeTerms, str], object],
    *,
    folds: int,
    fold: str | None,
) -> TreeTerms:
    """What each feature of a tree says of the rows; its bins, its parents and its counts are those of the other folds.

    Raises OutOfTimeError if the budget is spent before a fold is begun, and what `check` raises of the first.
    """
    if budget.is_spent():
        raise OutOfTimeError
    with engine.part(f"cross-validating method {options.classifier.name!r}"), engine.temporaries() as name:
        spec = resolve_settings(engine, source, [options], fold)[0]
        known = terms.edges_by_fold
        cv = RefittedFolds(
            engine, source, [spec], name, folds=folds, fold=fold, rows_with_folds=terms.rows, edges_by_fold=known
        )
        if budget.is_spent():
            raise OutOfTimeError
        return terms.of_tree(cv, check)


def terms_of_added(
    engine: Engine, source: Source, options: Options, terms: CandidateTerms, *, folds: int, fold: str | None
) -> list[TreeTerms]:
    """What the features that a weighted method adds say of the rows, by the counts of the other folds.

    They are other views of a column, triples of columns, which are those of all rows, and matrices.
    """
    method = cast("Weighted", options.classifier)
    with engine.part("counting what weights add"), engine.temporaries() as name:
        spec = resolve_settings(engine, source, [options], fold)[0]
        views = {f"{each.name} {words}" for each in spec.features for words in VIEWS if words not in CUTS}
        found = [each for each in spec.features if each.name in views]
        found += [*triples(engine, spec, source, method.triples, terms.classes), *features_with_covariance(spec)]
        if not found:
            return []
        together = replace(spec, features=tuple(found), weighted=None)
        return [terms.of_features(Folds(engine, source, [together], name, folds=folds, fold=fold, rows_with_folds=terms.rows))]


def row_scores_by_method(
    engine: Engine,
    source: Source,
    options: Options,
    terms: CandidateTerms,
    temporary: Callable[[str], Markup],
    budget: Budget,
    check: Check,
    *,
    folds: int,
    fold: str | None,
) -> Markup:
    """Joint log-likelihoods of the rows by a method's models of the other folds: a table (sql/macros/evaluation/auto.sql).

    The options are those of a fit with the method, and `terms` has the rows of the folds with their keys. Raises OutOfTimeError
    if the budget is spent before a fold is begun, and what `check` raises of the table with the first fold.
    """
    if budget.is_spent():
        raise OutOfTimeError
    with engine.part(f"cross-validating method {options.classifier.name!r}"), engine.temporaries() as name:
        spec = resolve_settings(engine, source, [options], fold)[0]
        known = terms.edges_by_fold
        cv = make_folds_for_spec(
            engine, source, spec, name, folds=folds, fold=fold, rows_with_folds=terms.rows, edges_by_fold=known
        )
        if budget.is_spent():
            raise OutOfTimeError
        told_apart = crc32(repr(options).encode())  # which are longer than a name may be
        relation = temporary(f"scores by {options.classifier.name} {told_apart}")

        def queries() -> Iterator[Markup]:
            parts = ((part, group) for part, names in cv.parts(cv.specs[0]) for group in _with_first_apart(names, check))
            for number, (part, names) in enumerate(parts):
                models = cv.models(part, names)
                arguments = models.context, cv.scored(models), models.parameters, terms.classes
                yield engine.renderer.fragment("scores_of_models", *arguments)
                if number == 0 and check is not None:
                    check(relation)

        return engine.create_from_queries(f"scores by {options.classifier.name}", relation, queries())


def _with_first_apart(names: list[str], check: object) -> list[list[str]]:
    """Folds that are scored together, of which the first is apart if it is to be checked."""
    return [names] if check is None else [part for part in (names[:1], names[1:]) if part]


def kept_families(method: Classifier, families: Mapping[str, Family]) -> dict[str, Family]:
    """Those of the chosen families that another method cannot infer: texts as words and, among categories, numbers as such."""
    has_categories = isinstance(method, OneDependence)
    return {name: each for name, each in families.items() if each.bag or (has_categories and each == Categorical())}
