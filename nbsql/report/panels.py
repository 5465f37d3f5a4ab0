"""The list of panels in the order of the report. A new panel needs a function that makes figures, a chart, and a line here."""

from nbsql.errors import InputError, listed, suggestion
from nbsql.report.contrast_panels import discrimination, drift, monitor
from nbsql.report.data_panel import data
from nbsql.report.model_panels import card, profile, ranking
from nbsql.report.panel import Panel
from nbsql.report.source_panels import confusion, dependence, lift, reliability, slices, threshold, verdict, waterfall
from nbsql.report.what_if import nomogram

PANELS = (
    Panel("card", "What is this?", "A bar is the prior of a class: its probability before any feature is known.", card),
    Panel(
        "data", "What are the data like?",
        "A bar is the share of the rows that have a value in the column; beside it the number of distinct values.",
        data,
    ),
    Panel(
        "verdict", "Is it any good?",
        "Blue uses the features, grey is a baseline that ignores them. Higher accuracy and lower log loss are better.",
        verdict, of_target=True,
    ),
    Panel(
        "ranking", "What matters?", "The longer the bar, the more the feature alone reveals about the class.",
        ranking, of_target=True,
    ),
    Panel(
        "profile", "What does a feature contribute?",
        "A feature is informative where the classes differ. Of numbers, curves are fitted densities, bars counted rows.",
        profile, of_feature=True,
    ),
    Panel(
        "discrimination", "What distinguishes two classes?",
        "Bars to the right favour the first class, to the left the second: how many times likelier a value is there.",
        discrimination, of_classes=True,
    ),
    Panel(
        "nomogram", "What if?",
        "Choose values, or type a text. The logarithms of prior and values add up to each class's total and posterior.",
        nomogram, of_classes=True,
    ),
    Panel(
        "waterfall", "Why this prediction?",
        "From the prior down, how many times likelier each value makes the prediction than the runner-up; last their product.",
        waterfall, needs_source=True, shows_rows=True, of_classes=True,
    ),
    Panel(
        "confusion", "Which classes are confused?",
        "Rows are actual classes, columns are predicted classes. Errors are off the diagonal.",
        confusion, needs_source=True, of_classes=True,
    ),
    Panel(
        "threshold", "Which threshold?",
        "A row is flagged if its posterior reaches the threshold. The slider moves the threshold; orange marks it.",
        threshold, needs_source=True, of_classes=True,
    ),
    Panel(
        "reliability", "Can I trust the probabilities?",
        "On the dashed line, accuracy equals the predicted probability. Below it, the model is overconfident.",
        reliability, needs_source=True, of_classes=True,
    ),
    Panel(
        "lift", "How many rows should I look at?",
        "The most probable rows come first. Gain is the share of the class found so far, lift the ratio to a random order.",
        lift, needs_source=True, of_classes=True,
    ),
    Panel(
        "slices", "Where is it worst?",
        "The dot is the accuracy for a value, the bar its confidence interval. Left of the dashed line is worse than overall.",
        slices, needs_source=True, of_classes=True,
    ),
    Panel(
        "drift", "Has the data drifted?",
        "The stronger the colour, the more a feature drifted from the previous slice. A PSI (population "
        "stability index) above 0.25 is usually worth a look.",
        drift,
    ),
    Panel(
        "monitor", "Is it still good?",
        "Top: the drift of each feature from the reference, by period. Below: the metrics of the model. Dashed: the reference.",
        monitor, of_periods=True,
    ),
    Panel(
        "dependence", "Where is the naive assumption wrong?",
        "The stronger the colour, the more two features depend on each other within the classes. The model "
        "counts their common evidence twice.",
        dependence, needs_source=True,
    ),
)  # fmt: skip


def panel_named(name: str) -> Panel:
    """The panel of that name. Raises InputError if there is none."""
    found = next((panel for panel in PANELS if panel.name == name), None)
    if found is None:
        names = [panel.name for panel in PANELS]
        raise InputError(f"no panel {name!r}{suggestion(str(name), names) or f'; the panels are {listed(names)}'}")
    return found
