"""What a fit makes of the names and types of the columns alone, and refuses with one line; no database is asked."""

import math
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import nbsql
from nbsql import Smoothed
from nbsql.family import FAMILIES
from nbsql.plan import Plan
from nbsql.plan.counting import Scan
from nbsql.rendering.relations import Relations
from nbsql.rendering.renderer import Renderer
from nbsql.spec.column import Column
from nbsql.spec.options import Estimating, Options, candidate_options
from nbsql.spec.resolve import resolve

KINDS = {"VARCHAR": "text", "INTEGER": "integer", "BOOLEAN": "boolean", "DECIMAL(2,1)": "decimal", "DOUBLE": "float"}


def resolved(source, columns, options):
    """The spec of a fit to a source with these columns, by their types."""
    target = options.get("target", "play")
    asked, choice = candidate_options(Options.of(target, {name: options[name] for name in options if name != "target"}))
    spec = resolve([Column(name, kind, KINDS[kind]) for name, kind in columns.items()], asked, source)
    if choice is not None:
        choice.accept(spec.features)
    return spec


GOLF = {
    "outlook": "VARCHAR", "temperature": "INTEGER", "rainfall": "DECIMAL(2,1)", "windy": "BOOLEAN", "play": "VARCHAR",
    "n": "INTEGER", "note": "VARCHAR",
}  # fmt: skip
COLUMNS = "its columns are 'outlook', 'temperature', 'rainfall', 'windy', 'play', 'n', 'note'"
RESERVED = "is the target, the weight or an id"
NO_NUMBER = "must be a finite number of at least 0, not"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "paly"}, "no column 'paly' in golf; did you mean 'play'?"),
        ({"target": "zzz"}, f"no column 'zzz' in golf; {COLUMNS}"),
        ({"target": ""}, f"no column '' in golf; {COLUMNS}"),
        ({"target": ["play"]}, "a column's name must be text, not ['play']; write 'play'"),
        ({"target": ("a", "play")}, """a column's name must be text, not ('a', 'play'); write "('a', 'play')\""""),
        ({"target": pd.Series([1], name="play")}, "a column's name must be text, not a Series; write 'play'"),
        ({"id": "play"}, "column 'play' cannot be both the target and the id"),
        ({"id": ["n", "N"]}, "id names 'n' twice; name it once"),
        ({"id": 3}, "id must be a column or a list of columns, not 3"),
        ({"id": [None]}, "a column's name must be text, not None"),
        ({"weight": "nn"}, "no column 'nn' in golf; did you mean 'n'?"),
        ({"weight": "note"}, "weight column 'note' is VARCHAR; weights must be numbers"),
        ({"weight": ["n"]}, "a column's name must be text, not ['n']; write 'n'"),
        ({"target": "n", "weight": "n"}, "column 'n' cannot be both the target and the weight"),
        ({"features": ["outlok"]}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"features": ["outlook", "OUTLOOK"]}, "features names 'outlook' twice; name it once"),
        ({"features": ["play"]}, f"column 'play' {RESERVED}; leave it out of the features"),
        ({"features": 3}, "features must be a column or a list of columns, not 3"),
        ({"exclude": ["outlok"]}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"exclude": {"n": True}}, "exclude must be a column or a list of columns, not {'n': True}"),
        ({"alpha": -1}, f"alpha {NO_NUMBER} -1"),
        ({"alpha": math.nan}, f"alpha {NO_NUMBER} nan"),
        ({"alpha": math.inf}, f"alpha {NO_NUMBER} inf"),
        ({"alpha": "1"}, f"alpha {NO_NUMBER} '1'"),
        ({"alpha": True}, f"alpha {NO_NUMBER} True"),
        ({"nulls": "drop"}, "nulls must be one of 'skip', 'category', 'error', not 'drop'"),
        ({"unseen": "smoth"}, "unseen must be one of 'skip', 'smooth', not 'smoth'; did you mean 'smooth'?"),
        ({"unseen": ["skip"]}, "unseen must be one of 'skip', 'smooth', not ['skip']; did you mean 'skip'?"),
        (
            {"prior": "unifrom"},
            "prior must be one of 'empirical', 'uniform', 'smoothed', not 'unifrom'; did you mean 'uniform'?",
        ),
        ({"prior": None}, "prior must be one of 'empirical', 'uniform', 'smoothed', not None"),
        ({"prior": {"yes": 0.5, "no": 0.6}}, "the priors sum to 1.1; each class needs one, and they must sum to 1"),
        ({"prior": {"yes": 0.5, "no": 0.4999}}, "the priors sum to 0.9999; each class needs one, and they must sum to 1"),
        ({"prior": {}}, "the priors sum to 0; each class needs one, and they must sum to 1"),
        ({"prior": {"yes": -1, "no": 2}}, f"the prior of 'yes' {NO_NUMBER} -1"),
        ({"prior": {"yes": "1", "no": 0}}, f"the prior of 'yes' {NO_NUMBER} '1'"),
        ({"families": ["n"]}, "families must be a dict such as {'visits': 'poisson'}, not ['n']"),
        ({"families": "poisson"}, "families must be a dict such as {'visits': 'poisson'}, not 'poisson'"),
        ({"families": np.zeros(2)}, "families must be a dict such as {'visits': 'poisson'}, not array([0., 0.])"),
        ({"families": {"outlok": "categorical"}}, "no column 'outlok' in golf; did you mean 'outlook'?"),
        ({"families": {"n": "poison"}}, "no family 'poison'; did you mean 'poisson'?"),
        ({"families": {"n": "normal"}}, "no family 'normal'; did you mean 'gaussian'?"),
        (
            {"families": {"note": "multinomial"}},
            "family 'multinomial' of 'note' needs at least one column: nbsql.Multinomial(['w1', 'w2']); "
            "for the words of a text, write 'text'",
        ),
        ({"families": {"n": "zip"}}, f"no family 'zip'; the families are {', '.join(map(repr, FAMILIES))}"),
        ({"families": {"n": 3}}, "a family is a name or an instance such as nbsql.Gaussian(), not 3"),
        (
            {"families": {"n": nbsql.Family}},
            "a family is a name or an instance such as nbsql.Gaussian(), not <class 'nbsql.family.base.Family'>",
        ),
        ({"families": {"n": "conditional"}}, "a parent is the name of a column, not ''"),
        ({"families": {"n": nbsql.Conditional}}, "a parent is the name of a column, not ''"),
        ({"families": {3: "poisson"}}, "a column's name must be text, not 3; write '3'"),
        ({"families": {"n": "poisson", "N": "gaussian"}}, "families names 'n' twice; name it once"),
        ({"families": {"play": "categorical"}}, f"families names 'play', which {RESERVED}; leave it out"),
        ({"families": {"n": "poisson"}, "exclude": ["n"]}, "families names 'n', which is excluded; take it out of one of them"),
        (
            {"families": {"n": "poisson"}, "features": ["outlook"]},
            "families names 'n', which is not among the features; add it to features",
        ),
        (
            {"families": {"note": "gaussian"}},
            "column 'note' is VARCHAR, which family 'gaussian' does not take (it takes integer, float, decimal columns); "
            "cast it, or choose another family",
        ),
        (
            {"families": {"n": "tokens"}},
            "column 'n' is INTEGER, which family 'tokens' does not take (it takes tokens columns); "
            "cast it, or choose another family",
        ),
        (
            {"families": {"w": nbsql.Multinomial([])}},
            "family 'multinomial' of 'w' needs at least one column: nbsql.Multinomial(['w1', 'w2'])",
        ),
        ({"families": {"w": nbsql.Multinomial(["n", "N"])}}, "'w' names 'n' twice; name it once"),
        (
            {"families": {"w": nbsql.Multinomial(["n", "temperatur"])}},
            "no column 'temperatur' in golf; did you mean 'temperature'?",
        ),
        ({"families": {"w": nbsql.Multinomial(["n", "play"])}}, f"column 'play' {RESERVED}; leave it out of the features"),
        (
            {"families": {"w": nbsql.Multinomial(["n", "note"])}},
            "column 'note' is VARCHAR, which family 'multinomial' does not take (it takes integer, float, decimal columns); "
            "cast it, or choose another family",
        ),
        (
            {"families": {"w": nbsql.Multinomial(["n", "temperature"]), "n": "poisson"}},
            "column 'n' is in 'w' and has another family too; leave it in one",
        ),
        (
            {"families": {"w": nbsql.Multinomial(["n", "temperature"]), "v": nbsql.Multinomial(["temperature", "rainfall"])}},
            "column 'temperature' is in 'v' and has another family too; leave it in one",
        ),
        (
            {"families": {"note": nbsql.Multinomial(["n", "temperature"])}},
            "two features are named 'note'; give the family over several columns another key",
        ),
    ],
)
def test_arguments_that_cannot_be(options, message):
    with pytest.raises(nbsql.InputError) as caught:
        resolved("golf", GOLF, options)
    assert str(caught.value) == message


TENNIS = {"temperature": "VARCHAR", "wind": "VARCHAR", "play": "VARCHAR"}
MIXED = {"play": "VARCHAR", "x": "DOUBLE", "z": "DOUBLE", "k": "INTEGER", "s": "VARCHAR", "c": "VARCHAR"}
NUMBERS = {"play": "VARCHAR", "x": "DOUBLE", "z": "DOUBLE"}


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (TENNIS, {"method": "joined"}, "no method 'joined'; did you mean 'joint'?"),
        (
            TENNIS,
            {"method": 3},
            "no method 3; the methods are 'naive', 'joint', 'lda', 'qda', 'tan', 'kdb', 'aode', 'logistic', 'weighted', 'em', "
            "'clusters' and nbsql.Mixture(2)",
        ),
        (
            TENNIS,
            {"families": {"day": nbsql.Joint([])}},
            "family 'joint' of 'day' needs at least one column: nbsql.Joint(['w1', 'w2'])",
        ),
        (
            TENNIS,
            {"method": "joint", "families": {"joint": nbsql.Joint(["wind"])}},
            "families has a key 'joint', which method='joint' takes; give it another",
        ),
        (
            TENNIS,
            {"method": nbsql.JointBayes(backoff="naive"), "nulls": "category"},
            "backoff='naive' needs nulls='skip' for 'temperature', whose missing values are a category",
        ),
        (MIXED, {"method": nbsql.Mixture}, "method takes an instance, such as nbsql.Mixture(2), not the class nbsql.Mixture"),
        (MIXED, {"method": nbsql.Logistic}, "method takes an instance, such as nbsql.Mixture(2), not the class nbsql.Logistic"),
        (
            MIXED,
            {"prior": nbsql.Smoothed},
            "prior must be one of 'empirical', 'uniform', 'smoothed', not <class 'nbsql.spec.options.Smoothed'>",
        ),
        (
            MIXED,
            {"estimate": "mle", "prior": nbsql.Smoothed(2)},
            "estimate='mle' takes no pseudo-counts; leave out the alpha of the smoothed prior, or set it to 0",
        ),
        (MIXED, {"estimate": "best"}, "estimate must be one of 'mean', 'mode', 'map', 'mle', not 'best'"),
        (MIXED, {"estimate": "mle", "alpha": 1}, "estimate='mle' takes no pseudo-counts; leave out alpha, or set it to 0"),
        (
            MIXED,
            {"estimate": "mle", "prior": nbsql.Smoothed(1)},
            "estimate='mle' takes no pseudo-counts; leave out the alpha of the smoothed prior, or set it to 0",
        ),
        (
            MIXED,
            {"estimate": "mode", "prior": nbsql.Smoothed(0.5)},
            "estimate='mode' of the smoothed prior needs its alpha at 1 (no smoothing) or above: "
            "a Dirichlet distribution with alpha = 0.5 has no mode",
        ),
        (
            MIXED,
            {"estimate": "mle", "families": {"c": nbsql.Categorical(alpha=2)}},
            "estimate='mle' of 'categorical' takes no pseudo-counts, and it has 2; "
            "leave them out, or use estimate='mean' or 'mode'",
        ),
        (
            MIXED,
            {"method": "logistic", "alpha": 2},
            "method='logistic' learns weights, which alpha does not smooth; leave out alpha, or set their penalty",
        ),
        (
            NUMBERS,
            {"method": "lda", "alpha": 2},
            "method='lda' has no feature and no prior that alpha smooths; leave out alpha",
        ),
        (
            NUMBERS,
            {"method": "qda", "alpha": 0},
            "method='qda' has no feature and no prior that alpha smooths; leave out alpha",
        ),
        (
            NUMBERS,
            {"families": {"k": nbsql.Complement(["x", "z"])}, "prior": "uniform"},
            "a complement is scored without the prior, and no other feature is there; leave out prior",
        ),
        (MIXED, {"families": {"x": nbsql.Conditional("x")}}, "column 'x' cannot be its own parent; name another"),
        (
            MIXED,
            {"families": {"x": nbsql.Conditional("play")}},
            "column 'play' is the target, the weight or an id; leave it out of the features",
        ),
        (
            MIXED,
            {"families": {"c": nbsql.Conditional("s")}, "segment_by": "k % 2"},
            "segment_by does not support 'c', which is conditional; choose another family",
        ),
        (
            MIXED,
            {"families": {"k": "poisson"}, "features": nbsql.Best(2, by="symmetrical_uncertainty")},
            "'symmetrical_uncertainty' does not rank 'x', which is gaussian; rank by 'mutual_information', or leave it out",
        ),
        (
            MIXED,
            {"features": nbsql.Best(2, by="f_statistic", among=["x", "s"])},
            "'f_statistic' does not rank 's', which is categorical; rank by 'mutual_information', or leave it out",
        ),
        (
            MIXED,
            {"families": {"k": "poisson"}, "features": nbsql.Best(2, by="chi_square")},
            "'chi_square' does not rank 'k', which is poisson; rank by 'mutual_information', or leave it out",
        ),
        (
            MIXED,
            {"families": {"k": "poisson"}, "features": nbsql.Best(2, among=["sk"])},
            "no column 'sk' in t; did you mean 's'?",
        ),
    ],
)
def test_methods_and_choices_that_cannot_be(columns, options, message):
    with pytest.raises(nbsql.InputError) as caught:
        resolved("t", columns, options)
    assert str(caught.value) == message


def test_alpha_goes_with_a_method_whose_prior_it_smooths():
    assert resolved("t", NUMBERS, {"method": "lda", "alpha": 2, "prior": "smoothed"}).prior.alpha == 2


@pytest.mark.parametrize(
    ("word", "instance"),
    [
        ({"method": "naive"}, {}),
        ({"method": "joint"}, {"method": nbsql.JointBayes()}),
        ({"method": "lda", "exclude": ["s", "c"]}, {"method": nbsql.LDA(), "exclude": ["s", "c"]}),
        ({"method": "qda", "exclude": ["s", "c"]}, {"method": nbsql.QDA(shrinkage=None), "exclude": ["s", "c"]}),
        ({"method": "logistic"}, {"method": nbsql.Logistic(penalty=0.5, iterations=100, tolerance=1e-8)}),
        ({"method": "naive"}, {"method": nbsql.Mixture(1)}),
        ({"prior": "smoothed", "alpha": 3}, {"prior": nbsql.Smoothed(3), "alpha": 3}),
        ({"prior": "smoothed", "alpha": 3}, {"prior": nbsql.Smoothed(), "alpha": 3}),
        ({"segment_by": "s"}, {"segment_by": nbsql.Segments("s", shrinkage=10)}),
    ],
)
def test_a_word_stands_for_the_defaults(word, instance):
    assert resolved("t", MIXED, word) == resolved("t", MIXED, instance)


@pytest.mark.parametrize(
    "estimating",
    [
        {"alpha": 3},
        {"estimate": "mode"},
        {"estimate": "mle"},
        {"unseen": "smooth"},
        {"prior": "uniform"},
        {"prior": Smoothed(2)},
    ],
)
def test_what_is_counted_does_not_depend_on_how_it_is_estimated(estimating):
    assert set(estimating) < {field.name for field in fields(Estimating)}
    renderer = Renderer("duckdb")
    table = renderer.fragment("subquery", renderer.dialect.query("FROM golf"))

    def counted(options):
        spec = resolved("golf", GOLF, {**options, "families": {"note": "text", "n": "poisson"}})
        plan = Plan(renderer, spec, Relations(renderer, transient="m"))
        scan = Scan(table, plan.scanned_features)
        centres = dict.fromkeys((feature.index for feature in plan.centred_features), 0.5)
        return [plan.scan(table, scan, [], centres), *plan.create_cells(table, "1", table, [scan], temporary=True)]

    assert counted(estimating) == counted({})
