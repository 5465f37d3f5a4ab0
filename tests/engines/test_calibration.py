"""A calibration is DuckDB's, of every method, and so are the calibrated posteriors."""

from operator import itemgetter

import pytest
from engines.places import Place, assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

METHODS = ["platt", "isotonic", "temperature", "conformal", "certain"]  # the third is kept beside those after it

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture(params=[1, 0])
def models(request, both):
    """Without smoothing, a class is impossible that a sender is not seen in.

    A calibration reads posteriors, whatever they come from, so that two columns do on Spark, which plans each for long.
    """
    options = {"target": "label", "id": "id", "exclude": ["day"], "alpha": request.param}
    if both[0].engine == "spark":
        options |= {"features": ["Sender", "length"], "exclude": []}
    for place in both:
        place.table("inbox", COLUMNS, [row for row in mail(300, 1) if row[1:3] != ("ham", "stranger")])
        place.table("later", COLUMNS, mail(40, 2))
    return [nbsql.fit(place.con, "inbox", name="m", **options) for place in both]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_calibrations_agree(request, models, both, weight):
    """Each method in turn on the same models, and last the sets that the conformal one makes.

    Spark plans a prediction for seconds, and there judges one method, whose posteriors are written otherwise than on DuckDB.
    """
    on_spark = "spark" in request.node.callspec.params.values()
    test = "SELECT * FROM inbox WHERE id % 3 = 0"
    for method in METHODS:
        judged_on = None if on_spark and method != "isotonic" else test
        found = [model.calibrate("later", method=method, folds=None, test=judged_on, weight=weight) for model in models]
        assert_same_rows(*([tuple(line) for line in each.table()] for each in found))
        assert_same_rows(*([(each.rows, each.log_loss, each.calibrated_log_loss, each.temperature)] for each in found))
        assert_same_rows(*(sorted(each.parameters.fetchall(), key=repr) for each in found))
        for verb in ("predict_proba",) if on_spark and method != "isotonic" else ("predict", "predict_proba"):
            queries = [getattr(model, verb)("later", calibrated=True) for model in models]
            assert queries[0].columns == queries[1].columns
            assert_same_rows(*(sorted(query.fetchall(), key=repr) for query in queries))
        if on_spark and method != "isotonic":
            continue
        assert_same_rows(*(sorted(model.predict("later", calibrated=True, top_k=2).fetchall(), key=repr) for model in models))
        judged = [model.evaluate("later", calibrated=True, costs={("ham", "spam"): 3}).to_dict() for model in models]
        assert_same_rows(*([(key, value) for key, value in each.items() if key != "classes"] for each in judged))
    for options in ({"coverage": 0.8}, {"coverage": 0.9, "by_class": True}, {"coverage": 0.9995})[1 if on_spark else 0 :]:
        queries = [model.predict("inbox", **options) for model in models]
        assert queries[0].columns == queries[1].columns
        ours, theirs = (sorted(query.fetchall(), key=itemgetter(0)) for query in queries)
        assert_same_rows(*([(*row[:-1], str(list(row[-1]))) for row in rows] for rows in (ours, theirs)))
        assert len({len(row[-1]) for row in ours}) > (options["coverage"] < 0.99)
    promised = max(row[-1] for row in found[0].parameters if row[0] == "certain" and row[1] is None) - 1e-9
    decided = [sorted(model.predict("inbox", certain=promised).fetchall(), key=itemgetter(0)) for model in models]
    assert_same_rows(*decided)
    assert len({row[-1] is None for row in decided[0]}) == 2
    if not on_spark:
        for place in both:
            place.table("bare", COLUMNS, [(i, *[None] * (len(COLUMNS) - 1)) for i in (1, 2)])
        unknown = [model.predict("bare", certain=0.01, columns=["id"]).fetchall() for model in models]
        assert_same_rows(*unknown)
        assert unknown[0][0][1:] == (None, None, "nothing known tells the classes apart")
        pg = next(place for place in both if place.engine == "postgres")
        call = f"SELECT inbox.id, answer.* FROM inbox, m.predict_certain(to_jsonb(inbox), {promised!r}) AS answer"
        assert_same_rows(sorted(pg.run(call), key=itemgetter(0)), [(row[0], *row[-3:]) for row in decided[0]])
        by_class = call.replace(f"{promised!r}", f"{promised!r}, TRUE")
        query = models[0].predict("inbox", certain=promised, by_class=True, columns=["id"])
        assert_same_rows(sorted(pg.run(by_class), key=itemgetter(0)), sorted(query.fetchall(), key=itemgetter(0)))
        row = dict(zip(COLUMNS, pg.run("SELECT * FROM inbox ORDER BY id LIMIT 1")[0], strict=True))
        ones = [model.predict_one(row, certain=promised) for model in models]
        assert_same_rows(*([[each["prediction"], each["probability"], each["reason"]]] for each in ones))


def test_rows_of_few_known_words_are_decided_by_no_engine(both):
    rows = [(i, "ab"[i % 2], f"{'good' if i % 2 else 'bad'} {'word' if i % 3 else 'bad'}") for i in range(60)]
    found = []
    for place in both:
        place.table("notes", {"id": "INTEGER", "y": "VARCHAR", "note": "VARCHAR"}, rows)
        place.table("more", {"id": "INTEGER", "note": "VARCHAR"}, [(1, "bad"), (2, "bad bad"), (3, "bad word"), (4, None)])
        model = nbsql.fit(place.con, "notes", target="y", name="m", id="id", families={"note": nbsql.Text(min_known=2)})
        model.calibrate("notes", method="certain", folds=None)
        found.append(sorted(model.predict("more", certain=0.5, columns=["id"]).fetchall()))
    assert_same_rows(*found)
    assert [(row[1], row[3]) for row in found[0]] == [
        *[(None, "too few known words")] * 2, ("a", None), (None, "too few known words"),
    ]  # fmt: skip
    if pg := next((place for place in both if place.engine == "postgres"), None):
        call = "SELECT more.id, answer.* FROM more, m.predict_certain(to_jsonb(more), 0.5) AS answer"
        assert_same_rows(sorted(pg.run(call)), found[0])


def test_shares_of_classes_agree(models):
    found = [model.class_shares("later") for model in models]
    assert found[0].columns == found[1].columns
    assert_same_rows(*(query.fetchall() for query in found))
    assert sum(row[3] for row in found[0]) == pytest.approx(1, abs=1e-9)


def test_posteriors_that_leave_nothing_to_the_other_class(both):
    rows = [(i, f"c{i % 2}", i % 2 + (i * 7 % 10) / 100) for i in range(1, 9)]  # at the least temperature 1e-170 is squared
    found = []
    for place in both:
        place.table("apart", {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION"}, rows)
        model = nbsql.fit(place.con, "apart", target="y", name="m", id="id")
        shares = model.class_shares("SELECT * FROM apart WHERE y = 'c0'").fetchall()
        calibration = model.calibrate("apart", method="temperature", folds=None)
        found.append([*shares, (calibration.rows, calibration.log_loss, calibration.calibrated_log_loss)])
    assert_same_rows(*found)


@pytest.mark.parametrize("method", METHODS[:-2])
def test_calibration_by_folds_helps_and_goes_with_the_model(pg, method):
    place = Place("postgres", pg)
    place.table("inbox", COLUMNS, mail(200, 1))
    model = nbsql.fit(pg, "inbox", name="m", target="label", id="id", exclude=["day"])
    found = model.calibrate("inbox", method=method, folds=5)
    assert found.calibrated_log_loss < found.log_loss
    expected = [row[-2:] for row in sorted(model.predict("inbox", calibrated=True).fetchall())]
    sql = "SELECT said.* FROM inbox, m.predict(to_jsonb(inbox)) AS said ORDER BY inbox.id"
    assert_same_rows(place.run(sql), expected)
    with pytest.warns(nbsql.NbsqlWarning, match="calibration, which was of the model before, is dropped"):
        model.update("inbox")
    with pytest.raises(nbsql.ModelError, match=r"^model 'm' is not calibrated; calibrate it first$"):
        model.predict("inbox", calibrated=True)
    assert place.run("SELECT count(*) FROM pg_proc WHERE proname = 'predict_uncalibrated'") == [(0,)]


@pytest.mark.nightly
def test_calibration_goes_with_a_model_of_tables(spark):
    place = Place("spark", spark)
    place.table("inbox", COLUMNS, mail(120, 1))
    options = {"target": "label", "id": "id", "features": ["Sender", "length"]}
    model = nbsql.fit(spark, "inbox", name="m", **options)
    found = model.calibrate("inbox", folds=3)
    assert found.calibrated_log_loss < found.log_loss
    assert place.run("SELECT method, temperature FROM m.calibration") == [("temperature", found.temperature)]
    assert found.parameters.fetchall() == place.run("SELECT * FROM m.calibration")
    expected = sorted(model.predict("inbox", calibrated=True).fetchall(), key=repr)
    other = nbsql.load(spark, "m")
    other.compact()
    assert_same_rows(sorted(model.predict("inbox", calibrated=True).fetchall(), key=repr), expected)
    with pytest.warns(nbsql.NbsqlWarning, match="calibration, which was of the model before, is dropped"):
        other.update("inbox")
    with pytest.raises(nbsql.ModelError, match=r"^model 'm' is not calibrated; calibrate it first$"):
        model.predict("inbox", calibrated=True)
    assert "calibration" not in {name for _, name, _ in place.run("SHOW TABLES IN m")}
    transient = nbsql.fit(spark, "inbox", **options)
    transient.calibrate("SELECT * FROM inbox WHERE id > 60", method="isotonic", folds=None)
    assert len(transient.predict_proba("inbox", calibrated=True).fetchall()) == 120
    transient.drop()
    model.drop()
    assert [name for _, name, _ in place.run("SHOW VIEWS") if name.startswith("nbsql ") and not name.endswith(" source")] == []


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("temperature", ["0", "-1", "NULL", "CAST('NaN' AS DOUBLE PRECISION)"])
def test_a_temperature_that_is_no_number_above_0_is_refused(connect, engine, temperature):
    place = connect(engine)
    place.table("inbox", COLUMNS, mail(60, 1))
    model = nbsql.fit(place.con, "inbox", target="label", id="id", features=["Sender", "length"], name="m")
    model.calibrate("inbox")
    place.con.execute(f"UPDATE m.calibration SET temperature = {temperature}")
    scored = "to_jsonb(inbox)" if engine == "postgres" else "'inbox'"
    verbs = [
        lambda: model.predict_proba("inbox").fetchall(),
        lambda: model.evaluate("inbox").log_loss,
        lambda: model.predict_one({"Sender": "a", "length": 1}),
        lambda: place.run(f"SELECT said.* FROM inbox, m.predict({scored}) AS said"),
    ]
    for verb in verbs:
        with pytest.raises(Exception, match=r"the temperature of the model is .*not a number above 0; calibrate it again"):
            verb()


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_one_row_is_scored_by_the_calibration_that_a_model_has_by_now(connect, engine):
    place = connect(engine)
    place.table("t", {"y": "VARCHAR", "x": "VARCHAR"}, [("ab"[i % 3 == 0], "uvw"[i % 7 % 3]) for i in range(60)])
    model = nbsql.fit(place.con, "t", target="y", name="m", method="joint")  # whose statement names the method
    for method in ("temperature", "isotonic", "temperature", "platt"):
        model.calibrate("t", method=method, folds=None)
        (expected,) = model.predict_proba("SELECT CAST('u' AS VARCHAR) AS x", columns=[])
        assert list(model.predict_one({"x": "u"})["probabilities"].values()) == pytest.approx(expected[2:], abs=1e-12)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_platt_on_rows_of_one_score_gives_every_score_their_share(connect, engine):
    place = connect(engine)
    rows = [("a" if i % 3 == 0 else "b", i % 7 / 10 + i % 3) for i in range(60)]
    place.table("t", {"y": "VARCHAR", "x": "DOUBLE PRECISION"}, rows)
    place.table("one", {"y": "VARCHAR", "x": "DOUBLE PRECISION"}, [("a" if i % 4 == 0 else "b", 0.3) for i in range(700)])
    model = nbsql.fit(place.con, "t", target="y", name="m")
    model.calibrate("one", method="platt", folds=None)
    share = 175 * 176 / 177 / 700 + 525 / 527 / 700  # the mean of Platt's targets
    found = model.predict_proba("t", columns=["x"]).fetchall()
    assert [row[3] for row in found] == pytest.approx([share] * 60, abs=1e-9)
