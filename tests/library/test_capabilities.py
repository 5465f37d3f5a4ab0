"""What goes with what: each kind of model meets each use, which takes it, or refuses it in the words of the table."""

import tempfile

import duckdb
import pytest
from support.capabilities import kinds_of, refusing

import nbsql
from nbsql.errors import InputError, in_words
from nbsql.spec.capabilities import USES, refusal_text
from nbsql.spec.traits import FEATURES, TRAITS

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

ROWS = """CREATE TABLE t AS SELECT CASE WHEN i % 5 IN (0, 1, 3) THEN 'a' ELSE 'b' END AS y, i * 7 % 11 + i % 5 AS x,
    i * 5 % 13 AS z, 'v' || i % 4 AS v, i % 2 = 0 AS g, i % 3 AS s FROM range(60) AS r(i)"""
COUNTS = {"x": "poisson", "z": "poisson"}
FITS = {
    "segments": {"families": COUNTS, "segment_by": "g", "exclude": ["s"]},
    "components": {"families": COUNTS, "method": nbsql.Mixture(2), "exclude": ["s"]},
    "half_life": {"families": COUNTS, "weight": nbsql.HalfLife(1, at="s")},
    "logistic": {"method": "logistic", "exclude": ["s"]},
    "weighted": {"method": "weighted", "exclude": ["s"]},
    "em": {"families": COUNTS, "method": "em", "exclude": ["s"]},
    "clusters": {
        "target": None,
        "families": COUNTS,
        "method": nbsql.Clusters(2, starts=1, iterations=1),
        "exclude": ["s", "cluster", "y"],
    },
    "untargeted": {"target": None, "families": COUNTS, "exclude": ["s"]},
    "pairs": {"features": ["v", "g", "x"], "families": {"x": "gaussian"}, "method": "aode"},
    "bound": {"features": ["x", "z", "s"], "families": {"s": "poisson"}, "method": nbsql.LDA(shrinkage="ledoit-wolf")},
}
LIKELIHOODS = {
    label: {"v": {f"v{k}": 0.1 + 0.1 * ((k + shift) % 4) for k in range(4)}, "x": {"rate": 5.0 + shift}}
    for label, shift in (("a", 0), ("b", 1))
}


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        con.execute("CREATE SCHEMA clustered")
        con.execute("CREATE TABLE clustered.t AS SELECT *, 'cluster_' || 1 + s % 2 AS cluster FROM t")
        yield con


def in_schema(con, kind):
    """Let t be the table of a kind: that of clusters has a column of them, for what asks for classes."""
    con.execute(f"USE memory.{'clustered' if kind == 'clusters' else 'main'}")


def fitted(con, kind, **options):
    in_schema(con, kind)
    if kind == "probabilities":
        counts = {"x": "poisson"}
        return nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=LIKELIHOODS, target="y", families=counts)
    return nbsql.fit(con, "t", **{"target": "y", **FITS[kind], **options})


def shared(model, **sharing):
    with tempfile.TemporaryDirectory() as folder:
        model.export(f"{folder}/shared.parquet", **sharing)


def labels(model):
    return ("a", "b") if model.state.spec.clusters is None else ("cluster_1", "cluster_2")


def of_values(con, model):
    """A model of its kind of values alone, if it takes counts or has densities, too, which have no points."""
    spec = model.state.spec
    if spec.weighted:
        return nbsql.fit(con, "t", target="y", exclude=["s"], method=nbsql.Weighted(views=False))
    kind = "em" if spec.em else "clusters" if spec.clusters else "half_life" if spec.half_life else None
    return (
        model if kind is None else nbsql.fit(con, "t", **{"target": "y", **FITS[kind], "families": {}, "features": ["v", "g"]})
    )


# Of one fit: the options of a kind with what they meet.
FIT_ACTS = {
    "slice_by": lambda con, options: nbsql.fit(con, "t", **{"target": "y", **options, "slice_by": "s"}),
    "segment_by": lambda con, options: nbsql.fit(con, "t", **{"target": "y", **options, "segment_by": "g"}),
    "prior": lambda con, options: nbsql.fit(con, "t", **{"target": "y", **options, "prior": "uniform"}),
    "untargeted": lambda con, options: nbsql.fit(con, "t", **{**options, "target": None}),
    "classes": lambda con, options: nbsql.fit(con, "t", **{**options, "target": nbsql.Target("y", ["a", "b", "c"])}),
    "choosing": lambda con, options: nbsql.fit(con, "t", **{"target": "y", **options, "features": nbsql.Best(2)}),
    "half_life": lambda con, options: nbsql.fit(con, "t", **{"target": "y", **options, "weight": nbsql.HalfLife(1, at="s")}),
    "search": lambda con, options: nbsql.sweep(con, "t", folds=3, **{"target": "y", **options}),
    "fit_sql": lambda con, options: nbsql.fit_sql(con, "t", **{"target": "y", **options}),
    "cross_validate": lambda con, options: nbsql.cross_validate(con, "t", folds=3, **{"target": "y", **options}),
    "leave_one_out": lambda con, options: nbsql.cross_validate(con, "t", folds="loo", **{"target": "y", **options}),
}

ROW = {"x": 3, "z": 4, "v": "v1", "g": True, "s": 2}
ACTS = {
    "log_evidence": lambda con, model: model.log_evidence("t").fetchall(),
    "labelled": lambda con, model: model.log_likelihood("t", labelled=True),
    "prediction": lambda con, model: (model.evaluate("t"), model.predict("t", top_k=1).fetchall()),
    "predict_one": lambda con, model: model.predict_one(ROW),
    "sample": lambda con, model: model.sample(3).fetchall(),
    "impute": lambda con, model: (model.impute("t"), model.predict("t", target=[*model.families][-1]).fetchall()),
    "inline": lambda con, model: con.execute(model.sql("joint_log_likelihood", "t", inline=True)).fetchall(),
    "dialect": lambda con, model: con.execute(model.sql("joint_log_likelihood", "t", dialect="duckdb")).fetchall(),
    "weights": lambda con, model: (model.weights(2).fetchall(), model.linear().fetchall()),
    "class_shares": lambda con, model: model.class_shares("t").fetchall(),
    "calibrate": lambda con, model: model.calibrate("t", folds=None),
    "calibrate_by_folds": lambda con, model: model.calibrate("t", folds=3),
    "change": lambda con, model: model.update("t"),
    "ledger": lambda con, model: model.compact(),
    "as_of": lambda con, model: model.as_of("1").joint_log_likelihood("t").fetchall(),
    "drift": lambda con, model: (model.relevance().fetchall(), model.monitor("t").fetchall()),
    "discrimination": lambda con, model: model.discrimination(*labels(model)).fetchall(),
    "scorecard": lambda con, model: of_values(con, model).scorecard(target=labels(model)[0]),
    "densities": lambda con, model: model.profile("x" if "x" in model.families else "s").fetchall(),
    "contributions": lambda con, model: model.plot.nomogram(),
    "derive": lambda con, model: model.slices(["0"]),
    "least": lambda con, model: shared(model, least=10),
    "merge": lambda con, model: nbsql.merge(con, [model]),
    "merge_several": lambda con, model: nbsql.merge(con, [model, nbsql.merge(con, [model])]),
    "from_statistics": lambda con, model: nbsql.from_statistics(con, model.statistics, like=model),
}


def test_every_use_is_tried():
    assert {*FIT_ACTS, *ACTS} == {*USES}


def expect(use, kind, act, title, bound):
    """That an act is refused in the words of the table, or done."""
    by = refusing(use, kind)
    if by is None:
        act()
        return
    with pytest.raises(USES[use].error) as caught:
        act()
    assert str(caught.value) == in_words(refusal_text(use, by, title, bound))


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("use", "kind"), [(use, kind) for use in FIT_ACTS for kind in kinds_of(use) if (use, kind) != ("segment_by", "segments")]
)
def test_a_fit_takes_what_the_table_says(con, use, kind):
    options = FITS[kind]
    in_schema(con, kind)
    expect(use, kind, lambda: FIT_ACTS[use](con, options), USES[use].title, "")


CHANGES = {"calibrate", "calibrate_by_folds", "change", "ledger"}  # uses after which a model is not what it was


KINDS = pytest.mark.parametrize("kind", [*FITS, "probabilities"])


@pytest.mark.few
@KINDS
def test_a_model_refuses_what_the_table_says(con, kind):
    ask(con, kind, [use for use in ACTS if refusing(use, kind) is not None])


@pytest.mark.slow
@pytest.mark.forms("kind")
@KINDS
def test_a_model_does_what_the_table_says(con, kind):
    ask(con, kind, [use for use in ACTS if refusing(use, kind) is None])


def ask(con, kind, uses):
    bound = {"logistic": "'weights'", "bound": "'lda'"}.get(kind, "")
    asked_only = fitted(con, kind)
    for use in uses:
        act = ACTS[use]
        sliced = {"slice_by": "s"} if use == "derive" and kind in ("bound", "em", "clusters", "pairs", "untargeted") else {}
        model = fitted(con, kind, **sliced) if sliced or use in CHANGES else asked_only
        both = use == "merge_several" and refusing(use, kind) == "bound"
        title = "the model and the model" if both else "the model"
        expect(use, kind, lambda act=act, model=model: act(con, model), title, bound)


FEATURE = {
    "kernel": {"x": "kernel"},
    "covariance": {"both": nbsql.MultivariateGaussian(["x", "z"])},
    "conditional": {"v": nbsql.Conditional("g")},
    "backoff": {"both": nbsql.Joint(["v", "g"], backoff="naive")},
    "presence": {"v": nbsql.Text(event="bernoulli")},
    "complement": {"both": nbsql.Complement(["x", "z"])},
    "weighed": {"v": nbsql.Text(tfidf=True)},
    "best": {"v": nbsql.Text(best=2)},
    "several": {"both": nbsql.Joint(["v", "g"])},
    "bag": {"v": nbsql.Text()},
    "gaps": {"v": nbsql.Categorical(nulls="category")},
    "uncut": {"x": "gaussian"},
    "merged": {"x": nbsql.Binned(bins=4, monotone=True)},
}
FEATURE_ACTS = {
    "classes": {"target": nbsql.Target("y", ["a", "b", "c"]), "prior": "uniform"},
    "segment_by": {"segment_by": "s % 2"},
    "components": {"method": nbsql.Mixture(2)},
    "method='em'": {"method": "em"},
    "method='clusters'": {"target": None, "method": nbsql.Clusters(2, starts=1, iterations=1)},
    "target=None": {"target": None},
    "method='weighted'": {"method": "weighted"},
    "per='class and feature'": {"method": nbsql.Weighted(per="class and feature")},
    "impute": {},
    "sql(..., dialect=...)": {},
}


def on_feature(use, trait):
    """The options of a fit with a use and a feature of a trait, the name of the feature, and its family."""
    families = FEATURE[trait]
    ((name, family),) = families.items()
    return {"target": "y", "exclude": ["s"], "families": families, **FEATURE_ACTS[use]}, name, family


@pytest.mark.few
@pytest.mark.parametrize("use", FEATURES)
def test_features_are_refused_as_the_table_says(con, use):
    assert {*FEATURE} == {*TRAITS}
    assert {*FEATURE_ACTS} == {*FEATURES}
    for trait in FEATURES[use]:
        options, name, family = on_feature(use, trait)
        with pytest.raises((InputError, nbsql.NotSupportedError)) as caught:
            asked(nbsql.fit(con, "t", **options), use, name)
        text = TRAITS[trait].text.format(family=family if isinstance(family, str) else family.name)
        assert str(caught.value) == f"{use} does not support {name!r}, which is {in_words(text + FEATURES[use][trait])}"


@pytest.mark.slow
@pytest.mark.forms("use")
@pytest.mark.parametrize("use", FEATURES)
def test_features_go_with_what_the_table_says(con, use):
    for trait in FEATURE.keys() - FEATURES[use].keys():
        options, name, _ = on_feature(use, trait)
        asked(nbsql.fit(con, "t", **options), use, name)


def asked(model, use, name):
    """What is asked of a model and not of its fit."""
    if use == "impute":
        model.impute("t", features=[model.state.spec.features[[*model.families].index(name)].column])
    elif "dialect" in use:
        model.sql("predict", "t", dialect="trino")
