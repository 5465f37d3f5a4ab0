"""The options of commands that fit, from the signatures of the functions that they call."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

import click

from nbsql.cli.arguments import EXPRESSION, FAMILY, FOLDS, JOIN, PRIOR
from nbsql.cli.families import FAMILIES_FILE
from nbsql.cli.method_options import METHOD_OPTIONS
from nbsql.cli.options import (
    AT_LEAST_1,
    Decorator,
    by_name,
    fold_column,
    naming,
    naming_classes,
    number_or_text,
    option,
    option_of,
    replacing,
    together,
    weighted,
)  # fmt: skip
from nbsql.spec.method import METHODS
from nbsql.spec.options import By, Options, model_fields
from nbsql.spec.signature import described_arguments, texts_of_options

# What the command line has for options of a fit whose values have arguments, or another form there.
one_family = by_name(
    "--family",
    "families",
    type=FAMILY,
    help="The family of a column: visits=poisson, notes='text(stop_words=english,ngrams=2)'. `nbsql help families` lists "
    "them. Repeatable.",
)
_OF_FIT: dict[str, Decorator] = {
    "id": option(
        "--id", multiple=True, metavar="COLUMN",
        help="A column that names rows, and is no feature. Repeatable.",
    ),
    "features": together(
        option(
            "--feature", "features", multiple=True, metavar="COLUMN",
            help="A feature; by default every other column. Repeatable.",
        ),
        option("--best", type=AT_LEAST_1, metavar="N", help="Keep the N most informative features."),
        option(
            "--best-by", type=click.Choice(get_args(By)), metavar="MEASURE",
            help="The measure by which --best ranks: mutual_information, the default, chi_square, symmetrical_uncertainty or "
            "f_statistic.",
        ),
    ),
    "exclude": option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable."),
    "derive": by_name(
        "--derive", type=EXPRESSION,
        help="A column that the model computes, or replaces: 'per_page=price / pages'. Repeatable.",
    ),
    "missing": option(
        "--missing", multiple=True, metavar="WORD",
        help="A word for a missing value: --missing NA --missing '?'. Repeatable.",
    ),
    "joins": option(
        "--join", "joins", type=JOIN, multiple=True,
        help="A table with more features, and its key: customers:customer_id, products:product=id, or "
        "products:product=id:product with a prefix for its columns. Repeatable.",
    ),
    "families": together(
        one_family,
        option(
            "--families", "more_families", type=FAMILIES_FILE,
            help="A file of families, YAML or JSON, as meta.nbsql of dbt. For fit, auto tries several for each column, and "
            "--family x=auto for one.",
        ),
    ),
    "weight": together(
        weighted,
        option(
            "--half-life", callback=number_or_text, metavar="TIME",
            help="The age at which a row counts half: '30 days', or a number if --at is one.",
        ),
        option("--at", metavar="COLUMN", help="For --half-life, the time of a row: a date, a timestamp or a whole number."),
    ),
    "method": together(
        option(
            "--method", type=click.Choice(list(METHODS)), default="naive", metavar="METHOD",
            help=f"One of {', '.join(METHODS)}. Features depend on others in tan, kdb and aode, and have weights in weighted; "
            "em also learns from rows without a class. `nbsql auto` tries several, and `nbsql help methods` describes all.",
        ),
        *METHOD_OPTIONS.values(),
    ),
    "segment_by": together(
        option("--segment-by", metavar="EXPR", help="A model for each value of an SQL expression: region."),
        option("--segment-shrinkage", type=float, help="How many rows of the whole each segment borrows.  [default: 10]"),
    ),
    "prior": together(
        option(
            "--prior", type=PRIOR, default="empirical",
            help="empirical, uniform, smoothed, or a probability for every label: no=0.9,yes=0.1",
        ),
        option("--prior-alpha", type=float, metavar="FLOAT", help="The pseudo-count of the smoothed prior; by default alpha."),
    ),
}  # fmt: skip


_SHORTER = {  # than the docstring of `nbsql.fit`
    "infer": "Choose the family of a column by its values, or by its type alone. By values, keys are left out.",
    "alpha": "The pseudo-count by which rare values are smoothed; by default 1, or 0 for --method joint or --estimate mle.",
    "estimate": "How probabilities follow from counts: by default the mean; the mode, or map; or mle, without smoothing.",
    "unseen": "What a value never seen in training counts: nothing, or as a count of 0.",
    "nulls": "A missing value is skipped, a category of its own, or an error.",
    "slice_by": "Keep the counts apart by an SQL expression, such as \"date_trunc('month', sent_at)\".",
}

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


@cache
def option_of_fit(name: str) -> Decorator:
    """What the command line has for an option of a fit: what follows from its definition, unless it is written above."""
    if name in _OF_FIT:
        return _OF_FIT[name]
    (found,) = (each for each in model_fields() if each.name == name)
    text = _SHORTER.get(name) or " ".join(texts_of_options()[name].split())
    return option_of(name, get_type_hints(Options)[name], found.default, text)


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
