"""Every engine has DuckDB's answers on the same rows, to 1e-9: estimates, scores and explanations."""

import random
from datetime import date

import pytest
from engines.places import Place, assert_same_rows

import nbsql
import nbsql.plan.form
import nbsql.rendering.dialect

COLUMNS = {
    "id": "INTEGER", "label": "VARCHAR", "Sender": "VARCHAR", "replied": "BOOLEAN", "length": "DOUBLE PRECISION",
    "links": "INTEGER", "flag": "SMALLINT", "share": "DECIMAL(10, 3)", "day": "DATE", "weight": "DOUBLE PRECISION",
}  # fmt: skip


def mail(count, seed):
    """Rows with missing values, rows of no weight, rows without a class, and a number that is neither NaN nor finite."""
    chance = random.Random(seed)  # noqa: S311

    def missing(value):
        return None if chance.random() < 0.1 else value

    rows = []
    for row in range(count):
        label = chance.choice(["ham", "Spam", "spam", "ämter"])
        rows.append(
            (
                row,
                None if row % 41 == 40 else label,
                missing(chance.choice(["friend", "Friend", "stranger", "it's", ""])),
                missing(chance.random() < {"ham": 0.8, "Spam": 0.1}.get(label, 0.5)),
                float("nan") if row == 7 else missing(chance.gauss({"ham": 1e3, "Spam": 1.1e3}.get(label, 900), 50)),
                missing(chance.randrange(0, 4 if label == "ham" else 12)),
                missing(chance.randrange(2)),
                missing(round(chance.gauss(0.5, 0.2), 3)),
                missing(date(2026, 1, 1 + chance.randrange(3))),
                chance.choice([0.0, 0.5, 1.0, 2.0]),
            )
        )
    return rows


def explained(model, source):
    """The rows of an explanation, in one order, with values as numbers where they are: engines write 1.0 and 1."""

    def plain(value):
        if isinstance(value, str) and value.startswith("["):
            return [plain(each) for each in value.strip("[]").split(", ")]
        try:
            return f"{float(value):.12g}"
        except (TypeError, ValueError):
            return value

    rows = [(*row[:-2], plain(row[-2]), row[-1]) for row in model.explain(source)]
    return sorted(rows, key=lambda row: tuple(map(repr, row[:-1])))


def assert_agreement(both, train, test, **options):
    """Both engines fit the same model and say the same of the same rows."""
    ours, theirs = (nbsql.fit(place.con, train, name="m", replace=True, **options) for place in both)
    assert ours.classes == theirs.classes
    for relation in ("priors", "likelihoods"):
        found, expected = (
            sorted(getattr(model, relation).fetchall(), key=lambda row: tuple(map(repr, row[: 1 + 2 * (len(row) > 4)])))
            for model in (ours, theirs)
        )
        assert_same_rows(found, expected)
    loaded = nbsql.load(both[0].con, "m")
    verbs = ("predict", "predict_proba", "joint_log_likelihood", "log_evidence")
    quick = both[0].engine != "spark"  # where a statement takes long: predict_proba has the columns of predict
    for model in (ours, loaded) if quick else (loaded,):
        for verb in verbs if quick else verbs[1:]:
            found, expected = getattr(model, verb)(test), getattr(theirs, verb)(test)
            assert found.columns == expected.columns
            assert_same_rows(*(sorted(query.fetchall(), key=lambda row: row[0]) for query in (found, expected)))
        assert_same_rows(explained(model, test), explained(theirs, test))


TODAY = "SELECT * FROM today"
LEAVE = ["flag", "share", "day", "weight"]

CASES = {
    "inferred": {"exclude": ["day"]},
    "weights": {"exclude": ["day"], "weight": "weight"},
    "maximum likelihood": {"exclude": LEAVE, "alpha": 0},
    "smoothing": {"exclude": LEAVE, "alpha": 0.25, "unseen": "smooth"},
    "missing as a category": {"exclude": LEAVE, "nulls": "category", "unseen": "smooth"},
    "uniform prior": {"exclude": LEAVE, "prior": "uniform"},
    "smoothed prior": {"exclude": LEAVE, "prior": nbsql.Smoothed(3)},
    "classes to come": {
        "exclude": LEAVE,
        "prior": "smoothed",
        "target": nbsql.Target("label", ["spam", "Spam", "ham", "never", "ämter"]),
    },
    "given prior": {"exclude": LEAVE, "prior": {"ham": 0.1, "spam": 0.2, "Spam": 0.3, "ämter": 0.4}},
    "sample variance": {"features": ["length", "share"], "families": {"length": nbsql.Gaussian(variance="sample")}},
    "shared variance": {"features": ["length", "share"], "families": {"length": nbsql.Gaussian(shared_variance=True)}},
    "no floor": {"features": ["length"], "families": {"length": nbsql.Gaussian(floor=0)}},
    "counts": {"features": ["links"], "families": {"links": "poisson"}},
    "counts with a prior": {"features": ["links"], "families": {"links": nbsql.Poisson(a=2, b=1, estimate="mode")}},
    "categories of all types": {
        "features": ["links", "flag", "day", "replied"],
        "families": dict.fromkeys(["links", "flag", "day", "replied"], "categorical"),
    },
    "levels": {
        "features": ["Sender"],
        "families": {"Sender": nbsql.Categorical(levels=["never", "friend"], alpha={"friend": 3.0, "never": 0.5})},
    },
    "rare categories": {
        "features": ["Sender", "links"],
        "families": {"Sender": nbsql.Categorical(min_count=9), "links": nbsql.Categorical(min_count=12, unseen="smooth")},
    },
    "modes": {
        "features": ["Sender", "replied"],
        "alpha": 2,
        "families": {"Sender": nbsql.Categorical(estimate="mode"), "replied": nbsql.Bernoulli(3, 2, estimate="mode")},
    },
    "bernoulli of numbers": {"features": ["flag"], "families": {"flag": nbsql.Bernoulli(1, 2, nulls="category")}},
    "nothing but priors": {"features": []},
    "keys": {"exclude": LEAVE, "id": ["id", "Sender"]},
    "another target": {"target": "links", "exclude": ["label", *LEAVE]},
    "a yes or no": {"target": "replied", "features": ["Sender", "length"]},
}


@pytest.fixture
def inboxes(both):
    for place in both:
        place.table("inbox", COLUMNS, mail(400, 1))
        unseen = (-1, "ham", "nobody", None, None, None, None, None, None, 1.0)
        empty = (-2, None, *[None] * 7, 1.0)
        wild = (-3, "ham", "Friend", True, 1e149, 40, 1, 99999, date(1999, 1, 1), 1.0)
        place.table("today", COLUMNS, [*mail(60, 2), unseen, empty, wild])
    return both


@pytest.mark.daily
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_models_agree(inboxes, case):
    options = {"target": "label", "id": "id", **CASES[case]}
    assert_agreement(inboxes, "inbox", TODAY, **options)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_stars_in_blocks_agree(inboxes, layout):
    layout(star_joins=0, block_joins=2)
    families = dict.fromkeys(["links", "flag", "day"], "categorical")
    assert_agreement(inboxes, "inbox", "today", target="label", id="id", families=families, nulls="category", unseen="smooth")


@pytest.mark.parametrize("case", ["weights", "counts with a prior", "missing as a category", "modes", "levels"])
@pytest.mark.parametrize("both", ["postgres"], indirect=True)  # Spark has a column a class only
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_row_a_class_agrees(inboxes, layout, case):
    """What a model of more parameters than a row holds is scored by."""
    if nbsql.rendering.dialect.DIALECTS[inboxes[0].engine].max_numbers is None:
        pytest.skip("a row holds any number of parameters there")
    layout(class_columns=False)
    assert_agreement(inboxes, "inbox", TODAY, target="label", id="id", **CASES[case])
    model = nbsql.load(inboxes[0].con, "m")
    assert any(column.name == "class_no" for column in model.state.engine.columns(model.state.relations["parameters"]))
    models = [nbsql.load(place.con, "m") for place in inboxes]
    assert_same_rows(*(sorted(model.predict("today", top_k=2).fetchall(), key=repr) for model in models))
    judged = [model.evaluate("today", costs={("ham", "spam"): 3}).to_dict() for model in models]
    assert_same_rows(*([(key, value) for key, value in each.items() if key != "classes"] for each in judged))


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_more_parameters_than_a_row_holds_agree(both):
    chance = random.Random(4)  # noqa: S311
    numbers = [f"x{number}" for number in range(40)]
    rows = [(i, f"class {i % 10}", *(chance.gauss(i % 10 * (j % 3), 3) for j in range(40))) for i in range(150)]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", **dict.fromkeys(numbers, "DOUBLE PRECISION")}, rows)
    assert_agreement(both, "t", "SELECT * FROM t WHERE id < 12", target="y", id="id")


# What breaks sums of squares: a mean far from 0, numbers whose squares are above or below every double, constants, no number.
WILD = {
    "a large mean": [1e9, 1e9 + 1, 1e9 + 2, 1e9 + 1.5],
    "beyond squares": [1e200, -1e200, 1.0, 2.0],
    "near the limit": [1e149, -1e149, 3e148, 1e149],
    "tiny": [1e-200, -1e-200, 2e-139, 0.0],
    "small": [1e-120, 3e-120, 2e-120, 4e-120],
    "constant": [0.1, 0.1, 0.1, 0.1],
    "not finite": [float("nan"), float("inf"), float("-inf"), 5.0],
    "constant in one class": [1.0, 1.0, 2.0, 7.0],
    "missing": [None, None, None, None],
    "apart": [1e12, 1e12 + 1, -1e12, -1e12 + 3],
}


@pytest.mark.parametrize("case", WILD)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_wild_numbers_agree(both, case):
    x = WILD[case]
    rows = [(i, "ab"[i // 2 % 2], x[i % 4], 1.0) for i in range(24)]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "z": "REAL"}, rows)
        place.table(
            "u", {"id": "INTEGER", "x": "DOUBLE PRECISION", "z": "REAL"}, [(i, v, 2.0) for i, v in enumerate([*x, 0.5])]
        )
    assert_agreement(both, "t", "u", target="y", id="id", features=["x", "z"])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_class_of_no_weight_agrees(both):
    rows = [(1, "a", 1.0, 1.0), (2, "a", float("nan"), 2.0), (3, "b", 5.0, 0.0), (4, "c", 2.0, 1.0), (5, "c", None, 0.0)]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "w": "DOUBLE PRECISION"}, rows)
    assert_agreement(both, "t", "t", target="y", id="id", weight="w")


@pytest.mark.parametrize("most", [10, 10**12])
def test_factorials_agree(both, most):
    """On both sides of each limit between the forms of ln x!, by rates that are of their size and by one that is far beyond."""
    counts = [0, 1, 2, 3, 10, 150, 99_999, 1_000_001, 10**12]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "x": "BIGINT"}, [(1, "a", 3), (2, "b", 5), (3, "b", most)])
        place.table("u", {"id": "INTEGER", "x": "BIGINT"}, list(enumerate(counts)))
    assert_agreement(both, "t", "u", target="y", id="id", families={"x": nbsql.Poisson(a=1, b=1)})


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("mood", ["glad", "bad"]),
        ("UUID", ["5b8a2c1e-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"]),
        ("DATE", ["2026-11-21", "2025-01-01"]),
        ("NUMERIC(5, 2)", ["2.50", "1.25"]),
        ("SMALLINT", ["10", "9"]),
        ("TIMESTAMP", ["2026-11-21 12:00:00", "2025-01-01 00:00:00"]),
    ],
)
def test_labels_of_any_type_agree(both, kind, labels):
    spark = both[0].engine == "spark"
    if spark and kind in ("mood", "UUID"):
        pytest.skip(f"Spark has no type such as {kind}")
    for place in both:
        if not spark:
            place.run("CREATE TYPE mood AS ENUM ('glad', 'bad')")
        rows = [(i, "ab"[i % 3 % 2], i % 2, labels[i % 2]) for i in range(12)]
        place.table("raw", {"id": "INTEGER", "c": "VARCHAR", "x": "INTEGER", "y": "VARCHAR"}, rows)
        place.run(f"CREATE TABLE t AS SELECT id, c, x, CAST(y AS {kind}) AS y FROM raw")
    assert_agreement(both, "t", "t", target="y", id="id", features=["c"])
    model = nbsql.load(both[0].con, "m")
    assert model.evaluate("t").rows == 12
    model.update("t")
    assert model.classes == nbsql.load(both[1].con, "m").classes


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_many_classes_agree(both):
    """DuckDB scores them with a row a class, the others with a column a class."""
    rows = [(i, f"class {i % 120}", "uvw"[i % 7 % 3], i % 11) for i in range(480)]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "x": "VARCHAR", "k": "INTEGER"}, rows)
    assert_agreement(both, "t", "SELECT * FROM t WHERE id < 30", target="y", id="id", families={"k": "poisson"})


def test_another_encoding_of_the_client_is_minded(pg):
    pg.execute("SET client_encoding = 'LATIN1'")
    place = Place("postgres", pg)
    place.table("t", {"größe": "VARCHAR", "y": "VARCHAR"}, [("süß", "ä"), ("b", "o")])
    model = nbsql.fit(pg, "t", target="y", name="maß")
    assert model.predict("SELECT 'süß' AS größe").fetchall()[0][:2] == ("süß", "ä")
    assert nbsql.models(pg) == ["maß"]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_ties_between_features_values_and_words_go_by_their_bytes(both):
    """And not by the rules of a language, in which a comes before B, and B before é."""
    columns = {"id": "INTEGER", "y": "INTEGER", "a": "VARCHAR", "B": "VARCHAR", "é": "VARCHAR", "words": "VARCHAR[]"}
    rows = [(i, i % 2, *["xZä"[i % 3]] * 3, ["a", "B"] if i % 2 else []) for i in range(12)]
    found = []
    for place in both:
        place.table("t", columns, rows)
        place.table("new", columns, [(0, 0, "u", "v", "w", ["q", "Q", "éé"])])
        options = {"target": "y", "id": "id", "name": "m", "replace": True}
        nbsql.fit(place.con, "t", features=["words"], families={"words": nbsql.Tokens(best=1)}, **options)
        best = [value for (value,) in place.run("SELECT DISTINCT value FROM m.likelihoods")]
        pairs = nbsql.fit(place.con, "t", exclude=["words"], method="aode", **options).relevance().fetchall()
        model = nbsql.fit(place.con, "t", **options)
        orders = [[row[:3] for row in query] for query in (model.linear(), model.likelihoods)]
        reasons = [model.review("new", by=by).fetchall()[0][-1] for by in ("novelty", "evidence")]
        found.append((best, orders, reasons, [row[0] for row in pairs]))
    assert found[0] == found[1]
    assert found[0][0] == ["a"]
    assert found[0][2][0] == "never seen: B = v; a = u; words = Q and 3 more"


def test_the_queue_of_rows_to_label(both):
    """By margin, evidence, what is new and cost, with texts, lists and values that are missing; two rows of one pattern."""
    kinds = {"id": "INTEGER", "y": "VARCHAR", "s": "VARCHAR", "w": "VARCHAR[]", "n": "INTEGER"}
    known = [(row, "ab"[row % 2], "uvw"[row % 3], ["k", f"l{row % 4}"], row % 5) for row in range(40)]
    pool = [(row, None, [None, "u", "z"][row % 3], ["k", f"l{row % 6}"], row * 3 % 7) for row in range(25)]
    found = []
    for place in both:
        place.table("known", kinds, known)
        place.table("pool", kinds, [*pool, (99, *pool[4][1:])])
        model = nbsql.fit(place.con, "known", target="y", id="id", name="m", families={"n": "poisson"})
        asked = {"margin": {}, "evidence": {}, "novelty": {}, "expected cost": {"costs": {("a", "b"): 3}}}
        queries = [model.review("pool", 6, by=by, **options) for by, options in asked.items()]
        shape = nbsql.fit(place.con, "known", target=None, id="id", name="shape", exclude=["y"], families={"n": "poisson"})
        queries += [shape.unusual("pool", 6), nbsql.load(place.con, "shape").log_evidence("pool", columns=["id"])]
        found.append([(query.columns, query.fetchall()) for query in queries])
    for ours, theirs in zip(*found, strict=True):
        assert ours[0] == theirs[0]
        assert_same_rows(ours[1], theirs[1])
