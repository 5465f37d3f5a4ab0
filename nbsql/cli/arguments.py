"""Parses the arguments of the command line into those of the library."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from nbsql.errors import InputError, listed, suggestion
from nbsql.family import FAMILIES, Family
from nbsql.judging.monitor import METRICS

_PAIR = re.compile(r"(?P<column>.+?)=\s*(?P<family>[A-Za-z_]+)\s*(?:\((?P<options>.*)\))?\s*", re.DOTALL)
_OPTION = re.compile(r"([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)
_PRIORS = ("empirical", "uniform", "smoothed")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS = {"true": True, "false": False, "none": None}


if TYPE_CHECKING:
    from nbsql.model import Model

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older ones take no type arguments


class FamilyType(_Type):
    """COLUMN=FAMILY, with the options of the family in brackets: visits=poisson(a=1,b=2)."""

    name = "COLUMN=FAMILY"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str | Family]:
        """The column, or the key of a family over several columns, and its family; "auto" stays a text."""
        column, _, name = str(value).rpartition("=")
        if column and name == "auto":
            return column, name
        try:
            return family(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class PriorType(_Type):
    """A kind of prior, or the probability of every label: no=0.9,yes=0.1."""

    name = "KIND|LABEL=P,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | dict[str, float]:
        """The kind, or the probabilities by label."""
        try:
            return prior(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class ComponentsType(_Type):
    """A number of components for every class, or one for some labels: yes=3,no=2."""

    name = "K|LABEL=K,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | dict[str, int]:
        """The number, or the numbers by label."""
        try:
            return components(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class FoldsType(_Type):
    """N, a number of folds of at least 2, or loo, for leave-one-out."""

    name = "N|loo"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """The number, or "loo"."""
        text = str(value).strip().lower()  # the help text has it in capitals
        if text != "loo" and not (text.isascii() and text.isdigit() and int(text) >= 2):
            self.fail(f"{value!r} is neither a number of folds, 2 or more, nor loo", param, ctx)
        return text if text == "loo" else int(text)


class ColumnsType(_Type):
    """Names of columns or labels, separated by commas; a name with a comma is quoted. An empty text is an empty list."""

    name = "A,B,..."

    def __init__(self, name: str = name) -> None:
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """The names."""
        try:
            return [_value(part, as_text=True) for part in split(str(value))]
        except InputError as error:
            self.fail(str(error), param, ctx)


class CostType(_Type):
    """ACTUAL:PREDICTED=COST, the cost of a prediction when another class is right: ham:spam=10."""

    name = "ACTUAL:PREDICTED=COST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str, float]:
        """The actual class and the predicted one, as text, and the cost."""
        try:
            return cost(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class ThresholdType(_Type):
    """LABEL=P, the posterior that a class must reach: spam=0.9."""

    name = "LABEL=P"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """The class, as text, and the threshold."""
        try:
            return threshold(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class LimitType(_Type):
    """METRIC=LIMIT, the limit of a monitored metric: psi=0.2."""

    name = "METRIC=LIMIT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """The metric and its limit."""
        metric, limit = _split_number(str(value))
        if limit is None or math.isnan(limit) or not metric:
            self.fail(f"{value!r} is not METRIC=LIMIT, such as psi=0.2", param, ctx)
        if metric not in METRICS:
            self.fail(f"no metric {metric!r}{suggestion(metric, METRICS) or f'; there are {listed(METRICS)}'}", param, ctx)
        return metric, limit


def family(text: str) -> tuple[str, Family]:
    """The column and the family of a text such as `visits=poisson(a=1,b=2)`.

    Values are Python literals; a bare word is a text. A backslash in a quoted text is not an escape.

    Raises:
        InputError: the text names no family, or an option that the family does not have.

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
    if name not in FAMILIES:
        raise InputError(f"no family {name!r}{suggestion(name, FAMILIES) or f'; the families are {listed(FAMILIES)}'}")
    kind = FAMILIES[name]
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    options: dict[str, Any] = {}
    columns: list[Any] = []
    for part in split(match["options"] or ""):
        pair = _OPTION.fullmatch(part)
        if pair is None and kind.over_columns:
            columns.append(_value(part, as_text=True))
        elif pair is None:
            raise InputError(f"{part!r} is no option of {name!r}; write it as option=value: {name}({names[-1]}={part})")
        elif pair[1] not in names:
            hint = suggestion(pair[1], names) or f"; it has {listed(names)}"
            raise InputError(f"family {name!r} has no option {pair[1]!r}{hint}")
        elif pair[1] in options:
            raise InputError(f"option {pair[1]!r} of {name!r} is given twice; give it once")
        else:
            options[pair[1]] = _value(pair[2])
    if columns:
        options["columns"] = columns
    try:
        return match["column"], kind(**options)
    except TypeError as error:
        raise InputError(f"family {name!r} cannot take {match['options']!r}: {error}") from None


def prior(text: str) -> str | dict[str, float]:
    """The kind of prior, or the probabilities by label as text.

    Raises:
        InputError: a part is not LABEL=P.

    >>> prior("no=0.9,'yes, sir'=0.1")
    {'no': 0.9, 'yes, sir': 0.1}
    """
    if text in _PRIORS:
        return text
    if "=" not in text:
        known = ", ".join(_PRIORS)
        hint = suggestion(text, _PRIORS) or f"; a prior is one of {known}, or LABEL=P,LABEL=P"
        raise InputError(f"no prior {text!r}{hint}")
    probabilities: dict[str, float] = {}
    for part in split(text):
        label, probability = _split_number(part)
        if "=" not in part or probability is None:
            raise InputError(f"{part!r} is not LABEL=P, such as yes=0.1")
        label = _value(label, as_text=True)
        if label in probabilities:
            raise InputError(f"label {label!r} is given twice; give it once")
        probabilities[label] = probability
    return probabilities


def components(text: str) -> int | dict[str, int]:
    """The number of components, or the numbers of components by label as text.

    Raises:
        InputError: a part is not LABEL=K.

    >>> components("no=2,'yes, sir'=3")
    {'no': 2, 'yes, sir': 3}
    """
    if "=" not in text:
        try:
            return int(text)
        except ValueError:
            raise InputError(f"{text!r} is no number of components; it is K, or LABEL=K,LABEL=K") from None
    counts: dict[str, int] = {}
    for part in split(text):
        label, count = _split_number(part)
        if "=" not in part or count is None or count != int(count):
            raise InputError(f"{part!r} is not LABEL=K, such as yes=3")
        label = _value(label, as_text=True)
        if label in counts:
            raise InputError(f"label {label!r} is given twice; give it once")
        counts[label] = int(count)
    return counts


def cost(text: str) -> tuple[str, str, float]:
    """The actual class, the predicted class, and the cost.

    Raises:
        InputError: the text has another form.

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

    Raises:
        InputError: the text has another form.

    >>> threshold("spam=0.9")
    ('spam', 0.9)
    """
    label, number = _split_number(text)
    if number is None or not label:
        raise InputError(f"{text!r} is not LABEL=P, such as spam=0.9")
    return _value(label, as_text=True), number


def labels_by_text(model: Model) -> dict[str, Any]:
    """The classes of a model in their own type, by the text that a user writes."""
    numbered = sorted(model._classes, key=lambda column: column.number)
    return {column.label: label for column, label in zip(numbered, model.classes, strict=True)}


def costs_by_label(model: Model, costs: Sequence[tuple[str, str, float]]) -> dict[tuple[Any, Any], float] | None:
    """The costs in the form that `Model.predict` accepts; None if there are none."""
    labels = labels_by_text(model)
    return {(labels.get(actual, actual), labels.get(other, other)): price for actual, other, price in costs} or None


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
