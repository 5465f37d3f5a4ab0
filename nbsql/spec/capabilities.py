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
        refusals: for each unsupported kind the message of the error, with {title} for the model and {bound} for its parts that
            are estimated from all rows at once, whose counts cannot be added.
        error: the class of the error.
        title: the title in an example.
    """

    text: str
    refusals: Mapping[str, str]
    error: type[NbsqlError] = ModelError
    title: str = "the model"


def _no_segments(what: str) -> str:
    return f"{{title}} has one model per segment, which {what} does not support; fit it without segment_by"


def _no_components(what: str) -> str:
    return f"{{title}} has several components per class, which {what} does not support; fit it without components"


def _no_average(what: str) -> str:
    return f"{{title}} is an average of several models, which {what} does not support; fit it with method='tan'"


def _no_age(what: str, cure: str) -> str:
    return f"{{title}} has counts that decrease with age, which {what} does not support; {cure}"


def _not_generative(what: str) -> str:
    return f"{{title}} is a logistic regression, which has no {what}; fit it with method='naive'"


def _no_counts(cure: str) -> str:
    return f"{{title}} was made from probabilities and has no counts; {cure}"


_FIT_TO_ROWS = "fit a model to rows instead"

_MAKE_ANEW = "make it anew with nbsql.from_tables"

_ON_NEW_ROWS = "calibrate it with folds=None on rows that it was not fitted on"

_UNMERGED = {
    "probabilities": _no_counts("merge models that were fitted to rows"),
    "logistic": _not_generative("counts to merge"),
}

_ON_OTHER_ROWS = "fit a model to some of the rows, and evaluate it on the others"

_BY_FOLDS = {
    "segments": f"cross-validation does not support segment_by; {_ON_OTHER_ROWS}",
    "components": f"cross-validation does not support components, which are found from all rows at once; {_ON_OTHER_ROWS}",
    "logistic": "cross-validation does not support method='logistic', which learns its weights from all rows at once; "
    f"{_ON_OTHER_ROWS}",
}

_SEARCHED = {
    **_BY_FOLDS,
    "em": "a search over settings counts the rows only once, but method='em' counts them anew for each setting; "
    "cross-validate each setting by itself",
    "half_life": "a search over settings does not support weight=nbsql.HalfLife(...); search without it, then fit with it",
}

_HALF_LIFE_BY_SEGMENT = "weight=nbsql.HalfLife(...) and segment_by cannot be combined; leave out one of them"

_HALF_LIFE_BY_COMPONENT = "weight=nbsql.HalfLife(...) and components cannot be combined; leave out one of them"

USES: dict[str, Use] = {
    "slice_by": Use(
        "`slice_by`",
        {
            "segments": "slice_by and segment_by cannot be combined; leave out one of them",
            "components": "slice_by and components cannot be combined; leave out one of them",
            "half_life": "weight=nbsql.HalfLife(...) has slices of its own, one per half-life; leave out slice_by",
        },
        InputError,
    ),
    "segment_by": Use(
        "`segment_by`",
        {
            "components": "segment_by and components cannot be combined; leave out one of them",
            "logistic": "method='logistic' does not support segment_by; leave out segment_by, or fit a model for each segment",
            "em": "method='em' does not support segment_by; leave out segment_by, or fit a model for each segment",
            "pairs": "method='aode' does not support segment_by; leave out segment_by, or fit a model for each segment",
            "half_life": _HALF_LIFE_BY_SEGMENT,
        },
        InputError,
    ),
    "half_life": Use(
        "`weight=nbsql.HalfLife`",
        {
            "segments": _HALF_LIFE_BY_SEGMENT,
            "components": _HALF_LIFE_BY_COMPONENT,
            "logistic": "method='logistic' needs weights that do not change with time; use a column of weights, weight='w'",
            "em": "method='em' needs weights that do not change with time; use a column of weights, weight='w'",
        },
        InputError,
    ),
    "prior": Use(
        "another prior than the empirical one",
        {"logistic": "method='logistic' learns the bias of each class from the rows; leave out prior"},
        InputError,
    ),
    "classes": Use(
        "`classes`",
        {
            "segments": "classes and segment_by cannot be combined, because each segment has classes of its own; "
            "leave out one of them",
            "components": "components are found in the rows of each class, and declared classes may have no rows; "
            "leave out classes",
            "logistic": "method='logistic' needs rows of every class, and declared classes may have no rows; leave out classes",
        },
        InputError,
    ),
    "choosing": Use(
        "`features=nbsql.Best` or `nbsql.Forward`",
        {
            "components": "features=nbsql.{title}(...) does not support components; list the features by name",
            "em": "features=nbsql.{title}(...) does not support method='em'; list the features by name",
            "pairs": "features=nbsql.{title}(...) does not support method='aode'; list the features by name",
            "half_life": "features=nbsql.{title}(...) does not support weight=nbsql.HalfLife(...); list the features by name",
        },
        InputError,
        title="Best",
    ),
    "fit_sql": Use(
        "`fit_sql`",
        {
            "logistic": "method='logistic' runs statements until its weights converge, so they cannot be listed before; "
            "fit the model instead",
            "components": "components are found by statements that depend on the rows, so they cannot be listed before; "
            "fit the model instead",
            "em": "method='em' runs statements until its counts converge, so they cannot be listed before; "
            "fit the model instead",
        },
        InputError,
    ),
    "cross_validate": Use("`cross_validate`", _BY_FOLDS, InputError),
    "leave_one_out": Use(
        '`cross_validate(folds="loo")`',
        {
            **_BY_FOLDS,
            "em": "folds='loo' does not support method='em', which counts the other rows anew for each row; use folds=10",
            "pairs": "folds='loo' does not support method='aode'; use folds=10",
        },
        InputError,
    ),
    "search": Use('`sweep`, `auto`, `families="auto"`', _SEARCHED, InputError),
    "log_evidence": Use(
        '`log_evidence`, `log_likelihood`, `review(by="evidence")`',
        {"logistic": _not_generative("likelihood of the features, ln p(x)")},
    ),
    "labelled": Use(
        "`log_likelihood(labelled=True)`", {"logistic": _not_generative("likelihood of features and class, ln p(x, c)")}
    ),
    "predict_one": Use("`predict_one`", {"segments": _no_segments("predict_one")}),
    "sample": Use(
        "`sample`",
        {
            "segments": _no_segments("sample"),
            "logistic": _not_generative("distributions to draw rows from"),
            "pairs": _no_average("sample"),
        },
    ),
    "impute": Use(
        "`impute`, `predict(target=...)`",
        {
            "segments": _no_segments("predicting a column from the others"),
            "components": _no_components("predicting a column from the others"),
            "logistic": _not_generative("likelihoods to predict a column from the others"),
            "pairs": _no_average("predicting a column from the others"),
        },
    ),
    "inline": Use("`sql(..., inline=True)`", {"segments": _no_segments("a query that contains the parameters")}),
    "dialect": Use(
        "`sql(..., dialect=...)`",
        {
            "segments": _no_segments("a query in another dialect"),
            "components": _no_components("a query in another dialect"),
        },
    ),
    "linear": Use(
        "`linear`",
        {
            "segments": _no_segments("the linear form"),
            "components": _no_components("the linear form"),
            "pairs": _no_average("the linear form"),
        },
    ),
    "quadratic": Use(
        "`quadratic`",
        {
            "segments": _no_segments("the quadratic form"),
            "components": _no_components("the quadratic form"),
            "pairs": _no_average("the quadratic form"),
        },
    ),
    "calibrate": Use("`calibrate(..., folds=None)`", {"segments": _no_segments("calibration")}),
    "calibrate_by_folds": Use(
        "`calibrate`",
        {
            "segments": _no_segments("calibration"),
            "components": "{title} has several components per class, which are found from all rows at once, so that no fold "
            f"can be left out; {_ON_NEW_ROWS}",
            "em": "{title} was fitted by method='em', which learns from all rows at once, so that no fold can be left out; "
            f"{_ON_NEW_ROWS}",
            "probabilities": _no_counts("calibrate it with folds=None"),
            "half_life": _no_age("calibration by folds", _ON_NEW_ROWS),
            "bound": f"{{bound}} is estimated from all rows at once, so that no fold can be left out; {_ON_NEW_ROWS}",
        },
    ),
    "change": Use(
        "`update`, `forget`",
        {
            "probabilities": _no_counts(_MAKE_ANEW),
            "bound": "{title} cannot be changed, because {bound} is estimated from all rows at once; fit it anew",
        },
    ),
    "ledger": Use("`rollback`, `compact`", {"probabilities": _no_counts(_MAKE_ANEW)}),
    "as_of": Use("`as_of`", {"logistic": _not_generative("counts of the batches that were there at a time")}),
    "drift": Use("`drift`, `monitor`, `relevance`", {"probabilities": _no_counts(_FIT_TO_ROWS)}),
    "discrimination": Use("`discrimination`, `profile` of values", {"probabilities": _no_counts(_FIT_TO_ROWS)}),
    "scorecard": Use(
        "`scorecard`",
        {
            "segments": _no_segments("a scorecard"),
            "components": _no_components("a scorecard"),
            "logistic": _not_generative("likelihoods to compute points from"),
            "pairs": _no_average("a scorecard"),
            "probabilities": _no_counts(_FIT_TO_ROWS),
            "bound": "{bound} has no values or bins to give points to; fit {title} without it",
        },
    ),
    "densities": Use(
        "`profile` of a number",
        {
            "segments": _no_segments("a profile"),
            "components": _no_components("a profile"),
            "logistic": _not_generative("densities"),
        },
    ),
    "contributions": Use(
        "`plot.nomogram`",
        {
            "segments": _no_segments("a nomogram"),
            "components": _no_components("a nomogram"),
            "pairs": _no_average("a nomogram"),
        },
    ),
    "derive": Use(
        "`slices`, `window`",
        {
            "segments": "{title} has segments, but no slices; fit it with slice_by instead",
            "components": "{title} has components, but no slices; fit it with slice_by instead",
            "probabilities": _no_counts(_FIT_TO_ROWS),
            "logistic": _not_generative("counts of slices"),
        },
    ),
    "least": Use(
        "`export(least=...)`",
        {
            "probabilities": _no_counts("export it without least"),
            "half_life": _no_age("least", "fit it without a half-life"),
            "components": _no_components("least"),
            "logistic": _not_generative("counts to leave out"),
            "em": "{title} was fitted by method='em', which counts fractions of rows; fit it with method='naive' to use least",
            "pairs": "{title} counts pairs of values, from which counts that are left out could be computed; "
            "fit it with method='naive'",
        },
    ),
    "epsilon": Use(
        "`export(epsilon=...)`",
        {
            "probabilities": _no_counts("export it without epsilon"),
            "segments": "{title} has segments, whose names reveal which values the rows have; fit it without segment_by",
            "half_life": _no_age("epsilon", "fit it without a half-life"),
            "components": "{title} has several components per class, which are found from all rows at once, so that one row "
            "can change every count; fit it without components",
            "em": "{title} was fitted by method='em', which learns from all rows at once, so that one row can change every "
            "count; fit it with method='naive'",
            "pairs": "{title} counts each row once for every pair of its values; fit it with method='naive'",
            "bound": "{bound} is estimated from all rows at once, so that one row can change every count; "
            "fit {title} without it",
        },
    ),
    "merge": Use("`nbsql.merge`", _UNMERGED),
    "merge_several": Use(
        "`nbsql.merge` of several",
        {
            **_UNMERGED,
            "bound": "{title} cannot be merged, because {bound} is estimated from all rows at once; fit one model to all rows",
        },
    ),
    "from_statistics": Use(
        "`nbsql.from_statistics`",
        {
            "segments": _no_segments("counting in another engine"),
            "components": _no_components("counting in another engine"),
            "half_life": _no_age("counting in another engine", "fit it without a half-life, or where the rows are"),
            "probabilities": _no_counts(_FIT_TO_ROWS),
            "logistic": "{title} is a logistic regression, whose weights cannot be computed from counts; "
            "fit it with method='naive', or where the rows are",
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
        raise ModelError(f"{title} has no components; fit it with method=nbsql.Mixture(2), for example")


def check_segmented(spec: Spec, title: str) -> None:
    """Raise ModelError unless the model has segments."""
    if spec.segment_by is None:
        raise ModelError(f'{title} has no segments; fit it with segment_by="region", for example')


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
    "complement": Trait("a complement model", lambda family: family.complement),
    "weighed": Trait("{family} with tfidf or norm", lambda family: family.reweights_tokens),
    "best": Trait("{family} with best", lambda family: family.value_limit is not None),
    "several": Trait("{family} of several columns", lambda family: family.over_columns),
    "bag": Trait("{family}, a bag of words", lambda family: family.bag),
    "gaps": Trait("{family} with nulls='category'", lambda family: family.nulls == "category"),
}

_OTHER, _OPTION = "; choose another family", "; leave that option out"
_BAG, _TOGETHER = ", which has no single value to predict; choose another column", "; choose a column with a family of its own"

# For each use the traits that it does not support, each with the end of the error message.
FEATURES: dict[str, dict[str, str]] = {
    "segment_by": {
        "kernel": _OTHER, "covariance": _OTHER, "conditional": _OTHER, "backoff": _OTHER, "presence": _OPTION,
        "complement": _OTHER, "weighed": _OPTION, "best": _OPTION,
    },
    "components": {"covariance": _OTHER, "backoff": _OTHER, "best": _OPTION, "complement": _OTHER},
    "classes": {"covariance": _OTHER, "kernel": _OTHER},
    "method='em'": {
        "covariance": _OTHER, "backoff": _OTHER, "complement": _OTHER, "weighed": _OPTION, "best": _OPTION,
    },
    "nbsql.Forward": {"complement": _OTHER},
    "impute": {
        "covariance": _TOGETHER, "backoff": _TOGETHER,
        "presence": _BAG, "complement": _BAG, "weighed": _BAG, "best": _BAG, "several": _TOGETHER, "bag": _BAG,
        "gaps": ", so that a missing value is a category of its own; fit it with nulls='skip'",
    },
}  # fmt: skip


def check_features(features: Iterable[Feature], use: str) -> None:
    """Raise InputError unless the use supports all features."""
    for feature in features:
        for trait, ending in FEATURES[use].items():
            if TRAITS[trait].matches(feature.family):
                text = TRAITS[trait].text.format(family=feature.family.name)
                raise InputError(f"{use} does not support {feature.name!r}, which is {text}{ending}")
