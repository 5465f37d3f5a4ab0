"""The page of capabilities, from the tables of nbsql/spec/capabilities.py and traits.py."""

from nbsql.errors import InputError, in_words
from nbsql.spec.capabilities import KINDS, USES, refusal_text
from nbsql.spec.traits import FEATURES, TRAITS

HEAD = """# Capabilities: what goes with what

Most verbs and options work with every kind of model. These tables list the ones that do not work with all. The refusals and
their tests are made from the same tables, `capabilities.py` and `traits.py` of `nbsql/spec`. A refused call raises an error of
one line with the reason, and changes nothing.
"""

BOUND = """Estimated from all rows at once are the weights of `method="logistic"`, `shrinkage="ledoit-wolf"`, and
a bag or text with `norm` beside `tfidf` or `min_count`. Fit such a model again instead of updating it, and
evaluate it on rows that it has not learnt.
"""

FAMILIES = {"kernel": "`kernel`", "covariance": "`multivariate_gaussian`", "conditional": "`conditional`", "backoff": "`joint`"}


def kinds_of(use: str) -> list[str]:
    """The kinds that can meet a use: what a fit is asked for beside others is of those that are fitted."""
    return (
        ["segments", "components", "half_life", "logistic", "weighted", "em", "clusters", "pairs", "untargeted"]
        if USES[use].error is InputError
        else [*KINDS]
    )


def refusing(use: str, kind: str) -> str | None:
    """The kind by which a model of a kind is refused; None if it is not. Logistic ones depend on all rows at once, too."""
    return next((each for each in USES[use].refusals if each == kind or (kind == "logistic" and each == "bound")), None)


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for title, error in (("Options of a fit", True), ("Verbs of a model", False)):
        uses = [use for use in USES if (USES[use].error is InputError) == error]
        kinds = kinds_of(uses[0])
        rows = [["", *(KINDS[kind].text for kind in kinds)]]
        rows += [[USES[use].text, *("no" if refusing(use, kind) else "yes" for kind in kinds)] for use in uses]
        parts += [f"## {title}", "", table(rows)]
    reasons = [["", "with", "message"]]
    reasons += [
        [use.text, KINDS[kind].text, refusal_text(name, kind, use.title, "'x'").replace("|", "\\|")]
        for name, use in USES.items()
        for kind in use.refusals
    ]
    traits = [["", *(f"`{use}`" for use in FEATURES)]]
    for name, trait in TRAITS.items():
        text = trait.text.format(family=FAMILIES.get(name, "a family"))
        traits.append([text, *("no" if name in refusals else "yes" for refusals in FEATURES.values())])
    parts += [BOUND, "## Kinds of features", "", table(traits), "## Reasons", "", table(reasons).rstrip()]
    return in_words("\n".join(parts)) + "\n"


def table(rows: list[list[str]]) -> str:
    """A table of Markdown."""
    head, *body = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body]) + "\n"
