"""Families that are chosen by cross-validation: against cross-validations of the settings one by one, and what is refused."""

import math
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from support.nearly import near

import nbsql

# Two classes; a number that is lognormal in each, counts that are poisson, a category, one that says nothing, and a copy.
TABLE = """
CREATE TABLE t AS
SELECT
  CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS y,
  exp(u / 2 + CASE WHEN i % 3 = 0 THEN 1 ELSE 0 END) AS x,
  CASE WHEN i % 11 <> 0 THEN CAST(floor(v * (4 + 2 * (i % 3))) AS INTEGER) END AS k,
  CASE WHEN v < 0.3 OR i % 3 = 0 THEN 'red' ELSE 'blue' END AS c,
  CASE WHEN v < 0.3 OR i % 3 = 0 THEN 'red' ELSE 'blue' END AS c_again,
  CASE WHEN w * (2 + i % 3) > 1 THEN exp(v + (i % 3) / 2) ELSE 0 END AS rain,
  w AS noise,
  i % 4 AS part,
  1 + i % 2 AS weight
FROM (
  SELECT
    i,
    sqrt(-2 * ln((hash(i, 1) % 99991 + 1) / 99992)) * cos(6.283185307179586 * (hash(i, 2) % 99991) / 99991) AS u,
    (hash(i, 3) % 99991) / 99991 AS v,
    (hash(i, 4) % 99991) / 99991 AS w
  FROM range(600) AS r(i)
)
"""


SEEN = "SELECT * FROM t WHERE part < 3"  # the rows that a choice by the folds `part` sees: the last fold is kept aside


@pytest.fixture
def table(con):
    con.execute(TABLE)
    return con


def as_family(text):
    """A family as `tried` shows it."""
    from nbsql.cli.arguments import family

    return family(f"x={text}")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "further",
    [  # each is tens of cross-validations
        {"weight": "weight", "exclude": ["c_again", "noise"]},
        pytest.param({"exclude": ["weight"]}, marks=pytest.mark.nightly),
        pytest.param(
            {"exclude": ["weight"], "target": nbsql.Target("y", ["0", "a", "b"]), "prior": "smoothed"},
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_every_figure_is_that_of_a_cross_validation(table, further):
    options = {"target": "y", "fold": "part", "infer": "types", **further}
    found = nbsql.auto(table, "t", methods=["naive"], calibrate=False, **options)
    assert sorted(found.best().classes) == getattr(options["target"], "classes", ["a", "b"])
    default, chosen = (nbsql.cross_validate(table, SEEN, **_with(options, choice)) for choice in (None, found))
    rows = {setting: (loss, gain) for _, setting, loss, gain, _, _ in found.ranking.fetchall()}
    assert rows["default"] == near((default.log_loss, 0.0))
    assert rows["families chosen"] == near((chosen.log_loss, default.log_loss - chosen.log_loss))
    assert found.rows == 450
    for column, family, alone, loss, gain, _, is_chosen in found.tried.fetchall():
        if column not in ("x", "k", "rain") or family in ("exponential", "gamma", "geometric", "binned"):
            continue  # for the sake of time
        told = replaced(found, column, family)
        assert nbsql.cross_validate(table, SEEN, **_with(options, told)).log_loss == near(loss), (column, family)
        only = {**_with(options, told), "features": [] if family == "left out" else [column]}
        if only["features"]:
            only["families"] = {name: each for name, each in only["families"].items() if name == column}
            assert nbsql.cross_validate(table, SEEN, **only).log_loss == near(alone), (column, family)
        if is_chosen:
            assert loss == near(chosen.log_loss)
        assert gain == near(0) or family is not None


def test_a_class_of_one_fold_is_never_predicted(con):
    con.execute("CREATE TABLE t AS SELECT i % 5 AS x, i % 2 AS c, i IN (0, 2) AS y, i % 2 AS part FROM range(40) AS r(i)")
    options = {"target": "y", "fold": "part"}
    found = nbsql.auto(con, "t", methods=[], calibrate=False, **options)
    default = next(loss for _, setting, loss, *_ in found.ranking.fetchall() if setting == "default")
    assert default == near(nbsql.cross_validate(con, "t", **options).log_loss)


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("fold", [None, "part"])
def test_methods_are_compared_without_a_class_of_one_fold(con, fold):
    columns = "i % 7 AS x, i % 5 AS z, i % 3 AS part, CASE WHEN (i * 7919) % 11 < 6 THEN 'a' ELSE 'b' END AS y"
    con.execute(f"CREATE TABLE two AS SELECT {columns} FROM range(120) AS r(i)")
    con.execute("CREATE TABLE three AS FROM two UNION ALL SELECT 3, 2, 0, 'zz'")
    two, three = (nbsql.auto(con, each, target="y", fold=fold, methods=["weighted"]) for each in ("two", "three"))
    assert two.rows == three.rows
    assert [tuple(map(_near, row)) for row in two.ranking] == three.ranking.fetchall()
    assert "weighted" in {setting for _, setting, *_ in three.ranking}
    assert three.best().classes == ["a", "b", "zz"]


@pytest.mark.nightly
def test_bins_that_the_classes_cut_have_not_met_the_fold(table):
    """A column that has such bins by the caller is judged so, too, and numbers of few values are left alone."""
    options = {"target": "y", "fold": "part", "exclude": ["weight"], "infer": "types"}
    given = {"noise": nbsql.Binned(by="mdl", nulls="category")}
    found = nbsql.auto(table, "t", calibrate=False, methods=["naive"], families=given, **options)
    tried = {(column, family): (alone, loss) for column, family, alone, loss, *_ in found.tried.fetchall()}
    assert ("k", "binned(by=mdl and quantile)") not in tried
    for column in ("x", "rain"):
        told = replaced(found, column, "binned(by=mdl and quantile)")
        families = {**given, **told.families}
        judged = nbsql.cross_validate(table, SEEN, **{**options, "families": families, "exclude": ["weight", *told.exclude]})
        assert tried[column, "binned(by=mdl and quantile)"][1] == near(judged.log_loss)
    alone = nbsql.cross_validate(table, SEEN, families=given, features=["noise"], **options)
    (of_noise,) = [figures for (column, family), figures in tried.items() if column == "noise" and family != "left out"]
    assert of_noise[0] == near(alone.log_loss)


def replaced(found, column, family):
    """What was chosen, with another family of a column."""
    families = {name: each for name, each in found.families.items() if name != column}
    exclude = [name for name in found.exclude if name != column]
    if family == "left out":
        return replace(found, families=families, exclude=[*exclude, column])
    return replace(found, families={**families, column: as_family(family)}, exclude=exclude)


def _with(options, found):
    if found is None:
        return options
    return {**options, "families": dict(found.families), "exclude": [*options.get("exclude", []), *found.exclude]}


# A category that tells of the class only with another, in a third of the rows with a text of words.
PAIRS = """
CREATE TABLE pairs AS
SELECT y, 'p' || p AS p, 'q' || CASE WHEN h % 10 = 0 THEN 1 - q ELSE q END AS q, part,
  CASE WHEN y THEN 'sun sea ' ELSE 'rain mud ' END || h AS told
FROM (SELECT y, p, p = y::INT AS same, CASE WHEN same THEN 1 ELSE 0 END AS q, h, part
  FROM (SELECT i % 2 = 0 AS y, i // 2 % 2 AS p, hash(i) // 7 AS h, i // 4 % 4 AS part FROM range(400) AS r(i)))
"""


@pytest.mark.slow
def test_a_method_is_tried_on_the_same_folds(con):
    con.execute(PAIRS)
    options = {"target": "y", "fold": "part", "exclude": ["told"]}
    found = nbsql.auto(con, "pairs", methods=["naive", "tan", nbsql.TAN(shrinkage=9)], **options)
    rows = {setting: (loss, gain, error) for _, setting, loss, gain, error, _ in found.ranking.fetchall()}
    naive, tan, shrunk = (
        nbsql.cross_validate(con, "FROM pairs WHERE part < 3", method=method, **options)
        for method in ("naive", "tan", nbsql.TAN(shrinkage=9))
    )
    assert rows["tan"][:2] == near((tan.log_loss, naive.log_loss - tan.log_loss))
    assert rows["tan(shrinkage=9.0)"][0] == near(shrunk.log_loss)
    assert rows["tan"][1] > 2 * rows["tan"][2]
    assert "tan, calibrated" in rows
    assert (found.method, found.families, found.exclude) == (nbsql.TAN(), {}, [])
    model = found.best()
    assert model.families["q"].name == "conditional"
    assert nbsql.auto(con, "pairs", methods=["naive"], **options).method == "naive"
    tie = nbsql.auto(con, "SELECT y, told, part FROM pairs", target="y", fold="part", calibrate=False)
    assert (tie.method, len(tie.ranking.fetchall())) == ("naive", 2)  # one column has no other to depend on


@pytest.mark.nightly
@pytest.mark.slow
def test_a_tree_of_numbers_that_count_only_together_has_quantiles(con):
    con.execute("""CREATE TABLE squares AS
        SELECT i AS id, x, z, CASE WHEN hash(i + 5) % 10 = 0 THEN x < 50 ELSE (x < 50) = (z < 50) END AS y
        FROM (SELECT i, hash(i) % 100 AS x, hash(i + 901) % 100 AS z FROM range(600) AS r(i))""")
    found = nbsql.auto(con, "squares", target="y", exclude=["id"], leave_out=False)
    assert found.method == nbsql.TAN(bins=10)
    tried = {row[1]: row[2] for row in found.ranking.fetchall()}
    assert {"aode", "tan(bins=10)", "kdb(bins=20, k=2), calibrated"} < tried.keys()
    assert 0.69 < tried["kdb(k=2)"] < 0.7  # which leaves the numbers whole, and has nothing but the priors
    assert nbsql.auto(con, "SELECT y, x > 50 AS a, z > 50 AS b FROM squares", target="y").refused == {}  # nothing to cut
    tree, none = (
        nbsql.cross_validate(con, "squares", target="y", exclude=["id"], method=each) for each in (found.method, "tan")
    )
    assert tree.log_loss < 0.6 * none.log_loss


@pytest.mark.nightly
@pytest.mark.look
def test_a_key_is_no_feature_of_any_method_that_is_tried(con):
    rows = """SELECT i + 1 AS customer_id, 'a' || (i % 2 + i % 3) % 4 AS a, 'b' || (i % 2 + i % 5) % 4 AS b, i % 2 = 0 AS y
        FROM range(400) AS r(i)"""
    with pytest.warns(nbsql.NbsqlWarning, match="'customer_id' is a key, which is left out"):
        found = nbsql.auto(con, rows, target="y")
    assert {row[1] for row in found.ranking.fetchall()} >= {"aode", "kdb(k=2)"}
    assert "customer_id" not in {feature for feature, *_ in found.tried}
    assert "customer_id" not in found.best().families


@pytest.mark.look
def test_a_table_of_keys_alone_leaves_nothing_to_choose(con):
    con.execute("CREATE TABLE orders AS SELECT hash(i) % 2 AS y, i AS id FROM range(300) AS t(i)")
    with pytest.warns(nbsql.NbsqlWarning, match="key"):
        found = nbsql.auto(con, "orders", target="y")
    assert found.method == "naive"
    assert not found.families


def test_one_class_is_worth_a_warning(con):
    with pytest.warns(
        nbsql.NbsqlWarning, match="^'y' has one class only in the folds, 'a'; each predicts it, so that .* mean nothing$"
    ):
        found = nbsql.auto(con, "SELECT 'a' AS y, i % 3 = 0 AS x FROM range(12) AS t(i)", target="y", methods=["naive"])
    assert found.method == "naive"


@pytest.mark.slow
def test_columns_that_are_worse_than_none_are_left_out(con):
    con.execute(
        "CREATE TABLE noise AS SELECT hash(i) % 2 AS y, hash(i + 7) % 50 AS a, hash(i + 9) / 1e19 AS b FROM range(300) AS t(i)"
    )
    options = {"target": "y", "methods": ["naive"]}
    found = nbsql.auto(con, "noise", **options)
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    assert next(iter(losses)) == "priors alone"
    assert losses["priors alone"] < min(loss for setting, loss in losses.items() if setting != "priors alone")
    assert [*found.exclude] == ["a", "b"]
    with pytest.warns(nbsql.NbsqlWarning, match="no features"):
        best = found.best()
    assert not best.families
    assert found.held_out.gain == near(0)
    assert found.shrinkage == 0
    kept = nbsql.auto(con, "noise", leave_out=False, **options)
    assert "priors alone" not in [setting for _, setting, *_ in kept.ranking.fetchall()]


WEAK = """
    SELECT y, if(hash(i, 1) % 4 = 0, y = 'yes', hash(i, 2) % 2 = 0)::VARCHAR AS a, hash(i, 3) % 5 AS b, part
    FROM (SELECT i, if(hash(i) % 10 < 3, 'yes', 'no') AS y, i % 6 AS part FROM range(240) AS r(i))
"""


@pytest.mark.slow
def test_posteriors_are_drawn_toward_the_priors_as_far_as_luck_explains_the_gain(con):
    options = {"target": "y", "fold": "part", "methods": ["weighted"]}
    found = nbsql.auto(con, WEAK, **options)
    (_, setting, loss, *_), *others = found.ranking.fetchall()
    priors = nbsql.cross_validate(con, f"SELECT * FROM ({WEAK}) WHERE part < 5", target="y", fold="part", features=[]).log_loss
    assert (setting, found.exclude, found.rows) == ("families chosen", ["b"], 200)
    assert found.shrinkage == near(math.log(1 + len(others)) / (200 * (priors - loss)))
    assert 0.5 < found.shrinkage < 0.95
    assert "\nposteriors are drawn toward the priors by 88%: luck explains as much of the gain over them\n" in repr(found)
    model = found.best(name="weak")
    assert "calibrated by platt" in repr(model)
    prior = dict(row[:3:2] for row in model.priors.fetchall())["yes"]
    plain = model.predict_one({"a": "true"}, calibrated=False)["probabilities"]["yes"]
    kept = math.exp(
        (1 - found.shrinkage) * math.log(plain / (1 - plain)) + found.shrinkage * math.log(prior / (1 - prior))
    )  # fmt: skip
    assert model.predict_one({"a": "true"})["probabilities"]["yes"] == near(kept / (1 + kept))
    con.execute("CREATE TABLE one AS SELECT 'true' AS a")
    assert con.sql("SELECT probability_yes FROM weak.predict_proba('one')").fetchall() == [(near(kept / (1 + kept)),)]
    assert nbsql.auto(con, WEAK, calibrate=False, **options).shrinkage == 0


@pytest.mark.slow
def test_a_model_of_noise_answers_nearly_with_the_priors(con):
    drawn = {name: f"md5_number_lower('{name}' || i)" for name in "wabc"}
    columns = f"{drawn['w']} % 2 AS y, {drawn['a']} % 4 AS a, {drawn['b']} / 1e19 AS b, {drawn['c']} / 1e19 AS c"
    noise = f"SELECT {columns} FROM range(400) AS r(i)"
    found = nbsql.auto(con, noise, target="y", methods=["weighted", "lda"], leave_out=False)
    assert found.shrinkage == 0.95
    model, row = found.best(), {"a": 1, "b": 0.5, "c": 1.5}
    shares = {label: share for label, _, share, _ in model.priors.fetchall()}
    plain, drawn = (model.predict_one(row, calibrated=each)["probabilities"][1] for each in (False, True))
    odds = 0.05 * math.log(plain / (1 - plain)) + 0.95 * math.log(shares[1] / shares[0])
    assert drawn == near(1 / (1 + math.exp(-odds)))


@pytest.mark.nightly
@pytest.mark.slow
def test_a_column_that_repeats_another_may_be_a_parent(con):
    """Naive Bayes is better without `a`, which repeats `c`; but with `b` it tells the class, which only a tree sees."""
    con.execute("""CREATE TABLE parity AS
        SELECT y, 'c' || c AS c, 'a' || (c + (hash(i + 6) % 10 < 1)::INT) % 2 || p AS a,
          'b' || (p + (y AND hash(i + 8) % 20 < 19)::INT) % 2 AS b
        FROM (SELECT i, hash(i) % 2 = 0 AS y, (hash(i) + (hash(i + 5) % 4 < 1)::INT) % 2 AS c, hash(i + 7) % 2 AS p
          FROM range(2000) AS r(i))""")
    method = nbsql.Weighted(penalty=10, parents=1)
    found = nbsql.auto(con, "parity", target="y", methods=[method], calibrate=False)
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    alone = nbsql.auto(con, "parity", target="y", methods=["naive"], calibrate=False)
    assert (found.method, [*found.exclude], [*alone.exclude]) == (method, [], ["a"])
    expected = nbsql.fit(con, "parity", target="y", method=method).evaluate("parity").log_loss
    assert found.best().evaluate("parity").log_loss == near(expected)
    assert max(found.held_out.log_loss, losses[str(method)]) < 0.2 < 0.5 < losses["families chosen"]


@pytest.mark.nightly
def test_where_all_columns_are_left_out_there_is_nothing_to_weigh(con):
    con.execute("""CREATE TABLE t AS
        SELECT CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS y, (i % 7) * 1.0 AS n,
          ['u', 'v', 'w'][i % 4 % 3 + 1] AS c, ['free prize now', 'lunch at noon'][i % 2 + 1] AS x
        FROM range(60) AS r(i)""")
    found = nbsql.auto(con, "t", target="y", methods=["weighted"])
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    assert losses["weighted, families chosen"] == pytest.approx(losses["families chosen"], abs=1e-9)


@pytest.mark.slow
def test_a_method_keeps_texts_as_words(con):
    con.execute(PAIRS)
    options = {"target": "y", "fold": "part"}
    found = nbsql.auto(con, "pairs", methods=["tan"], calibrate=False, leave_out=False, **options)
    rows = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    told = {"told": as_family(next(family for name, family, *_, chosen in found.tried.fetchall() if name == "told" and chosen))}
    assert told["told"].name == "text"
    seen = "FROM pairs WHERE part < 3"
    assert rows["tan"] == near(nbsql.cross_validate(con, seen, method="tan", families=told, **options).log_loss)


@pytest.mark.nightly
def test_weights_of_many_columns_are_not_learnt_unasked(con):
    columns = ", ".join(f"'a' || hash(i + {1000 * number}) % 2 AS c{number}" for number in range(201))
    con.execute(f"CREATE TABLE wide AS SELECT i % 2 = 0 AS y, {columns} FROM range(40) AS r(i)")
    found = nbsql.auto(con, "wide", target="y", folds=2, leave_out=False, budget="0.001 s")
    assert "not tried: weighted: the weights of 201 columns in 2 classes take long; name it in methods" in str(found)
    con.execute(f"CREATE TABLE numbers AS SELECT y, {', '.join(f'hash(c{n}) % 2 + 0.5 AS c{n}' for n in range(21))} FROM wide")
    found = nbsql.auto(con, "numbers", target="y", folds=2, leave_out=False, budget="0.001 s")
    reason = "the pairs of the quantiles of 21 columns take long; name it in methods to try it"
    few = "34 rows are few for the weights of 21 columns that depend on others; name it in methods to try it"
    assert found.refused == {
        "lda": "the covariances of 21 columns take long; name it in methods to try it",
        "kdb(k=2)": few,
        **dict.fromkeys(
            ["tan(bins=10)", "kdb(bins=20, k=2)", "weighted(penalty=10.0, views=True, triples=40, parents=2)"], reason
        ),
    }


@pytest.mark.nightly
@pytest.mark.slow
def test_weights_are_tried_with_the_best_matrix_as_one_more_feature(con):
    """In one class two numbers grow together, in the other one grows as the other falls; the third has no normal density."""
    con.execute("""CREATE TABLE crossed AS
        SELECT y, a, if(y = 'u', 1, -1) * a + hash(i, 2) % 997 / 400.0 AS b, if(y = 'u', 2, 3) * (hash(i, 3) % 7) % 5 AS d
        FROM (SELECT i, if(hash(i) % 5 < 2, 'u', 'v') AS y, hash(i, 1) % 1009 / 500.0 - 1 AS a FROM range(900) AS r(i))""")
    found = nbsql.auto(con, "crossed", target="y")
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    (chosen,) = (setting for _, setting, *_, is_chosen in found.ranking.fetchall() if is_chosen)
    pools = {name.removesuffix(", calibrated") for name in losses if " with qda(" in name}
    assert (chosen.removesuffix(", calibrated") in pools, len(pools)) == (True, 1)
    family = found.families["qda"]
    assert (family.columns, family.shared) == (("a", "b", "d"), False)
    assert {"a", "b", "d", "qda"} <= found.best().families.keys()
    assert found.held_out is not None  # 150 rows, judged by the fit itself; the others were judged by folds
    assert found.held_out.log_loss == pytest.approx(losses[chosen], abs=0.1)


@pytest.mark.nightly
def test_matrices_leave_out_columns_that_do_not_vary_or_follow_from_others(con):
    con.execute("""CREATE TABLE crossed AS
        SELECT i % 3 AS part, y, a, if(y = 'u', 1, -1) * a + hash(i, 2) % 997 / 900.0 AS b, 7.5 AS same, 3 - 2 * a AS follows
        FROM (SELECT i, if(hash(i) % 5 < 2, 'u', 'v') AS y, hash(i, 1) % 1009 / 500.0 - 1 AS a FROM range(140) AS r(i))""")
    options = {"target": "y", "fold": "part", "calibrate": False}
    found = nbsql.auto(con, "crossed", **options)
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    qda, out = "qda(shrinkage=0.05, toward=pooled)", " without 'same', 'follows'"
    assert not {"lda", qda} & {*losses, *found.refused}
    assert f"lda{out}" in {*losses, *found.refused}
    alone = nbsql.auto(
        con, "FROM crossed", methods=["naive", nbsql.QDA(0.05, "pooled")], exclude=["same", "follows"], **options
    )
    assert losses[qda + out] == near({setting: loss for _, setting, loss, *_ in alone.ranking.fetchall()}[qda])
    assert (found.method, found.exclude) == (nbsql.QDA(0.05, "pooled"), ["same", "follows"])
    assert found.reasons == {
        "same": "'same' does not vary within the classes",
        "follows": "'a', 'follows' are collinear within the classes",
    }
    assert found.best().families["qda"].columns == ("a", "b")
    with pytest.raises(nbsql.InputError, match="so the covariance matrix of 'lda' has no inverse"):
        nbsql.auto(con, "crossed", methods=["lda"], **options)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_text_alone_is_tried_with_its_two_views(con):
    """By the counts of the other folds, as weights are (see below), and not by models of all folds."""
    con.execute(
        """CREATE TABLE mail AS SELECT i % 5 AS part, i % 3 = 0 AS y, concat_ws(' ', 'the', 'a', 'of w' || hash(i) % 5,
            CASE WHEN hash(i + 7) % 10 < 7 THEN if(i % 3 = 0, 'prize prize now', 'lunch on friday') END) AS body
        FROM range(400) AS r(i)"""
    )
    options = {"target": "y", "fold": "part", "families": {"body": nbsql.Text()}}
    found = nbsql.auto(con, "mail", methods=["weighted"], leave_out=False, calibrate=False, **options)
    rows = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    exact = nbsql.cross_validate(con, "FROM mail WHERE part < 4", method="weighted", **options)
    assert rows["weighted"] == pytest.approx(exact.log_loss, abs=0.01)


@pytest.mark.nightly
@pytest.mark.slow
def test_weights_are_those_of_the_other_folds(con):
    con.execute(
        """CREATE TABLE doubled AS SELECT y, 'a' || a AS a, 'a' || a AS again, x, x AS x_again, i % 3 AS part
        FROM (SELECT i, hash(i) % 3 = 0 AS y, CASE WHEN hash(i + 1000) % 10 < 6 THEN y::INT ELSE hash(i + 2000) % 3 END AS a,
          y::INT + hash(i + 3000) % 1000 / 400.0 AS x FROM range(900) AS r(i))"""
    )
    options = {"target": "y", "fold": "part"}
    of_classes = nbsql.Weighted(per="class and feature")
    found = nbsql.auto(con, "doubled", methods=["weighted", of_classes], leave_out=False, calibrate=False, **options)
    rows = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    families = dict.fromkeys(["x", "x_again"], nbsql.Binned(by="mdl and quantile"))
    for method, name, error in ((nbsql.Weighted(), "weighted", 0.01), (of_classes, str(of_classes), 1e-9)):
        exact = nbsql.cross_validate(con, "FROM doubled WHERE part < 2", method=method, families=families, **options)
        assert rows[name] == pytest.approx(exact.log_loss, abs=error)
    assert rows["default"] > rows["weighted"] + 0.05  # what every column says counts twice there
    assert found.method.name == "weighted"
    assert found.best().families.keys() == {"a", "again", "x", "x_again"}


@pytest.mark.nightly
def test_a_tree_with_weights_is_that_of_the_other_folds(con):
    """The tree of a fold is found without it, and its weights are those that minimise the loss of the rows of the others."""
    con.execute(
        """CREATE TABLE doubled AS SELECT i, y, 'a' || a AS a, 'a' || a AS again, 'b' || b AS b, x, i % 4 AS part
        FROM (SELECT i, hash(i) % 3 = 0 AS y, CASE WHEN hash(i + 1000) % 10 < 6 THEN y::INT ELSE hash(i + 2000) % 3 END AS a,
          (a + y::INT + (hash(i + 4000) % 10 = 0)::INT) % 2 AS b, y::INT + hash(i + 3000) % 1000 / 400.0 AS x
          FROM range(800) AS r(i))"""
    )
    options = {"target": "y", "fold": "part", "exclude": ["i"]}
    methods = [nbsql.TAN(bins=5), nbsql.TAN(bins=5, weighted=True)]
    found = nbsql.auto(con, "doubled", methods=methods, leave_out=False, calibrate=False, **options)
    rows = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    evidence = []  # of each row: its fold, its class, and what each feature says for it
    for part in range(3):
        others = f"FROM doubled WHERE part NOT IN (3, {part})"
        model = nbsql.fit(con, others, target="y", exclude=["part"], id="i", method=methods[0])
        explained = model.explain(f"FROM doubled WHERE part = {part}").arrow()
        evidence += con.execute("""SELECT any_value(part), any_value(y), list(gain ORDER BY feature)
            FROM (SELECT i, feature, sum(if(class, contribution, -contribution)) AS gain
              FROM explained WHERE feature IS NOT NULL GROUP BY ALL) JOIN doubled USING (i) GROUP BY i""").fetchall()
        assert explained is not None
    folds, truth, x = (np.array(column) for column in zip(*evidence, strict=True))
    sign = np.where(truth, 1.0, -1.0)

    def loss(v):  # v: the bias, the common weight, and the distance of each feature from it
        return np.logaddexp(0.0, -sign * (v[0] + x @ (v[1] + v[2:])))

    def held_out(penalty):
        total = 0.0
        for part in range(3):
            seen, growth = folds != part, len(folds) / (folds != part).sum()
            best = minimize(lambda v, seen=seen, growth=growth: growth * loss(v)[seen].sum() + growth * penalty * v[1:] @ v[1:],
                            np.zeros(2 + x.shape[1]), tol=1e-9)  # fmt: skip
            total += loss(best.x)[~seen].sum()
        return total / len(folds)

    assert rows["tan(bins=5)"] == near(
        nbsql.cross_validate(con, "FROM doubled WHERE part < 3", method=methods[0], **options).log_loss
    )
    assert rows[str(methods[1])] == pytest.approx(min(map(held_out, (1.0, 10.0, 100.0))), abs=2e-3)
    assert found.best().families.keys() >= {"a", "again", "b", "x"}


@pytest.mark.slow
def test_the_best_model_is_a_fit_of_what_was_chosen(table):
    without = ["part", "weight", "k", "noise"]
    found = nbsql.auto(table, "t", target="y", exclude=without, methods=["naive"], calibrate=False)
    assert found.families
    assert found.exclude
    assert found.reasons.keys() == {*found.families, *found.exclude}
    assert found.reasons["c_again" if "c_again" in found.exclude else "c"].startswith("tells what other columns tell: gains ")
    model = found.best(name="m")
    fit = nbsql.fit(table, "t", target="y", families=found.families, exclude=[*without, *found.exclude])
    assert model.families == fit.families
    assert model.evaluate("t").log_loss == near(fit.evaluate("t").log_loss)
    assert nbsql.load(table, "m").families == fit.families


@pytest.mark.slow
def test_the_reasons_of_chosen_families_stand_beside_weights_of_them(con):
    con.execute("""CREATE TABLE t AS
        SELECT y, i % 2 AS part, c, 'b' || hash(c, 11) % 3 || hash(i, 14) % 2 AS b, 'a' || hash(i, 7) % 60 AS noise
        FROM (SELECT i, y, 'k' || (if(y = 'u', 0, 2) + hash(i, 1, 2) % 4) AS c
            FROM (SELECT i, if(hash(i, 2) % 10 < 4, 'u', 'v') AS y FROM range(400) AS t(i)))""")
    found = nbsql.auto(con, "t", target="y", methods=["weighted"], fold="part", calibrate=False)
    assert [setting for _, setting, *_, is_chosen in found.ranking.fetchall() if is_chosen] == ["weighted, families chosen"]
    assert found.method == nbsql.Weighted()
    assert found.reasons.keys() == {*found.families, *found.exclude} >= {"c"}
    assert found.reasons["c"].startswith("gains 0.0")
    shown = [line.split() for line in str(found).splitlines() if line.startswith("c ")]
    assert [words[1:3] for words in shown] == [["categorical(alpha=0.1)", "gains"]]


@pytest.mark.slow
def test_rows_of_weight_0_are_not_predicted(table):
    found = nbsql.auto(table, "SELECT y, k, part, weight - 1 AS weight FROM t", target="y", weight="weight", fold="part")
    assert found.rows == 300
    assert found.held_out is None  # two folds have rows that count, and the choice needs both
    assert "300 rows predicted by models that have not seen them" in repr(found)


@pytest.mark.slow
def test_the_same_rows_are_always_chosen_alike(table):
    options = {"features": ["x", "c"], "budget": 300, "methods": ["naive"], "calibrate": False}
    first, second = (nbsql.auto(table, "t", target="y", **options) for _ in range(2))
    assert first.tried.fetchall() == [tuple(map(_near, row)) for row in second.tried.fetchall()]
    assert 200 < first.rows < 400
    assert "chosen on a sample of the rows" in repr(first)


@pytest.mark.parametrize(("every", "least", "most"), [(5, 7_500, 9_200), (30, 23_500, 26_500), (10**9, 29_000, 30_000)])
def test_a_rare_class_takes_more_rows(con, every, least, most):
    """Five sixths of 10,000 rows or, so that 1,000 of them are not of the most frequent class, of 30,000."""
    rows = f"SELECT i % {every} = 0 AS y, i AS x FROM range(36000) AS r(i)"
    options = {"methods": ["naive"], "calibrate": False, "leave_out": False, "families": {"x": "gaussian"}}
    kept_aside = pytest.warns(nbsql.NbsqlWarning, match="one class only in the folds") if every == 10**9 else nullcontext()
    with kept_aside:  # the only row of its class
        found = nbsql.auto(con, rows, target="y", **options)
    assert least < found.rows <= most
    assert found.is_sample == (every < 10**9)


def _near(value):
    return near(value) if isinstance(value, float) else value


@pytest.mark.nightly
def test_a_temperature_has_to_earn_its_place(con):
    """Five copies of a column are overconfident, and one is not."""
    con.execute("""
        CREATE TABLE copies AS
        SELECT i % 2 = 0 AS y, (i % 2) * 1.0 + u AS a, a AS b, a AS c, a AS d, a AS e
        FROM (SELECT i, 2.4 * ((hash(i) % 9973) / 9973 + (hash(i, 1) % 9973) / 9973 - 1) AS u FROM range(800) AS r(i))
    """)
    copies = nbsql.auto(con, "copies", target="y", leave_out=False, families=dict.fromkeys("abcde", "gaussian"))
    assert copies.calibrated
    assert copies.ranking.fetchall()[0][1] == "default, calibrated"
    model = copies.best()
    assert model.evaluate("copies").log_loss < 0.8 * model.evaluate("copies", calibrated=False).log_loss
    alone = nbsql.auto(con, "SELECT y, a FROM copies", target="y", families={"a": "gaussian"})
    assert not alone.calibrated
    assert (alone.families, alone.exclude) == ({}, [])


@pytest.mark.nightly
def test_minus_infinity_is_a_missing_number_and_no_reason_to_refuse_the_table(con):
    numbers = "if(i % 9 = 0, '-inf'::DOUBLE, 0.5 + hash(i) % 100 / 7 + i % 2 * 5)"
    con.execute(f"CREATE TABLE endless AS SELECT i % 2 = 0 AS y, {numbers} AS a FROM range(60) AS r(i)")
    options = {"target": "y", "methods": ["naive"], "folds": 2}
    tried = {family for _, family, *_ in nbsql.auto(con, "endless", **options).tried.fetchall()}
    assert not {"lognormal", "gamma", "exponential"} & tried
    missing = "SELECT y, nullif(a, '-inf'::DOUBLE) AS a FROM endless"
    assert {"lognormal", "gamma", "exponential"} <= {
        family for _, family, *_ in nbsql.auto(con, missing, **options).tried.fetchall()
    }


def test_few_rows_choose_no_method(con):
    """The class counts of the other folds would tell the class of a row, which weights of noise would learn."""
    noise = "SELECT hash(i, 9) % 2 = 0 AS y, hash(i) % 1000 / 7 AS a, hash(i, 1) % 3 AS b FROM range({}, {}) AS r(i)"
    found = nbsql.auto(con, noise.format(0, 8), target="y")
    assert (found.method, found.refused["aode"]) == (
        "naive",
        "8 rows are few to tell methods apart; name it in methods to try it",
    )
    with pytest.warns(nbsql.NbsqlWarning, match="no features"):
        model = found.best()
    assert model.evaluate(noise.format(100, 200)).log_loss < 0.8


def test_few_rows_without_a_fault_call_for_no_temperature(con):
    con.execute("CREATE TABLE apart AS SELECT i % 2 = 0 AS y, (i % 2) * 5 + i % 5 * 0.8 AS x FROM range(60) AS r(i)")
    found = nbsql.auto(con, "apart", target="y", methods=["naive"], families={"x": "gaussian"}, leave_out=False)
    losses = {setting: loss for _, setting, loss, *_ in found.ranking.fetchall()}
    gain = losses["default"] - losses["default, calibrated"]
    assert 0 < gain < math.log(found.rows) / (2 * found.rows)
    assert not found.calibrated


def test_a_method_that_cannot_differ_from_the_others_is_not_tried():
    from nbsql.tuning.methods import can_differ, reason_not_tried

    assert [can_differ(nbsql.LDA(), 4, numbers) for numbers in (1, 2)] == [False, True]
    assert [can_differ(nbsql.QDA(shrinkage=0.2), 4, numbers) for numbers in (2, 3)] == [False, True]
    assert [can_differ(nbsql.AODE(bins=10), 4, numbers) for numbers in (0, 1)] == [False, True]
    assert can_differ(nbsql.AODE(bins=10), 4, 0, 1)  # bins by the class need not tell a 0 from a 1
    assert can_differ(nbsql.AODE(), 4, 0)
    tree = nbsql.KDB(2)
    reason = "the weights of {} columns in 2 classes take long; name it in methods to try it"
    assert [reason_not_tried(nbsql.Weighted(), each, 2, 1_005) for each in (150, 151)] == [None, reason.format(151)]
    assert [reason_not_tried(tree, each, 2, 1_005) for each in (200, 201)] == [None, reason.format(201)]
    reason = "104 rows are few for the weights of 21 columns that depend on others; name it in methods to try it"
    assert [reason_not_tried(tree, 21, 2, rows) for rows in (104, 105)] == [reason, None]
    assert reason_not_tried(tree, 20, 2, 30) is None
    pool, reason = nbsql.Weighted(parents=2), "the pairs of the quantiles of 21 columns take long; name it in methods to try it"
    assert [reason_not_tried(pool, 60, 2, 1_005, numbers) for numbers in (20, 21)] == [None, reason]
    reason = "104 rows are few for the weights of 21 columns that depend on others; name it in methods to try it"
    assert reason_not_tried(pool, 21, 2, 104) == reason
    reason = "24 rows are few to tell methods apart; name it in methods to try it"
    assert [reason_not_tried(nbsql.AODE(), 3, 2, rows) for rows in (24, 25)] == [reason, None]
    reason = "the pairs of 101 columns take long; name it in methods to try it"
    assert [reason_not_tried(nbsql.AODE(), each, 2, 1_005) for each in (100, 101)] == [None, reason]


@pytest.mark.nightly
@pytest.mark.look
def test_flags_that_count_only_together_are_found(con):
    con.execute(
        """CREATE TABLE flags AS SELECT p = q AS y, p, q
        FROM (SELECT hash(i) % 2 AS p, hash(i + 7) % 2 AS q FROM range(400) AS t(i))"""
    )
    found = nbsql.auto(con, "flags", target="y", folds=2)
    assert found.method == nbsql.TAN(bins=10)
    assert found.best().evaluate("flags").accuracy == 1


@pytest.mark.nightly
@pytest.mark.slow
def test_few_values_of_a_number_are_categories_of_a_tree_where_the_search_says_so(con):
    """Odd numbers are of one class, which neither bins nor a density tell, and every fold knows from the search."""
    con.execute("""CREATE TABLE odd AS SELECT y, x, hash(i, 2) % 1000 / 10.0 AS noise FROM (
        SELECT i, hash(i) % 60 AS x, (hash(i, 1) % 10 = 0) = (hash(i) % 2 = 0) AS y FROM range(1200) AS r(i))""")
    methods = [nbsql.KDB(1)]
    found = nbsql.auto(con, "odd", target="y", methods=methods, families={"noise": "gaussian"})
    losses = {row[1]: row[2] for row in found.ranking.fetchall()}
    assert losses["kdb(k=1)"] < 0.5 < losses["default"]
    model = found.best()
    assert model.families["x"].name == "categorical"


@pytest.mark.nightly
@pytest.mark.slow
def test_weights_of_bins_come_before_those_of_chosen_families(table):
    options = {"target": "y", "features": ["x", "k", "c"], "infer": "types"}
    found = nbsql.auto(table, "t", methods=["weighted"], calibrate=False, **options)
    assert {row[1] for row in found.ranking.fetchall()} == {
        "default", "weighted", "families chosen", "weighted, families chosen"
    }  # fmt: skip


@pytest.mark.slow
def test_numbers_that_are_normal_stay_so(con):
    con.execute("""
        CREATE TABLE normal AS SELECT i % 2 = 0 AS y, i % 2 + quantile AS x
        FROM (SELECT i, sum((hash(i, j) % 9973) / 9973 - 0.5) AS quantile FROM range(500) AS r(i), range(12) AS s(j) GROUP BY i)
    """)
    found = nbsql.auto(con, "normal", target="y")
    assert (found.families, found.exclude, found.calibrated) == ({}, [], False)
    ranking = found.ranking.fetchall()
    assert (ranking[0][1], ranking[0][-1]) == ("default", True)  # the chosen one comes first
    assert [row[0] for row in sorted(ranking, key=lambda row: row[2])] == [1, 2, 3, 4]  # and its rank is that of its log loss
    assert "another setting is chosen over naive Bayes if it gains more than one standard error" in str(found)
    assert "the choice has seen the rows of the figures below, so that those of the best are too good" in str(found)


@pytest.mark.nightly
def test_a_method_that_the_rows_do_not_allow_is_left_out_or_refused_if_it_was_named(table, layout):
    layout(value_pairs=1)
    options = {"target": "y", "features": ["x", "c", "c_again"], "folds": 2, "calibrate": False}
    found = nbsql.auto(table, "t", **options)
    assert found.refused.keys() == {"aode"}
    assert re.search("not tried: aode: method='aode' would count [0-9]+ pairs of values, and takes 1; leave", str(found))
    names = {row[1] for row in found.ranking.fetchall()}
    assert {"default", "families chosen", "weighted", "tan(bins=10)", "kdb(k=2)"} <= names
    assert not any(name.startswith("aode") for name in names)
    with pytest.raises(nbsql.InputError, match="method='aode' would count"):
        nbsql.auto(table, "t", methods=["aode"], **options)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_method_far_behind_in_the_first_fold_is_fitted_to_the_others_only_if_it_is_named(con):
    con.execute(
        """CREATE TABLE far AS -- quantiles of x say little, and bins that the classes cut nearly all
        SELECT x, hash(i, 2) % 50 AS n, if(hash(i, 3) % 10 = 0, 1, floor(26 * x) % 2) AS y, hash(i, 4) % (3 + y::INT) AS a
        FROM (SELECT i, hash(i, 1) % 100000 / 100000 AS x FROM range(4000) AS r(i))"""
    )
    found = nbsql.auto(con, "far", target="y")
    quadratic = {f"qda(shrinkage={words})" for words in ("0.2", "0.2, toward=pooled", "0.05, toward=pooled")}
    assert found.refused.keys() == {"lda", *quadratic, "tan(bins=10)", "kdb(bins=20, k=2)"}
    behind, error, best = re.fullmatch(
        r"in the first fold its log loss is ([.0-9]+) ± ([.0-9]+) behind (.*); name it in methods to try it in all",
        found.refused["lda"],
    ).groups()
    assert float(behind) > 3 * float(error)
    losses = {row[1]: row[2] for row in found.ranking.fetchall()}
    named = {row[1]: row[2] for row in nbsql.auto(con, "far", target="y", methods=["naive", "lda"]).ranking.fetchall()}
    assert losses["default"] == near(named["default"])
    assert abs(min(named["lda"], named["lda, calibrated"]) - losses[best] - float(behind)) < 3 * float(error)


@pytest.mark.slow
@pytest.mark.look
def test_a_fit_chooses_for_all_or_for_some(table):
    options = {"target": "y", "features": ["x", "k", "noise"]}
    every = nbsql.fit(table, "t", families="auto", **options)
    found = nbsql.auto(table, "t", leave_out=False, calibrate=False, methods=["naive"], **options)
    assert every.families["x"] == found.best().families["x"]  # the fit keeps no row aside, which may change others
    assert every.families["x"].name in ("lognormal", "binned")  # by more than two standard errors
    some = nbsql.fit(table, "t", families={"x": "auto", "k": "poisson"}, **options)
    assert (some.families["x"].name, some.families["k"].name) == (every.families["x"].name, "poisson")
    assert some.families["noise"].name == "beta"  # as a look at its values suggests


def _noise(con, columns, signal="0"):
    numbers = ", ".join(f"(hash(i, {j}) % 99991) / 99991.0 + {signal} AS x{j}" for j in range(1, columns + 1))
    con.execute(f"CREATE TABLE noise AS SELECT hash(i, 0) % 2 = 0 AS y, {numbers} FROM range(600) AS r(i)")


@pytest.mark.nightly
def test_the_figure_of_a_choice_is_of_rows_that_neither_it_nor_the_fit_has_seen(con):
    """Of 25 columns of noise, the best families look better than the priors on the rows that chose them, and are not."""
    _noise(con, 25)
    found = nbsql.auto(con, "noise", target="y", methods=["naive"])
    seen = min(loss for _, _, loss, *_ in found.ranking.fetchall())
    held_out = found.held_out
    assert (found.rows, held_out.rows) == (500, 100)
    assert seen < math.log(2) - 0.003
    assert held_out.gain <= 2 * held_out.standard_error
    assert "that neither the fit nor the choice has seen" in str(found)
    assert "that of the priors: no better than chance" in str(found)
    plain = nbsql.auto(con, "noise", target="y", methods=["naive"], calibrate=False)
    assert plain.exclude
    assert all(plain.reasons[name].startswith("tells nothing of the class: gains ") for name in plain.exclude)


@pytest.mark.slow
def test_a_choice_that_the_priors_beat_on_rows_kept_aside_is_drawn_to_them(con):
    rows = "SELECT if((i * 7) % 6 < 5, i % 2, (i + 1) % 2) AS y, i % 2 AS x, (i * 7) % 6 AS part FROM range(240) AS r(i)"
    options = {"target": "y", "fold": "part", "methods": ["naive"], "leave_out": False}
    found = nbsql.auto(con, rows, **options)
    assert found.held_out.gain < -1  # x says the contrary in the last part, which is kept aside
    assert found.shrinkage == 0.95
    assert "\nposteriors are drawn toward the priors by 95%: alone, these predict the rows kept aside better\n" in repr(found)
    assert nbsql.auto(con, rows, calibrate=False, **options).shrinkage == 0


@pytest.mark.nightly
def test_the_figure_of_a_choice_shows_a_signal(con):
    _noise(con, 4, "(hash(i, 0) % 2 = 0)::INT")
    found = nbsql.auto(con, "noise", target="y", methods=["naive"])
    held_out = found.held_out
    assert held_out.is_sure
    assert held_out.gain == near(held_out.log_loss_of_priors - held_out.log_loss)
    assert "no better than chance" not in str(found)
    assert nbsql.auto(con, "SELECT * FROM noise LIMIT 29", target="y", methods=["naive"]).held_out is None


@pytest.mark.slow
def test_a_fold_of_the_user_is_kept_aside(table):
    options = {"target": "y", "features": ["x", "c"]}
    found = nbsql.auto(table, "t", fold="part", methods=["naive"], calibrate=False, **options)
    model = nbsql.fit(table, SEEN, **_with(options, found))
    judged = model.evaluate("SELECT * FROM t WHERE part = 3")
    assert (found.held_out.rows, found.held_out.log_loss) == (judged.rows, near(judged.log_loss))
    assert found.held_out.log_loss_of_priors == near(judged.log_loss_of_priors)


@pytest.mark.slow
def test_a_budget_of_seconds_that_runs_out_says_what_was_not_tried(table):
    trees = ["method tan(bins=10)", "method kdb(k=2)", "method kdb(bins=20, k=2)"]
    found = nbsql.auto(table, "t", target="y", features=["x", "k", "c"], budget="0.001 s", infer="types")
    quadratic = [f"method qda(shrinkage={words})" for words in ("0.2", "0.2, toward=pooled", "0.05, toward=pooled")]
    others = ["method weighted", "method lda", *quadratic, "method aode"]
    assert found.not_tried == [
        "further families of 'x', 'k', 'c'",
        *others,
        *trees,
        "method weighted(penalty=10.0, views=True, triples=40, parents=2)",
    ]
    assert f"the budget ran out; not tried: {'; '.join(found.not_tried)}" in str(found)
    assert {family for _, family, *_ in found.tried.fetchall()} == {"gaussian", "categorical", "left out"}
    assert found.best().families.keys() == {"x", "k", "c"}
    options = {"features": ["x", "k", "c"], "methods": ["naive", "tan"]}
    whole = nbsql.auto(table, "t", target="y", budget="10 min", **options)
    assert whole.not_tried == []
    at_once = nbsql.auto(table, "t", target="y", **options)
    assert [_rounded(row) for row in whole.tried.fetchall()] == [_rounded(row) for row in at_once.tried.fetchall()]


def _rounded(row):
    return tuple(round(value, 8) + 0.0 if isinstance(value, float) else value for value in row)


@pytest.mark.slow
def test_texts_of_words_and_missing_values_are_tried(con):
    words = "CASE WHEN i % 2 = 0 THEN 'lunch monday' ELSE 'offer free' END || ' number ' || i"
    gap = "CASE WHEN i % 2 = 0 THEN i % 3 END"
    con.execute(f"CREATE TABLE mail AS SELECT i % 2 = 0 AS y, {words} AS body, {gap} AS gap FROM range(300) AS r(i)")
    found = nbsql.auto(con, "mail", target="y", calibrate=False)
    tried = {row[:2] for row in found.tried.fetchall()}
    assert {("body", "text"), ("body", "text(event=bernoulli)"), ("gap", "categorical(nulls=category)")} <= tried
    assert found.families["body"].name == "text"


@pytest.mark.slow
def test_what_it_does_not_take(table, refused):
    budget = "budget must be a whole number of rows of at least 1, seconds such as '30 s', 'auto', or None for all rows"
    with refused(nbsql.InputError, "auto takes folds, a whole number of at least 2, and no 'loo'"):
        nbsql.auto(table, "t", target="y", folds="loo")
    with refused(nbsql.InputError, f"{budget}, not 0"):
        nbsql.auto(table, "t", target="y", budget=0)
    with refused(nbsql.InputError, f"{budget}, not '30 rows'"):
        nbsql.auto(table, "t", target="y", budget="30 rows")
    with refused(nbsql.InputError, "auto does not take features=nbsql.Best(...); name the features, or none"):
        nbsql.fit(table, "t", target="y", families="auto", features=nbsql.Best(2))
    with refused(nbsql.InputError, "auto does not take features=nbsql.Best(...); name the features, or none"):
        nbsql.auto(table, "t", target="y", features=nbsql.Best(2))
    with refused(nbsql.InputError, "auto chooses families of method='naive', not of 'joint'"):
        nbsql.fit(table, "t", target="y", families="auto", method="joint")
    with refused(nbsql.InputError, "methods must be a list of methods, such as ['naive', 'tan'], not 'tan'"):
        nbsql.auto(table, "t", target="y", methods="tan")
    with refused(nbsql.InputError, "no method 'tam'; did you mean 'tan'?"):
        nbsql.auto(table, "t", target="y", methods=["tam"])
    with refused(nbsql.InputError, "auto takes at most 40 classes, and the query has more"):
        nbsql.auto(table, "SELECT CAST(60 * noise AS INTEGER) AS y, x FROM t", target="y")
    with refused(
        nbsql.InputError,
        "no column 'zz' in t; its columns are 'y', 'x', 'k', 'c', 'c_again', 'rain', 'noise', 'part' and 1 more",
    ):
        nbsql.fit(table, "t", target="y", families={"zz": "auto"})
    complement = {"body": nbsql.Text(event="complement")}
    with refused(
        nbsql.InputError,
        "auto does not take 'body', which is a complement: whether the prior counts depends on the other features",
    ):
        nbsql.auto(table, "SELECT y, c AS body, x FROM t", target="y", families=complement)
    assert math.isfinite(nbsql.fit(table, "t", target="y").evaluate("t").log_loss)  # and the transaction is whole
