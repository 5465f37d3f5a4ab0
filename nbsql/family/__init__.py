"""The families of features. Each has a file here and its SQL in `sql/macros/families/`.

The class attributes of a family declare how it is counted, estimated and scored; the macros of the same name do the work.
"""

from collections.abc import Mapping
from typing import Any

from nbsql.errors import InputError, suggestion
from nbsql.family.base import NUMBERS, SCALARS, Estimate, Family, Nulls, OverColumns, Parameter, Unseen
from nbsql.family.bernoulli import Bernoulli
from nbsql.family.beta import Beta
from nbsql.family.binned import Binned
from nbsql.family.calendar import Calendar
from nbsql.family.categorical import Categorical
from nbsql.family.complement import Complement
from nbsql.family.conditional import Conditional, Interaction
from nbsql.family.exponential import Exponential
from nbsql.family.gamma import Gamma
from nbsql.family.gaussian import Gaussian, NormalInverseGamma
from nbsql.family.geometric import Geometric
from nbsql.family.joint import Joint
from nbsql.family.kernel import Kernel
from nbsql.family.lognormal import LogNormal
from nbsql.family.multinomial import Multinomial
from nbsql.family.multivariate_gaussian import MultivariateGaussian
from nbsql.family.pairs import Pairs
from nbsql.family.poisson import Poisson
from nbsql.family.text import Text
from nbsql.family.tokens import Bag, TokenCounts, Tokens
from nbsql.family.weighted import Weighted, weighted
from nbsql.family.zero_inflated import ZeroInflated

_FAMILIES = (
    Categorical, Binned, Bernoulli, Gaussian, LogNormal, Gamma, Beta, Exponential, Poisson, Geometric, ZeroInflated,
    Multinomial, Complement, Tokens, TokenCounts, Text, Joint, Conditional, Kernel, MultivariateGaussian, Calendar,
)  # fmt: skip

FAMILIES: dict[str, type[Family]] = {family.name: family for family in _FAMILIES}

# The families of features that a method adds to those of the columns, AODE and `Weighted(pairs=40, triples=40)`.
ADDED: tuple[type[Family], ...] = (Pairs, Interaction)

# The families that a spec may contain. Numbers of a logistic model are `Weighted`.
STORED: dict[str, type[Family]] = {**FAMILIES, Weighted.name: Weighted, **{family.name: family for family in ADDED}}

# The family is inferred from the type alone, so that fitting the same table tomorrow gives the same model.
INFERRED: dict[str, type[Family]] = {
    "text": Categorical,
    "boolean": Bernoulli,
    **dict.fromkeys(NUMBERS, Gaussian),
    "tokens": Tokens,
    "token counts": TokenCounts,
}


def named(family: str | Family) -> Family:
    """The family of that name with its default options, or the instance itself. Raises InputError if there is none."""
    if isinstance(family, ADDED):
        what = "triples" if isinstance(family, Interaction) and family.further else "pairs"
        method = "method='aode'" if isinstance(family, Pairs) else f"method=nbsql.Weighted({what}=40)"
        raise InputError(f"{what} come with ⟨{method}⟩, beside the columns they are of; leave them out of families")
    if isinstance(family, Family) and hasattr(family, "name"):
        return family
    if isinstance(family, type) and issubclass(family, Family) and hasattr(family, "name"):
        return family()
    if not isinstance(family, str):
        raise InputError(f"a family is a name or an instance such as ⟨nbsql.Gaussian()⟩, not {family!r}")
    if family not in FAMILIES:
        known = ", ".join(map(repr, FAMILIES))
        meant = suggestion("gaussian" if family.lower() == "normal" else family, FAMILIES)
        raise InputError(f"no family {family!r}{meant or f'; the families are {known}'}")
    return FAMILIES[family]()


def all_named(families: Any, besides: tuple[type[Family], ...] = ()) -> dict[Any, Family]:
    """The families of a dict by name or instance, but those of the types `besides`. Raises InputError for anything else."""
    if not isinstance(families, Mapping):
        raise InputError(f"⟨families⟩ must be a dict such as {{'visits': 'poisson'}}, not {families!r}")
    return {key: named(family) for key, family in families.items() if not isinstance(family, besides)}


def from_dict(options: Mapping[str, Any]) -> Family:
    """The family that `Family.to_dict` wrote."""
    arguments = dict(options)
    return STORED[arguments.pop("family")](**arguments)


__all__ = [
    "ADDED", "FAMILIES", "INFERRED", "NUMBERS", "SCALARS", "STORED", "Bag", "Bernoulli", "Beta", "Binned", "Calendar",
    "Categorical", "Complement", "Conditional", "Estimate", "Exponential", "Family", "Gamma", "Gaussian", "Geometric",
    "Interaction", "Joint", "Kernel", "LogNormal", "Multinomial", "MultivariateGaussian", "NormalInverseGamma", "Nulls",
    "OverColumns", "Pairs", "Parameter", "Poisson", "Text", "TokenCounts", "Tokens", "Unseen", "Weighted", "ZeroInflated",
    "all_named", "from_dict", "named", "weighted",
]  # fmt: skip
