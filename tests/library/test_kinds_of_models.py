"""What holds for every kind of model: parts add up, weights are copies, folds are fits, and every face has one answer."""

from collections import defaultdict
from math import exp, log

import duckdb
import pytest
from scoring.test_one_row import MODELS, ROWS
from support.algebra import refitted

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

TREE = {"features": ["place", "kind", "rank", "member"], "families": {"rank": "categorical"}}
KINDS = {
    **MODELS,
    "amounts": {
        "features": ["price", "share", "visits"],
        "families": {"price": "gamma", "share": "beta", "visits": nbsql.ZeroInflated(of="lognormal")},
    },
    "priors of rates": {
        "features": ["visits", "price"],
        "families": {"visits": nbsql.Geometric(2, 3), "price": nbsql.Exponential(1.5, 2)},
    },
    "zeros": {
        "features": ["visits", "rank", "w2"],
        "families": {
            "visits": nbsql.ZeroInflated(of="gaussian"),
            "rank": nbsql.ZeroInflated(of="exponential"),
            "w2": nbsql.ZeroInflated(of="gamma"),
        },
    },
    "bins cut by the class": {"features": ["x", "visits", "place"], "families": {"x": nbsql.Binned(by="mdl")}},
    "weighed tokens": {
        "features": ["tags", "bag"],
        "families": {"tags": nbsql.Tokens(tfidf=True), "bag": nbsql.TokenCounts(tfidf=True)},
    },
    "words of one length": {"features": ["note"], "families": {"note": nbsql.Text(norm="l2")}},
    "best words": {"features": ["note"], "families": {"note": nbsql.Text(best=4)}},
    "rare words": {"features": ["note", "x"], "families": {"note": nbsql.Text(min_count=30)}},
    "qda, pooled": {"features": ["x", "y"], "method": nbsql.QDA(shrinkage=0.2, toward="pooled")},
    "aode": {**TREE, "method": "aode"},
    "tan": {**TREE, "method": "tan"},
    "kdb": {**TREE, "method": nbsql.KDB(k=2, weighted=False)},
    "joint table": {"features": ["place", "kind"], "method": "joint"},
    "segments": {"features": ["x", "place"], "segment_by": nbsql.Segments("flag", shrinkage=3)},
    "weights": {
        "features": ["x", "place", "kind", "note"],
        "families": {"note": nbsql.Text()},
        "method": nbsql.Weighted(penalty=1),
    },
    "weights of pairs": {"features": ["x", "place", "kind"], "method": nbsql.Weighted(penalty=1, views=False, pairs=2)},
    "weights of triples": {"features": ["x", "place", "kind"], "method": nbsql.Weighted(penalty=1, views=False, triples=2)},
    "weights over parents": {"features": ["x", "place", "kind"], "method": nbsql.Weighted(penalty=1, parents=1)},
    "weights beside a matrix": {
        "features": ["x", "y"],
        "families": {"both": nbsql.MultivariateGaussian(["x", "y"])},
        "method": nbsql.Weighted(penalty=1),
    },
}
# Of folds that are dealt by a hash of the rows, or of all rows at once.
WEIGHED = [kind for kind, options in KINDS.items() if isinstance(options.get("method"), nbsql.Weighted)]
BOUND = {"logistic", "components", "weighed text"}


@pytest.fixture(scope="module")
def rows():
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute(f"""CREATE TABLE t AS SELECT row_number() OVER () AS i, *, price / 4 AS share,
            CAST(hash(price, place) % 4 AS INTEGER) AS part, CAST(hash(x, note) % 3 AS INTEGER) AS w FROM ({ROWS})""")
        con.execute("CREATE TABLE copies AS SELECT t.* FROM t, range(t.w)")
        yield con


def kinds(*without):
    """Parameters of a test: the kinds, but for some."""
    return pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in without])


def options_of(kind):
    return {"target": "label", "features": ["x", "place", "kind", "tags", "bag", "member"], **KINDS[kind]}


def fit(con, source, kind, **options):
    return nbsql.fit(con, source, **{**options_of(kind), **options})


def posteriors(model, source="FROM t ORDER BY i"):
    """The posteriors of rows by their number."""
    names = [f"probability_{label}" for label in sorted(model.classes)]
    found = model.predict_proba(source, columns=["i"])
    return {row[0]: row[-len(names) :] for row in found.fetchall()}


def answers(con, sql):
    """The same of a query."""
    found = con.execute(sql)
    place = [column[0] for column in found.description].index("i")
    return {row[place]: row[-3:] for row in found.fetchall()}


def near(rows, rel=1e-9):
    return {i: pytest.approx(row, rel=rel, abs=1e-12) for i, row in rows.items()}


@pytest.mark.few
@pytest.mark.slow
@kinds(*WEIGHED, *BOUND)
def test_parts_add_up_and_are_taken_away_again(rows, kind):
    whole, given = fit(rows, "t", kind), KINDS[kind].get("families", {})
    # What a fit finds in its rows, such as bins and parents, is that of all rows.
    found = {} if kind == "aode" else {"families": {**given, **whole.families}, "method": "naive"}
    early, late = (fit(rows, f"FROM t WHERE i % 7 {sign} 2", kind, **found) for sign in (">=", "<"))
    before, expected = posteriors(early), near(posteriors(whole))
    assert posteriors(nbsql.merge(rows, [early, late])) == expected
    early.update("FROM t WHERE i % 7 < 2", batch="late")
    assert posteriors(early) == expected
    early.compact()
    early.forget("FROM t WHERE i % 7 < 2")
    assert posteriors(early) == near(before)


@pytest.mark.slow
@pytest.mark.forms("kind")
@pytest.mark.parametrize("kind", WEIGHED)
def test_weights_stay_where_counts_move(rows, kind):
    model = fit(rows, "FROM t WHERE i % 7 >= 2", kind, name="m", replace=True)
    before, weights = posteriors(model), rows.execute("FROM m.weights ORDER BY ALL").fetchall()
    if kind != "weights":  # which read a text, of which each engine has words of its own
        assert answers(rows, model.sql("predict_proba", "t", dialect="duckdb")) == near(before)
    model.update("FROM t WHERE i % 7 < 2", batch="late")
    assert rows.execute("FROM m.weights ORDER BY ALL").fetchall() == weights
    assert posteriors(model) != near(before)
    model.forget(batch="late")
    assert posteriors(model) == near(before)
    again = fit(rows, "FROM t WHERE i % 7 >= 2", kind, families=model.families)
    assert posteriors(again) == near(before)


@pytest.mark.slow
@pytest.mark.forms("kind")
@kinds(*WEIGHED)
def test_a_weight_is_as_many_copies_in_any_order(rows, kind):
    weighted, copied = fit(rows, "t", kind, weight="w"), fit(rows, "FROM copies ORDER BY hash(i)", kind)
    assert posteriors(weighted) == near(posteriors(copied), 1e-7 if kind == "logistic" else 1e-9)


@pytest.mark.slow
@pytest.mark.forms("kind")
@kinds(*BOUND, "segments", "binned")  # folds of the last have the bins of all rows
def test_folds_are_fits_to_the_others(rows, kind):
    options = options_of(kind)
    found = nbsql.cross_validate(rows, "t", fold="part", **options)
    accuracy, loss = refitted(rows, "t", "part", play="label", **options)
    assert (found.accuracy, found.log_loss) == (pytest.approx(accuracy, abs=1e-12), pytest.approx(loss, rel=1e-9))


@pytest.mark.slow
@pytest.mark.forms("kind")
@kinds("segments")  # which have no query in place, and no row by itself
def test_every_face_has_the_answer_of_the_model(rows, kind, tmp_path):
    model = fit(rows, "t", kind, name="m", replace=True, id="i")
    expected = near(posteriors(model))
    model.export(tmp_path / "m.parquet")
    for again in (nbsql.load(rows, "m"), nbsql.import_(rows, tmp_path / "m.parquet")):
        assert posteriors(again) == expected
    for sql in ("FROM m.predict_proba('t')", model.sql("predict_proba", "t", inline=True)):
        assert answers(rows, sql) == expected
    totals = defaultdict(float)
    for i, label, contribution in rows.execute("SELECT i, class, contribution FROM m.explain('t')").fetchall():
        totals[i, label] += contribution
    names = [column[0] for column in rows.execute("FROM t LIMIT 0").description]
    for row in rows.execute("FROM t WHERE i < 4").fetchall():
        one = dict(zip(names, row, strict=True))
        scores = [totals[one["i"], label] for label in range(3)]
        total = log(sum(exp(score - max(scores)) for score in scores)) + max(scores)
        assert tuple(exp(score - total) for score in scores) == expected[one["i"]]
        assert tuple(model.predict_one(one)["probabilities"].values()) == expected[one["i"]]
