"""Writes keywords.py, the options of a fit as type checkers know them: `python -m nbsql.spec`."""

from pathlib import Path

from nbsql.spec.options import model_fields
from nbsql.spec.signature import PLACE, keyword_type

PATH = Path(__file__).parent / "keywords.py"
# Each class adds options to those of the one before. A sweep has lists of those that the first leaves out.
_CLASSES = {
    "BaseFitOptions": "The options of `nbsql.fit` that describe the model, except its target, alpha, prior and families.",
    "SmoothedOptions": "The options that describe the model, except its target and families.",
    "ModelOptions": "The options that describe the model, other than its target.",
    "UnnamedFitOptions": "The options of `nbsql.fit` other than the target and the name.",
    "FitOptions": "The options of `nbsql.fit` other than the target.",
}
_ADDED = {
    "alpha": "SmoothedOptions",
    "prior": "SmoothedOptions",
    "families": "ModelOptions",
    "replace": "UnnamedFitOptions",
    "database": "UnnamedFitOptions",
    "name": "FitOptions",
}
_HEADER = '''"""The options of a fit as keywords, for type checkers: `**options: Unpack[ModelOptions]`.

Generated from options.py: after a change there, run python -m nbsql.spec.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from nbsql.family import Estimate, Family, Nulls, Unseen
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import Method
from nbsql.spec.options import Best, Infer, PriorArgument, Segments
'''


def keywords_py() -> str:
    types = {each.name: keyword_type(each) for each in model_fields()} | {name: type_ for name, (type_, _) in PLACE.items()}
    text, base = _HEADER, "TypedDict"
    for name, description in _CLASSES.items():
        lines = [f"    {option}: {type_}\n" for option, type_ in types.items() if _ADDED.get(option, "BaseFitOptions") == name]
        text += f'\n\nclass {name}({base}, total=False):\n    """{description}"""\n\n' + "".join(lines)
        base = name
    return text


if __name__ == "__main__":
    PATH.write_text(keywords_py(), encoding="utf-8", newline="\n")
