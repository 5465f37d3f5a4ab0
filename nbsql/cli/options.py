"""The forms that commands share: their arguments, their options, and the model that they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

import nbsql
from nbsql.cli.arguments import COLUMNS, COMPONENTS, EXPRESSION, FAMILY, FOLDS, JOIN, LABELS, PRIOR
from nbsql.cli.families import FAMILIES_FILE
from nbsql.cli.session import open_for_reading
from nbsql.family import Nulls, Unseen
from nbsql.spec.method import METHODS
from nbsql.spec.options import By, Infer, Options, model_fields
from nbsql.spec.signature import texts_of_options

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _named_once(_context: Any, _option: Any, values: Any) -> Any:
    """The values of a repeatable option. Each is a tuple that begins with names, which may not come twice."""
    names = [value[:-1] for value in values]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.BadParameter(f"{':'.join(twice)!r} is given twice; give it once")
    return values


option = partial(click.option, show_default=True)  # the help shows a default, if there is one
by_name = partial(option, multiple=True, callback=_named_once)


class _AtLeast1(click.IntRange):
    """A whole number of at least 1. One beyond what engines count to is as good as the largest of theirs."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        return min(super().convert(value, param, ctx), 2**62 - 1)


AT_LEAST_1 = _AtLeast1(min=1)


_METAVARS = {("target", str): "COLUMN", ("reference", Any): "SOURCE", ("test", Any): "SOURCE"}  # completed so
_COUNTS = ("n", "top_k", "bins")  # at least 1


def option_of(name: str, annotation: Any, default: Any, text: str) -> Decorator:
    """The option that follows from a keyword: from its name, its type, its default, and its text in a docstring."""
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kind = next(each for each in kinds if each is not type(None))
    options: dict[str, Any] = {"default": default}
    if kind is bool:
        options = {"is_flag": True}
    elif get_origin(kind) is Literal:
        options["type"] = click.Choice(get_args(kind))
    elif get_origin(kind) is not None:
        options["type"] = COLUMNS
    elif (name, kind) in _METAVARS:
        options["metavar"] = _METAVARS[name, kind]
    elif kind in (int, float):
        options |= {"type": AT_LEAST_1 if name in _COUNTS else kind, "metavar": "N"}
    flag = f"-{'' if len(name) == 1 else '-'}{name.replace('_', '-')}"
    return option(flag, name, help=text[:1].upper() + text[1:], **options)


def command(
    short_help: str, *arguments: str | Decorator, name: str | None = None, cls: type[click.Command] = click.Command
) -> Callable[[Callable[..., Any]], click.Command]:
    """A decorator that makes a command of a function; its name is that of the function, with dashes, unless given.

    The arguments are in order, by name; one that ends in a question mark may be left out.
    """

    def decorated(body: Callable[..., Any]) -> click.Command:
        for argument in reversed(arguments):
            if isinstance(argument, str):
                argument = click.argument(argument.rstrip("?"), required=not argument.endswith("?"))
            body = argument(body)
        return click.command(name, cls=cls, short_help=short_help)(body)

    return decorated


def reads_model(body: Callable[..., None]) -> Callable[..., None]:
    """A command with the arguments database and model, whose body takes the model. The database is opened for reading."""

    @wraps(body)
    def run(database: str, model: str, **given: Any) -> None:
        with open_for_reading(database) as engine:
            body(nbsql.load(engine, model), **given)

    return run


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator."""

    def decorated(body: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(options):
            body = each(body)
        return body

    return decorated


def requested_folds(folds: Any, held_back: bool, default: int | str) -> Any:
    """The folds that --folds and --held-back ask for; None uses no folds."""
    if held_back and folds is not None:
        raise click.UsageError("choose one of --folds and --held-back")
    return None if held_back else folds or default


limited = option("--limit", type=AT_LEAST_1, default=30, metavar="N", help="The most rows of the table.")
naming = option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
replacing = option("--replace", is_flag=True, help="Replace the model of that name.")
naming_classes = option(
    "--classes", type=LABELS, help="All possible labels, including those to come later; others are refused."
)
weighted = option("--weight", metavar="COLUMN", help="A column of row weights: a weight w counts as w copies of the row.")
held_back = option("--held-back", is_flag=True, help="MODEL has not learnt SOURCE, so use no folds.")
calibrated = option(
    "--calibrated/--uncalibrated", default=None,
    help="Whether probabilities are calibrated by `nbsql calibrate`; by default they are if MODEL is calibrated.",
)  # fmt: skip
columns = option("--columns", type=COLUMNS, help="Return only these columns of SOURCE beside those added; '' for none.")
into_table = together(
    option("--into", metavar="TABLE", help="Store the rows as a new table of DATABASE."),
    option("--replace", is_flag=True, help="With --into, replace the table of that name."),
)


def check_into(into: str | None, *, replace: bool) -> None:
    """Raise an error of usage if there is nothing to replace."""
    if replace and into is None:
        raise click.UsageError("--replace is of a table; name it: --into TABLE")


fold_column = option("--fold", metavar="COLUMN", help="A column with the fold of each row, instead.")
folding = together(
    option("--folds", type=FOLDS, default=10, help="The number of folds; loo leaves out one row at a time."), fold_column
)


def _number_or_text(_context: Any, _option: Any, text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# What the command line has for options of a fit whose values have arguments, or another form there.
_OF_FIT: dict[str, Sequence[Decorator]] = {
    "id": [
        option(
            "--id", multiple=True, metavar="COLUMN",
            help="A key column, which is not a feature and identifies rows in explanations. Repeatable.",
        ),
    ],
    "features": [
        option(
            "--feature", "features", multiple=True, metavar="COLUMN",
            help="A feature; by default every other column. Repeatable.",
        ),
        option("--best", type=AT_LEAST_1, metavar="N", help="Keep the N most informative features."),
        option(
            "--best-by", type=click.Choice(get_args(By)),
            help="The measure by which --best ranks.  [default: mutual_information]",
        ),
    ],
    "exclude": [
        option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable."),
    ],
    "derive": [
        by_name(
            "--derive", type=EXPRESSION,
            help="A column that the model computes from those of whatever it reads, or replaces: 'per_page=price / pages'. "
            "Repeatable.",
        ),
    ],
    "missing": [
        option(
            "--missing", multiple=True, metavar="WORD",
            help="A word that stands for a missing value in columns of texts: --missing NA --missing '?'. Repeatable.",
        ),
    ],
    "joins": [
        option(
            "--join", "joins", type=JOIN, multiple=True,
            help="A dimension table with features, and its key: customers:customer_id, products:product=id, or with a prefix "
            "for its columns products:product=id:product. Repeatable.",
        ),
    ],
    "families": [
        by_name(
            "--family", "families", type=FAMILY,
            help="The family of a column, instead of the inferred one: visits=poisson, "
            "x='gaussian(variance=sample)', notes='text(stop_words=english,ngrams=2)', words='multinomial(w1,w2)'. Repeatable.",
        ),
        option(
            "--families", "more_families", type=FAMILIES_FILE,
            help="A file of families by column, YAML or JSON, in the format of meta.nbsql in dbt, with derive and missing "
            "beside; --family and --derive take precedence. For fit, auto chooses the families of all other columns by "
            "cross-validation, and --family x=auto that of one column.",
        ),
    ],
    "infer": [
        option(
            "--infer", type=click.Choice(get_args(Infer)), default="values",
            help="What families are inferred from: the types of the columns and a look at their values, or the types alone.",
        ),
    ],
    "weight": [
        weighted,
        option(
            "--half-life", callback=_number_or_text, metavar="TIME",
            help="The age at which a row counts half: '30 days', or a number if --at is one. Counts can still be added.",
        ),
        option("--at", metavar="COLUMN", help="For --half-life, the time of a row: a date, a timestamp or a whole number."),
    ],
    "method": [
        option(
            "--method", type=click.Choice(list(METHODS)), default="naive",
            help="naive: features are independent in a class. joint: equal rows are counted. lda, qda: discriminant analysis. "
            "tan: each category may depend on one other. aode: the mean over models in which all depend on one. "
            "logistic: learnt weights. em: rows without a class are used, too.",
        ),
        option(
            "--shrinkage", callback=_number_or_text, metavar="S",
            help="For lda and qda: of the covariance matrices, from 0 to 1, or ledoit-wolf. For tan and aode: pseudo-counts.",
        ),
        option(
            "--least", type=int, metavar="N",
            help="For aode, how often a value must occur for others to depend on it.  [default: 1]",
        ),
        option(
            "--backoff", type=click.Choice(["naive"]),
            help="How the joint method scores an unseen row; by default not at all.",
        ),
    ],
    "nulls": [
        option("--nulls", type=click.Choice(get_args(Nulls)), default="skip", help="How a missing value is treated."),
    ],
    "slice_by": [
        option(
            "--slice-by", metavar="EXPR", help="Count the rows by the value of an SQL expression: \"date_trunc('month', day)\"."
        ),
    ],
    "segment_by": [
        option("--segment-by", metavar="EXPR", help="Fit one model for each segment, by an SQL expression: region."),
        option("--segment-shrinkage", type=float, help="The pseudo-counts by which the whole enters a segment.  [default: 10]"),
    ],
    "alpha": [
        option("--alpha", type=float, help="The pseudo-count of additive smoothing.  [default: 1; 0 for the joint method]"),
    ],
    "estimate": [
        option(
            "--estimate", type=click.Choice(["mean", "mode", "map", "mle"]),
            help="The estimate of parameters: the posterior mean or mode (map), or maximum likelihood (mle).  [default: mean]",
        ),
    ],
    "prior": [
        option(
            "--prior", type=PRIOR, default="empirical",
            help="empirical, uniform, smoothed, or a probability for every label: no=0.9,yes=0.1",
        ),
        option("--prior-alpha", type=float, metavar="FLOAT", help="The pseudo-count of the smoothed prior; by default alpha."),
    ],
    "unseen": [
        option(
            "--unseen", type=click.Choice(get_args(Unseen)), default="skip",
            help="How a value that is new to the model is scored.",
        ),
    ],
}  # fmt: skip


def _options_of_fit(name: str) -> Sequence[Decorator]:
    """What the command line has for an option of a fit: what follows from its definition, unless it is written above."""
    (option_,) = (each for each in model_fields() if each.name == name)
    return _OF_FIT.get(name) or [
        option_of(name, get_type_hints(Options)[name], option_.default, " ".join(texts_of_options()[name].split()))
    ]


_PARTS = ("slice_by", "segment_by")  # of a model; what compares fits has no such parts

# The options of the model, for every command that fits or evaluates a fit.
modelling = together(
    option("--target", required=True, metavar="COLUMN", help="The column to predict."),
    *(each for name in texts_of_options() if name not in _PARTS for each in _options_of_fit(name)),
)

# The options of `nbsql fit` beside them: parts of the model, and options of single methods.
fitting = together(
    *(each for name in _PARTS for each in _options_of_fit(name)),
    naming_classes,
    option("--penalty", type=float, metavar="LAMBDA", help="For logistic, the penalty on the squared weights.  [default: 0.5]"),
    option("--iterations", type=int, metavar="N", help="The most iterations of logistic and em.  [default: 100]"),
    option(
        "--tolerance", type=float, metavar="T",
        help="The change at which the search ends: of a weight for logistic, of the relative log-likelihood for em.  "
        "[default: 1e-8; 1e-5 of em]",
    ),
    option("--em-weight", type=float, metavar="W", help="For em, the weight of a row without a class.  [default: 1]"),
    option(
        "--components", type=COMPONENTS,
        help="Split every class, or some (yes=3,no=2), into K components by k-means on its numbers. A class is their mixture.",
    ),
)  # fmt: skip
