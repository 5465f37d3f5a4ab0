"""`method="weighted"`: weights of features by Newton's method, in place of nothing else in the model."""

import subprocess
import sys
import warnings

import duckdb
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import nbsql
from nbsql.engines.connect import opened
from nbsql.errors import InputError, ModelError
from nbsql.learning.evidence import EvidenceFolds
from nbsql.learning.prepare import with_useful_views
from nbsql.spec.options import Options
from nbsql.spec.resolve import resolve

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

ROWS = """CREATE OR REPLACE TABLE t AS
SELECT
  i AS id, chance % 3 = 0 AS b, 'v' || kind AS k, (hash(i + 9) % 1000) / 100.0 + kind AS x, 1 + kind + chance % 7 AS pos,
  (0.5 + hash(i + 911) % 1000) / 1001.0 AS part, (hash(i + 17) % 5 + kind)::INT AS n, (hash(i + 13) % 3)::INT AS c1,
  (hash(i + 14) % 3)::INT AS c2, CASE WHEN hash(i + 5) % 7 > 0 THEN 'w' || kind // 2 END AS gap,
  'w' || hash(i + 22) % 9 || ' z' || kind || ' w' || hash(i + 23) % 9 AS words, DATE '2024-01-01' + (chance % 400)::INT AS day,
  ['a' || hash(i) % 5, 'b' || kind] AS tokens,
  CASE WHEN kind + hash(i + 99) % 5 > 4 THEN 'yes' ELSE 'no' END AS y, 'c' || (kind + hash(i + 99) % 5) // 3 AS of_three
FROM (SELECT i, hash(i) AS chance, hash(i + 7) % 4 AS kind FROM range(600) AS r(i)) AS drawn"""
FAMILIES = {
    "k": nbsql.Categorical(nulls="category", unseen="smooth"),
    "x": "gaussian",
    "pos": nbsql.Gamma(),
    "part": nbsql.Beta(),
    "n": "poisson",
    "counts": nbsql.Multinomial(["c1", "c2"]),
    "gap": nbsql.Conditional("k"),
    "words": nbsql.Text(event="bernoulli"),
    "tokens": nbsql.Tokens(),
    "id": nbsql.Kernel(),
}


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        yield con


def weights_of(model, con):
    rows = con.execute(f"SELECT class, feature, weight FROM {model.name}.weights").fetchall()
    return {(label, feature): weight for label, feature, weight in rows}


def shown(model, capsys):
    capsys.readouterr()
    model.show()
    return str(capsys.readouterr().out)


def rows_with_folds(con, model, target, table):
    """The columns of the rows with the fold of each, nbsql_slice, as a frame."""
    state = model.state
    source = state.engine.source(table)
    columns = state.spec.columns
    arguments = (columns, target, "VARCHAR", 5, None, "class", source.kinds)
    return con.execute(str(state.engine.renderer.fragment("rows_with_folds", source.relation, *arguments))).df()


def evidence(con, model, target, table="t"):
    """ln p(x_f | c) by counts of the other folds, in Python (rows, features, classes), each row's class, and the classes.

    The folds are those of cross-validation; categories are smoothed by 1, and numbers have a normal density.
    """
    frame = rows_with_folds(con, model, target, table)
    columns = [target, *(feature.column for feature in model.state.spec.features)]
    labels = sorted(frame[target].unique())
    found = np.zeros((len(frame), len(columns) - 1, len(labels)))
    for fold, rows in frame.groupby("nbsql_slice"):
        others = frame[frame["nbsql_slice"] != fold]
        for j, column in enumerate(columns[1:]):
            values = others[column].nunique()
            for k, label in enumerate(labels):
                known = others[others[target] == label][column].dropna()
                if column == "x":
                    variance = known.var(ddof=0)
                    terms = -0.5 * np.log(2 * np.pi * variance) - (rows[column] - known.mean()) ** 2 / (2 * variance)
                else:
                    counts = known.value_counts()
                    terms = rows[column].map(lambda v: np.log((counts.get(v, 0) + 1) / (len(known) + values)))  # noqa: B023
                found[rows.index, j, k] = terms.where(rows[column].isin(others[column].dropna()) | (column == "x"), 0.0)
    return found, frame[target].map(labels.index).to_numpy(), labels


@pytest.mark.few
@pytest.mark.parametrize("penalty", [2.0, 0.0])
def test_weights_are_those_of_logistic_regression(con, penalty):
    """With the sum of the features as one more, so that the penalty is on what a weight differs from the common one."""
    options = {"target": "y", "features": ["b", "k", "x", "gap"], "families": {"x": "gaussian"}}
    model = nbsql.fit(con, "t", name="w", method=nbsql.Weighted(penalty=penalty), replace=True, **options)
    terms, y, labels = evidence(con, model, "y")
    x = terms[:, :, 1] - terms[:, :, 0]
    columns = np.column_stack([x.sum(axis=1), x]) if penalty else x
    c = 1 / (2 * penalty) if penalty else np.inf
    fitted = LogisticRegression(C=c, tol=1e-14, solver="newton-cholesky", max_iter=1000).fit(columns, y)
    expected = fitted.coef_[0][0] + fitted.coef_[0][1:] if penalty else fitted.coef_[0]
    weights = weights_of(model, con)
    found = [[weights[label, feature.name] for feature in model.state.spec.features] for label in labels]
    assert found[0] == pytest.approx(expected, abs=1e-9)
    assert found[1] == found[0]
    bias = fitted.intercept_[0] - np.log(y.sum() / (1 - y).sum())
    assert weights["yes", None] - weights["no", None] == pytest.approx(bias, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("told", "penalty"), [(1, 10.0), (4, 1.0)])
def test_the_penalty_is_chosen_by_folds(con, told, penalty, capsys):
    """The loss of each fold is by the weights of the others, here by scikit-learn. Six columns say the class of some rows."""
    columns = ", ".join(
        f"CASE WHEN hash(id + 70 + {i}) % 10 < {told} THEN y ELSE 'n' || hash(id + 30 + {i}) % 9 END AS n{i}" for i in range(6)
    )
    con.execute(f"CREATE OR REPLACE TABLE chosen AS SELECT y, {columns} FROM t WHERE id < 80")
    model = nbsql.fit(con, "chosen", target="y", method="weighted", name="w", replace=True)
    terms, y, labels = evidence(con, model, "y", "chosen")
    x = terms[:, :, 1] - terms[:, :, 0]
    x = np.column_stack([x.sum(axis=1), x])
    folds = PredefinedSplit(rows_with_folds(con, model, "y", "chosen")["nbsql_slice"].astype(int))
    losses = {}
    for tried in (1.0, 10.0, 100.0):
        regression = LogisticRegression(C=1 / (2 * tried), tol=1e-12, solver="newton-cholesky", max_iter=1000)
        held_out = cross_val_predict(regression, x, y, cv=folds, method="predict_proba")
        losses[tried] = log_loss(y, held_out)
    assert min(losses, key=losses.__getitem__) == penalty
    assert model.state.spec.weighted == nbsql.Weighted(penalty=penalty)
    assert f"a weight per feature, penalty {penalty:g}" in shown(model, capsys)
    fitted = LogisticRegression(C=1 / (2 * penalty), tol=1e-14, solver="newton-cholesky", max_iter=1000).fit(x, y)
    weights = weights_of(model, con)
    found = [weights[labels[0], feature.name] for feature in model.state.spec.features]
    assert found == pytest.approx(fitted.coef_[0][0] + fitted.coef_[0][1:], abs=1e-9)


@pytest.mark.few
@pytest.mark.parametrize("per", ["feature", "class and feature"])
def test_weights_of_three_classes_minimise_the_objective(con, per):
    """Its gradient by each bias and each weight is 0, from counts in Python; unpenalised directions alone need no penalty."""
    features = ["b", "k", "gap"]
    method = nbsql.Weighted(per=per, penalty=0 if per == "feature" else 0.5)
    model = nbsql.fit(con, "t", target="of_three", features=features, method=method, name="w", replace=True)
    terms, y, labels = evidence(con, model, "of_three")
    priors = np.bincount(y) / len(y)
    weights = weights_of(model, con)
    w = np.array([[weights[label, feature.name] for label in labels] for feature in model.state.spec.features])
    if per == "class and feature":
        terms -= np.log((priors * np.exp(terms)).sum(axis=2))[:, :, None]  # the priors of the other folds differ hardly
    scores = np.log(priors) + [weights[label, None] for label in labels] + (w[None] * terms).sum(axis=1)
    posteriors = np.exp(scores - scores.max(axis=1, keepdims=True))
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    residuals = posteriors - np.eye(3)[y]
    assert residuals.sum(axis=0) == pytest.approx(0, abs=1e-7 if per == "feature" else 1e-2)
    if per == "feature":
        assert (residuals[:, None] * terms).sum(axis=(0, 2)) == pytest.approx(0, abs=1e-7)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("are_alike", [False, True])
def test_many_classes_share_one_weight_of_the_prior(con, are_alike):
    """The gradient by it and by each weight is 0, from counts in Python; of classes that are alike no prior tells anything."""
    count = "i % 40" if are_alike else "(i % 40) * (i % 3) // 2"
    features = "(c + hash(i) % 3) % 7 AS a, (c + hash(i + 9) % 5) % 11 AS b"
    rows = f"(SELECT i, {count} AS c FROM range(2400) AS r(i)) AS drawn"
    con.execute(f"CREATE OR REPLACE TABLE many AS SELECT 'c' || lpad(c::VARCHAR, 2, '0') AS y, {features} FROM {rows}")
    method, families = nbsql.Weighted(penalty=0), dict.fromkeys("ab", nbsql.Categorical())
    model = nbsql.fit(con, "many", target="y", families=families, method=method, name="w", replace=True)
    terms, y, labels = evidence(con, model, "y", "many")
    log_priors = np.log(np.bincount(y) / len(y))
    weights = weights_of(model, con)
    offsets = np.array([weights[label, None] for label in labels])
    scores = log_priors + offsets + sum(weights["c01", name] * terms[:, j] for j, name in enumerate("ab"))
    posteriors = np.exp(scores - scores.max(axis=1, keepdims=True))
    residuals = posteriors / posteriors.sum(axis=1, keepdims=True) - np.eye(len(labels))[y]
    assert (residuals[:, None] * terms).sum(axis=(0, 2)) == pytest.approx(0, abs=1e-6)
    assert (residuals * log_priors).sum() == pytest.approx(0, abs=1e-6)
    told, said = log_priors - log_priors[0], offsets - offsets[0]
    largest = np.argmax(np.abs(told))
    slope = 0 if are_alike else said[largest] / told[largest]
    assert said == pytest.approx(slope * told, abs=1e-9)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("target", ["y", "of_three"])
def test_every_family_is_scored_by_its_weight(con, target):
    """A contribution differs between classes by the weight times what it does in a naive model; so does that of each verb."""
    options = {"target": target, "exclude": [{"y": "of_three", "of_three": "y"}[target]], "replace": True}
    model = nbsql.fit(con, "t", name="w", families=FAMILIES, method="weighted", **options)
    naive = nbsql.fit(con, "t", name="n", families=FAMILIES, **options)
    weights = weights_of(model, con)

    def contributions(each):
        query = f"SELECT row_id, class, feature, sum(contribution) FROM {each.name}.explain('t') GROUP BY ALL"
        return {tuple(key): value for *key, value in con.execute(query).fetchall()}

    found, expected = contributions(model), contributions(naive)
    labels = sorted(model.classes)
    first = labels[0]
    for (row, label, feature), value in expected.items():
        if feature is None:
            assert found[row, label, None] == pytest.approx(value + weights[label, None], abs=1e-12)
        else:
            ratio = weights[label, feature] * (value - expected[row, first, feature])
            assert found[row, label, feature] - found[row, first, feature] == pytest.approx(ratio, abs=1e-9)
    totals = {}
    for (row, label, _), value in found.items():
        totals[row, label] = totals.get((row, label), 0.0) + value
    scored = con.execute("SELECT COLUMNS('joint_log_likelihood_.*') FROM w.joint_log_likelihood('t')").fetchall()
    for row, scores in enumerate(scored, start=1):
        gaps = [score - scores[0] for score in scores]
        assert gaps == pytest.approx([totals[row, label] - totals[row, first] for label in labels], abs=1e-9)


@pytest.mark.nightly
def test_a_number_and_a_text_are_two_features_each(con):
    """A number of two values has one, and so has a column whose family is given; each view is scored by its own weight.

    So has a number whose squares vanish.
    """
    features = {"features": ["k", "x", "n", "c1", "tiny", "words"], "families": {"words": nbsql.Text(), "n": "poisson"}}
    query = "SELECT y, k, x, n, (c1 > 0)::INT AS c1, x * 1e-200 AS tiny, words FROM t"
    model = nbsql.fit(con, query, target="y", method=nbsql.Weighted(views=True), name="w", replace=True, **features)
    families = {feature.name: feature.family for feature in model.state.spec.features}
    assert [*families] == ["k", "x", "x as normal", "n", "c1", "tiny", "words", "words by share"]
    for method, rows, views in (
        ("weighted", 45, True), ("weighted", 39, False), (nbsql.Weighted(views=True), 39, True),
        (nbsql.Weighted(per="either"), 45, False),
    ):  # fmt: skip
        some = nbsql.fit(con, f"{query} WHERE id < {rows}", target="y", method=method, **features)
        assert ("x as normal" in some.families, "words by share" in some.families) == (views, True)
    again = nbsql.fit(con, query, target="y", families=model.families)  # by another method, with the same features
    assert again.families == model.families
    normal = families["x as normal"]
    shares = families["words by share"]
    assert (normal.name, normal.shared_variance, shares.name, shares.norm, shares.alpha) == (
        "gaussian",
        True,
        "text",
        "l2",
        0.01,
    )
    con.execute(f"CREATE OR REPLACE TABLE viewed AS {query}")
    found = con.execute(
        "SELECT class, contribution FROM w.explain('viewed') WHERE row_id = 1 AND feature = 'x as normal'"
    ).fetchall()
    x, weights = con.execute("SELECT x FROM t LIMIT 1").fetchone()[0], weights_of(model, con)
    cells = con.execute(
        "SELECT class, mean, n, m2 FROM w.statistics WHERE feature = 'x as normal' AND mean IS NOT NULL"
    ).fetchall()
    variance = sum(m2 for *_, m2 in cells) / sum(n for *_, n, _ in cells)
    expected = {label: -weights[label, "x as normal"] * (x - mean) ** 2 / (2 * variance) for label, mean, *_ in cells}
    yes, no = dict(found)["yes"], dict(found)["no"]
    assert yes - no == pytest.approx(expected["yes"] - expected["no"], abs=1e-9)


@pytest.mark.slow
def test_one_bin_of_the_method_is_no_fault_and_one_of_the_user_is(con):
    query = "SELECT y, hash(id + 77) % 100 AS noise FROM t"
    options = {"target": "y", "name": "w", "replace": True}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nbsql.fit(con, query, method=nbsql.Weighted(views=True), **options)
        nbsql.fit(con, query, method="weighted", **options)
        assert not [each for each in caught if "one bin only" in str(each.message)]
        nbsql.fit(con, query, method="weighted", families={"noise": nbsql.Binned(by="mdl")}, **options)
    assert [each for each in caught if "one bin only in 'noise'" in str(each.message)]


@pytest.mark.slow
def test_counts_move_and_weights_stay(con):
    con.execute("CREATE OR REPLACE TABLE early AS SELECT * FROM t WHERE id < 400")
    renamed = "* REPLACE (CASE WHEN id < 420 THEN 'new' ELSE y END AS y)"
    con.execute(f"CREATE OR REPLACE TABLE late AS SELECT {renamed} FROM t WHERE id >= 400")
    model = nbsql.fit(con, "early", target="y", features=["b", "k", "x"], method="weighted", name="w", replace=True)
    before, weights = model.predict_proba("t").fetchall(), weights_of(model, con)
    model.update("late", batch="late")
    assert weights_of(model, con) == weights
    assert sorted(model.classes) == ["new", "no", "yes"]
    query = "SELECT contribution FROM w.explain('late') WHERE row_id = 1 AND class = 'new' AND feature = 'k'"
    likelihood = "SELECT log_likelihood FROM w.likelihoods WHERE class = 'new' AND value = (SELECT k FROM late LIMIT 1)"
    (found,), (expected,) = con.execute(query).fetchone(), con.execute(likelihood).fetchone()
    assert found == pytest.approx(expected * weights["no", "k"], rel=1e-12)  # a new class has the mean weight of the others
    model.forget(batch="late")
    for ours, theirs in zip(model.predict_proba("t").fetchall(), before, strict=True):
        assert ours[:-2] == theirs[:-2]
        assert ours[-2:] == pytest.approx(theirs[-2:], rel=1e-12)


@pytest.mark.slow
def test_stale_weights_are_said_until_they_are_learnt_anew(con, recwarn, capsys):
    """They are once a tenth of the rows has changed, in every view of the model, and after a compaction of the ledger."""
    options = {"target": "y", "features": ["k", "b"], "method": "weighted", "name": "w", "replace": True}
    model = nbsql.fit(con, "FROM t WHERE id < 500", **options)
    cure = "; fit it again to all rows, with method='weighted' and replace=True, to learn them anew"
    found = "the weights were learnt from 500 rows, before 60 were learnt or forgotten" + cure

    recwarn.clear()
    model.update("FROM t WHERE id >= 550", batch="some")
    assert ([*recwarn], "weights were" in shown(model, capsys), "stale" in repr(model)) == ([], False, False)
    model.forget("FROM t WHERE id < 10")
    (warning,) = recwarn
    assert str(warning.message) == f"model 'w' has changed: {found}"
    assert found in shown(model, capsys)
    assert repr(model).endswith(", with stale weights>")
    model.rollback("some")
    assert not repr(model).endswith(", with stale weights>")
    model.compact()
    assert f"the weights were learnt before its batches were folded into one{cure}" in shown(model, capsys)
    assert not repr(nbsql.fit(con, "t", **options)).endswith(", with stale weights>")


@pytest.mark.slow
def test_the_cure_of_stale_weights_keeps_the_options(con, recwarn):
    each = "class and feature"
    for method, said in [
        (nbsql.Weighted(per=each, penalty=3, pairs=2), f"nbsql.Weighted(per={each!r}, penalty=3.0, pairs=2)"),
        (nbsql.KDB(k=1), "nbsql.KDB(k=1)"),
    ]:
        model = nbsql.fit(con, "FROM t WHERE id < 300", target="y", features=["k", "b"], method=method, name="w", replace=True)
        recwarn.clear()
        model.update("FROM t WHERE id >= 500")
        assert f"with method={said} and replace=True, to learn them anew" in str(recwarn[-1].message)
        assert eval(said) == method  # noqa: S307


def test_weights_by_rows_that_are_copied_first_go_with_slices(con):
    options = {"target": "b", "method": nbsql.Weighted(penalty=1), "features": ["k", "x"]}
    rows = "SELECT b, k, x, c1 FROM t GROUP BY ALL"  # which is read once
    whole, sliced = nbsql.fit(con, rows, **options), nbsql.fit(con, rows, slice_by="c1", **options)
    a, b = ([row[-1] for row in sorted(model.predict_proba(rows).fetchall())] for model in (whole, sliced))
    assert b == pytest.approx(a, rel=0, abs=1e-9)
    assert sliced.slice_names == ["0", "1", "2"]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("per", ["feature", pytest.param("class and feature", marks=pytest.mark.slow)])
def test_cross_validation_learns_the_weights_of_each_fold(con, per):
    """The same column four times costs a naive model dearly, and a weighted one nothing."""
    query = "SELECT y, k, k AS k2, k AS k3, k AS k4 FROM t"
    naive = nbsql.cross_validate(con, query, target="y", folds=3)
    found = nbsql.cross_validate(con, query, target="y", folds=3, method=nbsql.Weighted(per=per))
    single = nbsql.cross_validate(con, "SELECT y, k FROM t", target="y", folds=3)
    assert found.log_loss < single.log_loss * 1.01 < naive.log_loss


@pytest.mark.slow
def test_what_weights_are_not_for(con):
    options = {"target": "y", "features": ["k", "x", "pos"], "replace": True, "name": "w"}
    with pytest.raises(InputError, match=r"^per must be one of 'feature', 'class and feature', 'either', not 'class'$"):
        nbsql.Weighted(per="class")
    with pytest.raises(InputError, match="per='class and feature' does not support 'x', which is gaussian and no category; "):
        nbsql.fit(con, "t", method=nbsql.Weighted(per="class and feature"), families={"x": "gaussian"}, **options)
    model = nbsql.fit(con, "t", method="weighted", **options)
    with pytest.raises(ModelError, match="has weights, by which its scores are no likelihood of the features"):
        model.log_evidence("t")


@pytest.mark.nightly
def test_the_command_line_takes_its_options_and_shows_the_weights(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute(ROWS)
    command = [sys.executable, "-m", "nbsql", "fit", path, "SELECT y, k, b FROM t", "--target", "y", "--name", "w"]
    found = subprocess.run(
        [*command, "--method", "weighted", "--per", "class and feature", "--penalty", "3", "--no-views"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    head, k, b = (line.split() for line in found.splitlines()[2:6] if "─" not in line)
    assert head == ["feature", "family", "options", "weight"]
    assert (k[:2], b[:2]) == (["k", "categorical"], ["b", "bernoulli"])
    assert float(k[2]) != float(k[-1])
    with duckdb.connect(path) as con:
        assert nbsql.load(con, "w").state.spec.weighted == nbsql.Weighted(per="class and feature", penalty=3.0, views=False)
    subprocess.run([*command, "--replace", "--method", "weighted", "--per", "either"], capture_output=True, check=True)
    with duckdb.connect(path) as con:
        chosen = nbsql.load(con, "w").state.spec.weighted
    assert (chosen.per in ("feature", "class and feature"), chosen.penalty in (1.0, 10.0, 100.0)) == (True, True)


@pytest.mark.slow
def test_weights_of_many_classes_are_said_to_take_long(con):
    columns = ", ".join(f"(hash(i + {k}) % 3 = 0 OR i % 8 = {k}) AS x{k}" for k in range(8))
    con.execute(f"CREATE OR REPLACE TABLE many AS SELECT i % 8 AS y, {columns} FROM range(160) AS t(i)")
    said = "^per='class and feature' learns 64 weights, which takes many times as long as the 8 of per='feature'$"
    with pytest.warns(nbsql.NbsqlWarning, match=said):
        nbsql.fit(con, "many", target="y", method=nbsql.Weighted(per="class and feature", penalty=10))
    nbsql.fit(con, "many", target="y", method=nbsql.Weighted(penalty=10))


@pytest.mark.slow
def test_a_penalty_is_chosen_where_each_fifth_row_is_compared(con, monkeypatch):
    """As of 100,000 rows, which were divided by zero: each fifth row is in one fold."""
    monkeypatch.setattr("nbsql.learning.weighted.ROWS_TO_CHOOSE", 120)
    model = nbsql.fit(con, "t", target="y", features=["k", "n"], method="weighted", name="fifth", replace=True)
    assert model.state.spec.weighted.penalty in (1, 10, 100)


@pytest.mark.slow
def test_many_rows_in_turn_are_not_learnt_from_one_class(con, monkeypatch):
    """Of more rows than are sorted by class: each second one has the same class, and one class has no weights."""
    monkeypatch.setattr("nbsql.learning.evidence.ROWS", 10_000)
    con.execute("CREATE OR REPLACE TABLE turns AS SELECT i % 2 AS y, hash(i) % 3 + i % 2 AS k FROM range(110_000) AS r(i)")
    model = nbsql.fit(con, "turns", target="y", method="weighted", name="turns_model", replace=True)
    assert 0.5 < weights_of(model, con)[1, "k"] < 1.5


@pytest.mark.nightly
def test_weights_of_many_rows_are_learnt_from_the_first_folds(con, monkeypatch):
    """As many as have enough rows, for each weight and of each class; 600 rows, 193 of the rarer class."""
    scored = []
    numbered = EvidenceFolds.numbered_rows
    spy = lambda self, classes: scored.append(self.names) or numbered(self, classes)  # noqa: E731
    monkeypatch.setattr(EvidenceFolds, "numbered_rows", spy)
    found = []
    for limits, folds in (((601, 1, 1), 5), ((1, 100, 1), 3), ((1, 1, 150), 4), ((300, 1, 1), 3), ((1, 1, 1), 1)):
        for name, value in zip(("ENOUGH_ROWS", "ROWS_A_WEIGHT", "ROWS_A_CLASS"), limits, strict=True):
            monkeypatch.setattr(f"nbsql.learning.evidence.{name}", value)
        method = nbsql.Weighted(per="feature", penalty=1)
        model = nbsql.fit(con, "t", target="y", features=["k", "n"], method=method, name="firsts", replace=True)
        found.append([weight for (_, name), weight in weights_of(model, con).items() if name])
        assert len(scored[-1]) == folds
    for each in found:
        assert each == pytest.approx(found[0], abs=0.4)
    assert found[-1] != pytest.approx(found[0], abs=0.001)
    monkeypatch.setattr("nbsql.learning.evidence.ROWS_A_CLASS", 150)
    nbsql.fit(con, "SELECT *, 1000 AS heavy FROM t", target="y", features=["k", "n"], weight="heavy", method=method)
    assert len(scored[-1]) == 4  # a class has as many rows, whatever they weigh


def test_many_numbers_are_one_feature_each_unless_two_are_asked_for(con):
    """200 features at most; the rows would be enough for more."""
    for count, method, expected in ((100, "weighted", 200), (101, "weighted", 101), (101, nbsql.Weighted(views=True), 202)):
        columns = ", ".join(f"hash(id + {k}) % 1000 AS n{k}" for k in range(count))
        query = f"SELECT y, {columns} FROM (FROM t UNION ALL FROM t UNION ALL FROM t)"
        with opened(con) as engine, engine.source(query) as source:
            spec = resolve(source.columns, Options.of("y", {"method": method}), source.label)
            assert spec.weighted is not None
            assert len(with_useful_views(engine, spec, spec.weighted, source, {}).features) == expected
