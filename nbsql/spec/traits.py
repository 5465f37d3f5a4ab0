"""The table of traits: which uses each kind of feature supports; that of models is in capabilities.py."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nbsql.errors import Cure, InputError, NbsqlError
from nbsql.family import Family
from nbsql.spec.spec import Feature


@dataclass(frozen=True)
class Trait:
    """A trait of a feature that some uses do not support: its text in messages, and the test whether a family has it."""

    text: str  # {family} stands for the family's name
    matches: Callable[[Family], bool]


TRAITS: dict[str, Trait] = {
    "kernel": Trait("{family}", lambda family: family.cell == "place"),
    "covariance": Trait("{family}", lambda family: family.kind == "matrix"),
    "conditional": Trait("{family}", lambda family: family.parent is not None),
    "backoff": Trait("{family} with a backoff", lambda family: family.backoff),
    "presence": Trait("{family} with event='bernoulli'", lambda family: family.presence),
    "complement": Trait("a complement model", lambda family: family.complement),
    "weighed": Trait("{family} with tfidf or norm", lambda family: family.reweights_tokens),
    "best": Trait("{family} with best", lambda family: family.best is not None),
    "several": Trait("{family} of several columns", lambda family: family.over_columns),
    "bag": Trait("{family}, a bag of words", lambda family: family.bag),
    "uncut": Trait("{family} and no category", lambda family: family.kind != "level"),
    "merged": Trait("{family} with monotone", lambda family: bool(family.monotone and family.fit_query)),
    "gaps": Trait("{family} with ⟨nulls='category'⟩", lambda family: family.nulls == "category"),
}

_CLASSES = "; cut numbers into bins, or use ⟨per='feature'⟩"
_OTHER, _OPTION = "; choose another family", "; leave that option out"
_CUT = ", and each engine cuts texts and lists in its own way; leave it out of the model, or score on DuckDB with ⟨inline=True⟩"
_BAG, _TOGETHER = ", which has no single value to predict; choose another column", "; choose a column with a family of its own"

# For each use the traits that it does not support, each with the end of the error message.
FEATURES: dict[str, dict[str, str]] = {
    "segment_by": {
        "kernel": _OTHER, "covariance": _OTHER, "conditional": _OTHER, "backoff": _OTHER, "presence": _OPTION,
        "complement": _OTHER, "weighed": _OPTION, "best": _OPTION,
    },
    "components": {"covariance": _OTHER, "backoff": _OTHER, "best": _OPTION, "complement": _OTHER},
    "classes": {"covariance": _OTHER, "kernel": _OTHER},
    "method='em'": {
        "covariance": _OTHER, "backoff": _OTHER, "complement": _OTHER, "weighed": _OPTION, "best": _OPTION,
    },
    "method='clusters'": {
        "covariance": _OTHER, "backoff": _OTHER, "complement": _OTHER, "weighed": _OPTION, "best": _OPTION, "merged": _OPTION,
    },
    "target=None": {"merged": _OPTION},
    "method='weighted'": {"backoff": _OTHER, "complement": _OTHER},
    "per='class and feature'": {
        "covariance": _CLASSES, "backoff": _OTHER, "presence": _CLASSES, "complement": _CLASSES, "weighed": _CLASSES,
        "best": _CLASSES, "bag": _CLASSES, "uncut": _CLASSES,
    },
    "impute": {
        "conditional": "; fill it by a model of ⟨method='naive'⟩", "covariance": _TOGETHER, "backoff": _TOGETHER,
        "presence": _BAG, "complement": _BAG, "weighed": _BAG, "best": _BAG, "several": _TOGETHER, "bag": _BAG,
        "gaps": ", so that a missing value is a category of its own; fit it with ⟨nulls='skip'⟩",
    },
    "sql(..., dialect=...)": {"presence": _CUT, "weighed": _CUT, "best": _CUT, "bag": _CUT},
}  # fmt: skip


def check_features(features: Iterable[Feature], use: str, error: type[NbsqlError] = InputError) -> None:
    """Raise an error unless the use supports all features."""
    for feature in features:
        for trait, ending in FEATURES[use].items():
            if TRAITS[trait].matches(feature.family):
                text = TRAITS[trait].text.format(family=feature.family.name)
                raise error(f"{Cure(use).marked()} does not support {feature.name!r}, which is {text}{ending}")
