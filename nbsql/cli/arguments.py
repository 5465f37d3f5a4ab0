"""Parses the arguments of the command line into those of the library; a text of another form raises InputError."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from nbsql.errors import InputError, listed, suggestion
from nbsql.evaluation.monitor import METRICS
from nbsql.family import Family, named
from nbsql.spec.classifier import Classifier
from nbsql.spec.join import Join
from nbsql.spec.method import method_named

_PAIR = re.compile(r"(?P<column>.+?)=\s*(?P<family>[A-Za-z_]+)\s*(?:\((?P<options>.*)\))?\s*", re.DOTALL)
_OPTION = re.compile(r"([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)
_DERIVED = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s"=](?:[^=]*[^\s=])?))\s*=\s*(?P<sql>.*\S)\s*', re.DOTALL)
_PRIORS = ("empirical", "uniform", "smoothed")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
RENAMED = {"bins": "number_bins", "weight": "em_weight"}  # arguments of methods, of which other options have the name
_WORDS = {"true": True, "false": False, "none": None}


Costs = Sequence[tuple[str, str, float]]  # the actual class, the predicted class, and the cost


class Parsed(click.ParamType):  # type: ignore[type-arg] # in older versions of click it takes none
    """A type of arguments that a function makes of their text, whose form is the name for the help.

    An InputError of the function becomes an error of usage, which names the option.
    """

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.parse(str(value))
        except InputError as error:
            self.fail(str(error), param, ctx)


def family(text: str) -> tuple[str, Family]:
    """The column and the family of a text such as `visits=poisson(a=1,b=2)`.

    Values are Python literals; a bare word is a text. A backslash in a quoted text is not an escape.

    >>> column, found = family("visits=poisson(a=1,b=2)")
    >>> column, str(found), found.a, found.b
    ('visits', 'poisson', 1.0, 2.0)
    >>> family("words=multinomial(w1,'w 2')")[1].columns
    ('w1', 'w 2')
    """
    match = _PAIR.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not COLUMN=FAMILY, such as visits=poisson or visits=poisson(a=1,b=2)")
    name = match["family"].lower()
    kind = family_class(name)
    options: dict[str, Any] = {}
    columns: list[Any] = []
    for part in split(match["options"] or ""):
        pair = _OPTION.fullmatch(part)
        if pair is None and kind.over_columns:
            columns.append(_value(part, as_text=True))
        elif pair is None:
            last = option_names(kind)[-1]
            raise InputError(f"{part!r} is no option of {name!r}; write it as option=value: {name}({last}={part})")
        elif pair[1] in options:
            raise InputError(f"option {pair[1]!r} of {name!r} is given twice; give it once")
        else:
            options[pair[1]] = _value(pair[2])
    if columns:
        options["columns"] = columns
    return match["column"], family_with(name, options, match["options"])


def family_class(name: str) -> type[Family]:
    """The class of a family. Raises InputError if there is none of that name."""
    return type(named(name))


def option_names(kind: type[Family]) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.init]


def family_with(name: str, options: Mapping[Any, Any], given: Any) -> Family:
    """A family with options; `given` is how the user wrote them. Raises InputError for an option that it does not have."""
    kind = family_class(name)
    names = option_names(kind)
    for option in options:
        if option not in names:
            hint = suggestion(str(option), names) or f"; it has {listed(names)}"
            raise InputError(f"family {name!r} has no option {option!r}{hint}")
    try:
        return kind(**options)
    except TypeError as error:
        raise InputError(f"family {name!r} cannot take {given!r}: {error}") from None


def methods(text: str) -> list[str | Classifier]:
    """The methods of a text such as `tan,aode(bins=10)`, those without options as texts.

    >>> methods("tan, aode(bins=10)")
    ['tan', AODE(shrinkage=None, bins=10, least=1)]
    """
    return [_method(part) for part in split(text)]


def _method(text: str) -> str | Classifier:
    match = _PAIR.fullmatch(f"method={text}")
    if match is None or not match["options"]:
        return text
    kind, options = type(method_named(match["family"])), split(match["options"])
    names = [field.name for field in dataclasses.fields(kind)]
    pairs = [_OPTION.fullmatch(part) for part in options]
    for part, pair in zip(options, pairs, strict=True):
        if pair is None or pair[1] not in names:
            raise InputError(f"{part!r} is no option of {kind.name!r}; it has {listed(names) or 'none'}")
    return kind(**{pair[1]: _value(pair[2]) for pair in pairs if pair is not None})


def expression(text: str) -> tuple[str, str]:
    """The name of a derived column, maybe in double quotes, and its SQL expression.

    >>> expression("per_page = price / pages"), expression('"a=b"=lower("a=b")')
    (('per_page', 'price / pages'), ('a=b', 'lower("a=b")'))
    """
    match = _DERIVED.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not COLUMN=EXPR, such as 'per_page=price / pages'")
    return match["plain"] or match["quoted"].replace('""', '"'), match["sql"]


def family_or_auto(text: str) -> tuple[str, str | Family]:
    """The column and its family, or "auto", which stays a text."""
    column, _, name = text.rpartition("=")
    return (column, name) if column and name == "auto" else family(text)


def prior(text: str) -> str | dict[str, float]:
    """The kind of prior, or the probabilities by label as text.

    >>> prior("no=0.9,'yes, sir'=0.1")
    {'no': 0.9, 'yes, sir': 0.1}
    """
    if text in _PRIORS:
        return text
    if "=" not in text:
        known = ", ".join(_PRIORS)
        hint = suggestion(text, _PRIORS) or f"; a prior is one of {known}, or LABEL=P,LABEL=P"
        raise InputError(f"no prior {text!r}{hint}")
    return _numbers_by_label(text, "LABEL=P, such as yes=0.1")


def components(text: str) -> int | dict[str, int]:
    """The number of components, or the numbers of components by label as text.

    >>> components("no=2,'yes, sir'=3")
    {'no': 2, 'yes, sir': 3}
    """
    if "=" not in text:
        try:
            return int(text)
        except ValueError:
            raise InputError(f"{text!r} is no number of components; it is K, or LABEL=K,LABEL=K") from None
    counts = _numbers_by_label(text, form := "LABEL=K, such as yes=3")
    for label, count in counts.items():
        if not count.is_integer():
            raise InputError(f"'{label}={count:g}' is not {form}")
    return {label: int(count) for label, count in counts.items()}


def _numbers_by_label(text: str, form: str) -> dict[str, float]:
    """The numbers of a text such as no=0.9,yes=0.1 by label. Raises InputError for a part that is not of the form."""
    found: dict[str, float] = {}
    for part in split(text):
        label, number = _split_number(part)
        if "=" not in part or number is None:
            raise InputError(f"{part!r} is not {form}")
        label = _value(label, as_text=True)
        if label in found:
            raise InputError(f"label {label!r} is given twice; give it once")
        found[label] = number
    return found


def folds(text: str) -> int | str:
    """A number of folds, or "loo", for leave-one-out; the help has it in capitals."""
    given = text.strip().lower()
    if given != "loo" and not (given.isascii() and given.isdigit() and len(given) < 19 and int(given) >= 2):
        raise InputError(f"{text!r} is neither a number of folds, 2 or more, nor loo")
    return given if given == "loo" else int(given)


def names(text: str) -> list[str]:
    """The names of columns, or labels, between commas; a name with a comma is quoted. An empty text is an empty list."""
    return [_value(part, as_text=True) for part in split(text)]


def cost(text: str) -> tuple[str, str, float]:
    """The actual class, the predicted class, and the cost.

    >>> cost("ham:'spam: ads'=10")
    ('ham', 'spam: ads', 10.0)
    """
    pair, number = _split_number(text)
    labels = split(pair, ":")
    if number is None or len(labels) != 2:
        raise InputError(f"{text!r} is not ACTUAL:PREDICTED=COST, such as ham:spam=10")
    actual, predicted = (_value(label, as_text=True) for label in labels)
    return actual, predicted, number


def threshold(text: str) -> tuple[str, float]:
    """The class and its threshold.

    >>> threshold("spam=0.9")
    ('spam', 0.9)
    """
    label, number = _split_number(text)
    if number is None or not label:
        raise InputError(f"{text!r} is not LABEL=P, such as spam=0.9")
    return _value(label, as_text=True), number


def limit(text: str) -> tuple[str, float]:
    """A monitored metric and its limit.

    >>> limit("psi=0.2")
    ('psi', 0.2)
    """
    metric, number = _split_number(text)
    if number is None or math.isnan(number) or not metric:
        raise InputError(f"{text!r} is not METRIC=LIMIT, such as psi=0.2")
    if metric not in METRICS:
        raise InputError(f"no metric {metric!r}{suggestion(metric, METRICS) or f'; there are {listed(METRICS)}'}")
    return metric, number


def join(text: str) -> Join:
    """The join from a text such as products:product=id,shop:product_.

    The key is a list of columns, or of COLUMN=COLUMN of the source and of the table.

    >>> join("products:product=id,shop:product_")
    Join(table='products', on={'product': 'id', 'shop': 'shop'}, columns=None, prefix='product_')
    """
    table, *rest = (part.strip() for part in text.split(":"))
    if not table or not rest or len(rest) > 2 or not all(name for name in rest[0].replace("=", ",").split(",")):
        raise InputError(f"a join is TABLE:KEY or TABLE:KEY:PREFIX, such as products:product=id:product_, not {text!r}")
    pairs = [[name.strip() for name in pair.split("=", 1)] for pair in rest[0].split(",")]
    return Join(table, {pair[0]: pair[-1] for pair in pairs}, prefix=rest[1] if len(rest) > 1 else "")


def costs_of(costs: Costs) -> dict[tuple[str, str], float] | None:
    """The costs in the form that `Model.predict` accepts; None if there are none."""
    return {(actual, predicted): price for actual, predicted, price in costs} or None


def _split_number(text: str) -> tuple[str, float | None]:
    """The text before the last equals sign, and the number after it; None if that is not a number."""
    before, _, number = text.rpartition("=")
    try:
        return before, float(number)
    except ValueError:
        return before, None


def split(text: str, separator: str = ",") -> list[str]:
    """The parts between commas, except commas inside quotes and brackets, without surrounding blanks.

    >>> split("a=1, b=['x','y'], 'c,d'")
    ['a=1', "b=['x','y']", "'c,d'"]
    """
    parts = ["".join(part).strip() for part in _parts(text, separator)]
    return [] if parts == [""] else parts


def _parts(text: str, separator: str) -> Iterator[list[str]]:
    part: list[str] = []
    open_brackets: list[str] = []
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not (part and (part[-1].isalnum() or part[-1] == "_")):  # not an apostrophe within a word
            quote = character
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif character == separator and not open_brackets:
            yield part
            part = []
            continue
        part.append(character)
    if quote or open_brackets:
        raise InputError(f"{text!r} lacks a closing {quote or open_brackets[-1]}")
    yield part


def _value(text: str, *, as_text: bool = False) -> Any:
    """The value of a text: a quoted text, a list, a literal, or else the text itself."""
    text = text.strip()
    for quote in "'\"":
        if len(text) >= 2 and text[0] == text[-1] == quote and quote not in text[1:-1].replace(quote * 2, ""):
            return text[1:-1].replace(quote * 2, quote)
    if as_text:
        return text
    if text[:1] + text[-1:] in ("[]", "()"):
        return [_value(part) for part in split(text[1:-1])]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


FAMILY = Parsed("COLUMN=FAMILY", family_or_auto)
LISTED_METHODS = Parsed("NAMES", methods)
PRIOR = Parsed("KIND|LABEL=P,...", prior)
EXPRESSION = Parsed("COLUMN=EXPR", expression)
COMPONENTS = Parsed("K|LABEL=K,...", components)
FOLDS = Parsed("N|loo", folds)
COLUMNS = Parsed("A,B,...", names)
LABELS = Parsed("LABEL,...", names)
COST = Parsed("ACTUAL:PREDICTED=COST", cost)
THRESHOLD = Parsed("LABEL=P", threshold)
LIMIT = Parsed("METRIC=LIMIT", limit)
JOIN = Parsed("TABLE:KEY[:PREFIX]", join)
