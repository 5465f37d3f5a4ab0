"""Each option that says how to estimate changes some answer of a model, or is refused; none is ignored."""

from __future__ import annotations

import warnings
from typing import Any

import duckdb
import pytest
from sklearn.model_selection import GridSearchCV

import nbsql
from nbsql.sklearn import NaiveBayesClassifier

MODELS: dict[str, dict[str, Any]] = {
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
OPTIONS: list[dict[str, Any]] = [
    {"alpha": 3.0}, {"estimate": "mode", "alpha": 3.0}, {"estimate": "mode"}, {"estimate": "mle"}, {"prior": "uniform"},
    {"prior": nbsql.Smoothed(50)}, {"nulls": "category"}, {"unseen": "smooth"},
]  # fmt: skip
# What asks for what is so anyway: numbers without a prior have their maximum-likelihood estimates, which are the modes, too;
# a joint category is not smoothed, and takes new and missing values for values; and a boolean has no other values.
# A search over alpha may run on numbers alone, which have no pseudo-counts.
ALPHA: list[dict[str, Any]] = [{"alpha": 3.0}, {"estimate": "mode", "alpha": 3.0}]
SO_ANYWAY: dict[str, list[dict[str, Any]]] = {
    **{name: [*ALPHA, {"estimate": "mode"}, {"estimate": "mle"}] for name in ("numbers", "rates")},
    "lda": [{"estimate": "mode"}, {"estimate": "mle"}],
    "booleans": [{"unseen": "smooth"}],
    "joint": [{"estimate": "mode"}, {"estimate": "mle"}, {"nulls": "category"}, {"unseen": "smooth"}],
}
REFUSED = (
    "leave out alpha|leave out estimate|leave out prior|leave out nulls='category'|leave out unseen='smooth'|leave it out|"
    "needs alpha|takes no pseudo-counts|set their penalty"
)


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
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
        "CASE WHEN id % 7 > 0 THEN day ELSE DATE '2031-11-30' END AS day) FROM t"
    )
    return con


def test_an_alpha_that_smooths_nothing_is_a_warning_in_one_line_and_no_error(con: duckdb.DuckDBPyConnection) -> None:
    line = r"^no feature and no prior is smoothed, so that alpha changes nothing; leave out alpha$"
    options: dict[str, Any] = {"target": "y", "features": ["x", "z"]}
    for verb in (nbsql.fit, nbsql.cross_validate, nbsql.fit_sql):
        with pytest.warns(nbsql.NbsqlWarning, match=line):
            verb(con, "t", alpha=3.0, **options)
    rows = con.execute("SELECT x, z FROM t").df()
    labels = con.execute("SELECT y FROM t").df()["y"]
    with pytest.warns(nbsql.NbsqlWarning, match=line):
        GridSearchCV(NaiveBayesClassifier(), {"alpha": [0.0, 3.0]}, cv=2).fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", nbsql.NbsqlWarning)
        NaiveBayesClassifier().fit(rows, labels)
        nbsql.fit(con, "t", alpha=3.0, prior="smoothed", **options)
        nbsql.fit(con, "t", alpha=0, estimate="mle", **options)
        nbsql.sweep(con, "t", alpha=[1, 3], **options)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("name", MODELS)
def test_an_option_changes_an_answer_or_is_refused(con: duckdb.DuckDBPyConnection, name: str) -> None:
    def answers(**options: Any) -> list[Any]:
        model = nbsql.fit(con, "t", target="y", id="id", **MODELS[name], **options)
        return [row[-3:] for source in ("t", "later") for row in sorted(model.predict_proba(source).fetchall())]

    before = answers()
    for option in OPTIONS:
        try:
            after = answers(**option)
        except nbsql.InputError as error:
            assert option not in SO_ANYWAY.get(name, [])
            with pytest.raises(nbsql.InputError, match=REFUSED):
                raise error from None
            continue
        changed = max((abs((a or 0) - (b or 0)) for one, other in zip(before, after, strict=True)
                       for a, b in zip(one, other, strict=True)), default=0.0)  # fmt: skip
        assert (changed > 1e-9) != (option in SO_ANYWAY.get(name, [])), (option, changed)
