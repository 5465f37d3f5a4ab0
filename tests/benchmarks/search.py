"""What the exact sweep of `NaiveBayesCV` costs beside `GridSearchCV` over the same settings and folds.

    python tests/benchmarks/search.py --rows 4000 --rounds 3

Processor seconds of this process, in turns, the medians of the rounds, and the median of their ratios: of the same estimator in
GridSearchCV, and of scikit-learn's own pipeline of encoded categories and scaled numbers, whose smoothing alone is sought.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import nbsql
from nbsql.sklearn import NaiveBayesClassifier, NaiveBayesCV

ALPHAS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
FOLDS = 5


def seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def rows(count: int) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    labels = random.integers(3, size=count)
    columns: dict[str, Any] = {f"x{n}": random.normal(labels, 3, size=count) for n in range(5)}
    for n in range(10):
        columns[f"k{n}"] = np.char.add("v", ((random.integers(40, size=count) + labels * (n % 3)) % 40).astype(str)).astype(
            object
        )
    return pd.DataFrame(columns), labels


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    frame, labels = rows(arguments.rows)
    categories = frame[[name for name in frame if name.startswith("k")]]
    encoded = make_pipeline(OrdinalEncoder(), CategoricalNB(min_categories=40))
    grid: dict[str, Any] = {"cv": FOLDS, "scoring": "neg_log_loss"}
    searches: dict[str, Callable[[], Any]] = {
        "NaiveBayesCV": lambda: NaiveBayesCV(alphas=ALPHAS, cv=FOLDS).fit(frame, labels),
        "GridSearchCV(NaiveBayesClassifier())": lambda: GridSearchCV(NaiveBayesClassifier(), {"alpha": ALPHAS}, **grid).fit(
            frame, labels
        ),
        "NaiveBayesCV of the categories": lambda: NaiveBayesCV(alphas=ALPHAS, cv=FOLDS).fit(categories, labels),
        "GridSearchCV(CategoricalNB()) of the categories": lambda: GridSearchCV(
            encoded, {"categoricalnb__alpha": ALPHAS}, **grid
        ).fit(categories, labels),
    }
    times = [[seconds(search) for search in searches.values()] for _ in range(arguments.rounds)]
    for (name, _), column in zip(searches.items(), zip(*times, strict=True), strict=True):
        print(f"{name}: {median(column):.2f} s")
    for ours, theirs in ((0, 1), (2, 3)):
        print(f"{list(searches)[theirs]} took {median(row[theirs] / row[ours] for row in times):.1f} times as long")


if __name__ == "__main__":
    main()
