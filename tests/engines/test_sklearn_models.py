"""Estimators of scikit-learn on other engines: there, scored where the rows are, on learning where they count, and back."""

import numpy as np
import pandas as pd
import pytest
from support.fitted_estimators import CALIBRATED, CASES, TABLE

from nbsql.sklearn import from_sklearn, to_sklearn

NAMES = [
    "GaussianNB",
    "CategoricalNB",
    "QuadraticDiscriminantAnalysis",
    "ColumnTransformer, LogisticRegression",
    "CountVectorizer(min_df, ngram_range), ComplementNB",
    "TfidfVectorizer, LogisticRegression",
    "CalibratedClassifierCV, isotonic",
]
ROWS = TABLE[:60]


def table(place, rows):
    numbered = rows.assign(row_no=range(len(rows)))
    types = {"f": "DOUBLE PRECISION", "i": "BIGINT", "u": "BIGINT", "b": "BOOLEAN"}
    columns = {name: types.get(numbered[name].dtype.kind, "VARCHAR") for name in numbered}
    values = numbered.astype(object).where(numbered.notna(), None)
    place.table("rows", columns, [tuple(row) for row in values.itertuples(index=False)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_estimators_go_there_and_back(connect, engine):
    place = connect(engine)
    table(place, ROWS)
    for name in NAMES if engine == "postgres" else NAMES[:1]:
        case = {**CASES, **CALIBRATED}[name]
        estimator = case.fit(TABLE)
        columns = case.columns if isinstance(case.columns, str) else None
        model = from_sklearn(place.con, estimator, columns=columns, target=case.target, id="row_no", name="m", replace=True)
        assert str(model.batches.fetchall()[0]).count("scikit-learn's") == 1
        rows = pd.DataFrame(
            model.predict_proba("rows", calibrated=name in CALIBRATED).fetchall(), columns=model.predict_proba("rows").columns
        )
        rows = rows.sort_values("row_no")
        want = estimator.predict_proba(ROWS[case.columns])
        found = rows[[f"probability_{label}" for label in estimator.classes_]].to_numpy()
        assert np.abs(found - want).max() < 1e-9, name
        if name not in CALIBRATED:
            back = to_sklearn(model)
            read = ROWS[case.columns]
            if hasattr(back, "feature_names_in_"):
                read = ROWS[list(back.feature_names_in_)]
            assert np.abs(back.predict_proba(read) - want).max() < 1e-9, name
    if engine == "postgres":
        before = from_sklearn(
            place.con, CASES["GaussianNB"].fit(TABLE), target=CASES["GaussianNB"].target, name="m", replace=True
        )
        count = sum(row[1] for row in before.priors)
        before.update("rows")
        assert sum(row[1] for row in before.priors) == count + len(ROWS)
