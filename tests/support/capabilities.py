"""The page of what goes with what, from the tables of nbsql/spec/capabilities.py."""

from __future__ import annotations

from nbsql.errors import InputError
from nbsql.spec.capabilities import FEATURES, KINDS, TRAITS, USES

HEAD = """# What goes with what

Most of what a model can be asked goes with every kind of it. What does not is in these tables, of which the refusals and their
tests are made, too (`nbsql/spec/capabilities.py`). A call that is refused raises one line that says why, and changes nothing.
`pytest tests/docs/test_capabilities.py --update-golden` writes this page anew.
"""

BOUND = """What depends on all rows at once: the weights of `method="logistic"`, `shrinkage="ledoit-wolf"`, and a bag or text
with `norm` beside `tfidf` or `min_count`. Such a model is fitted anew instead of changed, and judged on rows it has not met.
"""

FAMILIES = {"kernel": "`kernel`", "covariance": "`multivariate_gaussian`", "conditional": "`conditional`", "backoff": "`joint`"}


def kinds_of(use: str) -> list[str]:
    """The kinds that can meet a use: what a fit is asked for beside others is of those that are fitted."""
    return ["segments", "components", "half_life", "logistic", "em", "pairs"] if USES[use].error is InputError else [*KINDS]


def refusing(use: str, kind: str) -> str | None:
    """The kind by which a model of a kind is refused; None if it is not. Logistic ones depend on all rows at once, too."""
    return next((each for each in USES[use].refusals if each == kind or (kind == "logistic" and each == "bound")), None)


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for title, error in (("Asked of one fit", True), ("Asked of a model", False)):
        uses = [use for use in USES if (USES[use].error is InputError) == error]
        kinds = kinds_of(uses[0])
        rows = [["", *(KINDS[kind].text for kind in kinds)]]
        rows += [[USES[use].text, *("no" if refusing(use, kind) else "yes" for kind in kinds)] for use in uses]
        parts += [f"## {title}", "", table(rows)]
    reasons = [["", "with", "what is said"]]
    for use in USES.values():
        for kind, sentence in use.refusals.items():
            said = sentence.format(title=use.title, bound="'x'").replace("|", "\\|")
            reasons.append([use.text, KINDS[kind].text, said])
    traits = [["", *(f"`{use}`" for use in FEATURES)]]
    for name, trait in TRAITS.items():
        text = trait.text.format(family=FAMILIES.get(name, "a family"))
        traits.append([text, *("no" if name in refusals else "yes" for refusals in FEATURES.values())])
    parts += [BOUND, "## Kinds of feature", "", table(traits), "## Why", "", table(reasons).rstrip()]
    return "\n".join(parts) + "\n"


def table(rows: list[list[str]]) -> str:
    """A table of Markdown."""
    head, *body = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body]) + "\n"
