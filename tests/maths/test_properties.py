"""What holds for every table: the algebra of the statistics, and how the verbs agree with one another."""

import heapq
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.algebra import COLUMNS, FAMILIES, cells, connect, few, fit, near, rounding, same, same_cells, tables, unweighted

from nbsql.plan import VERBS
from nbsql.rendering.renderer import Renderer

# Small tables have constant and empty columns, and only one class at times; that is not the subject here.
pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.slow
@given(tables, unweighted)
@few
def test_a_weight_of_w_is_w_copies(rows, others):
    copies = [row for row in rows for _ in range(row[-1])]
    con = connect(rows=rows, copies=copies, others=others)
    weighted, copied = fit(con, "rows", weight="times", exclude=[]), fit(con, "copies")
    same_cells(cells(weighted), cells(copied))
    same(weighted.predict("others").fetchall(), copied.predict("others").fetchall(), rounding(weighted, "others"))
    same(sorted(weighted.priors, key=str), sorted(copied.priors, key=str))


@pytest.mark.slow
@given(unweighted, st.randoms(use_true_random=False))
@few
def test_the_order_of_rows_and_columns_is_irrelevant(rows, chance):
    shuffled = chance.sample(rows, len(rows))
    names = chance.sample(list(COLUMNS), len(COLUMNS))
    con = connect(rows=rows, shuffled=shuffled)
    model, other = fit(con, "rows"), fit(con, f"SELECT {', '.join(names)} FROM shuffled")
    same_cells(cells(model), cells(other))
    same(model.predict_proba("rows").fetchall(), other.predict_proba("rows").fetchall())


@pytest.mark.slow
@given(unweighted)
@few
def test_fitting_twice_gives_the_same_model(rows):
    con = connect(rows=rows)
    first, second = fit(con, "rows", name="first"), fit(con, "rows", name="second")
    same_cells(cells(first), cells(second))  # sums on several cores may differ in their last bit
    assert first.families == second.families
    assert con.execute("SELECT count(DISTINCT spec) FROM (FROM first.spec UNION ALL FROM second.spec)").fetchall() == [(1,)]
    same(first.predict_proba("rows").fetchall(), second.predict_proba("rows").fetchall())


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_the_verbs_agree_on_every_row(rows, others):
    con = connect(rows=rows, others=others)
    model = fit(con, "rows", unseen="smooth", alpha=0.5)
    labels = sorted(model.classes)
    size = len(labels)
    joint = [row[-size:] for row in model.joint_log_likelihood("others")]
    evidence = [row[-1] for row in model.log_evidence("others")]
    explained = {}
    for row_id, label, _, _, contribution in model.explain("others"):
        explained.setdefault((row_id, label), []).append(contribution)
    offs = [1e-12 + off for off in rounding(model, "others")]
    for number, (row, off) in enumerate(zip(model.predict_proba("others"), offs, strict=True), start=1):
        prediction, probability, posteriors = row[-size - 2], row[-size - 1], row[-size:]
        assert row[: -size - 2] == others[number - 1]
        assert math.fsum(posteriors) == pytest.approx(1, abs=off)
        assert probability == pytest.approx(max(posteriors), abs=off)
        assert posteriors[labels.index(prediction)] == pytest.approx(max(posteriors), abs=off)
        total = max(joint[number - 1]) + math.log(sum(math.exp(x - max(joint[number - 1])) for x in joint[number - 1]))
        assert evidence[number - 1] == pytest.approx(total, abs=1e-9)
        for label, posterior, score in zip(labels, posteriors, joint[number - 1], strict=True):
            assert posterior == pytest.approx(math.exp(score - total), abs=off)
            assert math.fsum(explained[number, label]) == pytest.approx(score, rel=1e-12, abs=1e-9)
    same(model.predict("others").fetchall(), [row[:-size] for row in model.predict_proba("others")])


@pytest.mark.slow
@given(unweighted, unweighted, st.sampled_from(["skip", "smooth"]), st.sampled_from(["skip", "category"]))
@few
def test_every_form_of_scoring_gives_the_same_answers(rows, others, unseen, nulls):
    con = connect(rows=rows, others=others)
    answers = {}
    forms = {
        "wide": {},
        "blocks": {"star_joins": 0, "few_values": -1},
        "listed": {"star_joins": 0},
        "long": {"wide_classes": 0},
        "long, listed": {"star_joins": 0, "wide_classes": 0},
    }
    for form, limits in forms.items():
        with pytest.MonkeyPatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(Renderer, "layout", replace(Renderer.layout, **{name: limit}))
            model = fit(con, "rows", unseen=unseen, nulls=nulls)
            answers[form] = [getattr(model, verb)("others").fetchall() for verb in VERBS]
    offs = [1e-9 + off for off in rounding(model, "others")]
    # Forms add in different orders, so where two classes are as probable the one or the other may be some last digit ahead.
    likelihoods = [heapq.nlargest(2, row[len(COLUMNS) :]) for row in answers["wide"][[*VERBS].index("joint_log_likelihood")]]
    tied = [len(best) == 2 and math.isclose(*best, rel_tol=1e-12, abs_tol=1e-9) for best in likelihoods]
    for verb, wide, *alike in zip(VERBS, *answers.values(), strict=True):
        ties, off = ([False] * len(wide), [1e-9] * len(wide)) if verb == "explain" else (tied, offs)
        for other in alike:
            for one, two, tie, most in zip(wide, other, ties, off, strict=True):
                assert all(near(x, y, most) or (tie and isinstance(x, str)) for x, y in zip(one, two, strict=True)), (one, two)


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_the_statistics_of_a_union_are_the_statistics_combined(a, b):
    con = connect(a=a, b=b, union_=a + b)
    combined = cells(fit(con, "a"))
    for key, (n_b, mean_b, m2_b) in cells(fit(con, "b")).items():
        n_a, mean_a, m2_a = combined.get(key, (0.0, None, None))
        n, mean, m2 = n_a + n_b, mean_b, m2_b
        if n_a and n_b and mean_a is not None:
            mean = mean_a + (mean_b - mean_a) * n_b / n
            if m2_a is not None:  # Chan, Golub and LeVeque (1983)
                m2 = m2_a + m2_b + (mean_b - mean_a) ** 2 * n_a * n_b / n
        elif n_a:
            mean, m2 = mean_a, m2_a
        combined[key] = (n, mean, m2)
    same_cells(combined, cells(fit(con, "union_")))


@pytest.mark.slow
@given(unweighted, st.sampled_from(["sky", "warm", "wind", "calls", "bag", "note"]))
@few
def test_a_null_scores_as_if_the_feature_were_absent(rows, column):
    con = connect(rows=rows)
    families = {name: family for name, family in FAMILIES.items() if name != column}
    whole, without = fit(con, "rows"), fit(con, "rows", exclude=["times", column], families=families)
    nulled = f"SELECT * REPLACE (CAST(NULL AS {COLUMNS[column]}) AS {column}) FROM rows"
    same(whole.joint_log_likelihood(nulled).fetchall(), without.joint_log_likelihood(nulled).fetchall())
