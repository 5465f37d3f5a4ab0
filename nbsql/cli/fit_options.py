"""The options of commands that fit, from the signatures of the functions that they call."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_type_hints

import click

from nbsql.cli.arguments import COMPONENTS, EXPRESSION, FAMILY, FOLDS, JOIN, PRIOR
from nbsql.cli.families import FAMILIES_FILE
from nbsql.cli.options import (
    AT_LEAST_1,
    Decorator,
    by_name,
    fold_column,
    naming,
    naming_classes,
    option,
    option_of,
    replacing,
    together,
    weighted,
)  # fmt: skip
from nbsql.family import Nulls, Unseen
from nbsql.family.multivariate_gaussian import Toward
from nbsql.spec.method import METHODS
from nbsql.spec.options import By, Infer, Options, model_fields
from nbsql.spec.signature import described_arguments, texts_of_options


def _number_or_text(_context: Any, _option: Any, text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# What the command line has for options of a fit whose values have arguments, or another form there.
one_family = by_name(
    "--family",
    "families",
    type=FAMILY,
    help="The family of a column, instead of the inferred one: visits=poisson, "
    "x='gaussian(variance=sample)', notes='text(stop_words=english,ngrams=2)', words='multinomial(w1,w2)'. Repeatable.",
)
_OF_FIT: dict[str, Decorator] = {
    "id": option(
        "--id", multiple=True, metavar="COLUMN",
        help="A key column, which is not a feature and identifies rows in explanations. Repeatable.",
    ),
    "features": together(
        option(
            "--feature", "features", multiple=True, metavar="COLUMN",
            help="A feature; by default every other column. Repeatable.",
        ),
        option("--best", type=AT_LEAST_1, metavar="N", help="Keep the N most informative features."),
        option(
            "--best-by", type=click.Choice(get_args(By)),
            help="The measure by which --best ranks.  [default: mutual_information]",
        ),
    ),
    "exclude": option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable."),
    "derive": by_name(
        "--derive", type=EXPRESSION,
        help="A column that the model computes from those of whatever it reads, or replaces: 'per_page=price / pages'. "
        "Repeatable.",
    ),
    "missing": option(
        "--missing", multiple=True, metavar="WORD",
        help="A word that stands for a missing value in columns of texts: --missing NA --missing '?'. Repeatable.",
    ),
    "joins": option(
        "--join", "joins", type=JOIN, multiple=True,
        help="A dimension table with features, and its key: customers:customer_id, products:product=id, or with a prefix "
        "for its columns products:product=id:product. Repeatable.",
    ),
    "families": together(
        one_family,
        option(
            "--families", "more_families", type=FAMILIES_FILE,
            help="A file of families by column, YAML or JSON, in the format of meta.nbsql in dbt, with derive and missing "
            "beside; --family and --derive take precedence. For fit, auto chooses the families of all other columns by "
            "cross-validation, and --family x=auto that of one column.",
        ),
    ),
    "infer": option(
        "--infer", type=click.Choice(get_args(Infer)), default="values",
        help="What families are inferred from: the types of the columns and a look at their values, or the types alone.",
    ),
    "weight": together(
        weighted,
        option(
            "--half-life", callback=_number_or_text, metavar="TIME",
            help="The age at which a row counts half: '30 days', or a number if --at is one. Counts can still be added.",
        ),
        option("--at", metavar="COLUMN", help="For --half-life, the time of a row: a date, a timestamp or a whole number."),
    ),
    "method": together(
        option(
            "--method", type=click.Choice(list(METHODS)), default="naive",
            help="naive: features are independent in a class. joint: equal rows are counted. lda, qda: discriminant analysis. "
            "tan: each category may depend on one other, kdb: on several. aode: the mean over models in which all depend on "
            "one. logistic: learnt weights. weighted: features have weights. em: rows without a class are used, too. "
            "clusters: of --no-target, groups of rows.",
        ),
        option(
            "--shrinkage", callback=_number_or_text, metavar="S",
            help="For lda and qda: of the covariance matrices, from 0 to 1, or ledoit-wolf. For tan, kdb, aode: pseudo-counts.",
        ),
        option(
            "--toward", type=click.Choice(get_args(Toward)),
            help="For qda, what --shrinkage is toward: the identity, or the pooled covariance of lda.  [default: identity]",
        ),
        option(
            "--least", type=int, metavar="N",
            help="For aode, how often a value must occur for others to depend on it.  [default: 1]",
        ),
        option(
            "--number-bins", type=int, metavar="N",
            help="For tan, kdb and aode, the number of quantiles that bin a number; by default it is cut where classes differ.",
        ),
        option(
            "--k", type=int, metavar="N",
            help="For kdb, the most others that a category depends on.  [default: by folds]  For clusters, their number.",
        ),
        option("--weighted", is_flag=True, default=None, help="For tan and kdb, give the features weights, as weighted does."),
        option(
            "--backoff", type=click.Choice(["naive"]),
            help="How the joint method scores an unseen row; by default not at all.",
        ),
    ),
    "nulls": option("--nulls", type=click.Choice(get_args(Nulls)), default="skip", help="How a missing value is treated."),
    "slice_by": option(
        "--slice-by", metavar="EXPR", help="Count the rows by the value of an SQL expression: \"date_trunc('month', day)\"."
    ),
    "segment_by": together(
        option("--segment-by", metavar="EXPR", help="Fit one model for each segment, by an SQL expression: region."),
        option("--segment-shrinkage", type=float, help="The pseudo-counts by which the whole enters a segment.  [default: 10]"),
    ),
    "alpha": option(
        "--alpha", type=float, help="The pseudo-count of additive smoothing.  [default: 1; 0 for the joint method]"
    ),
    "estimate": option(
        "--estimate", type=click.Choice(["mean", "mode", "map", "mle"]),
        help="The estimate of parameters: the posterior mean or mode (map), or maximum likelihood (mle).  [default: mean]",
    ),
    "prior": together(
        option(
            "--prior", type=PRIOR, default="empirical",
            help="empirical, uniform, smoothed, or a probability for every label: no=0.9,yes=0.1",
        ),
        option("--prior-alpha", type=float, metavar="FLOAT", help="The pseudo-count of the smoothed prior; by default alpha."),
    ),
    "unseen": option(
        "--unseen", type=click.Choice(get_args(Unseen)), default="skip",
        help="How a value that is new to the model is scored.",
    ),
}  # fmt: skip


# Those of the methods that only a fit learns by.
OF_METHODS = together(
    _OF_FIT["method"],
    option(
        "--penalty", type=float, metavar="LAMBDA",
        help="For logistic and weighted, the penalty on the squared weights.  [default: 0.5; by folds of weighted]",
    ),
    option(
        "--per", type=click.Choice(["feature", "class and feature", "either"]),
        help="For weighted, what has a weight of its own; either is chosen by folds.  [default: feature]",
    ),
    option(
        "--views/--no-views", default=None,
        help="For weighted, whether numbers and texts are two features with a weight each.  [default: if rows are enough]",
    ),
    option("--pairs", type=int, metavar="N", help="For weighted, the most pairs of columns that are features.  [default: 0]"),
    option("--triples", type=int, metavar="N", help="For weighted, the most triples of columns as features.  [default: 0]"),
    option("--parents", type=int, metavar="N", help="For weighted, on how many others a column depends, too.  [default: 0]"),
    option("--iterations", type=int, metavar="N", help="The most iterations of logistic, em and clusters.  [default: 100]"),
    option(
        "--tolerance", type=float, metavar="T",
        help="The change at which the search ends: of a weight for logistic, of the relative log-likelihood for em, clusters.  "
        "[default: 1e-8; 1e-5 of em and clusters]",
    ),
    option("--starts", type=int, metavar="N", help="For clusters, from how many first rows they start.  [default: 5]"),
    option("--seed", type=int, metavar="N", help="For clusters, the number that chooses the first rows.  [default: 0]"),
    option("--em-weight", type=float, metavar="W", help="For em, the weight of a row without a class.  [default: 1]"),
    option(
        "--components", type=COMPONENTS,
        help="Split every class, or some (yes=3,no=2), into K components by k-means on its numbers. A class is their mixture.",
    ),
)  # fmt: skip

TARGET = option("--target", required=True, metavar="COLUMN", help="The column to predict.")
TARGET_OR_NONE = together(
    option("--target", metavar="COLUMN", help="The column to predict."),
    option("--no-target", is_flag=True, help="Describe all rows as one class, to find unusual ones."),
    naming_classes,
)
_SHARED: dict[str, Decorator] = {
    "con": click.argument("database"),
    "source": click.argument("source"),
    "models": click.argument("models", nargs=-1, required=True),
    "path": click.argument("path"),
    "target": together(TARGET, naming_classes),
    "name": naming,
    "replace": replacing,
    "folds": option("--folds", type=FOLDS, default=10, help="The number of folds; loo leaves out one row at a time."),
    "fold": fold_column,
}
PARTS = ("slice_by", "segment_by")  # of a model; what compares fits has no such parts


def option_of_fit(name: str) -> Decorator:
    """What the command line has for an option of a fit: what follows from its definition, unless it is written above."""
    if name in _OF_FIT:
        return _OF_FIT[name]
    (found,) = (each for each in model_fields() if each.name == name)
    return option_of(name, get_type_hints(Options)[name], found.default, " ".join(texts_of_options()[name].split()))


def takes(
    *functions: Callable[..., Any], left_out: Sequence[str] = (), own: Sequence[str] = (), **changed: Decorator
) -> Decorator:
    """A decorator that gives a command the arguments and options of functions, its own before those that all fits share.

    Some are `left_out`, as is the attached database, which the path of a command names, and some `changed`; `own` are those of
    a fit that are the command's own here, such as those of which a sweep tries several.
    """
    of_fit, found = texts_of_options(), dict[str, Decorator]()
    for function in functions:
        texts = described_arguments(function.__doc__)
        for each in inspect.signature(function).parameters.values():
            if each.name in ("self", "database", *left_out, *found):
                continue
            if each.name in changed or each.name in _SHARED:
                found[each.name] = changed.get(each.name) or _SHARED[each.name]
            elif each.name in of_fit:
                found[each.name] = option_of_fit(each.name)
            else:
                annotation = eval(each.annotation, vars(inspect.getmodule(function)))  # noqa: S307 - of the package itself
                found[each.name] = option_of(each.name, annotation, each.default, " ".join(texts[each.name].split()))
    return together(*(found[name] for name in sorted(found, key=lambda name: name in of_fit and name not in own)))
