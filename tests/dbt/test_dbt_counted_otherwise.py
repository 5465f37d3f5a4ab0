"""Statistics that were counted with another configuration than today's: whatever reads them says so, and answers nothing."""

import duckdb
import pytest
from support.dbt_projects import BUILDS, Project, equal, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

MAILS = """
  {{ config(materialized='table') }} SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label,
    CAST(i % 4 AS {{ var('links', 'INTEGER') }}) AS links, i % 2 AS day,
    CAST(DATE '2026-01-01' + CAST(i % 3 AS INTEGER) AS {{ var('sent', 'DATE') }}) AS sent,
    CASE WHEN i % 3 = 0 THEN 'free prize ' ELSE 'lunch at ' END || (i % 7) AS message
  FROM generate_series(0, 59) AS t(i)
"""
STATISTICS = "{{ config(materialized='table') }} {{ nbsql.statistics(ref('mails')) }}"
OF_COUNTED = {
    "class_priors": "", "feature_likelihoods": "", "predictions": "mails", "probabilities": "mails",
    "joint_log_likelihoods": "mails", "evidence": "mails", "explanation": "mails", "evaluation": "mails",
    "review_queue": "mails", "monitoring": "mails",
}  # fmt: skip
COUNTED = {
    "target": "label", "id": "id", "exclude": ["day", "sent"], "families": {"message": "text", "links": "poisson"}
}  # fmt: skip
CATEGORIES = {"target": "label", "features": ["links"], "families": {"links": "categorical"}}
DATES = {
    "labels": {"target": "sent", "features": ["message"]},
    "dates": {"target": "label", "features": ["sent"], "families": {"sent": "categorical"}},
}  # fmt: skip


@pytest.fixture(scope="module", params=BUILDS)
def project(request, tmp_path_factory):
    _, version = request.param
    models = {"mails": MAILS, "counted": STATISTICS, "before": STATISTICS, "categories": STATISTICS}
    for macro, source in OF_COUNTED.items():
        models[f"of_{macro}"] = f"{{{{ nbsql.{macro}(ref('counted'){source and f', ref({source!r})'}) }}}}"
    models["of_scorecard"] = "{{ nbsql.scorecard(ref('categories'), target='spam') }}"
    models |= dict.fromkeys(DATES, STATISTICS)
    models["late"] = "SELECT label, message, CAST(sent AS {{ var('late', 'DATE') }}) AS sent FROM {{ ref('mails') }}"
    models |= {f"of_{name}": f"{{{{ nbsql.predictions(ref('{name}'), ref('late')) }}}}" for name in DATES}
    limits = {"maximum": 0.5, "against": "ref('before')"}
    tests = {
        "counted": [
            {"nbsql.nbsql_drift_below": {"name": "drift", **arguments(version, maximum=0.5)}},
            {"nbsql.nbsql_drift_below": {"name": "drift_from_before", **arguments(version, **limits)}},
        ]
    }
    meta = {"counted": COUNTED, "before": COUNTED, "categories": CATEGORIES, **DATES}
    with server(*request.param) as address:
        found = Project(tmp_path_factory.mktemp("dbt"), models, meta, {}, tests, address=address, version=version)
        found.build()
        yield found


def arguments(version, **given):
    """The arguments of a generic test as that version of dbt takes them."""
    return given if version == "1.8" else {"arguments": given}


def said(project, *command):
    """The messages of what ran and did not succeed."""
    project.dbt(*command)
    statuses = project.statuses()
    return {name: line for name, line in project.messages().items() if statuses[name] not in ("success", "pass")}


def otherwise(name, change):
    return f"nbsql: '{name}' was counted otherwise: {change}; count all rows anew: dbt build --full-refresh --select {name}"


SCORES = ("run", "--exclude", "mails", "counted", "before", "categories", "late", *DATES, *(f"of_{name}" for name in DATES))
OTHER_FAMILIES = "families were others, or had other options, and are 'links' poisson, 'message' text"


@pytest.mark.nightly
def test_whatever_reads_statistics_refuses_those_of_another_configuration(project):
    scores = [f"of_{macro}" for macro in OF_COUNTED]
    presence = {**COUNTED, "families": {"message": {"family": "text", "event": "bernoulli"}, "links": "poisson"}}
    project.configure({"counted": presence, "categories": {**CATEGORIES, "weight": "id"}})
    line = otherwise("counted", OTHER_FAMILIES)
    of_scorecard = otherwise("categories", "weight was none and is id")
    assert said(project, *SCORES) == {**dict.fromkeys(scores, line), "of_scorecard": of_scorecard}
    assert said(project, "test") == {"drift": line, "drift_from_before": line}

    # Norms and logarithms are counted, too; other types make other texts of categories.
    normed = {**COUNTED, "families": {"message": {"family": "text", "norm": "l2"}, "links": "poisson"}}
    project.configure({"counted": normed, "categories": CATEGORIES})
    assert said(project, "run", "--select", "of_predictions") == {"of_predictions": line}
    typed = ("run", "--vars", "links: DOUBLE PRECISION", "--select")
    assert project.dbt(*typed, "mails").returncode == 0
    kind = "double precision" if project.address else "double"
    types = otherwise("categories", f"the types of categories were others, and are 'links' {kind}")
    assert said(project, *typed, "of_scorecard") == {"of_scorecard": types}
    assert project.dbt("run", "--select", "mails").returncode == 0

    # The same statistics, compared with ones of another configuration.
    project.configure({"counted": presence})
    assert project.dbt("run", "--select", "counted").returncode == 0
    before = otherwise("before", OTHER_FAMILIES)
    assert said(project, "test") == {"drift_from_before": before}

    # Another target, and one less feature.
    project.configure({"counted": {**COUNTED, "target": "links", "families": {}}})
    assert said(project, *SCORES) == dict.fromkeys(scores, otherwise("counted", "target was label and is links"))
    project.configure({"counted": {**presence, "exclude": ["day", "sent", "links"], "families": {"message": "text"}}})
    features = otherwise("counted", "the features were 'links', 'message' and are 'message'")
    assert said(project, "run", "--select", "of_evaluation") == {"of_evaluation": features}

    # A changed smoothing and other slices change no count that a score reads.
    project.configure({"counted": {**presence, "alpha": 3, "slice_by": "day"}})
    assert said(project, *SCORES) == {}
    families = {"message": nbsql.Text(event="bernoulli"), "links": "poisson"}
    with project.connect() as con:
        model = nbsql.fit(con, "mails", target="label", id="id", exclude=["day", "sent"], alpha=3, families=families)
        expected = {row[0]: row[-1] for row in model.predict("mails").fetchall()}
        found = {row[0]: row[-1] for row in read(con, "SELECT * FROM of_predictions")[1]}
    assert found == pytest.approx(expected, rel=1e-9)


def test_dates_are_no_times_of_another_zone_and_no_other_labels(project):
    for late, refused in (("TIMESTAMP", False), ("TIMESTAMP WITH TIME ZONE", True), ("TEXT", True)):
        lines = said(project, "run", "--vars", f"late: {late}", "--select", "late", "of_dates")
        shown = "VARCHAR" if late == "TEXT" and project.address is None else late
        line = f"nbsql: column 'sent' of late is {shown}, and 'dates' has learnt date there; cast it"
        assert {name: each.lower() for name, each in lines.items()} == ({"of_dates": line.lower()} if refused else {})
    typed = ("run", "--vars", "sent: TIMESTAMP", "--select")
    assert project.dbt(*typed, "mails").returncode == 0
    kind = "timestamp without time zone" if project.address else "timestamp"
    change = otherwise("labels", f"the classes were of the type date and are of the type {kind}")
    assert said(project, *typed, "of_labels") == {"of_labels": change}
    assert project.dbt("run", "--select", "mails", "late", "of_labels", "of_dates").returncode == 0


VIEWS = {
    "of_priors": "class_priors", "of_likelihoods": "feature_likelihoods", "of_probabilities": "probabilities",
    "of_predictions": "predictions", "of_metrics": "evaluation", "of_periods": "monitoring",
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["2.0", pytest.param(None, marks=pytest.mark.nightly)])
def test_a_view_older_than_its_statistics_is_right_or_says_that_it_is_old(version, tmp_path):
    """On DuckDB, where a table that is built again leaves its views as they are; on PostgreSQL dbt drops them with it."""
    mails = """{{ config(materialized='table') }}
      SELECT CAST(CASE WHEN i % 3 = 0 THEN '{{ var("rare", "spam") }}' ELSE '{{ var("often", "ham") }}' END
        AS {{ var("kind", "VARCHAR") }}) AS label,
        'v' || (i % 4) AS v, i % 3 AS links, i % 6 > 0 AS flag, 9 + i % 2 AS grade,
        CAST(CASE WHEN i % 3 = 0 THEN 'small' ELSE 'large' END AS ENUM ('small', 'large', 'none')) AS size
      FROM generate_series(0, 59) AS t(i)"""
    models = {"mails": mails, "counted": STATISTICS}
    for name, macro in VIEWS.items():
        source = "" if macro in ("class_priors", "feature_likelihoods") else ", ref('mails')"
        models[name] = f"{{{{ nbsql.{macro}(ref('counted'){source}) }}}}"
    others = ["grade", "size"]
    meta = {"counted": {"target": "label", "exclude": others}}
    for target, classes in {"grade": [10, 9, 11], "size": ["large", "small"]}.items():  # in another order than the type's
        meta[f"counted_{target}"] = {"target": target, "features": ["v", "links"], "classes": classes}
        models[f"counted_{target}"] = STATISTICS
        models[f"of_{target}"] = f"{{{{ nbsql.probabilities(ref('counted_{target}'), ref('mails')) }}}}"
    project = Project(tmp_path, models, meta, version=version)
    with server("duckdb", version):
        project.build()
    with project.connect() as con:
        for target, declared in {"grade": ["10", "9", "11"], "size": ["large", "small"]}.items():
            model = nbsql.fit(con, "mails", target=target, features=["v", "links"])
            expected = model.predict_proba("mails")
            found, by_name = read(con, f"SELECT * FROM of_{target}")[0], ", ".join(f'"{name}"' for name in expected.columns)
            assert found[-len(declared) :] == [f"probability_{label}" for label in declared]
            equal(read(con, f"SELECT {by_name} FROM of_{target}")[1], expected.fetchall(), target)
    counted = ("run", "--select", "mails", "counted", "--vars")

    # The classes change places.
    assert project.dbt(*counted, "{rare: ham, often: spam}").returncode == 0
    with project.connect() as con:
        model = nbsql.fit(con, "mails", target="label", exclude=others)
        for name, query in {
            "of_priors": model.priors,
            "of_likelihoods": model.likelihoods,
            "of_probabilities": model.predict_proba("mails"),
            "of_metrics": model.evaluate("mails").metrics,
            "of_periods": model.monitor("mails"),
        }.items():
            columns, rows = read(con, f"SELECT * FROM {name}")
            assert columns == query.columns, name
            equal(rows, query.fetchall(), name)

    # They are of another type, which a score refuses until all rows are counted anew.
    booleans = "{rare: 'true', often: 'false', kind: BOOLEAN}"
    assert project.dbt("run", "--select", "mails", "--vars", booleans).returncode == 0
    line = otherwise("counted", "the classes were of the type varchar and are of the type boolean")
    assert said(project, "run", "--select", "of_priors", "of_predictions", "--vars", booleans) == {
        "of_priors": line,
        "of_predictions": line,
    }

    # One is another class, or all are of another type.
    for changed in (booleans, "{rare: eggs}"):
        assert project.dbt(*counted, changed).returncode == 0
        with project.connect() as con:
            for name in ("of_probabilities", "of_predictions", "of_metrics", "of_periods"):
                with pytest.raises(
                    duckdb.Error, match="the classes of 'counted' have changed since this was built; build it again"
                ):
                    read(con, f"SELECT * FROM {name}")

    # A family is another one.
    project.configure({"counted": {**meta["counted"], "families": {"links": "poisson"}}})
    assert project.dbt(*counted, "{}").returncode == 0
    with project.connect() as con:
        for name in VIEWS:
            with pytest.raises(duckdb.Error, match="'counted' was counted otherwise since this was built; build it again"):
                read(con, f"SELECT * FROM {name}")
    assert project.dbt("run", "--select", *VIEWS).returncode == 0
    with project.connect() as con:
        model = nbsql.fit(con, "mails", target="label", exclude=others, families={"links": "poisson"})
        equal(read(con, "SELECT * FROM of_probabilities")[1], model.predict_proba("mails").fetchall())
