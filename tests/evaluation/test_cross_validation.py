"""Cross-validation by subtraction: the answers of a fit for every fold, without one."""

import re

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from support.algebra import COLUMNS, FAMILIES, connect, examples, refitted, unweighted

import nbsql
from nbsql import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

near = pytest.approx


@pytest.mark.slow
@given(
    unweighted.filter(lambda rows: len(rows) >= 4),
    st.sampled_from(["skip", "smooth"]),
    st.sampled_from(["empirical", "uniform", "smoothed"]),
)
@examples(8)
def test_every_fold_is_predicted_as_a_fit_of_the_others_would(rows, unseen, prior):
    con = connect(rows=rows)
    con.execute("CREATE TABLE folded AS SELECT * EXCLUDE (times), row_number() OVER () % 3 AS part FROM rows")
    found = nbsql.cross_validate(con, "folded", target="play", fold="part", families=FAMILIES, unseen=unseen, prior=prior)
    accuracy, loss = refitted(con, "folded", "part", families=FAMILIES, unseen=unseen, prior=prior)
    for judged in (found, found.evaluation):
        assert judged.rows == len(rows)
        assert judged.accuracy == near(accuracy, abs=1e-12)
        assert judged.log_loss == near(loss, rel=1e-9, abs=1e-12)
    assert "times" in COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
def test_weights_and_classes_that_a_fold_alone_has(con, form):
    con.execute("""
        CREATE TABLE folded AS FROM (VALUES
            (0, 'a', 'u', 1.0, 2), (0, 'b', 'v', 2.0, 1), (1, 'a', 'u', 1.5, 1), (1, 'c', 'w', 9.0, 3), (1, 'b', 'u', 2.5, 0),
            (2, 'b', 'v', 3.0, 2), (2, 'a', NULL, 1.0, 1)
        ) AS t(part, play, sky, wind, w)
    """)
    found = nbsql.cross_validate(con, "folded", target="play", fold="part", weight="w")
    accuracy, loss = refitted(con, "folded", "part", weight="w")
    assert (found.evaluation.accuracy, found.evaluation.log_loss) == (near(accuracy), near(loss, rel=1e-9))
    assert [row[:3] for row in found.folds] == [("0", 2, 3), ("1", 2, 4), ("2", 2, 3)]
    assert sum(row[2] for row in found.evaluation.confusion) == 10
    assert ("c", "c") not in [row[:2] for row in found.evaluation.confusion]  # only its own fold has class c


@pytest.mark.slow
def test_numbers_without_gaps_that_do_not_vary_in_other_folds(con):
    """Number y varies in fold 0 alone, so that the model of its rows is without; and class c is in fold 1 alone."""
    con.execute("""
        CREATE TABLE folded AS
        SELECT i % 4 AS part, i * i % 11 AS x, CASE WHEN i % 4 = 0 THEN i / 5 ELSE 7.5 END AS y, i / 7 AS z,
            CASE WHEN i % 4 = 1 AND i % 3 = 0 THEN 'c' WHEN i * i % 11 > 4 THEN 'a' ELSE 'b' END AS play
        FROM range(60) AS t(i)
    """)
    found = nbsql.cross_validate(con, "folded", target="play", fold="part")
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'y'"):
        accuracy, loss = refitted(con, "folded", "part")
    assert (found.accuracy, found.log_loss) == (near(accuracy), near(loss, rel=1e-12))
    assert (found.evaluation.accuracy, found.evaluation.log_loss) == (near(accuracy), near(loss, rel=1e-12))


def test_folds_are_those_of_scikit_learn(con):
    data, target = load_breast_cancer(return_X_y=True)
    part = np.arange(len(target)) % 5
    columns = {f"x{i}": data[:, i] for i in range(data.shape[1])}
    con.register("cancer", pandas.DataFrame({"y": target, "part": part, **columns}))
    found = nbsql.cross_validate(con, "SELECT * FROM cancer", target="y", fold="part", infer="types")
    theirs = cross_val_predict(GaussianNB(var_smoothing=0), data, target, cv=PredefinedSplit(part), method="predict_proba")
    assert found.evaluation.accuracy == accuracy_score(target, theirs.argmax(axis=1))
    assert found.evaluation.log_loss == near(log_loss(target, np.clip(theirs, 2.0**-52, 1 - 2.0**-52)), rel=1e-9)
    for name, rows, weight, accuracy, _ in found.folds:
        of_fold = part == int(name)
        assert (rows, weight) == (of_fold.sum(), of_fold.sum())
        assert accuracy == near(accuracy_score(target[of_fold], theirs[of_fold].argmax(axis=1)), rel=1e-12)


def test_dealt_folds_share_every_class_and_stay_the_same(con):
    con.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i < 30 THEN 'few' ELSE 'many' END AS y, hash(i) % 7 AS x FROM range(130) r(i)"
    )
    found = nbsql.cross_validate(con, "t", target="y", folds=10)
    assert [row[1] for row in found.folds] == [13] * 10
    assert found.evaluation.rows == 130
    shuffled = nbsql.cross_validate(con, "SELECT * FROM t ORDER BY hash(x, y, random())", target="y", folds=10)
    assert repr(found) == repr(shuffled)
    tables = con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary AND table_name NOT LIKE '%out of fold%'")
    assert tables.fetchone()[0] <= 12  # - of the two whole models, whose parameters the evaluations read


@pytest.mark.slow
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
def test_the_models_of_many_folds_are_made_in_parts(con, layout, form):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS y, i % 3 + hash(i) % 7 AS x, 'v' || hash(i, 1) % 5 AS v FROM range(90) r(i)")
    options = {"target": "y", "folds": 7, "unseen": "smooth"}
    at_once = nbsql.cross_validate(con, "t", **options)
    names = []
    layout(fold_cells=1)
    with nbsql.watch(names.append):
        in_parts = nbsql.cross_validate(con, "t", **options)
    assert names.count("parameters of the folds") == names.count("lookups of the folds") == 7
    for one, other in zip(at_once.folds, in_parts.folds, strict=True):
        assert one == (*other[:4], near(other[4], rel=1e-12))


def test_one_class_is_worth_a_warning(con):
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        found = nbsql.cross_validate(con, "SELECT 'a' AS y, i * 1.0 AS x FROM range(12) AS t(i)", target="y", folds=3)
    line = "'y' has one class only in the folds, 'a'; each predicts it, so that the results mean nothing"
    assert [str(each.message) for each in caught] == [line]
    assert found.accuracy == 1


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("source", ["t", "SELECT * FROM t"])
def test_a_large_table_is_dealt_by_a_hash(con, layout, source):
    layout(sorted_rows=100)
    con.execute(
        "CREATE TABLE t AS SELECT i % 3 AS y, i % 3 + hash(i) % 7 AS x, 'v' || hash(i, 1) % 5 AS v FROM range(600) r(i)"
    )
    found = nbsql.cross_validate(con, source, target="y", folds=4)
    sizes = [row[1] for row in found.folds]
    assert len(sizes) == 4
    assert sum(sizes) == found.evaluation.rows == 600
    assert all(100 <= size <= 200 for size in sizes)
    assert (found.evaluation.accuracy, found.evaluation.log_loss) == (near(found.accuracy), near(found.log_loss))
    hashed = "hash(hash(rowid))" if source == "t" else "hash(y, x, v)"
    accuracy, loss = refitted(con, f"(SELECT *, {hashed} % 4 AS part FROM t)", "part", play="y")
    assert (found.accuracy, found.log_loss) == (near(accuracy), near(loss, rel=1e-9))


def test_folds_that_cannot_be_are_refused(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 1, 0), ('b', 2, 0)) AS t(y, x, part)")
    for options, message in [
        ({"folds": 1}, "folds must be a whole number of at least 2, or 'loo', not 1"),
        ({"folds": 10**5000}, "folds must be a whole number of at least 2, or 'loo', not a number of thousands of digits"),
        ({"folds": 99_999_999}, "99,999,999 folds are more than the 2 rows of t; use folds=10, say"),
        ({"folds": "ten"}, "folds must be a whole number of at least 2, or 'loo', not 'ten'"),
        ({"fold": "nowhere"}, "no column 'nowhere' in t; its columns are 'y', 'x', 'part'"),
        ({"fold": "part"}, "cross-validation needs at least two folds, and t has 1"),
        ({"bins": 0}, "bins must be a whole number from 1 to 1000000, not 0"),
    ]:
        with pytest.raises(InputError) as refused:
            nbsql.cross_validate(con, "t", target="y", **options)
        assert str(refused.value) == message


@pytest.mark.slow
@pytest.mark.forms("form")
@pytest.mark.parametrize("form", ["pandas", "polars", "stream", "query of a frame"])
def test_the_evaluation_of_a_frame_is_read_when_the_frame_has_no_other_name(con, form):
    rows = {
        "y": [i % 2 for i in range(40)],
        "a": [f"a{i % 3}" for i in range(40)],
        "x": [i % 7 + i % 2 / 3 for i in range(40)],
        "f": [i % 4 for i in range(40)],
    }

    table = pyarrow.table(rows)
    con.register("registered", table)
    con.execute("CREATE TABLE kept AS FROM registered")

    def source():  # to which only the results refer
        if form == "query of a frame":
            return nbsql.fit(con, table, target="y").log_evidence(table.slice(0)).limit(40)
        return {"pandas": table.to_pandas, "polars": lambda: polars.from_arrow(table), "stream": table.to_reader}[form]()

    settings = [
        {"folds": "loo"},
        {"fold": "f"},
        {"folds": 4, "method": "lda", "features": ["x"]},
        {"folds": 4, "method": "tan", "features": ["a", "x"]},
    ]
    for options in settings:
        options = {"features": ["a", "x"], **options}
        of_frame = nbsql.cross_validate(con, source(), target="y", **options).evaluation
        of_table = nbsql.cross_validate(con, "kept", target="y", **options).evaluation
        assert (of_frame.rows, of_frame.accuracy) == (40, near(of_table.accuracy))
        assert of_frame.confusion.fetchall() == of_table.confusion.fetchall()
    assert nbsql.auto(con, source(), target="y", features=["a", "x"], methods=["naive"]).best().classes == [0, 1]


@pytest.mark.nightly
def test_the_method_that_gains_most_is_named_with_what_was_measured(con):
    columns = "'a' || i % 2 AS a, 'b' || i // 2 % 2 AS b, i % 5 AS part"
    con.execute(f"CREATE TABLE pairs AS SELECT {columns}, (i + i // 2) % 2 AS y FROM range(400) AS r(i)")
    found = nbsql.cross_validate(con, "pairs", target="y", folds=4, exclude=["part"])
    tan = nbsql.cross_validate(con, "pairs", target="y", folds=5, exclude=["part"], method="tan")
    naive = nbsql.cross_validate(con, "pairs", target="y", folds=5, exclude=["part"])
    gain = f"{naive.log_loss - tan.log_loss:.2g}"
    assert re.fullmatch(rf"method='(tan|aode)' gains {gain} of log loss on five folds \(\d+(\.\d)? s\)", found.gain())
    of_tan = nbsql.cross_validate(con, "pairs", target="y", fold="part", method="tan")
    assert of_tan.gain() == "none of method='naive', method='weighted', method='aode' gains on five folds"


@pytest.mark.nightly  # by day the command line names it
def test_an_evaluation_names_the_method_that_gains_most_on_its_rows(con, tmp_path):
    columns = "'a' || i % 2 AS a, 'b' || i // 2 % 2 AS b, 1.0 + i % 3 AS w"
    con.execute(f"CREATE TABLE pairs AS SELECT {columns}, (i + i // 2) % 2 AS y FROM range(400) AS r(i)")
    con.execute(f"CREATE TABLE later AS SELECT {columns}, (i + i // 2 + (i % 50 = 0)::INT) % 2 AS y FROM range(600) AS r(i)")
    model = nbsql.fit(con, "pairs", target="y", exclude=["w"], name="m")
    options = {"target": "y", "folds": 5, "features": ["a", "b"]}
    naive, tan = (nbsql.cross_validate(con, "later", weight="w", method=each, **options) for each in ("naive", "tan"))
    line = rf"method='(tan|aode)' gains {naive.log_loss - tan.log_loss:.2g} of log loss on five folds \(\d+(\.\d)? s\)"
    assert re.fullmatch(line, model.evaluate(con.table("later").df(), weight="w").gain())
    of_tan = nbsql.fit(con, "pairs", target="y", exclude=["w"], method="tan")
    tried = "none of method='naive', method='weighted', method='aode' gains on five folds"
    assert of_tan.evaluate("later").gain().startswith(tried)
    of_weights = nbsql.fit(con, "pairs", target="y", exclude=["w"], method="weighted")
    assert re.match(r"method='(tan|aode)' gains", of_weights.evaluate("later").gain())
    both = nbsql.fit(con, "pairs", target="y", exclude=["w"], method=nbsql.TAN(weighted=True))
    tried = "none of method='naive', method='weighted', method='tan', method='aode' gains on five folds"
    assert both.evaluate("later").gain().startswith(tried)  # with the weights and the tree alone
    model.report(tmp_path / "m.html", source="later", gain=True)
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert re.search(r"Other methods, tried on these rows: method=&#39;(tan|aode)&#39; gains", text)


def test_what_no_other_method_is_tried_on(con, tmp_path):
    con.execute("CREATE TABLE t AS SELECT 1.0 * (i % 7) AS x, i // 2 % 2 AS y FROM range(100) AS r(i)")
    model = nbsql.fit(con, "t", target="y", method=nbsql.Mixture(2))
    evaluated = model.evaluate("SELECT 1.0 * i AS x, i % 2 AS y FROM range(50) AS r(i)")
    with pytest.raises(nbsql.NotSupportedError, match=r"fitted anew to folds of these rows; cross-validate a fit instead"):
        evaluated.gain()
    with pytest.raises(nbsql.InputError, match="gain tries other methods on the rows of a source; give it, or leave out gain"):
        model.report(tmp_path / "m.html", gain=True)


def collinear():
    return "SELECT i % 2 AS y, i % 4 AS part, hash(i) % 1000 / 100.0 AS a, a * 2 AS b FROM range(400) AS r(i)"


@pytest.mark.slow
def test_a_covariance_matrix_without_an_inverse_is_refused_as_by_a_fit(con):
    query = collinear()
    why = "^'a', 'b' are collinear within the classes, so the covariance matrix of 'lda' has no inverse; leave one"
    with pytest.raises(nbsql.InputError, match=why):
        nbsql.cross_validate(con, query, target="y", method="lda", fold="part")
    with pytest.raises(nbsql.InputError, match=why):
        nbsql.auto(con, query, target="y", methods=["naive", "lda"], fold="part", leave_out=False)


@pytest.mark.nightly
def test_a_covariance_matrix_without_an_inverse_is_left_out_of_a_search(con):
    assert nbsql.auto(con, collinear(), target="y", fold="part").best().classes == [0, 1]


@pytest.mark.few
@pytest.mark.parametrize("case", ["bins", "parents", "many categories"])
def test_a_model_scored_by_lists_is_evaluated_by_the_counts_of_the_other_folds(con, case):
    """A list has the scores of one model, and each fold has its own."""
    names = [f"c{number}" for number in range(45 if case == "many categories" else 6)]
    columns = [
        f"'v' || CASE WHEN hash(i, {n}) % 4 = 0 THEN i % 2 ELSE hash(i, {n}, 1) % 5 END AS {each}"
        for n, each in enumerate(names)
    ]
    numbers = [f"hash(i, {n}, 2) % 100 / 10.0 + i % 2 AS x{n}" for n in range(4)]
    con.execute(f"CREATE TABLE listed AS SELECT i % 2 AS y, {', '.join([*columns, *numbers])} FROM range(400) AS r(i)")
    families = {f"x{n}": nbsql.Binned(bins=5) for n in range(4)}
    if case == "parents":
        families = {"c0": nbsql.Conditional("c1"), "x0": nbsql.Conditional("x1", edges=[3, 6], parent_edges=[4])}
    model = nbsql.fit(con, "listed", target="y", families=families)
    assert any(feature.has_few_values for feature in model.state.spec.features)
    evaluation = model.evaluate("listed", folds=4)
    expected = nbsql.cross_validate(con, "listed", target="y", families=families, folds=4)
    assert evaluation.log_loss == pytest.approx(expected.log_loss, rel=1e-9)
    assert evaluation.log_loss > 1.01 * model.evaluate("listed").log_loss
