"""The list of panels in the order of the report. A new panel needs a function that makes figures, a chart, and a line here."""

from __future__ import annotations

from nbsql.errors import InputError, listed, suggestion
from nbsql.report.of_counts import card, discrimination, drift, profile, ranking
from nbsql.report.of_periods import monitor
from nbsql.report.of_rows import confusion, dependence, lift, reliability, slices, threshold, verdict, waterfall
from nbsql.report.panel import Panel
from nbsql.report.what_if import nomogram

PANELS = (
    Panel("card", "What is this?", "A bar is the share of the rows that a class has: what is believed before a look.", card),
    Panel(
        "verdict", "Is it any good?",
        "Blue is what the model knows, grey what needs no model. Accuracy is better high, log loss better low.",
        verdict,
    ),
    Panel("ranking", "What matters?", "The longer the bar, the more the feature tells of the class by itself.", ranking),
    Panel(
        "profile", "What does a feature say?",
        "Where the classes differ, the feature tells them apart. Curves are what the model believes, bars what was counted.",
        profile, of_feature=True,
    ),
    Panel(
        "discrimination", "What tells one class from another?",
        "A bar to the right speaks for the one class, to the left for the other: ln of how many times likelier it is there.",
        discrimination, of_classes=True,
    ),
    Panel(
        "nomogram", "What if?",
        "Choose a value for each feature: with the prior they sum to the total of each class, which say the posterior.",
        nomogram,
    ),
    Panel(
        "waterfall", "Why this row?",
        "From the prior down, each value moves the log-odds of the prediction against the next class; the last is their sum.",
        waterfall, needs_source=True, shows_rows=True,
    ),
    Panel(
        "confusion", "What is taken for what?",
        "A line is a class, a column what was predicted as; mistakes are off the diagonal.",
        confusion, needs_source=True,
    ),
    Panel(
        "threshold", "Where do I cut?",
        "A row is flagged where its posterior reaches the threshold, which the slider moves; the dots are the same point.",
        threshold, needs_source=True,
    ),
    Panel(
        "reliability", "Can I believe 0.9?",
        "On the dashed line a prediction is right as often as it says; below it, the model is too sure of itself.",
        reliability, needs_source=True,
    ),
    Panel(
        "lift", "How deep do I go?",
        "Of the rows, those most likely to be of the class first: the share of the class found, and how much beyond chance.",
        lift, needs_source=True,
    ),
    Panel(
        "slices", "Where is it worst?",
        "A line is a value of a feature, its bar where the accuracy of all such rows lies; left of the dashed line is worse.",
        slices, needs_source=True,
    ),
    Panel(
        "drift", "Has the world moved?",
        "The stronger the colour, the more a feature moved from the slice before; a psi above 0.25 is usually worth a look.",
        drift,
    ),
    Panel(
        "monitor", "Is it still good?",
        "Above, how far each feature of a period is from the reference; below, how well the model does. Dashed: the reference.",
        monitor, of_periods=True,
    ),
    Panel(
        "dependence", "Where is naive wrong?",
        "The stronger the colour, the more a pair tells of each other within the classes: the model counts that twice.",
        dependence, needs_source=True,
    ),
)  # fmt: skip


def panel_named(name: str) -> Panel:
    """The panel of that name.

    Raises:
        InputError: no panel has that name.
    """
    found = next((panel for panel in PANELS if panel.name == name), None)
    if found is None:
        names = [panel.name for panel in PANELS]
        raise InputError(f"no panel {name!r}{suggestion(str(name), names) or f'; the panels are {listed(names)}'}")
    return found
