"""Families mixed in one model: its score is the sum of what each family says alone, with the prior counted once."""

import numpy as np
import pandas as pd
import pytest
from maths.test_oracle import assert_same_scores
from scipy.stats import poisson
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder

import nbsql

WORD = r"[^\W_]+"  # a run of letters and digits, as nbsql cuts words

pytestmark = pytest.mark.usefixtures("form")

PASSENGERS = """
  SELECT PassengerId, Survived, Pclass::VARCHAR AS Pclass, Sex, Embarked, Fare, Age, SibSp, Parch,
    Cabin IS NOT NULL AS has_cabin, Name
  FROM read_csv('{}/titanic_train.csv') WHERE Embarked IS NOT NULL ORDER BY PassengerId"""
CATEGORIES = ["Pclass", "Sex", "Embarked"]
FAMILIES = {"SibSp": nbsql.Poisson(), "Parch": nbsql.Poisson(a=0.5, b=0.25), "Name": nbsql.Text(event="multinomial", alpha=0.1)}


@pytest.fixture
def passengers(con, data):
    return con.sql(PASSENGERS.format(data)).df()


@pytest.fixture
def model(con, passengers):
    return nbsql.fit(con, passengers, target="Survived", id="PassengerId", families=FAMILIES)


@pytest.fixture
def joint(passengers):
    """ln p(x, c) of scikit-learn's models and scipy's Poisson distribution."""
    y = passengers["Survived"]
    log_prior = np.log(y.value_counts(normalize=True).sort_index().to_numpy())
    codes = OrdinalEncoder(dtype=int).fit_transform(passengers[CATEGORIES])
    total = log_prior + (CategoricalNB().fit(codes, y).predict_joint_log_proba(codes) - log_prior)
    for name in ("Fare", "Age"):  # a missing age is left out of the counts and adds nothing to the score
        known = passengers[name].notna().to_numpy()
        x = passengers.loc[known, [name]].to_numpy()
        gaussian = GaussianNB(var_smoothing=0, priors=np.exp(log_prior)).fit(x, y[known])
        total[known] += gaussian.predict_joint_log_proba(x) - log_prior
    yes = passengers[["has_cabin"]]
    total += BernoulliNB().fit(yes, y).predict_joint_log_proba(yes) - log_prior
    for name, a, b in (("SibSp", 0, 0), ("Parch", 0.5, 0.25)):
        rates = [(passengers.loc[y == c, name].sum() + a) / ((y == c).sum() + b) for c in (0, 1)]
        total += np.column_stack([poisson.logpmf(passengers[name], rate) for rate in rates])
    words = CountVectorizer(token_pattern=WORD).fit_transform(passengers["Name"])
    return total + MultinomialNB(alpha=0.1).fit(words, y).predict_joint_log_proba(words) - log_prior


@pytest.mark.slow
def test_mixed_families_add_up_with_the_prior_once(model, passengers, joint):
    assert_same_scores(model, passengers, joint)
    explained = model.explain(passengers).df()
    assert list(explained) == ["row_id", "PassengerId", "class", "feature", "value", "contribution"]
    keys = explained.drop_duplicates("row_id").sort_values("row_id")
    assert list(keys["row_id"]) == list(range(1, len(passengers) + 1))
    assert list(keys["PassengerId"]) == list(passengers["PassengerId"])
    prior = explained[explained["feature"].isna()]
    expected = passengers["Survived"].value_counts(normalize=True)
    assert len(prior) == 2 * len(passengers)
    np.testing.assert_allclose(prior["contribution"], np.log(expected.loc[prior["class"]]), rtol=1e-12)
    assert prior["value"].isna().all()


@pytest.mark.parametrize(("a", "b"), [(0, 0), (2, 0.5)])
@pytest.mark.parametrize("weight", [None, "temp"])
def test_counts_score_as_poisson_distributions(con, data, a, b, weight):
    columns = "season, casual, registered, temp"
    frame = con.sql(f"SELECT {columns} FROM read_csv('{data}/bike_sharing_hour.csv.gz')").df()
    families = {name: nbsql.Poisson(a=a, b=b) for name in ("casual", "registered")}
    model = nbsql.fit(
        con, frame, target="season", features=["casual", "registered"], families=families, weight=weight, prior="uniform"
    )
    weights = frame[weight] if weight else pd.Series(1.0, index=frame.index)
    joint = np.full((len(frame), 4), -np.log(4))
    for column, season in enumerate((1, 2, 3, 4)):
        rows = frame["season"] == season
        for name in families:
            rate = ((weights * frame[name])[rows].sum() + a) / (weights[rows].sum() + b)
            joint[:, column] += poisson.logpmf(frame[name], rate)
    scored = model.joint_log_likelihood(frame).df()
    found = scored[[f"joint_log_likelihood_{season}" for season in (1, 2, 3, 4)]].to_numpy()
    np.testing.assert_allclose(found, joint, rtol=1e-9)
