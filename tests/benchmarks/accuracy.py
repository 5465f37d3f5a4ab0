"""How good the answers are on real tables: nbsql by default and by `nbsql.auto`, beside scikit-learn.

In the end, method by method: the log loss over that of the best boosting (texts: linear's) in the median and at worst, and on
how many tables it is lower than the default's, or higher, by more than two standard errors. Where boosting has less than 0.01
nats a ratio says nothing: there the difference is told in nats, and counts in no ratio.

    NBSQL_DATA=folder python tests/benchmarks/accuracy.py [--rows N] [--only TABLE ...] [--methods METHOD ...]

Each table is cut in two by a hash of the number of its row, 7 tenths to learn and 3 to judge on; large ones are cut to N
rows first (6,000); digits, wine and cancer come with scikit-learn. Nothing of the second part is known to a choice. Log
losses keep p between 2^-52 and 1 - 2^-52; AUC is of two classes, or the mean of one against the rest. Seconds are processor
time, of one thread of each program.

    default       nbsql.fit
    smoothed      nbsql.fit with Gaussian(smoothing=1e-9) for all numbers of a normal density; none for texts
    floored       the same with Gaussian(floor=0.01)
    prior         the same with Gaussian(prior=NormalInverseGamma())
    auto          nbsql.auto(calibrate=False, methods=["naive"]).best()
    calibrated    nbsql.auto(methods=["naive"]).best(), whose temperature has to earn its place
    best          nbsql.auto().best(), which tries other methods, too
    bins          nbsql.fit with numbers cut where the classes differ, as for a tree; none for texts
    tan           nbsql.fit(method="tan"), a tree of dependent categories; none for texts
    aode          nbsql.fit(method="aode"), every category a parent in turn; none for texts
    weighted      nbsql.fit(method="weighted"), naive Bayes whose features have weights
    one-view      the same with nbsql.Weighted(views=False), where numbers are not also normal densities; none for texts
    pairs         nbsql.fit(method=nbsql.Weighted(pairs=40)), and pairs of columns beside them; none for texts
    naive         GaussianNB of the numbers, missing ones as the median, and CategoricalNB of the rest, as one model: their
                  joint log-likelihoods less one prior; of texts MultinomialNB of CountVectorizer
    linear        LogisticRegression of scaled numbers and indicators; of texts TfidfVectorizer
    boosting      HistGradientBoostingClassifier; none for texts
    lightgbm      LGBMClassifier, if LightGBM is installed; none for texts
    catboost      CatBoostClassifier, if CatBoost is installed; none for texts
"""

from __future__ import annotations

import argparse
import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import nbsql

EPSILON = 2.0**-52
OURS = (
    "default", "smoothed", "floored", "prior", "auto", "calibrated", "best", "bins", "tan", "aode", "weighted", "one-view",
    "pairs",
)  # fmt: skip
BOOSTED = ("boosting", *(name for name in ("lightgbm", "catboost") if find_spec(name)))
METHODS = (*OURS, "naive", "linear", *BOOSTED)
LEAST = 0.01  # nats of boosting, below which a ratio to it says nothing
STEADIED = {
    "smoothed": nbsql.Gaussian(smoothing=1e-9),
    "floored": nbsql.Gaussian(floor=0.01),
    "prior": nbsql.Gaussian(prior=nbsql.NormalInverseGamma()),
}
COMPARED = (
    ("smoothed", "default"), ("auto", "default"), ("best", "calibrated"), ("tan", "bins"), ("aode", "bins"),
    ("weighted", "one-view"), ("pairs", "weighted"),
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table to predict: the query of its rows, the class, the column of its texts, if that is all, and what loads it."""

    query: str
    target: str
    text: str | None = None
    frame: Callable[..., Any] | None = None


FLIGHTS = """
SELECT arr_delay > 15 AS late, month, dep_delay, carrier, origin, dest, distance, hour
FROM '{}/nycflights13_flights.parquet' WHERE arr_delay IS NOT NULL
"""
WAITED = """
SELECT arr_delay > 15 AS late, month, greatest(dep_delay, 0) AS minutes_late, carrier, origin, dest, distance, hour
FROM '{}/nycflights13_flights.parquet' WHERE arr_delay IS NOT NULL
"""  # an early departure is none that is late, as the Bureau of Transportation Statistics has it
FROM_WHERE = """
SELECT origin, month, carrier, distance, hour, dep_delay, arr_delay
FROM '{}/nycflights13_flights.parquet' WHERE arr_delay IS NOT NULL
"""
CLINICS = """
SELECT
  maternal_health_delivery_services AS deliveries, facility_type_display AS kind, sector, latitude, longitude,
  COLUMNS('num_.*')::DOUBLE,
  COLUMNS([
    'emergency_transport', 'phcn_electricity', 'c_section_yn', 'child_health_measles_immun_calc', 'improved_water_supply',
    'improved_sanitation', 'vaccines_fridge_freezer', 'antenatal_care_yn', 'family_planning_yn', 'malaria_treatment_artemisinin'
  ])::VARCHAR
FROM read_csv('{}/nmis_niger_state.csv.gz', nullstr = 'NA') WHERE maternal_health_delivery_services IS NOT NULL
"""
IN_KILOMETRES = """
SELECT * REPLACE (
  elevation / 1e3 AS elevation,
  horiz_dist_hydrology / 1e3 AS horiz_dist_hydrology, vert_dist_hydrology / 1e3 AS vert_dist_hydrology,
  horiz_dist_roadways / 1e3 AS horiz_dist_roadways, horiz_dist_fire_points / 1e3 AS horiz_dist_fire_points
) FROM '{}/covtype_20k.parquet'
"""
TABLES = {
    "adult": Table("SELECT * EXCLUDE (split) FROM '{}/adult.csv.gz'", "income"),
    "mushroom": Table("FROM '{}/mushroom.csv.gz'", "class"),
    "votes": Table("FROM '{}/house_votes_84.csv'", "party"),
    "iris": Table("FROM '{}/iris.csv'", "species"),
    "titanic": Table("SELECT * EXCLUDE (PassengerId, Name, Ticket) FROM '{}/titanic_train.csv'", "Survived"),
    "flights: late": Table(FLIGHTS, "late"),
    "flights: late, minutes": Table(WAITED, "late"),
    "flights: origin": Table(FROM_WHERE, "origin"),
    "clinics": Table(CLINICS, "deliveries"),
    "covtype": Table("FROM '{}/covtype_20k.parquet'", "cover_type"),
    "covtype, kilometres": Table(IN_KILOMETRES, "cover_type"),
    "bikes: season": Table("SELECT * EXCLUDE (instant, dteday, mnth) FROM '{}/bike_sharing_hour.csv.gz'", "season"),
    "bikes: weather": Table("SELECT * EXCLUDE (instant, dteday) FROM '{}/bike_sharing_hour.csv.gz'", "weathersit"),
    "bikes: work": Table(
        "SELECT * EXCLUDE (instant, dteday, weekday, holiday) FROM '{}/bike_sharing_hour.csv.gz'", "workingday"
    ),
    "sms": Table("SELECT label, message FROM '{}/sms_spam.csv.gz'", "label", "message"),
    "newsgroups": Table("SELECT newsgroup, text FROM '{}/newsgroups_6.parquet'", "newsgroup", "text"),
    "digits": Table("FROM frame", "target", frame=load_digits),
    "wine": Table("FROM frame", "target", frame=load_wine),
    "cancer": Table("FROM frame", "target", frame=load_breast_cancer),
    "diabetes": Table("SELECT * REPLACE (target > 140 AS target) FROM frame", "target", frame=load_diabetes),
}


@dataclass(frozen=True)
class Found:
    """What a method is worth: the losses of the rows, accuracy, AUC, and the seconds of a fit and a prediction."""

    losses: np.ndarray
    accuracy: float
    auc: float
    fit: float
    predict: float

    @property
    def loss(self) -> float:
        return float(self.losses.mean())


def labels(frame: pd.DataFrame) -> pd.DataFrame:
    """The values as texts, a missing one as an empty text."""
    return frame.astype(object).where(frame.notna(), "").astype(str)


class Naive:
    """GaussianNB and CategoricalNB as one model."""

    def fit(self, x: pd.DataFrame, y: np.ndarray) -> Naive:
        self.numbers = [name for name in x if pd.api.types.is_numeric_dtype(x[name]) and x[name].dtype != bool]
        self.levels = [name for name in x if name not in self.numbers]
        self.models: list[tuple[Any, Any, list[str]]] = []
        if self.numbers:
            impute = SimpleImputer(strategy="median", keep_empty_features=True)
            self.models.append((impute, GaussianNB().fit(impute.fit_transform(x[self.numbers]), y), self.numbers))
        if self.levels:
            encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            codes = encode.fit_transform(labels(x[self.levels])).astype(int)
            sizes = [len(each) + 1 for each in encode.categories_]
            self.models.append((encode, CategoricalNB(min_categories=sizes).fit(codes, y), self.levels))
        self.classes_ = self.models[0][1].classes_
        return self

    def predict_proba(self, x: pd.DataFrame) -> np.ndarray:
        total = 0.0
        for place, (change, model, names) in enumerate(self.models):
            values = change.transform(x[names] if isinstance(model, GaussianNB) else labels(x[names]))
            if isinstance(model, CategoricalNB):
                sizes = model.n_categories_ - 1
                values = np.where(values < 0, sizes, values).astype(int)
            total = total + model.predict_joint_log_proba(values)
            if place:
                total = total - (np.log(model.class_prior_) if isinstance(model, GaussianNB) else model.class_log_prior_)
        total -= total.max(axis=1, keepdims=True)
        return np.exp(total) / np.exp(total).sum(axis=1, keepdims=True)


def contender(method: str, table: Table, x: pd.DataFrame) -> Any:
    """A model of scikit-learn's, or None where the method has none for such a table."""
    if table.text is not None:
        if method == "naive":
            return make_pipeline(CountVectorizer(), MultinomialNB())
        return make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)) if method == "linear" else None
    if method == "naive":
        return Naive()
    numbers = [name for name in x if pd.api.types.is_numeric_dtype(x[name]) and x[name].dtype != bool]
    levels = [name for name in x if name not in numbers]
    if method == "linear":
        scaled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        indicators = OneHotEncoder(handle_unknown="ignore")
        return make_pipeline(
            make_column_transformer((scaled, numbers), (indicators, levels)), LogisticRegression(max_iter=1000)
        )
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=math.nan, encoded_missing_value=math.nan, max_categories=200
    )
    of_levels = [*[False] * len(numbers), *[True] * len(levels)]
    if method == "catboost":
        return CatBoost(numbers, levels)
    boosting = HistGradientBoostingClassifier(random_state=0, categorical_features=of_levels)
    if method == "lightgbm":
        from lightgbm import LGBMClassifier

        boosting = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)
    made = make_pipeline(make_column_transformer(("passthrough", numbers), (codes, levels)), boosting)
    return made.set_params(lgbmclassifier__categorical_feature=np.flatnonzero(of_levels)) if method == "lightgbm" else made


class CatBoost:
    """CatBoostClassifier of numbers and of categories as texts."""

    def __init__(self, numbers: list[str], levels: list[str]) -> None:
        self.numbers, self.levels = numbers, levels

    def read(self, x: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([x[self.numbers].astype(float), labels(x[self.levels])], axis=1)

    def fit(self, x: pd.DataFrame, y: np.ndarray) -> CatBoost:
        from catboost import CatBoostClassifier

        model = CatBoostClassifier(random_seed=0, thread_count=1, verbose=0, allow_writing_files=False)
        self.model = model.fit(self.read(x), y, cat_features=self.levels)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, x: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self.read(x))


def judged(probabilities: np.ndarray, classes: list[str], truth: np.ndarray, fit: float, predict: float) -> Found:
    """What a method is worth, of a column of probabilities a class; one of no class counts as 0 for all."""
    probabilities = np.nan_to_num(probabilities)
    place = {label: i for i, label in enumerate(classes)}
    known = np.array([place.get(label, -1) for label in truth])
    p = np.where(known >= 0, probabilities[np.arange(len(truth)), known], 0.0)
    losses = -np.log(np.clip(p, EPSILON, 1 - EPSILON))
    aucs = [roc_auc_score(known == i, probabilities[:, i]) for i in range(len(classes)) if 0 < (known == i).sum() < len(truth)]
    auc = aucs[-1] if len(classes) == 2 else float(np.mean(aucs))
    return Found(losses, float((probabilities.argmax(axis=1) == known).mean()), float(auc), fit, predict)


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return act(), time.process_time() - begun


def measure(table: Table, folder: str, rows: int, methods: Sequence[str]) -> dict[str, Found]:
    """Some methods on one table."""
    con = duckdb.connect(config={"threads": 1})
    if table.frame is not None:
        con.register("frame", table.frame(as_frame=True).frame)
    con.execute(f"""
        CREATE TABLE cut AS SELECT *, hash(nbsql_number) AS chance
        FROM (SELECT *, row_number() OVER () AS nbsql_number FROM ({table.query.format(folder)}) AS rows)
        QUALIFY row_number() OVER (ORDER BY chance) <= {rows}
    """)  # fmt: skip
    for name, condition in (("learnt", "< 7"), ("met", ">= 7")):
        con.execute(
            f"CREATE TABLE {name} AS SELECT * EXCLUDE (chance, nbsql_number) FROM cut "
            f"WHERE chance // 16 % 10 {condition} ORDER BY nbsql_number"
        )
    target = table.target
    found: dict[str, Found] = {}

    def chosen(**options: Any) -> tuple[nbsql.Model, bool]:
        best = nbsql.auto(con, "learnt", target=target, **options)
        return best.best(), best.calibrated

    models: dict[str, Callable[[], tuple[nbsql.Model, bool]]] = {
        "default": lambda: (nbsql.fit(con, "learnt", target=target), False),
        "auto": lambda: chosen(calibrate=False, methods=["naive"]),
        "calibrated": lambda: chosen(methods=["naive"]),
        "best": chosen,
    }
    if table.text is None:
        kinds = nbsql.families(con, "learnt", target=target)
        numbers = [name for name, family in kinds.items() if family.name == "gaussian"]
        cut = {name: nbsql.Binned(by="mdl") for name in numbers}
        for method, family in STEADIED.items():
            steadied = dict.fromkeys(numbers, family)
            models[method] = lambda families=steadied: (nbsql.fit(con, "learnt", target=target, families=families), False)
        models["bins"] = lambda: (nbsql.fit(con, "learnt", target=target, families=cut), False)
        models["tan"] = lambda: (nbsql.fit(con, "learnt", target=target, method="tan"), False)
        models["one-view"] = lambda: (nbsql.fit(con, "learnt", target=target, method=nbsql.Weighted(views=False)), False)
        models["pairs"] = lambda: (nbsql.fit(con, "learnt", target=target, method=nbsql.Weighted(pairs=40)), False)
        models["aode"] = lambda: (nbsql.fit(con, "learnt", target=target, method="aode"), False)
    families = {table.text: nbsql.Text()} if table.text is not None else None
    models["weighted"] = lambda: (nbsql.fit(con, "learnt", target=target, method="weighted", families=families), False)
    for method, fit in models.items():
        if method not in methods:
            continue
        (model, is_calibrated), seconds = timed(fit)
        classes = [str(row[0]).lower() if isinstance(row[0], bool) else str(row[0]) for row in model.priors]
        scored, predicting = timed(lambda model=model, is_it=is_calibrated: model.predict_proba("met", calibrated=is_it).df())
        shown = con.execute(f'SELECT CAST("{target}" AS VARCHAR) AS truth FROM scored').df()["truth"].to_numpy()  # in its order
        columns = [f"probability_{label}" for label in classes]
        found[method] = judged(scored[columns].to_numpy(), classes, shown, seconds, predicting)
    learnt, met = con.execute("FROM learnt").df(), con.execute("FROM met").df()
    y = con.execute(f'SELECT CAST("{target}" AS VARCHAR) AS y FROM learnt').df()["y"].to_numpy()
    truth = con.execute(f'SELECT CAST("{target}" AS VARCHAR) AS truth FROM met').df()["truth"].to_numpy()
    x, points = (frame.drop(columns=target) for frame in (learnt, met))
    if table.text is not None:
        x, points = x[table.text], points[table.text]
    for method in METHODS[len(OURS) :]:
        other = contender(method, table, x) if method in methods else None
        if other is not None:
            other, seconds = timed(lambda other=other: other.fit(x, y))
            probabilities, predicting = timed(lambda other=other: other.predict_proba(points))
            found[method] = judged(probabilities, [*map(str, other.classes_)], truth, seconds, predicting)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--only", nargs="*", choices=[*TABLES], default=[*TABLES])
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    arguments = parser.parse_args()
    folder = os.environ.get("NBSQL_DATA", "")
    if not Path(folder).is_dir():
        raise SystemExit("NBSQL_DATA must name the folder of the tables")
    warnings.simplefilter("ignore")
    methods = [method for method in METHODS if method in arguments.methods]
    compared = [pair for pair in COMPARED if {*pair} <= {*methods}]
    titles = [*methods, *(f"{better} over {than}" for better, than in compared)]
    print("| table | figure | " + " | ".join(titles) + " |")
    print("| --- | --- |" + " --- |" * len(titles))
    results: dict[str, dict[str, Found]] = {}
    for name in arguments.only:
        with threadpool_limits(1):
            found = results[name] = measure(TABLES[name], folder, arguments.rows, methods)
        figures: dict[str, Callable[[Found], str]] = {
            "log loss": lambda each: f"{each.loss:.4f}",
            "accuracy": lambda each: f"{each.accuracy:.4f}",
            "AUC": lambda each: f"{each.auc:.4f}",
            "fit, predict (s)": lambda each: f"{each.fit:.2f}, {each.predict:.2f}",
        }
        for place, (figure, shown) in enumerate(figures.items()):
            cells = [shown(found[method]) if method in found else "" for method in methods]
            cells += [gained(found, *pair) if not place else "" for pair in compared]
            rows = len(next(iter(found.values())).losses)
            title = f"{name}, {rows:,} rows" if not place else ""
            print(f"| {title} | {figure} | " + " | ".join(cells) + " |", flush=True)
    summarise(results, methods)


def summarise(results: dict[str, dict[str, Found]], methods: Sequence[str]) -> None:
    """Print what each method is worth over all tables."""
    beside: dict[str, tuple[str, Found]] = {}  # what a table is held against
    for name, found in results.items():
        boosted = {found[other].loss: other for other in BOOSTED if other in found}
        if other := boosted[min(boosted)] if boosted else "linear" if "linear" in found else None:
            beside[name] = other, found[other]
    print("\n| method | tables | over boosting, median | worst | better than the default | worse |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method in methods:
        ratios = {
            name: found[method].loss / beside[name][1].loss
            for name, found in results.items()
            if method in found and name in beside and beside[name][1].loss >= LEAST
        }
        worst = max(ratios, key=lambda name: ratios[name], default="")
        shown = [f"{median(ratios.values()):.2f}", f"{ratios[worst]:.2f} ({worst})"] if ratios else ["", ""]
        signs = [sign_of(found, method) for found in results.values() if {method, "default"} <= {*found}]
        shown += [str(signs.count(1)), str(signs.count(-1))]
        print(f"| {method} | {sum(method in found for found in results.values())} | " + " | ".join(shown) + " |")
    for name, (other, least) in beside.items():
        if least.loss < LEAST:
            nats = ", ".join(f"{method} {results[name][method].loss:.4f}" for method in methods if method in results[name])
            print(f"\n{name}, where {other} has next to none, in nats: {nats}")


def sign_of(found: dict[str, Found], method: str) -> int:
    """1 if a method is better than the default by more than two standard errors of the difference, -1 if worse."""
    gains = found["default"].losses - found[method].losses
    error = gains.std() / math.sqrt(len(gains))
    return int(gains.mean() > 2 * error) - int(gains.mean() < -2 * error)


def gained(found: dict[str, Found], better: str, than: str) -> str:
    """How much lower the log loss of one method is, with the standard error of that."""
    if better not in found or than not in found:
        return ""
    gains = found[than].losses - found[better].losses
    return f"{gains.mean():+.4f} ± {gains.std() / math.sqrt(len(gains)):.4f}"


if __name__ == "__main__":
    main()
