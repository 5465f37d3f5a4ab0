"""Each option that says how to estimate changes some answer of a model, or a warning or an error says that it does not."""

import warnings

import duckdb
import pytest
from sklearn.model_selection import GridSearchCV

import nbsql
from nbsql.sklearn import NaiveBayesClassifier

MODELS = {
    "naive": {"features": ["k", "x", "words"], "families": {"words": "text"}},
    "numbers": {"features": ["x", "z"]},
    "rates": {"features": ["n", "z"], "families": {"n": "poisson", "z": "exponential"}},
    "kernel": {"features": ["x"], "families": {"x": nbsql.Kernel(cells=32)}},
    "bins": {"features": ["gaps"], "families": {"gaps": nbsql.Binned(bins=4)}},
    "booleans": {"features": ["f"]},
    "words": {"features": ["words"], "families": {"words": nbsql.Text(tfidf=True)}},
    "complement": {"features": ["n", "m"], "families": {"c": nbsql.Complement(["n", "m"])}},
    "joint": {"features": ["k", "c"], "method": "joint"},
    "lda": {"features": ["x", "z"], "method": "lda"},
    "qda": {"features": ["x", "z", "k"], "method": "qda"},
    "tan": {"features": ["k", "c", "x"], "method": "tan"},
    "aode": {"features": ["k", "c", "x"], "method": "aode"},
    "logistic": {"features": ["x", "z"], "method": "logistic"},
    "mixture": {"features": ["x", "z", "k"], "method": nbsql.Mixture(2)},
    "dates": {"features": ["day"]},
}
OPTIONS = [
    {"alpha": 3.0}, {"estimate": "mode", "alpha": 3.0}, {"estimate": "mode"}, {"estimate": "mle"}, {"prior": "uniform"},
    {"prior": nbsql.Smoothed(50)}, {"nulls": "category"}, {"unseen": "smooth"},
]  # fmt: skip
# What asks for what is so anyway: numbers without a prior have their maximum-likelihood estimates, which are the modes, too;
# a joint category is not smoothed, and takes new and missing values for values; and a boolean has no other values.
SO_ANYWAY = {
    **{name: [{"estimate": "mode"}, {"estimate": "mle"}] for name in ("numbers", "rates")},
    "lda": [{"estimate": "mode"}, {"estimate": "mle"}],
    "booleans": [{"unseen": "smooth"}],
    "joint": [{"estimate": "mode"}, {"estimate": "mle"}, {"nulls": "category"}, {"unseen": "smooth"}],
}
SAID = r"leave out \w+|leave it out|needs alpha|takes no pseudo-counts|set their penalty"


@pytest.fixture(scope="module")
def con():
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE t AS SELECT i AS id, ['a', 'b', 'c'][1 + i * 7 % 10 // 4] AS y, "
        "CASE WHEN i % 9 > 0 THEN 'k' || (i * 5 % 7 + i * 7 % 10) % 5 END AS k, 'c' || i * 11 % 3 AS c, "
        "i * 13 % 17 + i * 7 % 10 / 3 AS x, CASE WHEN i % 9 > 0 THEN i * 7 % 10 + i % 5 END AS gaps, "
        "i * 29 % 23 + 0.5 AS z, CASE WHEN i % 8 > 0 THEN i * 7 % 10 % 4 = 0 END AS f, "
        "(i * 3 % 5 + i * 7 % 10 % 3)::INTEGER AS n, (i * 2 % 7)::INTEGER AS m, "
        "'w' || i % 5 || ' v' || i * 7 % 10 || ' u' || i % 3 AS words, "
        "CASE WHEN i % 9 > 0 THEN DATE '2026-01-01' + (i * 7 % 10 + i % 50)::INTEGER END AS day FROM range(120) AS r(i)"
    )
    con.execute(
        "CREATE TABLE later AS SELECT * REPLACE (CASE WHEN id % 7 > 0 THEN k ELSE 'new' END AS k, words || ' new' AS words, "
        "CASE WHEN id % 7 > 0 THEN day ELSE DATE '2031-11-30' END AS day, CASE WHEN id % 7 > 0 THEN n ELSE -1 END AS n) FROM t"
    )
    con.execute("CREATE TABLE old_and_new AS FROM t UNION ALL SELECT * REPLACE (200 + id AS id) FROM later")
    return con


# Options, and the line that says why they change nothing in a model of x and z.
IDLE = [
    ({"alpha": 3.0}, "no feature and no prior is smoothed, so that alpha changes nothing; leave out alpha"),
    ({"nulls": "category"}, "no feature is a category, .* nulls='category' changes nothing; leave out nulls='category'"),
    ({"unseen": "smooth"}, "no feature has values .* unseen='smooth' changes nothing; leave out unseen='smooth'"),
    ({"families": {"x": nbsql.Gaussian(alpha=3, unseen="smooth")}}, "'x' is gaussian, .* 'alpha', 'unseen' here; .*"),
    ({"families": {"x": nbsql.Gaussian(smoothing=0.1, floor=0.1)}}, ".* which does not use 'floor' here; leave it out"),
]


@pytest.mark.few
@pytest.mark.parametrize(("options", "line"), IDLE)
def test_an_option_that_nothing_uses_is_a_warning_in_one_line_and_no_error(con, options, line):
    shared = {"target": "y", "features": ["x", "z"]}
    cells = con.sql(nbsql.fit(con, "t", **shared).sql("statistics", "t", dialect="duckdb"))
    for verb in (nbsql.fit, nbsql.cross_validate, nbsql.fit_sql):
        with pytest.warns(nbsql.NbsqlWarning, match=f"^{line}$"):
            verb(con, "t", **shared, **options)
    if "alpha" not in options:
        with pytest.warns(nbsql.NbsqlWarning, match=f"^{line}$"):
            nbsql.sweep(con, "t", alpha=[1, 3], **shared, **options)
    with pytest.warns(nbsql.NbsqlWarning, match=f"^{line}$"):
        nbsql.from_statistics(con, cells, target="y", **options)


def test_families_of_models_that_estimate_nothing_from_counts_say_which_options_they_do_not_use(con):
    families = {"x": nbsql.Gaussian(floor=0.1)}
    line = "^'x' is gaussian, which does not use 'floor' here; leave it out$"
    with pytest.warns(nbsql.NbsqlWarning, match=line):
        nbsql.fit(con, "t", target="y", features=["x"], families=families, method="logistic")
    with pytest.warns(nbsql.NbsqlWarning, match="learns weights, so that estimate='mode' changes nothing"):
        nbsql.fit(con, "t", target="y", features=["x"], estimate="mode", method="logistic")
    given = {name: {"x": {"mean": mean, "variance": 1}} for name, mean in (("a", 0), ("b", 1))}
    with pytest.warns(nbsql.NbsqlWarning, match=line):
        nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=given, families=families)


@pytest.mark.nightly
def test_a_search_goes_on_over_options_that_some_columns_do_not_use(con):
    rows = con.execute("SELECT x, z FROM t").df()
    labels = con.execute("SELECT y FROM t").df()["y"]
    grid = {"alpha": [0.0, 3.0], "nulls": ["category"], "unseen": ["smooth"], "estimate": [None, "mode"]}
    with pytest.warns(nbsql.NbsqlWarning, match="changes nothing"):
        GridSearchCV(NaiveBayesClassifier(), grid, cv=2, error_score="raise").fit(rows, labels)
    options = {"target": "y", "features": ["x", "z"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", nbsql.NbsqlWarning)
        NaiveBayesClassifier().fit(rows, labels)
        nbsql.fit(con, "t", alpha=3.0, prior="smoothed", **options)
        nbsql.fit(con, "t", alpha=0, estimate="mle", **options)
        nbsql.sweep(con, "t", alpha=[1, 3], **options)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_an_option_changes_an_answer_or_it_is_said_that_it_does_not(con, name):
    def answers(**options):
        model = nbsql.fit(con, "t", target="y", id="id", **MODELS[name], **options)
        return [row[-3:] for row in sorted(model.predict_proba("old_and_new").fetchall())]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        before = answers()
    for option in OPTIONS:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", nbsql.NbsqlWarning)
            try:
                after = answers(**option)
            except nbsql.InputError as error:
                assert option not in SO_ANYWAY.get(name, [])
                with pytest.raises(nbsql.InputError, match=SAID):
                    raise error from None
                continue
        is_idle = any("changes nothing" in str(each.message) for each in warned)
        changed = max((abs((a or 0) - (b or 0)) for one, other in zip(before, after, strict=True)
                       for a, b in zip(one, other, strict=True)), default=0.0)  # fmt: skip
        if len(option) == 1 or not is_idle:  # of several options one may be idle
            assert (changed > 1e-9) != (is_idle or option in SO_ANYWAY.get(name, [])), (option, changed)
