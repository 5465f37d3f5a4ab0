"""A look at the values of the columns of a fit: families that fit them better than those of their types, and keys to leave out.

A family is inferred from the values only where that is safe: the tables of the page on choosing families show no log loss that
rises by it. A family that does not take every number is inferred only if all rows of the source obey its rules.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import log, log1p

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.family import NUMBERS, Bernoulli, Beta, Categorical, Family, Gaussian, Geometric, LogNormal, Text, ZeroInflated
from nbsql.learning.column_facts import ColumnFacts, column_facts, skewness
from nbsql.learning.family_warnings import NEARLY_UNIQUE, named_like_a_key
from nbsql.learning.text_advice import advice_on_days, advice_on_keys, days_as_numbers
from nbsql.spec.column import Look
from nbsql.spec.features import looks_at_values
from nbsql.spec.options import Best, Options, candidate_options
from nbsql.spec.resolve import resolve
from nbsql.spec.rules import training_checks
from nbsql.spec.spec import Spec
from nbsql.warn import warn_user

ROWS = 10_000
FIRST_ROWS = 100_000  # at most so many of a source that is costly to read, which are its first ones
_MILLION = 1_000_000
MIN_VALUES = 100  # with fewer values, their shape says little, and a key is one only if it never repeats
_MOST_CATEGORIES = 12  # different numbers
_ROWS_PER_CATEGORY = 100
_MIN_TEXTS = 100  # the fewest different texts that are no categories
_MIN_SHARE_OF_TEXTS = 0.1  # and the smallest share of the rows
MIN_FLAGS = 20  # with a normal distribution, a class in which all are alike would rule the others out
MIN_KEYS = 20  # with fewer values, no column is a key
_CHANCE = 1e-9  # a whole number is a key if the probability that chance repeats none of its values is smaller
_LONG_CODE = 16  # characters, of which chance makes no two alike
_YEARS = (1800, 2100)  # a table with one row per year has no key
_DAYS = (19_000_101, 21_001_231)  # days as whole numbers
_DAY = "days, as numbers"
_MOSTLY_ZERO = 0.2
_INFLATED = 1.5  # times as many zeros as counts of that mean have
_MIN_NON_ZERO = 30
_MIN_DENSITY = 10  # values, below which a number has no density
_SKEWED = 1.0
_MOST_OF_TAIL = 0.4  # of the range, below which numbers with a long tail have their mean
_MIN_HASHED = 4  # numbers, by which rows are sampled; a hash of texts takes longer


def looked_at(engine: Engine, source: Source, options: Options) -> Source:
    """The source of a fit, with what a look at its values suggests for its columns. Warns of the keys that are left out."""
    looks = look_at(engine, source, options)
    source.columns = [replace(column, look=looks.get(column.name)) for column in source.columns]
    for name in [name for name, look in looks.items() if look.why == _DAY]:
        warn_user(advice_on_days(engine, name, source.kinds[name]))
    keys = keys_of(source)
    dates = dict(advice_on_keys(engine, source, keys))
    for line in dates.values():
        warn_user(line)
    if keys := [key for key in keys if key not in dates]:
        are, them = ("is a key, which is", "it") if len(keys) == 1 else ("are keys, which are", "them")
        families = json.dumps({key: _family_to_keep(key, source.kinds[key]) for key in keys}, ensure_ascii=False)
        warn_user(f"{listed(keys)} {are} left out; to keep {them}: ⟨families={families}⟩")
    return source


def _family_to_keep(name: str, kind: str) -> str:
    """The family of a column taken for a key: numbers that are not named like one may be ranks, which never repeat, too."""
    return "gaussian" if kind in NUMBERS and not named_like_a_key(name) else "categorical"


def keys_of(source: Source) -> list[str]:
    """The columns that a look took for keys."""
    return [column.name for column in source.columns if column.look is not None and column.look.family is None]


def advice_of_look(engine: Engine, source: Source, options: Options) -> str | None:
    """What a look would change in a fit by types, in one line; None if nothing."""
    looks = look_at(engine, source, options)
    families = {name: look.family for name, look in looks.items() if look.family is not None}
    keys = [name for name, look in looks.items() if look.family is None]
    written = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {_code(family)}" for name, family in families.items())
    shown = [f"⟨families={{{written}}}⟩"] if families else []
    shown += [f"⟨exclude={json.dumps(keys, ensure_ascii=False)}⟩"] if keys else []
    return f"families follow from the types; by a look at the values they would be {', '.join(shown)}" if shown else None


def _code(family: Family) -> str:
    if family == type(family)():
        return json.dumps(family.name)
    of = [f"{name}={value!r}" for name, value in family.changed_options.items()]
    return f"nbsql.{type(family).__name__}({', '.join(of)})"


def look_at(engine: Engine, source: Source, options: Options) -> dict[str, Look]:
    """What the values of columns suggest, by name, where that is another family than their types do."""
    options, selection = candidate_options(options)
    ranks_all = not isinstance(selection, Best) or selection.by == "mutual_information"
    if not looks_at_values(options) or options.segment_by is not None or not ranks_all:
        return {}
    try:
        spec = resolve([replace(column, look=None) for column in source.columns], options, source.label)
    except InputError:
        return {}  # the verb itself says so, or has other options
    kinds = source.kinds
    categories = {column.name for column in source.columns if column.is_category}
    features = [
        feature
        for feature in spec.features
        if feature.is_inferred and feature.family.cell in ("number", "level") and feature.name not in categories
    ]
    if not features:
        return {}
    numbers = [each.column for each in features if kinds[each.column] in NUMBERS]
    rows, is_whole = _rows(engine, source, numbers if len(numbers) >= _MIN_HASHED else [each.column for each in features])
    are_fractions = not any(kinds[name] == "integer" for name in numbers)  # so that few are close
    columns = [*column_facts(engine, rows, spec, features, kinds, is_exact=is_whole and not are_fractions)]
    close = [each for each, about in columns if each.column in numbers and _is_close(about)]
    if not is_whole or are_fractions:
        columns += column_facts(engine, rows, spec, close, kinds)
    large = [each for each, about in columns if kinds[each.column] in ("integer", "decimal") and _is_large(about)]
    counted = column_facts(engine, rows, spec, large, dict.fromkeys(kinds, "text"))  # as texts, since doubles make some equal
    columns += [(each, replace(dict(columns)[each], distinct=as_texts.distinct)) for each, as_texts in [*counted]]
    all_facts = {each.column: about for each, about in columns if about.distinct > 1 or not is_whole}
    flags = [name for name in numbers if name in all_facts and _is_flag(all_facts[name])]
    facts = {name: each for name, each in all_facts.items() if each.n >= (MIN_FLAGS if name in flags else MIN_VALUES)}
    found = {name: _look_at_text(each) if kinds[name] == "text" else _look_at_number(each) for name, each in facts.items()}
    if options.features is None:  # a key that the user names stays
        found |= {
            name: Look(None, "") for name, each in all_facts.items() if _is_key(name, each, is_text=kinds[name] == "text")
        }
    may_be_days = [name for name in numbers if name in all_facts and _may_be_days(all_facts[name])]
    found |= {name: Look(Gaussian(), _DAY) for name in days_as_numbers(engine, rows, may_be_days)}
    looks = {name: look for name, look in found.items() if look}
    shaped = {name: each for name, each in facts.items() if name in numbers and name not in looks and _may_have_tail(each)}
    for name, skew in skewness(engine, rows, spec, shaped).items():
        if (look := _look_at_shape(shaped[name], skew)) is not None:
            looks[name] = look
    looks = {column.name: looks[column.name] for column in source.columns if column.name in looks}
    return looks if is_whole else _unbroken(engine, source, spec, looks)


def _is_close(facts: ColumnFacts) -> bool:
    """Whether the exact number of distinct numbers may matter: of few ones, and of whole ones that may never repeat."""
    return facts.distinct <= 2 * _MOST_CATEGORIES or (facts.irregular == 0 and facts.distinct > NEARLY_UNIQUE * facts.n)


def _may_be_days(facts: ColumnFacts) -> bool:
    are_in_range = _DAYS[0] <= (facts.least or 0) and (facts.largest or 0) <= _DAYS[1]
    return are_in_range and not facts.irregular and facts.distinct > _MOST_CATEGORIES


def _is_large(facts: ColumnFacts) -> bool:
    return max(-float(facts.least or 0), float(facts.largest or 0)) >= 2**53


def _is_key(name: str, facts: ColumnFacts, *, is_text: bool) -> bool:
    """Whether a column is a key by its name, or because it never repeats where chance would repeat it."""
    is_unique, is_small = facts.distinct == facts.n, facts.n < MIN_VALUES
    if facts.n < MIN_KEYS or (is_small and not is_unique):
        return False
    if named_like_a_key(name) and is_text:
        return facts.distinct > NEARLY_UNIQUE * facts.n
    if named_like_a_key(name) and facts.distinct > _MOST_CATEGORIES and not facts.irregular:
        return True
    if not is_unique or facts.irregular:
        return False
    least, largest = float(facts.least or 0), float(facts.largest or 0)
    if is_text:  # others may be words, or amounts
        return facts.coded == facts.n and (not is_small or least >= _LONG_CODE)
    is_year = _YEARS[0] <= least and largest <= _YEARS[1]
    values = max(largest - least + 1, facts.n)
    return not is_year and sum(log1p(-i / values) for i in range(min(facts.n, int(values)))) < log(_CHANCE)


def _look_at_text(facts: ColumnFacts) -> Look | None:
    is_text = 2 * facts.marked > facts.n and facts.distinct >= max(_MIN_TEXTS, _MIN_SHARE_OF_TEXTS * facts.n)
    return Look(Text(), "texts of several words") if is_text else None


def _look_at_number(facts: ColumnFacts) -> Look | None:
    is_whole, least, largest = facts.irregular == 0, float(facts.least or 0), float(facts.largest or 0)
    if _is_flag(facts):
        return Look(Bernoulli(), "0 and 1")
    if 1 < facts.distinct <= _MOST_CATEGORIES and facts.distinct * _ROWS_PER_CATEGORY < facts.n:
        return Look(Categorical(), f"{facts.distinct} whole numbers" if is_whole else f"{facts.distinct} different numbers")
    if _has_density(facts) and _is_inflated(facts):
        family = ZeroInflated(of="lognormal" if least >= 0 else "gaussian")
        return Look(family, f"0 in {facts.marked / facts.n:.0%} of the rows")
    if _has_density(facts) and not is_whole and least > 0 and Beta.near_zero <= largest < 1:
        return Look(Beta(), "between 0 and 1")
    return None


def _is_flag(facts: ColumnFacts) -> bool:
    """Whether all values are 0 or 1; a sample may lack the rare one of the two."""
    return facts.irregular == 0 and {float(facts.least or 0), float(facts.largest or 0)} <= {0, 1}


def _has_density(facts: ColumnFacts) -> bool:
    return facts.distinct > _MIN_DENSITY


def _may_have_tail(facts: ColumnFacts) -> bool:
    """Whether numbers from 0 may have a long tail to the right: most are then in the lower part of their range."""
    least, largest, mean = (float(each or 0) for each in (facts.least, facts.largest, facts.mean))
    return _has_density(facts) and least >= 0 and mean - least <= _MOST_OF_TAIL * (largest - least)


def _is_inflated(facts: ColumnFacts) -> bool:
    """Whether there are many zeros, and of counts more than a geometric distribution of the same mean has."""
    are_counts = facts.irregular == 0 and facts.least == 0
    usual = _INFLATED / (1 + float(facts.mean or 0)) if are_counts else 0
    return facts.marked >= max(_MOSTLY_ZERO, usual) * facts.n and facts.n - facts.marked >= _MIN_NON_ZERO


def _look_at_shape(facts: ColumnFacts, skew: float) -> Look | None:
    if skew <= _SKEWED:
        return None
    if float(facts.least or 0) > 0:
        return Look(LogNormal(), "above 0, with a long tail")
    if facts.irregular == 0:
        return Look(Geometric(), "whole numbers from 0, with a long tail")
    return Look(ZeroInflated(of="gamma"), "from 0, with a long tail")


def _rows(engine: Engine, source: Source, columns: Sequence[str]) -> tuple[Markup, bool]:
    """The rows to look at, always the same ones, and whether they are all rows of the source."""
    renderer = engine.renderer
    first = renderer.fragment("excerpt", source.relation, FIRST_ROWS + 1)
    count = engine.query_value("row_count", source.relation if source.is_table else first)
    if count <= ROWS or (count <= FIRST_ROWS and not source.is_table):
        return source.relation, True
    if not source.is_table:
        return renderer.fragment("excerpt", source.relation, FIRST_ROWS), False
    share = round(_MILLION * ROWS / count)
    numbered = engine.numbers_rows(source)
    return renderer.subquery("sampled_share", source.relation, columns, source.kinds, share, numbered), False


def _unbroken(engine: Engine, source: Source, spec: Spec, looks: dict[str, Look]) -> dict[str, Look]:
    """The looks but for families whose rules some row of the source breaks, or may break if it is costly to read."""
    changed = [replace(each, family=look.family) for each in spec.features if (look := looks.get(each.name)) and look.family]
    checks = training_checks(replace(spec, features=tuple(changed), weight=None, half_life=None), source.columns)
    if not checks:
        return looks
    reads = source.allows_rereads(1)
    counts = engine.query_macro("rows_that_break", source.relation, checks)[0] if reads else [1] * len(checks)
    broken = {check.column for check, n in zip(checks, counts, strict=True) if n}
    return {name: look for name, look in looks.items() if name not in broken}
