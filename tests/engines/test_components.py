"""Classes of several components: k-means finds DuckDB's, and mixtures are scored as there."""

import random

import pytest
from engines.places import LACKS, assert_same_rows
from engines.test_agreement import explained

import nbsql

COLUMNS = {
    "id": "INTEGER", "y": "VARCHAR", "w": "DOUBLE PRECISION", "x": "DOUBLE PRECISION", "z": "DECIMAL(10, 3)",
    "c": "VARCHAR",
}  # fmt: skip
CASES = {
    "two": {"method": nbsql.Mixture(2), "exclude": ["w"]},
    "weights": {"method": nbsql.Mixture(3), "weight": "w"},
    "some classes": {"method": nbsql.Mixture({"b": 3}), "exclude": ["w"], "nulls": "category", "unseen": "smooth"},
    "other families": {
        "method": nbsql.Mixture(2),
        "exclude": ["w"],
        "families": {"z": nbsql.Binned(bins=3), "c": nbsql.Text()},
    },
}
CENTRES = {"a": [(0, 0), (9, 1)], "b": [(4, 8), (-6, 3), (3, -9)], "c": [(0, 20), (20, 20)]}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def lumps(both):
    chance = random.Random(6)  # noqa: S311
    rows = []
    for i in range(240):
        label = "aabbbcc"[i % 7]
        x, z = chance.choice(CENTRES[label])
        x, z = x + chance.gauss(0, 1), round(z + chance.gauss(0, 1), 3)
        rows.append(
            (i, label, chance.choice([0.5, 1.0, 2.0]), None if i % 19 == 0 else x, None if i % 23 == 0 else z, "uvw"[i % 3])
        )
    for place in both:
        place.table("t", COLUMNS, rows)
    return both


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["a column a class", "a row a class"])
@pytest.mark.parametrize("case", CASES)
def test_mixtures_agree(lumps, layout, case, form):
    if form == "a row a class":
        if lumps[0].engine == "spark":
            pytest.skip("Spark scores with a column a class alone")
        layout(class_columns=False)
    models = [nbsql.fit(place.con, "t", target="y", id="id", name="m", **CASES[case]) for place in lumps]
    views = [place.run("SELECT * FROM m.components") for place in lumps]
    assert_same_rows(*(sorted(view, key=lambda row: tuple(map(repr, [*row[:2], *row[4:6]]))) for view in views))
    for change in (None, "update", "forget"):
        if change:
            for model in models:
                getattr(model, change)("SELECT * FROM t WHERE id % 3 = 0")
        for verb in ("predict_proba", "joint_log_likelihood", "log_evidence"):
            assert_same_rows(*(sorted(getattr(model, verb)("t").fetchall(), key=repr) for model in models))
    assert_same_rows(*(explained(model, "SELECT * FROM t WHERE id < 30") for model in models))
    judged = [model.evaluate("t") for model in models]
    assert judged[0].log_loss == pytest.approx(judged[1].log_loss, rel=1e-9)
    assert models[0].log_likelihood("t", labelled=True) == pytest.approx(models[1].log_likelihood("t", labelled=True), rel=1e-9)
    loaded = nbsql.load(lumps[0].con, "m")
    row = {"x": 1.0, "z": 2.0, "c": "u"}
    if "predict_one" in LACKS[lumps[0].engine]:
        assert_same_rows(*(sorted(model.predict("t").fetchall(), key=repr) for model in (loaded, models[1])))
        return
    assert loaded.predict_one(row)["probability"] == pytest.approx(models[1].predict_one(row)["probability"], rel=1e-9)


def test_large_classes_settle_on_a_sample_first(lumps, layout):
    """Which rows that are is a matter of the engine's hash; where they settle is not."""
    layout(sample_rows=40, cluster_rows=20, cluster_candidates=15)
    models = [nbsql.fit(place.con, "t", target="y", id="id", method=nbsql.Mixture(2), exclude=["w"]) for place in lumps]
    for model in models:
        rows = [row for row in model.likelihoods if row[1] == "x"]
        assert {row[0] for row in rows} == {"a", "b", "c"}
    accuracies = [model.evaluate("t").accuracy for model in models]
    assert accuracies == [pytest.approx(accuracies[1], abs=0.02)] * 2


def test_rows_are_drawn_of_them(lumps):
    """By the engine's own chance: so many of each class and component as the model has, each about its centre."""
    options = {"method": nbsql.Mixture({"b": 3}), "exclude": ["w", "id"], "families": {"c": nbsql.Text()}}
    model = nbsql.fit(lumps[0].con, "t", target="y", name="m", **options)
    drawn = model.sample(3000, seed=5).fetchall()
    assert model.sample(20, seed=5).fetchall() == drawn[:20]
    members = lumps[0].run("SELECT DISTINCT class, component, prior FROM m.components")
    means = lumps[0].run("SELECT class, component, feature, mean, variance FROM m.components WHERE feature IN ('x', 'z')")
    centres = {(label, component, feature): (mean, variance) for label, component, feature, mean, variance in means}
    assert len(members) == 5
    for label, component, prior in members:
        if label != "b":
            share = sum(row[-1] == label for row in drawn) / len(drawn)
            assert share == pytest.approx(prior, abs=4 * (prior / len(drawn)) ** 0.5)
            continue
        near = [
            row
            for row in drawn
            if row[-1] == label
            and all(
                abs(float(value) - centres[label, component, feature][0]) < 5 * centres[label, component, feature][1] ** 0.5
                for feature, value in zip("xz", row[:2], strict=True)
            )
        ]
        assert len(near) / len(drawn) == pytest.approx(prior, abs=4 * (prior / len(drawn)) ** 0.5)
    assert {tuple(row[2].split()) for row in drawn} > {(), ("u",)}
