"""The forms that commands share: their arguments, their options, and the model that they read."""

import re
from collections.abc import Callable
from functools import partial, wraps
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click

import nbsql
from nbsql.cli.arguments import COLUMNS, LABELS
from nbsql.cli.session import open_for_reading

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
        return min(super().convert(value, param, ctx), 2**62 - 1)


AT_LEAST_1 = _AtLeast1(min=1)


def number_or_text(_context: Any, _option: Any, text: str | None) -> float | str | None:
    """The value of an option that is a number, or one of some words."""
    try:
        return None if text is None else int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


_METAVARS = {  # most are completed so
    ("slice_by", str): "EXPR", ("target", str): "COLUMN", ("reference", Any): "SOURCE", ("test", Any): "SOURCE"
}  # fmt: skip
_COUNTS = ("n", "top_k", "bins")  # at least 1


def option_of(name: str, annotation: Any, default: Any, text: str) -> Decorator:
    """The option that follows from a keyword: from its name, its type, its default, and its text in a docstring.

    Where the docstring says what None does, this is what the command does without the option.
    """
    text = re.sub(r"\bNone\b", "the default", re.sub(r"(?<=\. )None\b", "The default", text))
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kind = next(each for each in kinds if each is not type(None))
    words = [word for each in kinds if get_origin(each) is Literal for word in get_args(each)]
    flag = "-n" if name == "n" else f"--{name.replace('_', '-')}"
    options: dict[str, Any] = {"default": default}
    if kind is bool:
        options = {"is_flag": True, "default": default}
        flag += f"/--no-{name.replace('_', '-')}" if type(None) in kinds else ""
    elif words and kind in (int, float):
        options |= {"callback": number_or_text, "metavar": "|".join(["N", *words])}
    elif words:
        options["type"] = click.Choice(words)
    elif get_origin(kind) is not None:
        options["type"] = COLUMNS
    elif (name, kind) in _METAVARS:
        options["metavar"] = _METAVARS[name, kind]
    elif kind in (int, float):
        options |= {"type": AT_LEAST_1 if name in _COUNTS else kind, "metavar": "N"}
    return option(flag, name, help=text[:1].upper() + text[1:], **options)


# The headings in the help of a command that fits, and the options below each; its own and others stand below "Options".
_HEADINGS = {
    "Columns": "id features best best_by exclude derive missing joins families more_families infer nulls",
    "Weights, slices and segments": "weight half_life at slice_by segment_by segment_shrinkage",
    "Smoothing and priors": "alpha alphas estimate prior prior_alpha priors unseen",
    "Method, and options of some": "method backoff shrinkage toward number_bins weighted k least penalty iterations tolerance "
    "per views pairs triples parents em_weight starts seed components",
}
_HEADING_OF = {name: heading for heading, names in _HEADINGS.items() for name in names.split()}


class Command(click.Command):
    """A command that refuses an option of one value which is given twice. Click takes the last of them in silence.

    The help of one that fits has its options below headings.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = self.get_params(ctx)
        if not {"alpha", "method"} <= {each.name for each in params}:
            super().format_options(ctx, formatter)
            return
        for title in ("Options", *_HEADINGS):
            options = [each for each in params if _HEADING_OF.get(each.name or "", "Options") == title]
            shown = [each.get_help_record(ctx) for each in options if isinstance(each, click.Option)]
            with formatter.section(title):
                formatter.write_dl([each for each in shown if each is not None], col_max=26)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        for each in given:
            if isinstance(each, click.Option) and not each.is_flag and not each.multiple and given.count(each) > 1:
                raise click.UsageError(f"{each.opts[0]} is given twice; give it once", ctx)
        return super().parse_args(ctx, args)


def command(
    short_help: str, *arguments: str | Decorator, name: str | None = None, cls: type[click.Command] = Command
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
