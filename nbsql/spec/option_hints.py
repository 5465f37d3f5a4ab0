"""What is meant by a word that is no option of a fit: an option of a method, or what another package calls it."""

import reprlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from nbsql.spec.classifier import Classifier
from nbsql.spec.method import METHODS, Mixture

_PRIOR = '⟨prior="uniform"⟩, or a probability for each class'
_TARGET = '⟨target="label"⟩'
_AGES = '⟨weight=nbsql.HalfLife("30 days", at="sent_at")⟩'
ELSEWHERE = {  # in scikit-learn, BigQuery ML, Vertica, R and what users try; see docs/explanation/coming-from.md
    "class_weight": _PRIOR, "class_prior": _PRIOR, "class_priors": _PRIOR, "priors": _PRIOR, "fit_prior": _PRIOR,
    "sample_weight": '⟨weight="n"⟩, a column', "weights": '⟨weight="n"⟩, a column',
    "var_smoothing": '⟨families={"amount": nbsql.Gaussian(smoothing=1e-9)}⟩', "laplace": "⟨alpha=1⟩",
    "label": _TARGET, "labels": _TARGET, "response": _TARGET, "outcome": _TARGET, "input_label_cols": _TARGET,
    "half_life": _AGES, "halflife": _AGES, "decay": _AGES,
    "ngram_range": '⟨families={"message": nbsql.Text(ngrams=(1, 2))}⟩',
    "min_df": '⟨families={"message": nbsql.Text(min_count=2)}⟩',
    "stop_words": '⟨families={"message": nbsql.Text(stop_words=["the", "of"])}⟩',
    "max_features": "⟨features=nbsql.Best(20)⟩", "drop": '⟨exclude=["id"]⟩', "transform": '⟨derive={"net": "gross - tax"}⟩',
    "na_values": '⟨missing=["NA"]⟩',
}  # fmt: skip


def option_hint(name: str, options: Mapping[str, Any]) -> str:
    """The end of a message that says what is meant by a name that was given as an option; "" if that is not known.

    >>> option_hint("components", {"components": 2})
    '; it is an option of a method: ⟨method=nbsql.Mixture(components=2)⟩'
    >>> option_hint("na_values", {"na_values": "NA"})
    '; here it is ⟨missing=["NA"]⟩'
    """
    named = options.get("method")
    asked: list[type] = [METHODS[named]] if isinstance(named, str) and named in METHODS else [type(named)]
    for kind in (*asked, *METHODS.values(), Mixture):
        if issubclass(kind, Classifier) and name in {each.name for each in fields(kind)}:
            value = reprlib.repr(options[name])
            return f"; it is an option of a method: ⟨method=nbsql.{kind.__name__}({name}={value})⟩"
    return f"; here it is {ELSEWHERE[name]}" if name in ELSEWHERE else ""
