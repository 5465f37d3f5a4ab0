"""A model a segment says what DuckDB's says, shrunk toward the whole or not, of segments known and not."""

from dataclasses import replace

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, explained, mail

import nbsql

OPTIONS = {"target": "label", "id": "id", "exclude": ["day", "weight", "Sender"], "segment_by": '"Sender"'}
CASES = {
    "each by itself": {
        "segment_by": nbsql.Segments('"Sender"', shrinkage=0),
        "families": {"length": nbsql.Gaussian(shared_variance=True)},
    },
    "toward the whole": {"segment_by": nbsql.Segments('"Sender"', shrinkage=3)},
    "categories": {
        "segment_by": nbsql.Segments('"Sender"', shrinkage=2.5),
        "families": {"links": "poisson", "flag": "categorical"},
        "unseen": "smooth",
    },
    "weights": {"exclude": ["day", "Sender"], "weight": "weight", "families": {"links": "categorical"}, "prior": "smoothed"},
    "numbers": {"segment_by": nbsql.Segments("id % 3", shrinkage=1.0)},
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.parametrize("case", CASES)
def test_segments_agree(both, case):
    models = []
    for place in both:
        place.table("inbox", COLUMNS, mail(240, 1))
        place.table("later", COLUMNS, [*mail(50, 2), (-1, "ham", "nobody", True, 1e3, 2, 1, 0.5, None, 1.0)])
        options = {**OPTIONS, **CASES[case]}
        if place.engine == "spark":
            segments = options["segment_by"]
            segments = segments if isinstance(segments, nbsql.Segments) else nbsql.Segments(segments)
            options["segment_by"] = replace(segments, by=segments.by.replace('"', "`"))
        nbsql.fit(place.con, "inbox", name="m", **options)
        models.append(nbsql.load(place.con, "m"))
    assert_same_scores(models)
    assert_same_rows(*(explained(model, "SELECT * FROM later WHERE id < 9") for model in models))
    assert_same_rows(*(sorted(model.predict("later", top_k=2).fetchall(), key=repr) for model in models))
    judged = [model.evaluate("later", costs={("ham", "spam"): 3}).to_dict() for model in models]
    assert_same_rows(*([(key, value) for key, value in each.items() if key != "classes"] for each in judged))
    for model in models:
        model.update("later")
    assert_same_scores(models)


def assert_same_scores(models):
    assert_same_rows(*(model.segments.fetchall() for model in models))
    for verb in ("predict_proba", "joint_log_likelihood"):
        assert_same_rows(*(sorted(getattr(model, verb)("later").fetchall()) for model in models))
