"""Whether the options of a fit that say how to estimate are used by something in its model."""

from __future__ import annotations

from nbsql.errors import InputError
from nbsql.family import Family
from nbsql.spec.options import Options
from nbsql.spec.spec import Spec
from nbsql.warn import warn_user


def check_used(spec: Spec, options: Options) -> None:
    """Raise InputError if an option other than its default changes nothing, for a fit that does not choose families itself.

    An option that asks for what is so anyway, such as the maximum-likelihood estimate of numbers without a prior, is used. A
    naive model warns of an alpha, so that a search over it runs on any columns; for that of other methods see resolve.py.
    """
    families = [feature.family for feature in spec.features]
    if options.alpha not in (None, 0, 1) and spec.prior.kind != "smoothed" and not any(each.smoothed for each in families):
        warn_user("no feature and no prior is smoothed, so that ⟨alpha⟩ changes nothing; leave out ⟨alpha⟩")
    if options.estimate is not None and spec.logistic is not None:
        raise InputError("⟨method='logistic'⟩ learns weights, which estimate does not change; leave out ⟨estimate⟩")
    if options.estimate == "mode" and families and all(family.cell == "place" for family in families):
        raise InputError("a kernel spreads its rows and has no mode, and no other feature is there; leave out ⟨estimate⟩")
    if options.nulls == "category" and not any(family.nulls == "category" for family in families):
        raise InputError("no feature is a category, of which a missing value can be one; leave out ⟨nulls='category'⟩")
    if options.unseen == "smooth" and not any(map(_meets_new_values, families)):
        raise InputError("no feature has values that a row may have and no training row had; leave out ⟨unseen='smooth'⟩")


def _meets_new_values(family: Family) -> bool:
    """Whether a row may have a value that no training row had, which is then smoothed."""
    return family.unseen == "smooth" and family.cell in ("level", "label", "list", "boolean", "token", "pair")
