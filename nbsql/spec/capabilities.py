"""The tables of capabilities: which uses each kind of model supports, and which uses each kind of feature supports.

The errors are raised from these tables, and the page docs/reference/capabilities.md and its tests are generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nbsql.errors import InputError, ModelError, NbsqlError, listed
from nbsql.family import Family
from nbsql.spec.method import AODE
from nbsql.spec.spec import Feature, Spec


@dataclass(frozen=True)
class Kind:
    """A kind of model that some uses do not support.

    Attributes:
        text: the name of the kind on the page.
        matches: whether a spec is of this kind.
    """

    text: str
    matches: Callable[[Spec], bool]


KINDS: dict[str, Kind] = {
    "segments": Kind("`segment_by`", lambda spec: spec.segment_by is not None),
    "components": Kind("`nbsql.Mixture`", lambda spec: spec.components is not None),
    "logistic": Kind('`method="logistic"`', lambda spec: spec.logistic is not None),
    "half_life": Kind("`nbsql.HalfLife`", lambda spec: spec.half_life is not None),
    "em": Kind('`method="em"`', lambda spec: spec.em is not None),
    "pairs": Kind(
        '`method="aode"`',
        lambda spec: isinstance(spec.dependence, AODE) or any(feature.family.name == "pairs" for feature in spec.features),
    ),
    "probabilities": Kind("`nbsql.from_tables`", lambda spec: spec.given),
    "bound": Kind("what depends on all rows", lambda spec: bool(spec.non_additive_parts)),
}


@dataclass(frozen=True)
class Use:
    """A use of a model: a method, or an option of a fit.

    Attributes:
        text: the name of the use on the page.
        refusals: for each unsupported kind the message of the error, with {title} for the model and {bound} for its parts whose
            counts cannot be added.
        error: the class of the error.
        title: the title in an example.
    """

    text: str
    refusals: Mapping[str, str]
    error: type[NbsqlError] = ModelError
    title: str = "the model"


def _needs_one_model(what: str) -> str:
    return f"{{title}} has a model a segment, and {what} takes one; fit it without segment_by"


def _needs_whole_classes(what: str) -> str:
    return f"{{title}} has classes of several components, and {what} takes whole ones; fit it without components"


def _has_no_counts(what: str) -> str:
    return f"{{title}} is logistic: it tells classes apart, and has no {what}; fit it with method='naive'"


_IS_AVERAGE = "{title} is a mean over features that the others depend on, and no sum of them; fit it with method='tan'"

_NO_COUNTS = "{title} was made from probabilities and has no counts; make it anew with nbsql.from_tables"

_NO_PARTIAL_COUNTS = _has_no_counts("counts that a part of it could score by")

_UNMERGED = {"probabilities": _NO_COUNTS, "logistic": _has_no_counts("counts that a merged model could score by")}

_BY_FOLDS = {
    "segments": "cross-validation takes no segment_by: the folds are counted where the segments would be",
    "components": "cross-validation takes no components: they are found from all rows, those of each fold too",
    "logistic": "method='logistic' learns its weights from all rows at once, so no fold can be taken away; "
    "fit it on some rows, and evaluate it on others",
}

_SEARCHED = {
    **_BY_FOLDS,
    "em": "method='em' shares rows out anew in every fit, and a search counts them once for all; cross_validate each setting",
    "half_life": "a search counts rows once for all, and a half-life does not; search without it, then fit",
}

_HALF_LIVES = "weight=nbsql.HalfLife(...) keeps counts by half-lives, and not by segment; leave out segment_by"

USES: dict[str, Use] = {
    "slice_by": Use(
        "`slice_by`",
        {
            "segments": "a model has slices or segments; leave out slice_by or segment_by",
            "components": "a model has components, or it has slices or segments; leave out components or slice_by",
            "half_life": "weight=nbsql.HalfLife(...) makes slices of its own, the half-lives; leave out slice_by",
        },
        InputError,
    ),
    "segment_by": Use(
        "`segment_by`",
        {
            "components": "a model has components, or it has slices or segments; leave out components or segment_by",
            "logistic": "method='logistic' has one set of weights; leave out segment_by",
            "em": "method='em' shares rows out by one model; leave out segment_by",
            "pairs": "method='aode' has one table of pairs; leave out segment_by",
            "half_life": _HALF_LIVES,
        },
        InputError,
    ),
    "half_life": Use(
        "`weight=nbsql.HalfLife`",
        {
            "segments": _HALF_LIVES,
            "components": "components are counted apart, and half-lives too; leave out components or the half-life",
            "logistic": "method='logistic' learns weights from rows, once for all; give it a column of weights, weight='w'",
            "em": "method='em' shares rows out, once for all; give it a column of weights, weight='w'",
        },
        InputError,
    ),
    "prior": Use(
        "another prior than the empirical one",
        {"logistic": "method='logistic' learns the bias of every class; leave out prior"},
        InputError,
    ),
    "classes": Use(
        "`classes`",
        {
            "segments": "classes does not go with segment_by, whose segments have classes of their own; leave out one of them",
            "components": "components are found in the rows of a class, and one of classes may have none; leave out classes",
            "logistic": "method='logistic' learns weights from rows of every class; leave out classes",
        },
        InputError,
    ),
    "choosing": Use(
        "`features=nbsql.Best` or `nbsql.Forward`",
        {
            "components": "components does not take features=nbsql.{title}(...); name the features",
            "em": "method='em' does not take features=nbsql.{title}(...); name the features",
            "pairs": "method='aode' does not take features=nbsql.{title}(...), as its pairs are of all; name the features",
            "half_life": "features=nbsql.{title}(...) goes by counts that do not age; name the features",
        },
        InputError,
        title="Best",
    ),
    "fit_sql": Use(
        "`fit_sql`",
        {
            "logistic": "the statements of method='logistic' are repeated until its weights stand still; fit it instead",
            "components": "the statements of components follow from the rows, scan by scan; fit, or leave components out",
            "em": "the statements of method='em' are repeated until the evidence stands still; fit it instead",
        },
        InputError,
    ),
    "cross_validate": Use("`cross_validate`", _BY_FOLDS, InputError),
    "leave_one_out": Use(
        '`cross_validate(folds="loo")`',
        {
            **_BY_FOLDS,
            "em": "folds='loo' takes a row out of the counts as it is scored, and method='em' counts others by it; "
            "use folds=10",
            "pairs": "folds='loo' takes a row out of the counts as it is scored, and method='aode' looks up pairs of values; "
            "use folds=10",
        },
        InputError,
    ),
    "search": Use('`sweep`, `auto`, `families="auto"`', _SEARCHED, InputError),
    "log_evidence": Use('`log_evidence`, `log_likelihood`, `review(by="evidence")`', {"logistic": _has_no_counts("ln p(x)")}),
    "labelled": Use("`log_likelihood(labelled=True)`", {"logistic": _has_no_counts("ln p(x, c)")}),
    "predict_one": Use("`predict_one`", {"segments": _needs_one_model("predict_one")}),
    "sample": Use(
        "`sample`", {"segments": _needs_one_model("a sample"), "logistic": _has_no_counts("rows to draw"), "pairs": _IS_AVERAGE}
    ),
    "impute": Use(
        "`impute`, `predict(target=...)`",
        {
            "segments": _needs_one_model("what a column is by the others"),
            "components": _needs_whole_classes("what a column is by the others"),
            "logistic": _has_no_counts("likelihoods of its columns"),
            "pairs": _IS_AVERAGE,
        },
    ),
    "inline": Use("`sql(..., inline=True)`", {"segments": _needs_one_model("a query with its numbers")}),
    "dialect": Use(
        "`sql(..., dialect=...)`",
        {
            "segments": _needs_one_model("a query with its numbers"),
            "components": _needs_whole_classes("a query in another dialect"),
        },
    ),
    "linear": Use(
        "`linear`",
        {
            "segments": _needs_one_model("its linear form"),
            "components": _needs_whole_classes("its linear form"),
            "pairs": _IS_AVERAGE,
        },
    ),
    "quadratic": Use(
        "`quadratic`",
        {
            "segments": _needs_one_model("its quadratic form"),
            "components": _needs_whole_classes("its quadratic form"),
            "pairs": _IS_AVERAGE,
        },
    ),
    "calibrate": Use("`calibrate(..., folds=None)`", {"segments": _needs_one_model("a calibration")}),
    "calibrate_by_folds": Use(
        "`calibrate`",
        {
            "segments": _needs_one_model("a calibration"),
            "components": _needs_whole_classes("a calibration by folds"),
            "em": "{title} has counted rows without a class by what all others say, so no fold can be taken away; "
            "calibrate on rows that the model has not learnt, with folds=None",
            "probabilities": _NO_COUNTS,
            "half_life": "{title} has counts that age, and folds are of rows that weigh what they do; "
            "calibrate on rows that the model has not learnt, with folds=None",
            "bound": "{bound} depends on all rows at once, so no fold can be taken away; "
            "calibrate on rows that the model has not learnt, with folds=None",
        },
    ),
    "change": Use(
        "`update`, `forget`",
        {"probabilities": _NO_COUNTS, "bound": "{title} cannot change: {bound} depends on all rows at once; fit it anew"},
    ),
    "ledger": Use("`rollback`, `compact`", {"probabilities": _NO_COUNTS}),
    "as_of": Use("`as_of`", {"logistic": _NO_PARTIAL_COUNTS}),
    "drift": Use("`drift`, `monitor`, `relevance`", {"probabilities": _NO_COUNTS}),
    "discrimination": Use("`discrimination`, `profile` of values", {"probabilities": _NO_COUNTS}),
    "scorecard": Use(
        "`scorecard`",
        {
            "segments": _needs_one_model("a scorecard"),
            "components": _needs_whole_classes("a scorecard"),
            "logistic": _has_no_counts("likelihoods to weigh against each other"),
            "pairs": _IS_AVERAGE,
            "probabilities": _NO_COUNTS,
            "bound": "{bound} has no values or bins to give points to; leave it out of {title}",
        },
    ),
    "densities": Use(
        "`profile` of a number",
        {
            "segments": _needs_one_model("a profile"),
            "components": _needs_whole_classes("a profile"),
            "logistic": _has_no_counts("densities"),
        },
    ),
    "contributions": Use(
        "`plot.nomogram`",
        {"segments": _needs_one_model("a nomogram"), "components": _needs_whole_classes("a nomogram"), "pairs": _IS_AVERAGE},
    ),
    "derive": Use(
        "`slices`, `window`",
        {
            "segments": "{title} has segments, and no slices; fit it with slice_by instead",
            "components": "{title} has components, and no slices; fit it with slice_by instead",
            "probabilities": _NO_COUNTS,
            "logistic": _NO_PARTIAL_COUNTS,
        },
    ),
    "least": Use(
        "`export(least=...)`",
        {
            "probabilities": _NO_COUNTS,
            "half_life": "{title} has counts that age, which are not of rows; least takes a model without a half-life",
            "components": "{title} has components, whose centres are those of few rows; least takes a model without",
            "logistic": _has_no_counts("counts that it is scored by"),
            "em": "{title} has counted rows without a class in parts, which are not rows; least takes a model without",
            "pairs": "{title} counts pairs of values, and what is left out follows from the rest; fit it with method='naive'",
        },
    ),
    "epsilon": Use(
        "`export(epsilon=...)`",
        {
            "probabilities": _NO_COUNTS,
            "segments": "{title} has segments, whose names tell of rows; epsilon takes a model without",
            "half_life": "{title} has counts that age, which a row changes by more than 1; epsilon takes a model without",
            "components": "{title} has components, which follow from all rows; epsilon takes a model without",
            "em": "{title} has counted rows by what all others say; epsilon takes a model without",
            "pairs": "{title} counts a row in every pair of its values; fit it with method='naive'",
            "bound": "{bound} depends on all rows at once, so that one changes every count; epsilon takes a model without",
        },
    ),
    "merge": Use("`nbsql.merge`", _UNMERGED),
    "merge_several": Use(
        "`nbsql.merge` of several",
        {**_UNMERGED, "bound": "{title} cannot be merged: {bound} depends on all rows at once"},
    ),
    "from_statistics": Use(
        "`nbsql.from_statistics`",
        {
            "segments": _needs_one_model("what another engine has counted"),
            "components": _needs_whole_classes("what another engine has counted"),
            "half_life": "{title} ages its rows, and what another engine has counted has no age; fit it where it is",
            "probabilities": _NO_COUNTS,
            "logistic": "{title} is logistic, and its weights do not follow from counts; fit it where it is",
        },
    ),
}


def check(spec: Spec, use: str, title: str = "") -> None:
    """Raise the error of a use unless it supports the model, which messages call `title`."""
    for kind, sentence in USES[use].refusals.items():
        if KINDS[kind].matches(spec):
            raise USES[use].error(sentence.format(title=title, bound=listed(spec.non_additive_parts)))


def check_components(spec: Spec, title: str) -> None:
    """Raise ModelError unless the classes of the model have components."""
    if spec.components is None:
        raise ModelError(f"{title} has no components; fit it with method=nbsql.Mixture(2), say")


def check_segmented(spec: Spec, title: str) -> None:
    """Raise ModelError unless the model has segments."""
    if spec.segment_by is None:
        raise ModelError(f'{title} has no segments; fit it with segment_by="region", say')


# Features. -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trait:
    """A trait of a feature that some uses do not support: its text in messages, and the test whether a family has it."""

    text: str  # {family} stands for the family's name
    matches: Callable[[Family], bool]


TRAITS: dict[str, Trait] = {
    "kernel": Trait("{family}", lambda family: family.name == "kernel"),
    "covariance": Trait("{family}", lambda family: family.name == "multivariate_gaussian"),
    "conditional": Trait("{family}", lambda family: family.name == "conditional"),
    "backoff": Trait("{family} with a backoff", lambda family: family.backs_off),
    "presence": Trait("{family} with event='bernoulli'", lambda family: family.presence),
    "complement": Trait("a complement", lambda family: family.complement),
    "weighed": Trait("{family} with tfidf or norm", lambda family: family.reweights_tokens),
    "best": Trait("{family} with best", lambda family: family.value_limit is not None),
    "several": Trait("{family} of several columns", lambda family: family.over_columns),
    "bag": Trait("{family}, a bag of words", lambda family: family.bag),
    "gaps": Trait("{family} with nulls='category'", lambda family: family.nulls == "category"),
}

_OTHER, _OPTION = "; choose another family", "; leave that out"
_BAG, _TOGETHER = ", which have no one value to fill in", ": its columns depend on each other within a class"

# For each use the traits that it does not support, each with the end of the error message.
FEATURES: dict[str, dict[str, str]] = {
    "segment_by": {
        "kernel": _OTHER, "covariance": _OTHER, "conditional": _OTHER, "backoff": _OTHER, "presence": _OPTION,
        "complement": _OPTION, "weighed": _OPTION, "best": _OPTION,
    },
    "components": {"covariance": _OTHER, "backoff": _OTHER, "best": _OPTION, "complement": _OTHER},
    "classes": {"covariance": _OTHER, "kernel": _OTHER},
    "method='em'": {
        "covariance": _OTHER, "backoff": _OTHER, "complement": _OPTION, "weighed": _OPTION, "best": _OPTION,
    },
    "nbsql.Forward": {"complement": ": whether the prior counts depends on the other features"},
    "impute": {
        "covariance": _TOGETHER, "backoff": _TOGETHER,
        "presence": _BAG, "complement": _BAG, "weighed": _BAG, "best": _BAG, "several": _TOGETHER, "bag": _BAG,
        "gaps": ", so that a gap is a value of its own",
    },
}  # fmt: skip


def check_features(features: Iterable[Feature], use: str) -> None:
    """Raise InputError unless the use supports all features."""
    for feature in features:
        for trait, ending in FEATURES[use].items():
            if TRAITS[trait].matches(feature.family):
                text = TRAITS[trait].text.format(family=feature.family.name)
                raise InputError(f"{use} does not take {feature.name!r}, which is {text}{ending}")
