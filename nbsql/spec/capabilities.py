"""The table of capabilities: which uses each kind of model supports (those that each feature supports are in traits.py).

The errors are raised from these tables, and the page docs/reference/capabilities.md and its tests are generated from them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nbsql.errors import InputError, ModelError, NbsqlError, listed
from nbsql.spec.dependence import AODE, FoundParents
from nbsql.spec.method import OF_NO_CLASS
from nbsql.spec.spec import Spec


@dataclass(frozen=True)
class Kind:
    """A kind of model that some uses do not support: its name on the page, and whether a spec is of this kind."""

    text: str
    matches: Callable[[Spec], bool]


KINDS: dict[str, Kind] = {
    "segments": Kind("`segment_by`", lambda spec: spec.segment_by is not None),
    "components": Kind("`nbsql.Mixture`", lambda spec: spec.components is not None),
    "logistic": Kind('`method="logistic"`', lambda spec: spec.logistic is not None),
    "weighted": Kind('`method="weighted"`', lambda spec: spec.weighted is not None),
    "half_life": Kind("`nbsql.HalfLife`", lambda spec: spec.half_life is not None),
    "em": Kind('`method="em"`', lambda spec: spec.em is not None),
    "clusters": Kind('`method="clusters"`', lambda spec: spec.clusters is not None),
    "pairs": Kind(
        '`method="aode"`',
        lambda spec: isinstance(spec.dependence, AODE) or any(feature.family.kind == "pairs" for feature in spec.features),
    ),
    "probabilities": Kind("`nbsql.from_tables`", lambda spec: spec.given),
    "untargeted": Kind("`target=None`", lambda spec: not spec.has_target),
    "bound": Kind("features estimated from all rows at once", lambda spec: bool(spec.non_additive_parts)),
}


@dataclass(frozen=True)
class Use:
    """A use of a model: a method, or an option of a fit."""

    text: str  # the name of the use on the page
    # For each unsupported kind the message of the error, with {title} for the model and {bound} for its parts that are
    # estimated from all rows at once, whose counts cannot be added. {method} has the weights; {without} is a tree's cure.
    refusals: Mapping[str, str]
    error: type[NbsqlError] = ModelError
    title: str = "the model"  # in an example


# What is said of a model of each kind by a use, {what}, that does not support it.
_UNSUPPORTED = {
    "segments": "{{title}} has one model per segment, which {what} does not support; fit it without ⟨segment_by⟩",
    "components": "{{title}} has several components per class, which {what} does not support; fit it without ⟨components⟩",
    "pairs": "{{title}} is an average of several models, which {what} does not support; fit it with ⟨method='naive'⟩",
    "untargeted": "{{title}} has no target, and so no classes for {what}; it finds ⟨unusual()⟩ rows",
}
_HALF_LIFE = "⟨weight=nbsql.HalfLife(...)⟩"
_FIT_TO_ROWS = "fit a model to rows instead"
_ON_NEW_ROWS = "use ⟨folds=None⟩, on rows that it was not fitted on"
_ON_OTHER_ROWS = "fit a model to some of the rows, and evaluate it on the others"


def _fit(text: str, title: str = "the model", /, **refusals: str) -> Use:
    """An option of a fit, or what takes the options of one."""
    return Use(text, refusals, InputError, title)


def _model(text: str, what: str = "", /, *kinds: str, **refusals: str) -> Use:
    """A use of a model, which is `what` in the messages of the kinds that it does not support; others have their own."""
    return Use(text, {kind: _UNSUPPORTED[kind].format(what=what) for kind in kinds} | refusals)


def _apart(one: str, other: str) -> str:
    return f"{one} and {other} cannot be combined; leave out one of them"


def _no_age(what: str, cure: str) -> str:
    return f"{{title}} has counts that decrease with age, which {what} does not support; {cure}"


def _not_generative(what: str) -> str:
    return f"{{title}} is a logistic regression, which has no {what}; fit it with ⟨method='naive'⟩"


def _no_likelihood(what: str) -> str:
    return f"{{title}} has weights, by which its scores are no {what}; fit it with ⟨method='naive'⟩{{without}}"


def _no_counts(cure: str = _FIT_TO_ROWS) -> str:
    return f"{{title}} was made from probabilities and has no counts; {cure}"


def _method_by_segment(method: str) -> str:
    return f"{method} does not support ⟨segment_by⟩; leave out ⟨segment_by⟩, or fit a model for each segment"


def _steady_weights(method: str) -> str:
    return f"{method} needs weights that do not change with time; use a column of weights, ⟨weight='w'⟩"


def _rows_of_all_classes(method: str) -> str:
    return f"{method} needs rows of every class, and declared classes may have no rows; leave out ⟨classes⟩"


def _until_converged(method: str) -> str:
    return f"{method} runs statements until its weights converge, so they cannot be listed before; fit the model instead"


def _not_chosen(what: str) -> str:
    return f"⟨features=nbsql.{{title}}(...)⟩ does not support {what}; list the features by name"


def _until_counted(name: str) -> str:
    why = "runs statements until its counts converge, so they cannot be listed before"
    return f"⟨method='{name}'⟩ {why}; fit the model instead"


def _from_all_rows(name: str) -> str:
    return f"{{title}} was fitted by ⟨method='{name}'⟩, which learns from all rows at once, so that no fold can be left out; "


def _fractions(name: str) -> str:
    how = f"fitted by ⟨method='{name}'⟩, which counts fractions of rows"
    return f"{{title}} was {how}; fit it with ⟨method='naive'⟩ to use ⟨least⟩"


def _by_classes(method: str) -> str:
    return f"{method} learns weights by the classes, and without a target there are none; leave out ⟨method⟩"


_LOGISTIC = "⟨method='logistic'⟩"
_NONE_TELLS_MORE = "without a target no feature tells more than another; list the features by name"
_NONE_TO_JUDGE = "without a target there are no classes to judge by; name one"
_BY_FOLDS = {
    "segments": f"cross-validation does not support ⟨segment_by⟩; {_ON_OTHER_ROWS}",
    "components": f"cross-validation does not support ⟨components⟩, which are found from all rows at once; {_ON_OTHER_ROWS}",
    "logistic": "cross-validation does not support ⟨method='logistic'⟩, which learns its weights from all rows at once; "
    f"{_ON_OTHER_ROWS}",
    "untargeted": _NONE_TO_JUDGE,
    "clusters": _NONE_TO_JUDGE,
}
_OWN_WEIGHTS = "{title} has weights that were learnt from its own rows; fit one model to all rows{without}"
_UNMERGED = {
    "probabilities": _no_counts("merge models that were fitted to rows"),
    "logistic": _not_generative("counts to merge"),
    "weighted": _OWN_WEIGHTS,
}
_UNCHANGED = _no_counts("make it anew with ⟨nbsql.from_tables⟩")

USES: dict[str, Use] = {
    "slice_by": _fit(
        "`slice_by`",
        segments=_apart("⟨slice_by⟩", "⟨segment_by⟩"),
        components=_apart("⟨slice_by⟩", "⟨components⟩"),
        half_life=f"{_HALF_LIFE} has slices of its own, one per half-life; leave out ⟨slice_by⟩",
    ),
    "segment_by": _fit(
        "`segment_by`",
        components=_apart("⟨segment_by⟩", "⟨components⟩"),
        logistic=_method_by_segment(_LOGISTIC),
        weighted=_method_by_segment("{method}"),
        em=_method_by_segment("⟨method='em'⟩"),
        clusters=_method_by_segment("⟨method='clusters'⟩"),
        pairs=_method_by_segment("⟨method='aode'⟩"),
        half_life=_apart(_HALF_LIFE, "⟨segment_by⟩"),
    ),
    "half_life": _fit(
        "`weight=nbsql.HalfLife`",
        segments=_apart(_HALF_LIFE, "⟨segment_by⟩"),
        components=_apart(_HALF_LIFE, "⟨components⟩"),
        logistic=_steady_weights(_LOGISTIC),
        weighted=_steady_weights("{method}") + "{without}",
        em=_steady_weights("⟨method='em'⟩"),
        clusters=_steady_weights("⟨method='clusters'⟩"),
    ),
    "prior": _fit(
        "another prior than the empirical one",
        logistic="⟨method='logistic'⟩ learns the bias of each class from the rows; leave out ⟨prior⟩",
        clusters="the prior of a cluster is its share of the rows; leave out ⟨prior⟩",
    ),
    "untargeted": _fit("`target=None`", logistic=_by_classes(_LOGISTIC), weighted=_by_classes("{method}") + "{without}"),
    "classes": _fit(
        "`classes`",
        segments="⟨classes⟩ and ⟨segment_by⟩ cannot be combined, because each segment has classes of its own; "
        "leave out one of them",
        components="components are found in the rows of each class, and declared classes may have no rows; leave out ⟨classes⟩",
        logistic=_rows_of_all_classes(_LOGISTIC),
        weighted=_rows_of_all_classes("{method}") + "{without}",
        clusters=OF_NO_CLASS,
    ),
    "choosing": _fit(
        "`features=nbsql.Best`",
        "Best",
        components=_not_chosen("⟨components⟩"),
        em=_not_chosen("⟨method='em'⟩"),
        pairs=_not_chosen("⟨method='aode'⟩"),
        clusters=_NONE_TELLS_MORE,
        untargeted=_NONE_TELLS_MORE,
        half_life=_not_chosen(_HALF_LIFE),
    ),
    "fit_sql": _fit(
        "`fit_sql`",
        logistic=_until_converged(_LOGISTIC),
        weighted=_until_converged("{method}") + "{without}",
        components="components are found by statements that depend on the rows, so they cannot be listed before; "
        "fit the model instead",
        em=_until_counted("em"),
        clusters=_until_counted("clusters"),
    ),
    "cross_validate": _fit("`cross_validate`", **_BY_FOLDS),
    "leave_one_out": _fit(
        '`cross_validate(folds="loo")`',
        **_BY_FOLDS,
        em="⟨folds='loo'⟩ does not support ⟨method='em'⟩, which counts the other rows anew for each row; use ⟨folds=10⟩",
        pairs="⟨folds='loo'⟩ does not support ⟨method='aode'⟩; use ⟨folds=10⟩",
        weighted="⟨folds='loo'⟩ does not support {method}, which learns weights anew for each row; use ⟨folds=10⟩",
    ),
    "search": _fit(
        '`sweep`, `auto`, `families="auto"`',
        **_BY_FOLDS,
        em="a search over settings counts the rows only once, but ⟨method='em'⟩ counts them anew for each setting; "
        "cross-validate each setting by itself",
        weighted="a search over settings counts the rows only once, but {method} learns weights for each setting; "
        "cross-validate each setting by itself{without}",
        half_life=f"a search over settings does not support {_HALF_LIFE}; search without it, then fit with it",
    ),
    "log_evidence": _model(
        '`log_evidence`, `log_likelihood`, `review(by="evidence")`',
        logistic=_not_generative("likelihood of the features, ln p(x)"),
        weighted=_no_likelihood("likelihood of the features, ln p(x)"),
    ),
    "labelled": _model(
        "`log_likelihood(labelled=True)`", logistic=_not_generative("likelihood of features and class, ln p(x, c)"),
        weighted=_no_likelihood("likelihood of features and class, ln p(x, c)"),
    ),
    "prediction": _model("`predict`, `predict_proba`, `evaluate`", "a prediction", "untargeted"),
    "predict_one": _model("`predict_one`", "predict_one", "segments", "untargeted"),
    "sample": _model(
        "`sample`", "sample", "segments", "pairs", logistic=_not_generative("distributions to draw rows from"),
        weighted=_no_likelihood("likelihoods of rows that could be drawn"),
    ),
    "impute": _model(
        "`impute`, `predict(target=...)`", "predicting a column from the others", "segments", "components",
        pairs="{title} is an average of several models, which predicting a column from the others does not support; "
        "fit it with ⟨method='naive'⟩",
        logistic=_not_generative("likelihoods to predict a column from the others"),
        weighted=_no_likelihood("likelihoods to predict a column from the others"),
    ),
    "inline": _model("`sql(..., inline=True)`", "a query that contains the parameters", "segments"),
    "dialect": _model("`sql(..., dialect=...)`", "a query in another dialect", "segments", "components"),
    "weights": _model("`weights`, `linear`, `quadratic`", "a linear or quadratic form", *_UNSUPPORTED),
    "class_shares": _model("`class_shares`", "class_shares", "segments", "untargeted"),
    "calibrate": _model("`calibrate(..., folds=None)`", "calibration", "segments", "untargeted"),
    "calibrate_by_folds": _model(
        "`calibrate`", "calibration", "segments", "untargeted",
        components="{title} has several components per class, which are found from all rows at once, so that no fold "
        f"can be left out; {_ON_NEW_ROWS}",
        em=_from_all_rows("em") + _ON_NEW_ROWS,
        clusters=_from_all_rows("clusters") + _ON_NEW_ROWS,
        probabilities=_no_counts("calibrate it with ⟨folds=None⟩"),
        half_life=_no_age("calibration by folds", _ON_NEW_ROWS),
        bound=f"{{bound}} is estimated from all rows at once, so that no fold can be left out; {_ON_NEW_ROWS}",
    ),
    "change": _model(
        "`update`, `forget`, `follow`",
        probabilities=_UNCHANGED,
        bound="{title} cannot be changed, because {bound} is estimated from all rows at once; fit it anew",
    ),
    "ledger": _model("`rollback`, `compact`", probabilities=_UNCHANGED),
    "as_of": _model(
        "`as_of`",
        logistic=_not_generative("counts of the batches that were there at a time"),
        weighted="{title} has weights that were learnt from other rows than those of the time; "
        "fit a model to those rows{without}",
    ),
    "drift": _model("`drift`, `monitor`, `relevance`", probabilities=_no_counts()),
    "discrimination": _model("`discrimination`, `profile` of values", "a comparison", "untargeted", probabilities=_no_counts()),
    "scorecard": _model(
        "`scorecard`", "a scorecard", *_UNSUPPORTED,
        logistic=_not_generative("likelihoods to compute points from"),
        probabilities=_no_counts(),
        bound="{bound} has no values or bins to give points to; fit {title} without it",
    ),
    "densities": _model(
        "`profile` of a number", "a profile", "segments", "components", logistic=_not_generative("densities")
    ),
    "contributions": _model(
        "`plot.nomogram`", "the nomogram", *_UNSUPPORTED, untargeted=_UNSUPPORTED["untargeted"].format(what="a comparison")
    ),
    "derive": _model(
        "`slices`, `window`",
        segments="{title} has segments, but no slices; fit it with ⟨slice_by⟩ instead",
        components="{title} has components, but no slices; fit it with ⟨slice_by⟩ instead",
        probabilities=_no_counts(),
        logistic=_not_generative("counts of slices"),
        weighted="{title} has weights that were learnt from all slices; fit a model to the rows of some{without}",
    ),
    "least": _model(
        "`export(least=...)`", "least", "components",
        probabilities=_no_counts("export it without ⟨least⟩"),
        half_life=_no_age("least", "fit it without a half-life"),
        logistic=_not_generative("counts to leave out"),
        weighted="{title} has weights, which were learnt from single rows; fit it with ⟨method='naive'⟩ to use ⟨least⟩",
        em=_fractions("em"),
        clusters=_fractions("clusters"),
        pairs="{title} counts pairs of values, from which counts that are left out could be computed; "
        "fit it with ⟨method='naive'⟩",
    ),
    "merge": _model("`nbsql.merge`", **_UNMERGED),
    "merge_several": _model(
        "`nbsql.merge` of several",
        **_UNMERGED,
        bound="{title} cannot be merged, because {bound} is estimated from all rows at once; fit one model to all rows",
    ),
    "from_statistics": _model(
        "`nbsql.from_statistics`", "counting in another engine", "segments", "components",
        half_life=_no_age("counting in another engine", "fit it without a half-life, or where the rows are"),
        probabilities=_no_counts(),
        logistic="{title} is a logistic regression, whose weights cannot be computed from counts; "
        "fit it with ⟨method='naive'⟩, or where the rows are",
        weighted="{title} has weights, which cannot be computed from counts; "
        "fit it with ⟨method='naive'⟩, or where the rows are",
    ),
}  # fmt: skip


def check(spec: Spec, use: str, title: str = "") -> None:
    """Raise the error of a use unless it supports the model, which messages call `title`."""
    for kind in USES[use].refusals:
        if KINDS[kind].matches(spec):
            raise USES[use].error(refusal_text(use, kind, title, listed(spec.non_additive_parts), spec.tree))


def refusal_text(use: str, kind: str, title: str, bound: str, tree: FoundParents | None = None) -> str:
    """Why a use does not support a kind of model. A tree may be fitted without the weights that are in the way."""
    without = "" if tree is None else f", or with ⟨method={replace(tree, weighted=False).code}⟩"
    method = "⟨method='weighted'⟩" if tree is None else f"⟨method={tree.name!r}⟩"
    return USES[use].refusals[kind].format(title=title, bound=bound, method=method, without=without)
