"""What dbt says where a model cannot be: one line, the fact and the cure, and nothing is built."""

import pytest
from support.dbt_projects import OF_ROWS, Project, needs_dbt, server

from nbsql.dbt.package import ABSENT, VERBS
from nbsql.evaluation.evaluation import QUERIES, SLICES
from nbsql.evaluation.monitor import METRICS
from nbsql.family.facts import facts

pytestmark = needs_dbt

STATISTICS = "{{ nbsql.statistics(source('raw', 'rows')) }}"
FAMILIES = ", ".join(map(repr, facts()))

# The options of a model of statistics of the columns id, y, x, n, s, d and w, and what is said of them.
OPTIONS = {
    "no_target": ({"exclude": ["d"]}, "meta.nbsql of 'no_target' must name the column of the class: target: churned"),
    "no_mapping": (["target"], "meta.nbsql of 'no_mapping' must be a mapping such as {target: churned}, not ['target']"),
    "id_of_no_text": ({"target": "y", "id": 3}, "id of 'id_of_no_text' must be a list of texts, such as ['a', 'b'], not 3"),
    "exclude_of_no_texts": (
        {"target": "y", "exclude": ["s", 3]},
        "exclude of 'exclude_of_no_texts' must be a list of texts, such as ['a', 'b'], not ['s', 3]",
    ),
    "no_expression": (
        {"target": "y", "derive": {"k": ""}},
        "derive of 'no_expression' has k: , which is no expression, or a name that nbsql keeps for itself",
    ),
    "unknown_option": (
        {"target": "y", "alfa": 1},
        "meta.nbsql of 'unknown_option' has no option 'alfa'; it has 'target', 'id', 'features', 'exclude', 'families', "
        "'weight', "
        "'alpha', 'prior', 'prior_alpha', 'nulls', 'unseen', 'slice_by', 'lookback', 'classes', 'derive', 'missing'",
    ),
    "aging_now": (
        {"target": "y", "weight": {"half_life": "30 days", "at": "d", "now": 3}},
        "weight of 'aging_now' has no option 'now'; it has half_life, at and weight",
    ),
    "aging_slices": (
        {"target": "y", "weight": {"half_life": "30 days", "at": "d"}, "slice_by": "n"},
        "weight of 'aging_slices' has a half-life, which makes slices of its own; leave out slice_by",
    ),
    "aging_by_moons": (
        {"target": "y", "weight": {"half_life": "3 moons", "at": "d"}},
        "half_life of 'aging_by_moons' must be above 0, a number of seconds, minutes, hours, days or weeks, such as 30 days, "
        "not 3 moons",
    ),
    "aging_by_numbers": (
        {"target": "y", "weight": {"half_life": 3, "at": "d"}},
        "column 'd' is DATE, and a half-life of 3 takes a whole number",
    ),
    "segments": (
        {"target": "y", "segment_by": "n"},
        "meta.nbsql of 'segments' has 'segment_by', which the dbt package does not do; fit such a model in Python, with "
        "nbsql.fit",
    ),
    "method": (
        {"target": "y", "method": "aode"},
        "meta.nbsql of 'method' has 'method', which the dbt package does not do; fit such a model in Python, with nbsql.fit",
    ),
    "pairs": (
        {"target": "y", "families": {"p": {"family": "pairs", "columns": ["n", "s"]}}},
        f"no family 'pairs', of 'p'; the families are {FAMILIES}",
    ),
    "unknown_target": (
        {"target": "z"},
        "no column 'z' in rows, the target; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_calendar": (
        {"target": "y", "families": {"n": "calendar"}},
        "column 'n' is INTEGER, which family 'calendar' does not take (it takes temporal columns); cast it, or choose another "
        "family",
    ),
    "no_hour": (
        {"target": "y", "families": {"d": {"family": "calendar", "parts": ["hour"]}}},
        "'d' of 'no_hour' is DATE, which has no hour; leave it out of parts",
    ),
    "no_zone": (
        {"target": "y", "families": {"d": {"family": "calendar", "zone": "UTC"}}},
        "'d' of 'no_zone' is DATE, which has no time zone; leave out zone",
    ),
    "unmatched_pattern": (
        {"target": "y", "exclude": ["d"], "families": {"soil_*": "bernoulli"}},
        "families has 'soil_*', which no feature matches; they are 'id', 'x', 'n', 's', 'w'",
    ),
    "two_patterns": (
        {"target": "y", "exclude": ["d"], "families": {"n*": "poisson", "?": "gaussian"}},
        "column 'n' matches 'n*' and '?' of families; give it by its name",
    ),
    "unknown_family": (
        {"target": "y", "families": {"n": "poison"}},
        f"no family 'poison', of 'n'; the families are {FAMILIES}",
    ),
    "kernel": (
        {"target": "y", "families": {"x": {"family": "kernel"}}},
        "family 'kernel' of 'x' asks the data for its shape before it counts, which the dbt package does not do; fit it "
        "in Python, "
        f"or choose one of {FAMILIES}",
    ),
    "binned": (
        {"target": "y", "families": {"x": {"family": "binned", "by": "mdl"}}},
        "the bins of 'x' need edges, {family: binned, by: [18, 65]}, as the dbt package looks for none in the data; name them, "
        "or fit it in Python",
    ),
    "edges": (
        {"target": "y", "families": {"x": {"family": "binned", "by": [2, 1]}}},
        "the edges of 'x' must be 1 to 999 numbers in ascending order, not [2, 1]",
    ),
    "large_edge": (
        {"target": "y", "families": {"x": {"family": "binned", "by": [-1e308, 0]}}},
        "an edge of 'x' must be 0 or from 1e-300 to 1e300 in size, not -1e+308",
    ),
    "small_edge": (
        {"target": "y", "families": {"x": {"family": "binned", "by": [0, 5e-324]}}},
        "an edge of 'x' must be 0 or from 1e-300 to 1e300 in size, not 5e-324",
    ),
    "unknown_family_option": (
        {"target": "y", "families": {"n": {"family": "poisson", "c": 1}}},
        "family 'poisson' of 'n' has no option 'c'; it has 'alpha', 'nulls', 'unseen', 'estimate', 'a', 'b'",
    ),
    "wrong_type": (
        {"target": "y", "exclude": ["d"], "families": {"s": "poisson"}},
        "column 's' is VARCHAR, which family 'poisson' does not take (it takes integer, float, decimal columns); cast "
        "it, or choose "
        "another family",
    ),
    "alpha": ({"target": "y", "alpha": -1}, "alpha of 'alpha' must be a number of at least 0, not -1"),
    "prior_alpha": (
        {"target": "y", "exclude": ["d"], "prior_alpha": 2},
        "prior_alpha of 'prior_alpha' is of prior: smoothed; leave it out, or choose that prior",
    ),
    "priors": ({"target": "y", "exclude": ["d"], "prior": {"a": 0.5}}, "the priors of 'priors' sum to 0.5; they must sum to 1"),
    "nulls": ({"target": "y", "nulls": "drop"}, "nulls of 'nulls' must be one of 'skip', 'category', 'error', not drop"),
    "one_column": (
        {"target": "y", "families": {"words": {"family": "multinomial", "columns": ["n", "n"]}}},
        "family 'multinomial' of 'words' needs at least two count columns: {family: multinomial, columns: [w1, w2]}",
    ),
    "two_families": (
        {"target": "y", "families": {"n": "poisson", "two": {"family": "complement", "columns": ["n", "w"]}}},
        "column 'n' is in 'two' and has another family too; leave it in one",
    ),
    "two_more": (
        {"target": "y", "families": {"two": {"family": "complement", "columns": ["n", "w"]}, "n": "poisson"}},
        "column 'n' is in 'two' and has another family too; leave it in one",
    ),
    "excluded": (
        {"target": "y", "exclude": ["n"], "families": {"n": "poisson"}},
        "families names 'n', which is not among the features; take it out, or add it to features",
    ),
    "role": ({"target": "y", "features": ["y"]}, "column 'y' is the target, the weight or an id; leave it out of the features"),
    "text_weight": ({"target": "y", "weight": "s"}, "weight column 's' is VARCHAR; weights must be numbers"),
    "event": (
        {"target": "y", "families": {"s": {"family": "text", "event": "bernoulli", "tfidf": True}}},
        "event: bernoulli of 's' asks whether a word is there, not how often; leave out tfidf and norm",
    ),
    "rare_and_declared": (
        {"target": "y", "families": {"s": {"family": "categorical", "min_count": 2, "levels": ["a"]}}},
        "declared categories of 's' are kept however rare; leave out min_count, or levels and alphas by category",
    ),
    "characters_and_words": (
        {"target": "y", "families": {"s": {"family": "text", "characters": 3, "ngrams": 2}}},
        "characters of 's' cut no words; leave out ngrams, or characters",
    ),
    "words_without_characters": (
        {"target": "y", "families": {"s": {"family": "text", "within_words": True}}},
        "within_words of 's' goes with runs of characters: characters: [2, 4]",
    ),
    "ngrams": (
        {"target": "y", "families": {"s": {"family": "text", "ngrams": [3, 2]}}},
        "ngrams of 's' must be a whole number from 1 to 10, or a pair [shortest, longest], not [3, 2]",
    ),
    "one_run": (
        {"target": "y", "families": {"s": {"family": "text", "ngrams": "no"}}},
        "ngrams of 's' must be a whole number from 1 to 10, or a pair [shortest, longest], not no",
    ),
    "no_flag": (
        {"target": "y", "families": {"s": {"family": "text", "lower": "no"}}},
        "lower of 's' must be true or false, not no",
    ),
    "no_whole_number": (
        {"target": "y", "families": {"s": {"family": "text", "min_count": "five"}}},
        "min_count of 's' must be a whole number of at least 1, not five",
    ),
    "no_list": (
        {"target": "y", "families": {"s": {"family": "categorical", "levels": "abc"}}},
        "levels of 's' must be a list, such as ['a', 'b'], not abc",
    ),
    "no_words": (
        {"target": "y", "families": {"s": {"family": "text", "stop_words": [1]}}},
        "stop_words of 's' must be english or a list of words, not [1]",
    ),
    "no_pattern": (
        {"target": "y", "families": {"s": {"family": "text", "pattern": 3}}},
        "pattern of 's' must be a regular expression, not 3",
    ),
    "other_alpha_alone": (
        {"target": "y", "families": {"s": {"family": "categorical", "other_alpha": 2}}},
        "other_alpha of 's' goes with a pseudo-count a category, alpha: {red: 2}; give these, or leave it out",
    ),
    "slices_of_nothing": (
        {"target": "y", "slice_by": 3},
        "slice_by of 'slices_of_nothing' must be an expression in SQL, such as sent_on, not 3",
    ),
    "excluded_feature": (
        {"target": "y", "features": ["x", "n"], "exclude": ["n"], "families": {"n": "poisson"}},
        "families names 'n', which is not among the features; take it out, or add it to features",
    ),
    "learnt_age": (
        {"target": "y", "features": ["x", "d"], "families": {"d": "categorical"}, "weight": {"half_life": "9 days", "at": "d"}},
        "column 'd' is the target, the weight or an id; leave it out of the features",
    ),
    "calendar_of_age": (
        {"target": "y", "families": {"d": "calendar"}, "weight": {"half_life": "9 days", "at": "d"}},
        "families names 'd', which is not among the features; take it out, or add it to features",
    ),
    "age_of_text": (
        {"target": "y", "features": ["x"], "weight": {"half_life": "9 days", "at": "s"}},
        "column 's' is VARCHAR, and a half-life of 9 days takes a time",
    ),
    "no_parts": (
        {"target": "y", "families": {"d": {"family": "calendar", "parts": []}}},
        "parts of 'd' must be a list, such as ['a', 'b'], not []",
    ),
    "empty_zone": (
        {"target": "y", "families": {"d": {"family": "calendar", "zone": ""}}},
        "zone of 'd' must be the name of a time zone, such as Europe/Berlin, not ''",
    ),
    "target_as_id": (
        {"target": "y", "features": ["x"], "id": "y"},
        "column 'y' cannot be both the target and the weight, the time of a half-life or an id; name another",
    ),
    "no_classes": ({"target": "y", "classes": "ab"}, "classes of 'no_classes' must be a list, such as ['a', 'b'], not ab"),
    "negative_prior": (
        {"target": "y", "families": {"x": {"family": "gaussian", "prior": {"kappa": -1}}}},
        "kappa in the prior of 'x' must be a number of at least 0, not -1",
    ),
    "alpha_of_no_column": (
        {"target": "y", "families": {"m": {"family": "multinomial", "columns": ["n", "w"], "alpha": {"s": 2}}}},
        "alpha of 'm' names 's', which is none of its columns: 'n', 'w'",
    ),
    "no_mode": (
        {"target": "y", "families": {"x": {"family": "gaussian", "estimate": "mode"}}},
        "estimate: mode of 'x' needs a prior, such as prior: {kappa: 1, a: 2}",
    ),
    "rate": (
        {"target": "y", "families": {"n": {"family": "poisson", "estimate": "mode", "a": 0.5}}},
        "estimate: mode of 'n' needs a at 1 or above, or a and b at 0 for no prior",
    ),
    "small_alpha": (
        {"target": "y", "families": {"s": {"family": "categorical", "estimate": "mode", "alpha": 0.5}}},
        "estimate: mode of 's' needs every alpha at 1 (no smoothing) or above, not 0.5",
    ),
    "no_slices_of": (
        {"target": "y", "features": ["x"], "slice_by": "dd"},
        "no column 'dd' in rows, which slice_by names; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "lookback": (
        {"target": "y", "features": ["x"], "slice_by": "d", "lookback": "two"},
        "lookback of 'lookback' must be a whole number of at least 0, not two",
    ),
    "gaps": (
        {"target": "y", "features": ["x"], "slice_by": "d"},
        "2 rows of rows are in no slice: slice_by 'd' is NULL there; give them one with coalesce, or leave them out with "
        "where=",
    ),
    "negative": (
        {"target": "y", "features": ["n"], "families": {"n": "poisson"}},
        "2 values of column 'n' of rows are negative; poisson counts must be at least 0",
    ),
    "missing": (
        {"target": "y", "features": ["s"], "nulls": "error"},
        "1 value of column 's' of rows is NULL, and nulls: error; fill them, or use nulls: skip",
    ),
    "weights": (
        {"target": "y", "features": ["x"], "weight": "w"},
        "1 value of column 'w' of rows is negative, NULL or not finite; weights must be at least 0",
    ),
}
# Other models, and what is said of them.
MODELS = {
    "text": (
        "{{ nbsql.statistics('SELECT 1') }}",
        "the relation to learn from must be a relation, ref('...') or source('...', '...'), not SELECT 1; make a model "
        "of a query",
    ),
    "no_type": (
        "{{ nbsql.statistics(ref('lists')) }}",
        "column 'l' is INTEGER[], which has no family; leave it out with exclude: [l], or cast it, to text say",
    ),
    "no_rows": ("{{ nbsql.statistics(source('raw', 'empty')) }}", "no row of empty has a 'y'; 'no_rows' needs at least one"),
    "none_meet": (
        "{{ nbsql.statistics(source('raw', 'rows'), where='n > 5') }}",
        "no row of rows that meets where= has a 'y' and a weight above 0; 'none_meet' needs at least one",
    ),
    "batches": (
        STATISTICS,
        "'batches' is counted by slices and not by microbatches, each of which would replace the others; use unique_key: slice "
        "and incremental_strategy: delete+insert, without event_time",
    ),
    "clash": (
        "{{ nbsql.predictions(ref('good'), ref('odd')) }}",
        "odd has a column 'Probability', which nbsql adds too; choose what comes back by columns=[...]",
    ),
    "clash_of_classes": (
        "{{ nbsql.joint_log_likelihoods(ref('good'), ref('odd')) }}",
        "odd has a column 'joint_log_likelihood_a', which nbsql adds too; choose what comes back by columns=[...]",
    ),
    "clash_of_queue": (
        "{{ nbsql.review_queue(ref('good'), ref('odd')) }}",
        "odd has a column 'Probability', which nbsql adds too; choose what comes back by columns=[...]",
    ),
    "no_column": (
        "{{ nbsql.evidence(ref('good'), source('raw', 'rows'), columns=['id', 'z']) }}",
        "no column 'z' in rows, which columns= names; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "gone": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'others')) }}",
        "the relation to score main.others is not there, or is an ephemeral model; build it first, as a table or a view",
    ),
    "narrow": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'empty')) }}",
        "no column 'x' in empty, a feature of 'good'; its columns are 'y', 's'",
    ),
    "not_watched": (
        "{{ nbsql.monitoring(ref('good'), source('raw', 'empty')) }}",
        "no column 'x' in empty, a feature of 'good'; its columns are 'y', 's'",
    ),
    "no_limits": (
        "{{ nbsql.test_nbsql_within(ref('good')) }}",
        "nbsql_within has no limits; say over: {psi: 0.2}, or under: {accuracy: 0.8}",
    ),
    "misspelt": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), weigth='w') }}",
        "nbsql.evaluation has no argument 'weigth'; it has 'statistics', 'source', 'table', 'weight', 'bins', 'where', "
        "'training', 'by', 'between', 'label', 'calibration'",
    ),
    "of_ephemeral": (
        "{{ nbsql.predictions(ref('passing'), source('raw', 'rows')) }}",
        "the statistics 'passing' are ephemeral, so that there is no relation of them; materialize them as a table",
    ),
    "no_argument": (
        "{{ nbsql.test_nbsql_within(ref('good'), ovr={'psi': 0.2}) }}",
        "nbsql_within has no argument 'ovr'; it has 'over', 'under', 'label', 'newest'",
    ),
    "no_old_argument": (  # as dbt before 1.10.5 passes it
        "{{ nbsql.test_nbsql_drift_below(ref('good'), arguments={'max': 0.2}) }}",
        "nbsql_drift_below has no argument 'max'; it has 'maximum', 'slices', 'against'",
    ),
    "no_limit": (
        "{{ nbsql.test_nbsql_within(ref('watched'), over={'psi': 'much'}) }}",
        "psi of 'nbsql_within' must be a number, not much",
    ),
    "no_mapping": (
        "{{ nbsql.test_nbsql_within(ref('watched'), over=0.2) }}",
        "over of 'nbsql_within' must be a mapping such as {psi: 0.2}, not 0.2",
    ),
    "no_metric": (
        "{{ nbsql.test_nbsql_within(ref('watched'), over={'pssi': 0.2}) }}",
        f"a metric of 'nbsql_within' must be one of {', '.join(map(repr, sorted(METRICS)))}, not pssi",
    ),
    "no_monitoring": (
        "{{ nbsql.test_nbsql_within(ref('plain'), over={'psi': 0.2}) }}",
        "no column 'metric' in plain, which the result of nbsql.monitoring has; its columns are 'one'",
    ),
    "no_maximum": (
        "{{ nbsql.test_nbsql_drift_below(ref('good')) }}",
        "maximum of 'nbsql_drift_below' must be a number of at least 0, not None",
    ),
    "no_newest": (
        "{{ nbsql.test_nbsql_drift_below(ref('good'), 0.2, slices=0) }}",
        "slices of 'nbsql_drift_below' must be a whole number of at least 1, not 0",
    ),
    "no_newest_slices": (
        "{{ nbsql.feature_drift(ref('good'), slices=0) }}",
        "slices of 'nbsql.feature_drift' must be a whole number of at least 1, not 0",
    ),
    "no_number_of_slices": (
        "{{ nbsql.feature_drift(ref('good'), slices='1 OR TRUE') }}",
        "slices of 'nbsql.feature_drift' must be a whole number of at least 1, not 1 OR TRUE",
    ),
    "against_others": (
        "{{ nbsql.test_nbsql_drift_below(ref('good'), 0.2, against=ref('plain')) }}",
        "no column 'slice' in plain, which statistics have; its columns are 'one'",
    ),
    "against_a_name": (
        "{{ nbsql.feature_drift(ref('good'), against='good') }}",
        "against= must be a relation, ref('...') or source('...', '...'), not good; make a model of a query",
    ),
    "calibrated_by_a_name": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'rows'), calibration='fitted') }}",
        "calibration= must be a relation, ref('...') or source('...', '...'), not fitted; make a model of a query",
    ),
    "scored_without_rows": (
        "{{ nbsql.predictions(ref('good')) }}",
        "the relation to score must be a relation, ref('...') or source('...', '...'), not none; make a model of a query",
    ),
    "no_cells": (
        "{{ nbsql.test_nbsql_statistics_not_negative(ref('plain')) }}",
        "no column 'slice' in plain, which statistics have; its columns are 'one'",
    ),
    "of_a_query": (
        "{{ nbsql.test_nbsql_statistics_not_negative('(SELECT 1) dbt_subquery') }}",
        "the model of a test must be a relation, ref('...') or source('...', '...'), not (SELECT 1) dbt_subquery; make a "
        "model of a query",
    ),
    "no_minimum": (
        "{{ nbsql.test_nbsql_accuracy_at_least(source('raw', 'rows'), target='y') }}",
        "minimum of 'nbsql_accuracy_at_least' must be a number of at least 0, not None",
    ),
    "no_class_column": (
        "{{ nbsql.test_nbsql_accuracy_at_least(source('raw', 'rows'), 0.9, prediction='y') }}",
        "nbsql_accuracy_at_least needs the column of the class; say target: label, or put the test under that column",
    ),
    "no_prediction": (
        "{{ nbsql.test_nbsql_accuracy_at_least(source('raw', 'rows'), 0.9, target='y') }}",
        "no column 'prediction' in rows, the prediction; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_label": (
        "{{ nbsql.test_nbsql_accuracy_at_least(source('raw', 'rows'), 0.9, target='z', prediction='y') }}",
        "no column 'z' in rows, the target; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_number": (
        "{{ nbsql.test_nbsql_accuracy_at_least(source('raw', 'rows'), 0.9, target='y', prediction='y', weight='s') }}",
        "weight column 's' is VARCHAR; weights must be numbers",
    ),
    "no_period": (
        "{{ nbsql.monitoring(ref('good'), source('raw', 'rows'), by='region') }}",
        "no column 'region' in rows, which by names; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_weight": (
        "{{ nbsql.monitoring(ref('good'), source('raw', 'rows'), weight='v') }}",
        "no column 'v' in rows, the weight; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_statistics": (
        "{{ nbsql.predictions(ref('plain'), source('raw', 'rows')) }}",
        "'plain' has no meta.nbsql in its config, so it is no model of statistics; give it one: meta: {nbsql: {target: ...}}",
    ),
    "no_class": (
        "{{ nbsql.predictions(ref('emptied'), source('raw', 'rows'), training=source('raw', 'rows')) }}",
        "the statistics 'emptied' have no class: they were counted on no rows; count some first",
    ),
    "no_prior": (
        "{{ nbsql.predictions(ref('some_priors'), source('raw', 'rows')) }}",
        "prior of 'some_priors' has no probability for class 'b'; name every class",
    ),
    "no_prior_of_priors": (
        "{{ nbsql.class_priors(ref('some_priors')) }}",
        "prior of 'some_priors' has no probability for class 'b'; name every class",
    ),
    "no_such_class": (
        "{{ nbsql.predictions(ref('more_priors'), source('raw', 'rows')) }}",
        "prior of 'more_priors' names 'c', which is no class of 'y'",
    ),
    "not_all": (
        "{{ nbsql.predictions('(SELECT 1)', source('raw', 'rows')) }}",
        "statistics must be a relation, ref('...'), all of it and not some of its rows, not (SELECT 1)",
    ),
    "no_table": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'metric') }}",
        f"table of 'nbsql.evaluation' must be one of {', '.join(map(repr, (*QUERIES, *SLICES)))}, not metric",
    ),
    "no_slices": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), between=['a', 'b']) }}",
        "between is of slices; say by which column, by=...",
    ),
    "no_slicing": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'slices') }}",
        "slices is of slices; say by which column, by=...",
    ),
    "no_slice_column": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'slices', by='region') }}",
        "no column 'region' in rows, by which to slice (of an expression make a column, in a model before); its columns are "
        "'id', 'y', 'x', 'n', 's', 'd', 'w'",
    ),
    "no_queue": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), by='doubt') }}",
        "by of 'nbsql.review_queue' must be one of 'margin', 'evidence', 'novelty', 'expected cost', not doubt",
    ),
    "no_cost": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), by='expected cost', costs={'z': {'a': 2}}) }}",
        "the costs name a class 'z', which the model does not know; the classes are 'a', 'b'",
    ),
    "no_points": (
        "{{ nbsql.scorecard(ref('good'), target='a') }}",
        "'x' of 'good' is gaussian, which has no values to give points to; leave it out",
    ),
    "no_such_target": (
        "{{ nbsql.scorecard(ref('good'), target='z') }}",
        "nbsql.scorecard of 'good' needs two classes or more, and target: one of them; they are 'a', 'b'",
    ),
    "no_number_of_points": (
        "{{ nbsql.scorecard(ref('good'), points='many') }}",
        "points of 'nbsql.scorecard' must be a number, not many",
    ),
    "no_condition": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'rows'), where=var('unset', '')) }}",
        "where must be a condition in SQL, such as 'n > 5', not ''",
    ),
    "number_for_a_condition": (
        "{{ nbsql.evidence(ref('good'), source('raw', 'rows'), where=3) }}",
        "where must be a condition in SQL, such as 'n > 5', not '3'",
    ),
    "no_names": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'rows'), columns=3) }}",
        "columns must be a list of columns, not 3",
    ),
    "no_bins": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'calibration', bins='0') }}",
        "bins of 'nbsql.evaluation' must be a whole number from 1 to 1000000, not 0",
    ),
    "one_slice": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), by='s', between='ab') }}",
        "between must be a list of two slices, ['north', 'south'], not ab",
    ),
    "no_such_slice": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), by='s', between=['t', 'u']) }}",
        "rows has no slice u by 's'",
    ),
    "half_a_slice": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), by=['s', 'n'], between=[['u', 1], 'v']) }}",
        "a slice has a value of each column of by, 's', 'n'; between has v",
    ),
    "no_rows_to_review": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), n=-1) }}",
        "n of 'nbsql.review_queue' must be a whole number of at least 1, not -1",
    ),
    "label_of_no_slice": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), label='a') }}",
        "label goes with between; the metrics of each class are rows of table='metrics'",
    ),
    "costs_of_no_cost": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), costs={'a': {'b': 2}}) }}",
        "costs goes with by='expected cost'",
    ),
    "one_cost": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), by='expected cost', costs={'a': 2}) }}",
        "costs must be a mapping by actual and predicted class, {'ham': {'spam': 10}}, not {'a': 2}",
    ),
    "no_price": (
        "{{ nbsql.review_queue(ref('good'), source('raw', 'rows'), by='expected cost', costs={'a': {'b': 'x'}}) }}",
        "a cost of 'nbsql.review_queue' must be a number, not x",
    ),
    "slices_of_all": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), by='s') }}",
        "by goes with table='slices', table='slice_intervals' or between",
    ),
    "two_tables": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'roc', by='s', between=['t', none]) }}",
        "table goes with all but between, which makes a table of its own; leave out one of them",
    ),
    "slices_named_as_numbers": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'slices', by='Class') }}",
        "column 'Class' has the name of a column of the slices; rename it, in a model before",
    ),
    "slices_of_no_column": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'slices', by=[]) }}",
        "by must be a list of columns, not []",
    ),
    "no_label_of_slices": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), by='s', between=['t', none], label='c') }}",
        "label of 'nbsql.evaluation' must be one of 'a', 'b', not c",
    ),
    "no_query": (
        "{{ nbsql.with_cell(3) }}",
        "query of nbsql.with_cell must be the result of another macro, such as nbsql.feature_likelihoods(...), not 3",
    ),
    "no_arguments": (
        "{{ nbsql.predictions() }}",
        "statistics must be a relation, ref('...'), all of it and not some of its rows, not none",
    ),
    "judged_by_negative_weights": (
        "{{ nbsql.evaluation(ref('good'), source('raw', 'rows'), 'roc', weight='w') }}",
        "1 value of column 'w' of rows is negative, NULL or not finite; weights must be at least 0",
    ),
    "compared_by_negative_weights": (
        "{{ nbsql.comparison(ref('good'), ref('good'), source('raw', 'rows'), weight='w') }}",
        "1 value of column 'w' of rows is negative, NULL or not finite; weights must be at least 0",
    ),
    "no_digits": (
        "{{ nbsql.scorecard(ref('good'), digits=1.5) }}",
        "digits of 'nbsql.scorecard' must be a whole number from 0 to 9, not 1.5",
    ),
    "no_expression_of_periods": (
        "{{ nbsql.monitoring(ref('good'), source('raw', 'rows'), by=['s']) }}",
        "by of 'nbsql.monitoring' must be an expression in SQL, such as sent_on, not ['s']",
    ),
    "no_word_for_yes": (
        "{{ nbsql.predictions(ref('good'), source('raw', 'rows'), by_class='no') }}",
        "by_class of nbsql.predictions must be true or false, not no",
    ),
    "slices_against_others": (
        "{{ nbsql.feature_drift(ref('good'), slices=2, against=ref('good')) }}",
        "slices goes with neither a and b nor against",
    ),
    "no_slice_to_compare": (
        "{{ nbsql.feature_drift(ref('good'), a=[], b=true) }}",
        "name at least one slice of 'good'; it has none",
    ),
    "no_mapping_of_arguments": (
        "{{ nbsql.test_nbsql_within(ref('watched'), arguments=0.2) }}",
        "arguments of nbsql_within must be a mapping, not 0.2",
    ),
    "no_odds": (
        "{{ nbsql.scorecard(ref('good'), odds=0) }}",
        "odds and double of nbsql.scorecard must be above 0, not 0 and 20",
    ),
}
# The statistics of another project, and what is said of them in the second run, when they are there.
ELSEWHERE = {
    "elsewhere": "{{ nbsql.predictions(source('fits', 'fitted'), source('raw', 'rows'), training=source('raw', 'rows')) }}",
    "elsewhere_alone": "{{ nbsql.predictions(source('fits', 'fitted'), source('raw', 'rows')) }}",
}
GOOD = {"target": "y", "features": ["x", "s"]}
MODELS |= {
    f"named_{verb}": (
        f"{{{{ nbsql.{verb}(ref('good'), source('raw', 'rows')) }}}}",
        f"nbsql.{verb} is internal and takes no relation; call nbsql.{public}(...)",
    )
    for verb, public in VERBS.items()
}
MODELS |= {
    f"absent_{verb}": (f"{{{{ nbsql.{verb}(ref('good')) }}}}", f"the package has no nbsql.{verb}; call nbsql.{public}(...)")
    for verb, public in ABSENT.items()
}
# Models that are incremental, and what is said of them when they are run a second time.
AGAIN = {
    "incremental": (
        GOOD,
        "'incremental' is incremental, and nothing says which rows are new; set slice_by in meta.nbsql, or where= in "
        "nbsql.statistics",
    ),
    "strategy": (
        {**GOOD, "slice_by": "n"},
        "'strategy' replaces slices, which incremental_strategy 'append' does not; use 'delete+insert'",
    ),
    "normed": (
        {**GOOD, "slice_by": "n", "families": {"s": {"family": "text", "norm": "l2"}}},
        "'normed' cannot be incremental: 's' depends on all rows at once (norm); materialize it as a table",
    ),
}


ONE_CLASS = "nbsql: 'ones' has one class only, 'a'; every prediction will be that class"
UNIT_TEST = (
    "the rows of a unit test are in no relation, whose columns and classes nbsql's models read; test the models around them"
)
REPEATED = (
    "nbsql: the rows for 'repeated' have as many of each class as those that its last run has added; if they are the same, "
    "they count twice: let where= select only rows that no run has counted, or set slice_by, and build it with --full-refresh"
)
# What an engine calls types and its schema, in the lines above.
NAMES = {
    "duckdb": {},
    "postgres": {"is DATE": "is date", "is VARCHAR": "is text", "is INTEGER[]": "is integer[]", "score main.": "score public."},
}
# Options that PostgreSQL cannot take, and what is said of them there.
ON_POSTGRES = {
    "no_maps": (
        {"target": "y", "features": ["s"], "families": {"s": "token_counts"}},
        "column 's' is text, which family 'token_counts' does not take (it takes token counts columns); cast it, or choose "
        "another family",
    ),
    "no_calendar": (
        {"target": "y", "families": {"n": "calendar"}},
        "column 'n' is integer, which family 'calendar' does not take (it takes temporal columns); cast it, or choose another "
        "family",
    ),
    "case": ({"target": "Y"}, "no column 'Y' in rows, the target; its columns are 'id', 'y', 'x', 'n', 's', 'd', 'w'"),
}


@pytest.fixture(scope="module", params=OF_ROWS)
def messages(request, tmp_path_factory):
    with server(*request.param) as address:
        yield said(tmp_path_factory.mktemp("dbt"), address, request.param[1])


def said(folder, address, version):
    """The messages of the models of a project on an engine, by their names."""
    options = OPTIONS if address is None else {**OPTIONS, **ON_POSTGRES}
    models = {
        **dict.fromkeys([*options, *AGAIN, "good", "some_priors", "more_priors"], STATISTICS),
        **{name: sql for name, (sql, _) in MODELS.items()},
        **ELSEWHERE,
        "passing": "{{ config(materialized='ephemeral') }}" + STATISTICS,
        "plain": "SELECT 1 AS one",
        "odd": "SELECT rows.*, 1 AS \"Probability\", 2 AS joint_log_likelihood_a FROM {{ source('raw', 'rows') }} AS rows",
        "ones": "{{ nbsql.statistics(source('raw', 'rows'), where='id = 1') }}",
        "of_one_class": "{{ nbsql.predictions(ref('ones'), source('raw', 'rows')) }}",
        "lists": "SELECT 'a' AS y, ARRAY[1] AS l",
        "many": "SELECT CASE WHEN x < 9 THEN 'a' ELSE 'b' END AS y, x, 's' AS s FROM generate_series(1, 30) AS r(x)",
        "repeated": "{{ nbsql.statistics(ref('many'), where='x > ' ~ var('above', 0)) }}",
        "watched": "{{ nbsql.monitoring(ref('good'), source('raw', 'rows'), by='current_date') }}",
        "emptied": "SELECT * FROM {{ ref('good') }} WHERE 1 = 0",
    }
    meta = {name: given for name, (given, _) in options.items()}
    meta["some_priors"] = {**GOOD, "prior": {"a": 1}}
    meta["more_priors"] = {**GOOD, "prior": {"a": 0.25, "b": 0.25, "c": 0.5}}
    meta |= {name: given for name, (given, _) in AGAIN.items()}
    meta["good"] = {**GOOD, "features": ["x", "s", "x"]}
    meta |= {"passing": GOOD, "ones": GOOD, "repeated": GOOD, "text": GOOD, "no_type": {"target": "y"}}
    meta |= {"emptied": GOOD, "no_rows": {"target": "y"}}
    meta |= {"none_meet": {**GOOD, "weight": "n"}, "batches": {**GOOD, "slice_by": "d"}}
    config = {name: {"materialized": "incremental"} for name in (*AGAIN, "gaps", "repeated")}
    config["strategy"] |= {"unique_key": "slice", "incremental_strategy": "append"}
    # Not that of dbt: without it dbt would run a batch for each day, and show no message but ERROR.
    config["batches"] = {"incremental_strategy": "microbatch"}
    found = Project(folder, models, meta, config, address=address, version=version)
    found.run(
        """CREATE TABLE rows AS SELECT * FROM (VALUES
          (1, 'a', 1.5, 2, 's', DATE '2026-01-01', 1), (2, 'b', 2.5, -1, NULL, NULL, 2),
          (3, 'b', 0.5, -2, 't', NULL, -1)) AS t(id, y, x, n, s, d, w)""",
        "CREATE TABLE empty (y TEXT, s TEXT)",
    )
    fitted = {"name": "fitted", "config": {"meta": {"nbsql": GOOD}}}
    schema = "main" if address is None else "public"
    found.write("models/fits.yml", {"sources": [{"name": "fits", "schema": schema, "tables": [fitted]}]})
    result = found.dbt("run")
    assert result.returncode == 1
    found.run("CREATE TABLE fitted AS SELECT * FROM good")
    assert version == "2.0" or ONE_CLASS in " ".join(result.stdout.split())  # which dbt 2.0.0a4 does not show
    first = found.messages()
    new = found.dbt("run", "--select", "repeated", "--vars", "above: 1")
    assert REPEATED not in " ".join(new.stdout.split())
    given = [{"input": "source('raw', 'rows')", "rows": [{"id": 1, "y": "a"}]}]
    unit = {"name": "of_few_rows", "model": "ones", "given": given, "expect": {"rows": [{"n": 1}]}}
    found.write("models/unit_tests.yml", {"unit_tests": [unit]})
    again = found.dbt("build", "--select", *AGAIN, *ELSEWHERE, "repeated", "ones", "--vars", "above: 1")
    assert again.returncode == 1
    assert REPEATED in " ".join(again.stdout.split())
    return {**first, **found.messages()}


# dbt 2.0.0a4 writes all digits of an edge, and skips a unit test before nbsql is asked.
OTHERWISE_IN_DBT_2 = ("large_edge", "small_edge", "ones")


def test_one_line_says_what_is_wrong_and_what_to_do(messages, request):
    engine, version = request.node.callspec.params["messages"]
    options = OPTIONS if engine == "duckdb" else {**OPTIONS, **ON_POSTGRES}
    expected = {name: line for name, (_, line) in {**options, **MODELS, **AGAIN}.items()}
    expected["ones"] = UNIT_TEST
    expected["elsewhere_alone"] = (
        "the statistics 'fitted' refer to 0 relations; say which one they learn from: training=ref('...')"
    )
    for known, own in NAMES[engine].items():
        expected = {name: line.replace(known, own) for name, line in expected.items()}
    for name in OTHERWISE_IN_DBT_2 if version == "2.0" else ():
        del expected[name]
    assert {name: messages[name] for name in expected} == {name: f"nbsql: {line}" for name, line in expected.items()}
    for name in ("good", "elsewhere"):
        assert messages[name].startswith("Succeeded" if version == "2.0" else "OK" if engine == "duckdb" else "CREATE VIEW")
