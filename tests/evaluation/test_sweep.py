"""Sweeps: the answers of a cross-validation for every setting, from one count of the rows."""

import itertools
import warnings

import pytest

import nbsql
from nbsql import InputError, ModelError, NbsqlWarning

near = pytest.approx

ALPHAS = [0.1, 30.0]
PRIORS = ["empirical", "smoothed", {"no": 0.2, "yes": 0.5, "maybe": 0.3}]
FAMILIES = [
    {},
    {"wind": nbsql.Binned(bins=3), "calls": "poisson", "sky": nbsql.Categorical(levels=["fog"], unseen="smooth")},
    {"wind": nbsql.Gaussian(variance="sample"), "calls": nbsql.Binned(by=[2]), "note": nbsql.Text(ngrams=2)},
]


@pytest.fixture
def con(con):
    """A table with every kind of column, missing values, weights and a column of folds."""
    con.execute("CREATE MACRO drawn(i, salt, low, size) AS CAST(low + hash(i, salt) % size AS INTEGER)")
    con.execute("""
        CREATE TABLE days AS
        SELECT
          CASE WHEN drawn(i, 1, 0, 9) > 0 THEN ['sun', 'rain', 'snow'][drawn(i, 2, 1, 3)] END AS sky,
          drawn(i, 3, 0, 3) = 0 AS warm,
          CASE WHEN drawn(i, 4, 0, 8) > 0 THEN CAST(drawn(i, 5, 0, 100) / 10 + 3 * (i % 3) AS DOUBLE) END AS wind,
          drawn(i, 6, 0, 5) + CAST(i % 3 AS INTEGER) AS calls,
          CASE WHEN drawn(i, 7, 0, 7) > 0 THEN ['walk', 'call', 'rest'][drawn(i, 8, 1, 3)] || ' ' || i % 5 END AS note,
          ['no', 'yes', 'maybe'][1 + i % 3] AS play,
          drawn(i, 10, 0, 4) AS times,
          i % 4 AS part
        FROM range(60) AS t(i)
    """)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NbsqlWarning)
        yield con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "times"])
def test_every_setting_is_judged_as_by_a_cross_validation_of_its_own(con, weight):
    options = {"target": "play", "fold": "part", "weight": weight, "exclude": [] if weight else ["times"]}
    found = nbsql.sweep(con, "days", alpha=ALPHAS, prior=PRIORS, families=FAMILIES, **options)
    assert len(found.settings) == 18
    assert {repr(setting) for setting in found.settings} == {
        repr(dict(zip(("alpha", "prior", "families"), setting, strict=True)))
        for setting in itertools.product(ALPHAS, PRIORS, FAMILIES)
    }
    ranked = found.ranking.fetchall()
    assert [row[0] for row in ranked] == list(range(1, 19))
    assert [row[5] for row in ranked] == sorted(row[5] for row in ranked)
    for row, setting in list(zip(ranked, found.settings, strict=True))[::5]:
        own = nbsql.cross_validate(con, "days", **options, **setting)
        assert row[1] == setting["alpha"]
        assert (found.rows, *row[4:]) == (own.rows, near(own.accuracy, abs=1e-12), near(own.log_loss, rel=1e-9))


@pytest.mark.slow
def test_dealt_folds_are_those_of_a_cross_validation(con):
    options = {"target": "play", "exclude": ["times", "part"], "folds": 5}
    found = nbsql.sweep(con, "days", alpha=[2, 0.5], **options)
    for (_, alpha, prior, families, accuracy, log_loss), setting in zip(found.ranking, found.settings, strict=True):
        own = nbsql.cross_validate(con, "days", alpha=alpha, **options)
        assert (setting["alpha"], prior, families) == (alpha, "empirical", "")
        assert (accuracy, log_loss) == (near(own.accuracy), near(own.log_loss, rel=1e-9))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["wide", "blocks", "long"], indirect=True)
def test_every_form_of_scoring_gives_the_same_answers(con, form):
    options = {"target": "play", "exclude": ["times", "part"], "folds": 3, "unseen": "smooth"}
    found = nbsql.sweep(con, "days", alpha=[1, 3], families=FAMILIES[1:], **options)
    expected = [
        nbsql.cross_validate(con, "days", **options, **setting).evaluation.log_loss for setting in found.settings
    ]  # fmt: skip
    assert [row[5] for row in found.ranking] == near(expected, rel=1e-9)
    assert form


@pytest.mark.slow
def test_the_model_of_the_best_setting_is_that_of_a_fit(con):
    options = {"target": "play", "exclude": ["part"], "weight": "times"}
    found = nbsql.sweep(con, "days", alpha=ALPHAS, prior=PRIORS[1:], families=FAMILIES[1:], folds=3, **options)
    con.execute("CREATE TABLE rows_of_today AS FROM days")
    con.execute("DROP TABLE days")  # the counts are enough
    best = found.best(name="chosen")
    fitted = nbsql.fit(con, "rows_of_today", **options, **found.settings[0])
    assert best.families == fitted.families
    ours, theirs = (sorted(model.statistics.fetchall(), key=repr) for model in (best, fitted))
    assert [row[:5] for row in ours] == [row[:5] for row in theirs]
    assert best.batches.fetchall()[0][:4] == ("1", "fit", "days", fitted.batches.fetchall()[0][3])
    posteriors = [model.predict_proba("rows_of_today").df() for model in (nbsql.load(con, "chosen"), fitted)]
    for column in ("probability_no", "probability_yes", "probability_maybe"):
        assert list(posteriors[0][column]) == near(list(posteriors[1][column]), rel=1e-9)
    assert con.execute("SELECT count(prediction) FROM chosen.predict('rows_of_today')").fetchall() == [(60,)]
    with pytest.raises(ModelError) as taken:
        found.best(name="chosen")
    assert str(taken.value) == "model 'chosen' is there already; replace it with replace=True, or choose another name"
    assert found.best(name="chosen", replace=True).classes == best.classes


@pytest.mark.slow
def test_the_rows_are_counted_once(con):
    names = []
    with nbsql.watch(names.append):
        held = nbsql.sweep(con, "days", target="play", alpha=ALPHAS, prior=PRIORS[:2], folds=3)
    assert names.count("scan") == 1
    assert names.count("count sky to note") == 1
    left = con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    assert [name.split()[-1] for (name,) in left] == ["cells"]
    del held
    assert con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []


@pytest.mark.slow
def test_the_ranking_is_by_what_was_asked_for(con):
    found = nbsql.sweep(con, "days", target="play", alpha=ALPHAS, families=FAMILIES, folds=3, by="accuracy")
    accuracies = [row[4] for row in found.ranking]
    assert accuracies == sorted(accuracies, reverse=True)
    assert found.ranking.columns == ["rank", "alpha", "prior", "families", "accuracy", "log_loss"]
    families = {row[3] for row in found.ranking}
    assert "wind=binned(bins=3), calls=poisson, sky=categorical(unseen=smooth, levels=('fog',))" in families
    lines = repr(found).splitlines()
    assert lines[0] == "60 rows predicted by 6 settings"
    assert len(lines) == 11


def test_a_sweep_that_cannot_be_is_refused(con, refused):
    for options, message in [
        ({"alpha": []}, "alpha must be a value or a list of at least one, not []"),
        ({"alpha": [1, -1]}, "alpha must be a finite number of at least 0, not -1"),
        (
            {"prior": ["empirical", "unifrom"]},
            "prior must be one of 'empirical', 'uniform', 'smoothed', not 'unifrom'; did you mean 'uniform'?",
        ),
        ({"prior": [{"no": 0.5, "yes": 0.5}]}, "prior has no probability for class 'maybe'; name every class"),
        ({"by": "logloss"}, "by must be one of 'log_loss', 'accuracy', not 'logloss'; did you mean 'log_loss'?"),
        ({"folds": 1}, "folds must be a whole number of at least 2, or 'loo', not 1"),
        (
            {"families": [{}, {"note": nbsql.Text(tfidf=True, norm="l2")}]},
            "'note (2)' is estimated from all rows at once, so that no fold can be left out; leave out norm='l2'",
        ),
    ]:
        with refused(InputError, message):
            nbsql.sweep(con, "days", **{"target": "play", "exclude": ["part"], **options})


@pytest.mark.slow
def test_pseudo_counts_of_the_prior_are_settings(con):
    options = {"target": "play", "features": ["sky", "warm"]}
    priors = ["empirical", "smoothed", nbsql.Smoothed(1), nbsql.Smoothed(40)]
    found = nbsql.sweep(con, "days", prior=priors, folds=3, **options)
    losses = {row[2]: row[5] for row in found.ranking}
    assert set(losses) == {"empirical", "smoothed", "smoothed(1)", "smoothed(40)"}
    for prior in ("smoothed", nbsql.Smoothed(40)):
        own = nbsql.cross_validate(con, "days", folds=3, prior=prior, **options)
        assert losses["smoothed" if prior == "smoothed" else "smoothed(40)"] == near(own.log_loss)
    assert losses["smoothed"] == losses["smoothed(1)"]
    assert len({losses["empirical"], losses["smoothed"], losses["smoothed(40)"]}) == 3


@pytest.mark.parametrize(("method", "alpha"), [("naive", 1.0), ("joint", 0.0)])
def test_without_an_alpha_the_pseudo_count_is_that_of_a_fit(con, method, alpha):
    options = {"target": "play", "features": ["sky", "warm"], "method": method}
    found = nbsql.sweep(con, "days", prior=["empirical", "uniform"], folds=3, **options)
    own = nbsql.cross_validate(con, "days", folds=3, prior=found.settings[0]["prior"], **options)
    assert {row[1] for row in found.ranking} == {alpha}
    assert (found.ranking.fetchall()[0][4], found.ranking.fetchall()[0][5]) == (near(own.accuracy), near(own.log_loss))
    fitted = nbsql.fit(con, "days", prior=found.settings[0]["prior"], **options)
    assert found.best().families == fitted.families


@pytest.mark.slow
def test_columns_may_be_named_by_what_can_be_read_once(con):
    names = ["part", "times"]
    wanted = nbsql.sweep(con, "days", target="play", alpha=[1, 30], folds=3, exclude=names)
    found = nbsql.sweep(con, "days", target="play", alpha=[1, 30], folds=3, exclude=iter(names))
    assert [row[:4] for row in found.ranking] == [row[:4] for row in wanted.ranking]
    assert [row[5] for row in found.ranking] == near([row[5] for row in wanted.ranking], rel=1e-9)
    target = nbsql.Target("play", classes=iter(["no", "yes", "maybe", "never"]))
    assert len(nbsql.sweep(con, "days", target=target, alpha=[1, 30], folds=3, exclude=names).best().classes) == 4


def test_the_column_of_folds_may_be_excluded_by_name(con):
    one, other = (
        nbsql.cross_validate(con, "days", target="play", fold="part", exclude=exclude).folds.fetchall()
        for exclude in (["times"], ["times", "part"])
    )
    assert one == [near(row, rel=1e-9) for row in other]


@pytest.mark.slow
def test_without_a_list_some_settings_are_tried(con):
    options = {"target": "play", "exclude": ["times", "part"], "folds": 3}
    found = nbsql.sweep(con, "days", **options)
    assert {setting["alpha"] for setting in found.settings} == {0.01, 0.1, 0.5, 1.0, 2.0, 10.0}
    assert sorted({tuple(setting["families"]) for setting in found.settings}) == [(), ("wind", "calls")]
    kept = nbsql.sweep(con, "days", alpha=3, families={"wind": "gaussian"}, **options)
    assert [(setting["alpha"], setting["families"]) for setting in kept.settings] == [(3, {"wind": "gaussian"})]
    numbers = {"target": "play", "features": ["wind", "calls"], "folds": 3}
    assert len(nbsql.sweep(con, "days", method="lda", **numbers).settings) == 1  # it smooths nothing


@pytest.mark.slow
def test_the_luck_of_the_best_setting_is_estimated_from_the_folds(con):
    """By hand: in each fold, the loss of the best setting less that of the setting that is best there."""
    options = {"target": "play", "fold": "part", "exclude": ["times"]}
    found = nbsql.sweep(con, "days", alpha=[0.01, 1, 100], **options)
    losses = [
        [(weight, loss) for _, _, weight, _, loss in nbsql.cross_validate(con, "days", **options, **setting).folds.fetchall()]
        for setting in found.settings
    ]
    excess = [
        weight * (loss - min(each[fold][1] for each in losses)) for fold, (weight, loss) in enumerate(losses[0])
    ]  # fmt: skip
    assert found.optimism == near(sum(excess) / 60, rel=1e-9, abs=1e-12)
    assert f"which makes its log loss too good by about {found.optimism:.4f}" in str(found)
    assert nbsql.sweep(con, "days", alpha=[1, 2], target="play", folds="loo").optimism is None
