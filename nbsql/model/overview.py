"""The overview of a model: its options, its features and classes, and what it has learnt from."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from markupsafe import Markup

from nbsql.errors import counted, in_words
from nbsql.family import Family
from nbsql.family.text import STOP_WORDS
from nbsql.learning.feature_weights import stale_weights
from nbsql.queries.table import Table, number, paragraph, plain, share
from nbsql.spec.components import Components
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.calibration import describe_calibration
from nbsql.storage.state import ModelState

ROWS = 30  # rows of a table in a report
_CHANGES = 5  # entries of the ledger that are shown, the newest
_DEFAULTS = {"alpha": 1.0, "nulls": "skip", "unseen": "skip", "estimate": "mean"}


def overview(state: ModelState, title: str) -> Iterator[str]:
    """The lines of an overview of a model, as `nbsql show` prints it."""
    yield heading(title, state.spec)
    yield ""
    for table, more in _tables(state):
        yield from (f"  {line}" for line in [*table.text().splitlines(), *more])
        yield ""
    yield from history(state, ledger_at="model.batches")


def overview_html(state: ModelState, title: str) -> str:
    """The same overview as HTML."""
    parts = [paragraph(heading(title, state.spec))]
    for table, more in _tables(state):
        parts += [table.html(), *map(paragraph, more)]
    parts += map(paragraph, history(state, ledger_at="model.batches"))
    return str(Markup("").join(parts))


def _tables(state: ModelState) -> Iterator[tuple[Table, list[str]]]:
    """The first rows of the features and of the classes, and a line that says how many more there are."""
    for table in (weighted_features(state), classes_of(state)):
        more = [f"… and {len(table.rows) - ROWS} more"] if len(table.rows) > ROWS else []
        if table.rows:
            yield Table(table.columns, table.rows[:ROWS], table.right), more


def heading(title: str, spec: Spec) -> str:
    """The line that says what a model predicts, or that it has no target, and how many features it has."""
    what = f"predicts {spec.target} from" if spec.has_target else "has no target, and describes rows by"
    return f"{title}: {what} {counted(len(spec.features), 'feature')}"


def weighted_features(state: ModelState) -> Table:
    """The table of the features, with the weight of each if it has one, or the least and the largest of its classes."""
    table = features_of(state.spec.features)
    if state.spec.weighted is None:
        return table
    ends = {name: ends for name, *ends in state.engine.query_macro("weights_of_features", state.relations["weights"])}
    weights = [" to ".join(dict.fromkeys(map(number, ends[row[0] or ""]))) for row in table.rows]
    rows = [[*row, weight] for row, weight in zip(table.rows, weights, strict=True)]
    return Table([*table.columns, "weight"], rows, [len(table.columns)])


def features_of(features: Sequence[Feature]) -> Table:
    """A row for each feature: its family, the options that were set, and why its values suggest it, if any do."""
    rows = [[feature.name, feature.family.name, options_text(feature.family), feature.why] for feature in features]
    if not any(row[-1] for row in rows):
        return Table(["feature", "family", "options"], [row[:-1] for row in rows])
    return Table(["feature", "family", "options", "why"], rows)


def classes_of(state: ModelState) -> Table:
    """A row for each class: its rows and its prior, the most probable first."""
    engine = state.engine
    query = engine.renderer.dialect.query(engine.renderer.statement("sorted_by", state.relations["priors"], ["class"]))
    rows = engine.query_macro("as_text", query, ["class", "n", "prior", "log_prior"])
    shown: list[list[str | None]] = [
        [plain(label), number(float(n)) if n is not None else None, share(float(prior))]
        for label, n, prior, _ in sorted(rows, key=lambda row: -float(row[2]))
    ]
    return Table([f"class of {state.spec.target}", "rows", "prior"], shown, right=[1, 2])


def history(state: ModelState, *, ledger_at: str) -> list[str]:
    """The options of a model and what it has learnt from, as lines. `ledger_at` says where the whole ledger is."""
    engine, spec, relations = state.engine, state.spec, state.relations
    prior = f"{spec.prior.kind} (alpha {spec.prior.alpha:g})" if spec.prior.kind == "smoothed" else spec.prior.kind
    settings = [f"alpha {spec.defaults['alpha']:g}", f"prior {prior}"]
    settings += [f"{name} {spec.defaults[name]}" for name in ("nulls", "unseen") if spec.defaults[name] != "skip"]
    settings += [f"estimate {spec.defaults['estimate']}"] if spec.defaults.get("estimate") else []
    half_life = spec.half_life
    settings += [f"half-life {half_life.half_life} of {plain(half_life.at)}"] if half_life else []
    weight = half_life.weight if half_life else spec.weight
    settings += [f"weight {weight}"] if weight else []
    settings += [f"id {', '.join(spec.id)}"] if spec.id else []
    settings += [f"slices by {plain(spec.slice_by)}"] if spec.slice_by and not half_life else []
    settings += [f"segments by {plain(spec.segment_by)}, shrinkage {spec.segment_shrinkage:g}"] if spec.segment_by else []
    words = dict.fromkeys(word for each in spec.derived for word in each.words)
    settings += [f"missing {' '.join(map(plain, words))}"] if words else []
    settings += [f"{plain(each.name)} = {plain(each.expression)}" for each in spec.derived if not (each.words or each.part)]
    zones = {name: each.zone for each in spec.derived if each.zone for name, _ in each.reads}
    settings += [f"{plain(name)} in the time zone {plain(zone)}" for name, zone in zones.items()]
    weights = spec.weighted
    settings += [f"a weight per {weights.per}, penalty {weights.penalty:g}"] if weights and weights.penalty is not None else []
    settings += [f"components {_components(spec.components)}"] if spec.components is not None else []
    settings += [f"counts shared with {said}" for said in spec.shared]
    version = engine.query_macro("all_rows", relations["spec"])[0][1]
    lines = [", ".join([*settings, f"nbsql {version}"]), f"probabilities {describe_calibration(engine, relations)}"]
    lines += [in_words(stale)] if (stale := stale_weights(engine, spec, relations["batches"])) else []
    lines += [f"follows {plain(state.follows)}, whose changes it learns"] if state.follows else []
    ledger = engine.query_macro("all_rows", relations["batches"])
    for _, operation, source, count, at, _ in sorted(ledger, key=lambda row: row[5])[-_CHANGES:]:
        lines.append(f"{operation}: {count:,} rows of {plain(source)}, {at:%Y-%m-%d %H:%M} UTC")
    if len(ledger) > _CHANGES:
        lines.append(f"... and {len(ledger) - _CHANGES} changes before; {ledger_at} shows all")
    return lines


def _components(components: Components) -> str:
    counts = components.requested
    return str(counts) if isinstance(counts, int) else ", ".join(f"{plain(label)} {count}" for label, count in counts.items())


def options_text(family: Family, *, complete: bool = False) -> str:
    """The options of a family that differ from the defaults or, if `complete`, all that are set."""
    parts = []
    for field in fields(family):
        value = family.options[field.name]
        usual = _DEFAULTS.get(field.name, field.default)
        if field.name == "ngrams":
            usual = (1, 1)
        if field.name == "columns":
            parts.extend(value)
        elif value is not None and value != () and (complete or value != usual):
            parts.append(f"{field.name}={_format_option(value)}")
    return ", ".join(parts)


def _format_option(value: object) -> str:
    named = [name for name, words in STOP_WORDS.items() if value == words]
    if named:
        return named[0]
    if isinstance(value, tuple) and len(value) > 4:
        return f"({len(value)} of them)"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(str, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
