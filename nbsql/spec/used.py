"""Whether the options that say how to estimate are used by something in a model.

The same options are often tried on many models, so that an idle one is a warning. What a method rules out by itself is refused
(resolve.py).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nbsql.errors import listed
from nbsql.family import ADDED, Family, all_named
from nbsql.spec.options import Options, Smoothed
from nbsql.spec.spec import Spec
from nbsql.warn import warn_user


class _Use(NamedTuple):
    is_asked: Callable[[Any], bool]  # whether a value of the option asks for something
    is_used: Callable[[Family], bool]
    why: str  # what is so if no family uses it


_VALUES = ("level", "label", "list", "boolean", "token", "pair")
_USES = {
    "alpha": _Use(
        lambda value: value not in (None, 0, 1), lambda family: family.smoothed, "no feature and no prior is smoothed"
    ),
    "estimate": _Use(
        lambda value: value == "mode", lambda family: family.cell != "place", "no feature and no prior has a mode"
    ),
    "nulls": _Use(
        lambda value: value == "category",
        lambda family: family.nulls == "category",
        "no feature is a category, of which a missing value can be one",
    ),
    "unseen": _Use(
        lambda value: value == "smooth",
        lambda family: family.unseen == "smooth" and (family.cell in _VALUES or "inside" in family.macros),
        "no feature has values that a row may have and no training row had",
    ),
    "floor": _Use(lambda value: value is not None, lambda family: not family.smoothing, "smoothing takes its place"),
}
_ESTIMATES = {"alpha", "estimate", "variance", "floor", "smoothing", "prior", "a", "b", "beta", "other_alpha"}


def check_used(options: Options, *specs: Spec) -> None:
    """Warn of the options, other than their defaults, that change nothing in any of the models.

    An option that asks for what is so anyway, such as the maximum-likelihood estimate of numbers without a prior, is used.
    """
    families = [feature.family for spec in specs for feature in spec.features]
    has_weights = all(spec.logistic is not None for spec in specs)
    is_smoothed = any(spec.prior.kind == "smoothed" for spec in specs)
    takes_alpha = isinstance(options.prior, (str, Smoothed)) and options.prior in ("smoothed", Smoothed())
    # By the prior; and a model without a target smooths by default what was never seen.
    used_otherwise = {"alpha": takes_alpha, "estimate": is_smoothed, "unseen": not all(spec.has_target for spec in specs)}
    for option, use in _USES.items():
        value = getattr(options, option, None)  # floor is one of families alone
        if option == "estimate" and value is not None and has_weights:
            _warn_unused("⟨method='logistic'⟩ learns weights", option, value)
        elif use.is_asked(value) and not used_otherwise.get(option) and not any(map(use.is_used, families)):
            _warn_unused(use.why, option, value)
    check_families_used(options.families, estimates=not has_weights)


def _warn_unused(why: str, option: str, value: Any) -> None:
    shown = f"{option}={value!r}" if isinstance(value, str) else option
    warn_user(f"{why}, so that ⟨{shown}⟩ changes nothing; leave out ⟨{shown}⟩")


def check_families_used(families: Mapping[Any, str | Family], *, estimates: bool) -> None:
    """Warn of the options of families that change nothing; `estimates` says whether the model estimates from counts."""
    for name, family in all_named(families, ADDED).items():  # a method has added these
        is_of_model = None not in (family.alpha, family.nulls, family.unseen, family.estimate)  # it has the options of a fit
        given = {} if is_of_model or family.cell == "part" else family.changed_options  # the parts of a date are categories
        asked = {option for option, value in given.items() if option in _USES and _USES[option].is_asked(value)}
        if idle := {option for option in asked if not _USES[option].is_used(family)} if estimates else _ESTIMATES & {*given}:
            them = "it" if len(idle) == 1 else "them"
            warn_user(f"{name!r} is {family.name}, which does not use {listed(sorted(idle))} here; leave {them} out")
