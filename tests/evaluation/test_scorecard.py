"""A model as a scorecard, against optbinning, against numpy, and against the odds of the model itself."""

import math

import numpy as np
import pytest
from support.elsewhere import SQLite

import nbsql

FACTOR = 20 / math.log(2)
OFFSET = 600 - FACTOR * math.log(50)
NAMES = ["feature", "kind", "value", "lower", "upper", "n", "n_target", "weight_of_evidence", "information_value"]
NAMES += ["feature_information_value", "points", "below_best", "below_average"]
EDGES = {"age": [25, 35, 45, 60], "hours_per_week": [35, 40, 41, 50]}


def lines(card):
    return [dict(zip(NAMES, line, strict=True)) for line in card.lines]


def test_it_is_that_of_optbinning(con, data):
    """The figures are those of optbinning 1.0: a BinningProcess with these splits, missing values a bin of their own.

    Its Scorecard scales by pdo_odds an estimator whose coefficients are -1 and whose intercept is that of the classes.
    """
    con.execute(
        f"""CREATE TABLE adult AS SELECT * EXCLUDE (income, split), CAST(income = '>50K' AS INTEGER) AS bad
        FROM read_csv('{data}/adult.csv.gz', nullstr='?')
        WHERE split = 'train' AND education <> 'Preschool'
          AND coalesce(workclass NOT IN ('Never-worked', 'Without-pay'), TRUE)"""
    )
    features = ["age", "hours_per_week", "workclass", "education", "sex", "relationship"]
    bins = {name: nbsql.Binned(by=edges) for name, edges in EDGES.items()}
    model = nbsql.fit(con, "adult", target="bad", features=features, families=bins, alpha=0, nulls="category")
    card = model.scorecard(target=0)
    assert card.lines.columns == NAMES
    expected = [0.9566436140699338, 0.46335241910534564, 0.16111939308570666, 0.7385831345924374, 0.3037456852772298]
    found = {line["feature"]: line["feature_information_value"] for line in lines(card) if line["feature"]}
    assert [found[name] for name in features] == pytest.approx([*expected, 1.5358086841517085], abs=1e-12)
    points = np.array([row[0] for row in card.score("adult", columns=[]).fetchall()])
    assert [points.mean(), points.min(), points.max(), *points[:3]] == pytest.approx(
        [560.2911118392361, 335.39879083726294, 857.6200120728515, 503.8600344062218, 475.60882673428364, 550.1372634647005],
        abs=1e-9,
    )


ROWS = """
    SELECT
      i AS id, ['good', 'bad', 'lost'][1 + (i * 7 + i // 3) % 5 % {classes}] AS "the ""class"" of", i % 4 / 2 AS w,
      CASE WHEN i % 11 = 0 THEN NULL ELSE ['it''s', 'back\\slash', '{{{{ x }}}}'][1 + i * i % 7 % 3] END AS "sky'; --",
      CASE WHEN i % 13 = 0 THEN NULL ELSE i % 5 = 1 END AS "b""b",
      CASE WHEN i % 17 = 0 THEN 'nan'::DOUBLE ELSE i % 10 + i % 3 END AS x
    FROM range(300) AS r(i)"""
FAMILIES = {"sky'; --": nbsql.Categorical(nulls="category", unseen="smooth"), "x": nbsql.Binned(by=[3, 6])}
FIT = {"target": 'the "class" of', "id": "id", "weight": "w", "families": FAMILIES}


def woe(con, column, target, rest):
    """The weights of evidence of the values of a column with a pseudo-count of 1, from the rows."""
    counts = {}
    for label, value, n in con.execute(f'SELECT "the ""class"" of", {column}, sum(w) FROM t GROUP BY ALL').fetchall():
        if value is not None or column.startswith('"sky'):
            counts.setdefault(value, {})[label] = float(n)
    priors = dict(con.execute('SELECT "the ""class"" of", sum(w) FROM t GROUP BY ALL').fetchall())
    likelihoods = {}
    for label in priors:
        total = sum(of.get(label, 0) for of in counts.values()) + len(counts)
        likelihoods[label] = {value: (of.get(label, 0) + 1) / total for value, of in counts.items()}
        likelihoods[label]["never seen"] = 1 / total
    share = {label: float(priors[label] / sum(priors[other] for other in rest)) for label in rest}
    return {
        value: math.log(likelihoods[target][value] / sum(share[label] * likelihoods[label][value] for label in rest))
        for value in likelihoods[target]
    }


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_hostile_names_missing_and_unseen_values(con, classes):
    con.execute(f"CREATE TABLE t AS {ROWS.format(classes=classes)}")
    model = nbsql.fit(con, "t", **FIT)
    card = model.scorecard(target="good")
    rest = ["bad", "lost"][: classes - 1]
    expected = {
        "sky'; --": woe(con, '"sky\'; --"', "good", rest),
        "b\"b": woe(con, '"b""b"', "good", rest),
        "x": woe(con, "CASE WHEN isnan(x) THEN NULL WHEN x < 3 THEN 0 WHEN x < 6 THEN 1 ELSE 2 END", "good", rest),
    }  # fmt: skip
    found = lines(card)
    priors = {label: prior for label, _, prior, _ in model.priors}
    base = OFFSET + FACTOR * math.log(priors["good"] / sum(priors[label] for label in rest))
    assert found[0]["points"] == pytest.approx(base, abs=1e-9)
    for line in found[1:]:
        kind, value = line["kind"], line["value"]
        if line["feature"] == "sky'; --":
            value = {"value": value, "missing": None, "unseen": "never seen"}[kind]
        elif kind == "missing":  # it is skipped
            assert (line["points"], line["n"]) == (0.0, None)
            continue
        elif line["feature"] == "x":
            value = {None: 0, 3.0: 1, 6.0: 2}[line["lower"]]
        else:
            value = value == "true"
        assert line["weight_of_evidence"] == pytest.approx(expected[line["feature"]][value], abs=1e-12)
        assert line["points"] == pytest.approx(FACTOR * line["weight_of_evidence"], abs=1e-9)
    rows = {row[0]: row[1] for row in card.score("t", columns=["id"])}
    if classes == 2:
        for id_, bad, good in model.joint_log_likelihood("t", columns=["id"]):
            assert rows[id_] == pytest.approx(OFFSET + FACTOR * (good - bad), abs=1e-9)
    else:
        assert "points are not those of the odds by the model" in repr(card)
    hail = card.score("""SELECT * REPLACE ('hail' AS "sky'; --") FROM t WHERE id < 9""", columns=["id"])
    never = dict(hail.fetchall())
    known = {line["value"] or line["kind"]: line["points"] for line in found if line["feature"] == "sky'; --"}
    for id_, value in con.execute("""SELECT id, "sky'; --" FROM t WHERE id < 9""").fetchall():
        assert never[id_] == pytest.approx(rows[id_] + known["unseen"] - known[value or "missing"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("per", ["feature", "class and feature"])
def test_points_of_a_weighted_model_are_those_of_its_odds(con, per):
    con.execute(f"CREATE TABLE t AS {ROWS.format(classes=2)}")
    model = nbsql.fit(con, "t", **FIT, method=nbsql.Weighted(per=per, penalty=1))
    card = model.scorecard(target="good")
    assert "points are of the weight of evidence times the weight of its feature" in repr(card)
    rows = {row[0]: row[1] for row in card.score("t", columns=["id"])}
    for id_, bad, good in model.joint_log_likelihood("t", columns=["id"]):
        assert rows[id_] == pytest.approx(OFFSET + FACTOR * (good - bad), abs=1e-9)
    naive = lines(nbsql.fit(con, "t", **FIT).scorecard(target="good"))
    assert [line["weight_of_evidence"] for line in lines(card)] == pytest.approx([line["weight_of_evidence"] for line in naive])
    assert rows == pytest.approx(dict(con.execute(card.sql("t", columns=["id"])).fetchall()), abs=1e-9)


def test_of_three_classes_weights_of_evidence_are_times_the_weight(con):
    con.execute(f"CREATE TABLE t AS {ROWS.format(classes=3)}")
    model = nbsql.fit(con, "t", **FIT, method=nbsql.Weighted(penalty=1), name="m")
    weights = dict(con.execute("SELECT feature, weight FROM m.weights WHERE feature IS NOT NULL").fetchall())
    base, *others = lines(model.scorecard(target="good"))
    scores = dict(con.execute("SELECT class, weight FROM m.weights WHERE feature IS NULL").fetchall())
    odds = {label: prior * math.exp(scores[label]) for label, _, prior, _ in model.priors}
    assert base["points"] == pytest.approx(OFFSET + FACTOR * math.log(odds["good"] / (odds["bad"] + odds["lost"])), abs=1e-9)
    for line in others:
        assert line["points"] == pytest.approx(FACTOR * weights[line["feature"]] * line["weight_of_evidence"], abs=1e-9)


def test_the_bins_that_a_refusal_names_are_those_of_so_many_classes(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS y, i % 3 + hash(i) % 100 / 50 AS x FROM range(300) AS r(i)")
    with pytest.raises(nbsql.ModelError, match=r"fit it with families=\{'x': nbsql.Binned\(by=\"mdl\"\)\}$"):
        nbsql.fit(con, "t", target="y", families={"x": "gaussian"}).scorecard(target=0)
    model = nbsql.fit(con, "t", target="y", families={"x": nbsql.Binned(by="mdl")})
    assert len(lines(model.scorecard(target=0))) > 2


@pytest.mark.slow
def test_weights_that_give_no_points_are_refused(con):
    con.execute(f"CREATE TABLE t AS {ROWS.format(classes=3)}")
    model = nbsql.fit(con, "t", **FIT, method=nbsql.Weighted(per="class and feature", penalty=1))
    with pytest.raises(nbsql.ModelError) as caught:
        model.scorecard(target="good")
    assert str(caught.value) == (
        f"{model.state.title} has weights for each of 3 classes, and the rest together has none; "
        "fit it with method=nbsql.Weighted(views=False), or a target of two classes"
    )
    con.execute("CREATE TABLE odd AS SELECT i % 2 = 0 AS a, i // 2 % 2 = 0 AS b, i % 2 <> i // 2 % 2 AS y FROM range(400) r(i)")
    model = nbsql.fit(con, "odd", target="y", method=nbsql.Weighted(pairs=1))
    with pytest.raises(nbsql.ModelError) as caught:
        model.scorecard()
    assert str(caught.value) == (
        "'a & b' is a feature of several columns, so that a value has no points by itself; "
        "fit it with method=nbsql.Weighted(views=False)"
    )
    con.execute("CREATE TABLE line AS SELECT i + i % 2 * 90.5 AS a, i % 2 AS y FROM range(200) r(i)")
    model = nbsql.fit(con, "line", target="y", method=nbsql.Weighted(views=True))
    with pytest.raises(nbsql.ModelError) as caught:
        model.scorecard()
    assert str(caught.value) == (
        "'a as normal' is gaussian, which has no values or bins to give points to; "
        "fit it with method=nbsql.Weighted(views=False)"
    )


def test_the_average_row_is_one_of_those_that_have_points(con, monkeypatch):
    """A value that one side never has gets no points without smoothing; a dbt model has the other lines all the same."""
    monkeypatch.setattr(nbsql.Scorecard, "_point_lines", lambda *_: [])
    loan, value = "['good', 'bad'][1 + i % 2]", "CASE WHEN i % 8 = 0 THEN 'ship' ELSE 'v' || i // 2 % 3 END"
    con.execute(f"CREATE TABLE t AS SELECT {loan} AS loan, {value} AS v, 1 + i % 3 AS w FROM range(120) AS r(i)")
    model = nbsql.fit(con, "t", target="loan", weight="w", alpha=0)
    found = [line for line in lines(model.scorecard(target="good")) if line["feature"] and line["n"]]
    assert [line["value"] for line in found if line["points"] is None] == ["ship"]  # only good loans have it
    pointed = [line for line in found if line["points"] is not None]
    average = sum(line["n"] * line["points"] for line in pointed) / sum(line["n"] for line in pointed)
    for line in pointed:
        assert line["below_average"] == pytest.approx(average - line["points"], abs=1e-9)


def test_reasons_are_what_costs_most_in_any_engine(con):
    con.execute(f"CREATE TABLE t AS {ROWS.format(classes=2)}")
    card = nbsql.fit(con, "t", **FIT).scorecard(target="good", digits=0)
    found = lines(card)
    assert all(line["points"] == round(line["points"]) for line in found)
    features = ["sky'; --", 'b"b', "x"]
    elsewhere = SQLite()
    elsewhere.load(con, "t")
    names = ["points", "reason_1", "reason_2", "reason_3"]
    for against in ("best", "average"):
        lost = {(line["feature"], line["kind"], line["value"]): line[f"below_{against}"] for line in found}
        points = {key[:3]: line["points"] for line in found for key in [tuple(line.values())]}
        best = {name: max(v for (f, kind, _), v in points.items() if f == name and kind != "unseen") for name in features[:1]}
        if against == "best":
            assert lost[features[0], "unseen", None] == pytest.approx(best[features[0]] - points[features[0], "unseen", None])
        here = {row[0]: row[1:] for row in card.score("t", reasons=3, against=against, columns=["id"])}
        there = elsewhere.rows(card.sql("t", dialect="sqlite", reasons=3, against=against, columns=["id"]))
        assert {row["id"]: tuple(row[name] for name in names) for row in there} == here
        for id_, sky, b, x in con.execute("""SELECT id, "sky'; --", "b""b", nullif(x, 'nan') FROM t""").fetchall():
            bins = ["(-inf, 3)", "[3, 6)", "[6, inf)"]
            values = [sky, b if b is None else str(b).lower(), x if x is None else bins[(x >= 3) + (x >= 6)]]
            keys = [(name, "missing" if v is None else "value", v) for name, v in zip(features, values, strict=True)]
            assert here[id_][0] == found[0]["points"] + sum(points[key] for key in keys)
            costs = sorted((-round(lost[key], 9), place) for place, key in enumerate(keys) if lost[key] > 1e-9)
            assert [*here[id_][1:]] == [features[place] for _, place in costs] + [None] * (3 - len(costs))


def test_it_follows_the_model(con):
    rows = "SELECT i % 2 = 0 AS y, 'a' || i % {} AS a FROM range(60) AS t(i)"
    model = nbsql.fit(con, rows.format(3), target="y", name="m")
    card = model.scorecard()
    query, before = card.score("SELECT 'a1' AS a"), lines(card)
    assert (card.target, card.factor, card.offset) == ("true", pytest.approx(FACTOR), pytest.approx(OFFSET))
    points = query.fetchall()
    model.update(rows.format(4))
    assert [line["n"] for line in lines(card)] != [line["n"] for line in before]
    after = query.fetchall()
    assert after != points
    assert con.execute(card.sql("SELECT 'a1' AS a")).fetchall() == after
    assert "600 points at odds of 50 to 1" in repr(card)


@pytest.mark.filterwarnings("ignore:.* differ only by case or blanks:nbsql.NbsqlWarning")
def test_values_that_differ_by_case_alone_have_their_own_points(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 2 = 0 AS y, CASE WHEN i % 3 = 0 THEN 'b' ELSE 'B' END AS a FROM range(20) AS r(i)"
    )
    model = nbsql.fit(con, "t", target="y")
    con.execute("SET default_collation = 'NOCASE'")
    card = model.scorecard()
    known = {line["value"]: found for line in lines(card) if line["kind"] == "value" for found in [line["points"]]}
    base = lines(card)[0]["points"]
    found = dict(card.score("SELECT unnest(['b', 'B']) AS a").fetchall())
    con.execute("RESET default_collation")
    assert found == pytest.approx({value: base + points for value, points in known.items()}, abs=1e-9)
    assert len(set(known.values())) == 2


REFUSED = [
    ("number", {}, {}, "'x' is gaussian, which has no values or bins to give points to; fit it with "
     "families={'x': nbsql.Binned(by=\"mdl\", monotone=True)}"),
    ("text", {"features": ["s"], "families": {"s": "text"}}, {}, "'s' is text, which has no values or bins to give points to; "
     "leave it out of the model: exclude=['s']"),
    ("all", {"features": ["x", "s", "k"], "families": {"s": "text", "k": "poisson"}}, {},
     "'x' is gaussian, 's' is text, 'k' is poisson, which have no values or bins to give points to; fit it with "
     "families={'x': nbsql.Binned(by=\"mdl\", monotone=True), 'k': nbsql.Binned(by=\"mdl\", monotone=True)}, and "
     "leave it out of the model: exclude=['s']"),
    ("views", {"features": ["s"], "families": {"s": "text"}, "method": "weighted"}, {},
     "'s' is text, 's by share' is text, which have no values or bins to give points to; "
     "leave it out of the model: exclude=['s']"),
    ("lda", {"features": ["x", "k"], "method": "lda"}, {},
     "'lda' is multivariate_gaussian, which has no values or bins to give points to; "
     "fit it with method=nbsql.Weighted(views=False)"),
    ("joint", {"features": ["a", "k"], "families": {"both": nbsql.Joint(["a", "k"])}}, {},
     "'both' is joint, which has no values or bins to give points to; leave 'both' out of families"),
    ("parent", {"features": ["a"], "families": {"a": nbsql.Conditional("k")}}, {},
     "'a' depends on 'k', so that a value has no points by itself; fit it as a category, with method='naive'"),
    ("classes", {"target": "k", "features": ["a"]}, {},
     "the model has 3 classes; say whose odds the points are: target='0', say"),
    ("no class", {"features": ["a"]}, {"target": "no"}, "the model has no class 'no'; it has 'false', 'true'"),
    ("one class", {"target": "one", "features": ["a"]}, {}, "the model has one class only; points tell two or more apart"),
    ("no feature", {"features": []}, {}, "the model has no features to give points to; fit it with some"),
    ("zero", {"features": ["a"], "alpha": 0}, {},
     "'a0' of 'a' has no points, since one side never has it; fit the model with an alpha above 0"),
    ("missing", {"features": ["g"], "families": {"g": nbsql.Categorical(nulls="category")}, "alpha": 0}, {},
     "a value of 'g' that is missing has no points, since one side never has it; fit the model with an alpha above 0"),
    ("odds", {"features": ["a"]}, {"odds": 0}, "odds must be above 0, not 0"),
    ("points", {"features": ["a"]}, {"points": "many"}, "points must be a finite number, not 'many'"),
    ("digits", {"features": ["a"]}, {"digits": -1}, "digits must be a whole number from 0 to 9, or None, not -1"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_what_is_refused(con):
    con.execute(
        """CREATE TABLE t AS SELECT i % 3 = 0 AS y, i % 3 AS k, 1 AS one, 'a' || i % 3 AS a, i / 7 AS x,
        CASE WHEN i % 6 > 0 THEN 'g' || i // 2 % 2 END AS g, 'w' || i AS s
        FROM range(30) AS r(i)"""
    )
    for options, asked, message in [case[1:] for case in REFUSED]:
        model = nbsql.fit(con, "t", **{"target": "y", "features": ["x", "a"], **options})
        with pytest.raises((nbsql.InputError, nbsql.ModelError)) as caught:
            model.scorecard(**asked)
        assert str(caught.value) == message


def test_what_a_score_refuses(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 = 0 AS y, 'a' || i % 3 AS a, i AS points FROM range(30) AS r(i)")
    card = nbsql.fit(con, "t", target="y", features=["a"]).scorecard()
    for message, options in {
        "reasons must be a whole number from 0 to 1, the number of features, not 2": {"reasons": 2},
        "against must be 'best' or 'average', not 'worst'": {"against": "worst"},
        "t has a column 'points' already, which a scorecard adds; rename it or leave it out": {},
    }.items():
        with pytest.raises(nbsql.InputError) as caught:
            card.score("t", **options)
        assert str(caught.value) == message
    with pytest.raises(nbsql.InputError, match=r"^the source has a column 'points', which a scorecard adds; leave it out with"):
        card.sql("t", dialect="sqlite", columns=["points"])
