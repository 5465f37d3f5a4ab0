"""What from_tables and fits take from numpy, from several families at once, and by hand."""

import re
from math import log

import numpy as np
import pytest
from support.inserted import insert

import nbsql
from nbsql.errors import InputError


def test_families_of_several_kinds_at_once(con):
    likelihoods = {
        label: {
            "heat": {"mean": mean, "variance": 1.0},
            "words": {"w": 1.0},
            "ripe": {True: share, False: 1 - share},
            "sky": {"sun": share, "rain": 1 - share},
        }
        for label, mean, share in (("a", 1.0, 0.25), ("b", 2.0, 0.75))
    }
    families = {"heat": nbsql.Gaussian(), "words": nbsql.Multinomial(["w"]), "ripe": "bernoulli", "sky": "categorical"}
    nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods, families=families, name="book")
    con.execute("CREATE TABLE days AS SELECT 1.0 AS heat, 3 AS w, TRUE AS ripe, 'rain' AS sky")
    found = con.execute("FROM book.joint_log_likelihood('days')").fetchall()[0][-2:]
    odds = found[0] - found[1]
    assert odds == pytest.approx(0.5 + log(0.25 / 0.75) + log(0.75 / 0.25), abs=1e-12)


@pytest.mark.slow
def test_whole_numbers_and_digits_are_found_as_they_are_written(con):
    shares = {"a": {"n": {0: 0.75, 1: 0.25}, "postcode": {"02134": 0.5, "10001": 0.5}},
              "b": {"n": {0: 0.5, 1: 0.5}, "postcode": {"02134": 0.125, "10001": 0.875}}}  # fmt: skip
    of_a_frame = "SELECT * REPLACE (CAST(value AS {}) AS value) FROM given WHERE feature = 'n'"
    rows = [(label, feature, value, share) for label, features in shares.items()
            for feature, values in features.items() for value, share in values.items()]  # fmt: skip
    con.execute("CREATE TABLE given (class TEXT, feature TEXT, value TEXT, likelihood DOUBLE)")
    insert(con, "given", rows)
    for likelihoods in (shares, "given", of_a_frame.format("DOUBLE"), of_a_frame.format("DECIMAL(9, 2)")):
        model = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods)
        for value, odds in {"0": 1.5, "0.0": 1.5, "1::DOUBLE": 0.5, "1.00": 0.5, "0.5": 1.0, "0.5::DOUBLE": 1.0}.items():
            first, second = model.joint_log_likelihood(f"SELECT {value} AS n, NULL AS postcode").fetchall()[0][-2:]
            assert first - second == pytest.approx(log(odds), abs=1e-12), value
        if "postcode" in model.families:
            for value, odds in {"02134": 4.0, "10001": 4 / 7, "2134": 1.0}.items():
                first, second = model.joint_log_likelihood(f"SELECT NULL AS n, '{value}' AS postcode").fetchall()[0][-2:]
                assert first - second == pytest.approx(log(odds), abs=1e-12), value


def test_scalars_of_numpy(con):
    def model(plain):
        text, real, whole, truth = (str, float, int, bool) if plain else (np.str_, np.float32, np.int64, np.bool_)
        likelihoods = {
            text(label): {
                "heat": {"mean": real(mean), "variance": real(0.5)},
                "n": {whole(1): real(0.25), whole(2): real(0.75)},
                "ripe": {truth(True): real(0.5), truth(False): real(0.5)},
                ("x", "y"): {(whole(1), text("u")): real(0.5), (whole(2), text("u")): real(0.5)},
            }
            for label, mean in (("a", 1), ("b", 2))
        }
        return nbsql.from_tables(con, priors={text("a"): real(0.5), text("b"): real(0.5)}, likelihoods=likelihoods)

    rows = "SELECT 1.25 AS heat, 2 AS n, TRUE AS ripe, 1 AS x, 'u' AS y"
    assert model(plain=False).predict_proba(rows).fetchall() == model(plain=True).predict_proba(rows).fetchall()
    assert nbsql.Categorical(levels=np.array([True, False])).levels == ("true", "false")
    numbers = nbsql.from_tables(con, priors={np.int64(1): 0.5, np.int64(2): 0.5})
    assert numbers.classes == [1, 2]


def test_given_numbers_are_summed_without_a_guard_a_term_and_rows_may_lack_them(con):
    likelihoods = {c: {f"x{i}": {"mean": m + i, "variance": 1.0} for i in range(3)} for c, m in (("a", 0.0), ("b", 1.0))}
    model = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods)
    found = model.joint_log_likelihood("SELECT 0.0 AS x0, NULL::DOUBLE AS x1, 'nan'::DOUBLE AS x2").fetchall()[0]
    assert found[-2] - found[-1] == pytest.approx(0.5, abs=1e-12)
    assert all(feature.is_complete for feature in model.state.spec.features)


def test_a_matrix_has_rows_and_columns(con):
    matrix = np.array([[i % 2, i * 1.5, i % 5] for i in range(12)])
    model = nbsql.fit(con, matrix, target="column0")
    assert list(model.families) == ["column1", "column2"]
    assert sum(row[1] for row in model.priors) == 12
    assert [row[:3] for row in model.predict(matrix).fetchall()] == [tuple(row) for row in matrix.tolist()]
    with pytest.raises(InputError, match=re.escape("an array of 3 dimensions has not; reshape it")):
        nbsql.fit(con, np.zeros((2, 2, 2)), target="column0")


@pytest.mark.parametrize("scales", [(1.0,), (1.0, 1.0, 1.0), (0.0, 1.0), (-1, 1), ("a", "b"), (float("nan"), 1.0), 5])
def test_scales_by_hand_are_a_number_a_column(scales):
    with pytest.raises(InputError) as caught:
        nbsql.MultivariateGaussian(["a", "b"], scales=scales)
    message = f"scales must be a finite number above 0 for each of 'a', 'b', not {scales!r}; leave it out"
    assert str(caught.value) == message


@pytest.mark.parametrize("options", [{}, {"impute": True}, {"shrinkage": "ledoit-wolf"}])
def test_scales_by_hand_change_no_answer(con, options):
    con.execute("CREATE TABLE d AS SELECT i % 2 AS y, i * 1.5 AS a, (i * 7 % 5) * 1.1 AS b FROM range(40) AS t(i)")
    rows = "SELECT unnest([1.0, NULL]) AS a, 1.0 AS b"
    found, expected = (
        nbsql.fit(con, "d", target="y", families={"v": nbsql.MultivariateGaussian(["a", "b"], **given, **options)})
        .predict_proba(rows)
        .fetchall()
        for given in ({"scales": [3.0, 0.5]}, {})
    )
    for row, other in zip(found, expected, strict=True):
        assert row[-2:] == pytest.approx(other[-2:], rel=1e-9)


def test_an_update_says_that_it_takes_no_weights(con):
    con.execute("CREATE TABLE d AS SELECT i % 2 AS y, i * 1.5 AS a FROM range(10) AS t(i)")
    con.execute("CREATE TABLE more AS SELECT *, 2 AS Weight FROM d")
    model = nbsql.fit(con, "d", target="y", name="plain")
    line = (
        "model 'plain' was fitted without weights, so every row of more counts once and column 'Weight' is left out; "
        "fit it with weight='Weight' to have rows count by it"
    )
    with pytest.warns(nbsql.NbsqlWarning, match=f"^{re.escape(line)}$"):
        model.update("more")
    with pytest.warns(nbsql.NbsqlWarning, match=f"^{re.escape(line)}$"):
        model.forget("more")
    nbsql.fit(con, "more", target="y", weight="Weight").update("more")
