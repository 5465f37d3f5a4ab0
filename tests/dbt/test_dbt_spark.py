"""The package in a dbt project on Spark, in the session of the tests: every table is that of Python on Spark and on DuckDB."""

from __future__ import annotations

import contextlib
import io
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from engines.servers import spark as spark_session
from support.dbt_projects import Project, equal, installed, needs_dbt

import nbsql

pytestmark = [
    *needs_dbt,
    pytest.mark.spark,
    pytest.mark.skipif(not installed("dbt.adapters.spark"), reason="dbt-spark is not installed: pip install '.[test]'"),
]

ROWS = r"""
  CREATE TABLE rows AS SELECT
    CAST(i AS INTEGER) AS id, ['a', 'b', 'c\'][1 + i % 7 % 3] AS y, 'v''\${x}' || (i * 5 % 4) AS "a `category`",
    CASE WHEN i % 6 > 0 THEN i % 4 = 0 END AS flag,
    CASE WHEN i % 9 > 0 THEN (i * 37 % 23) / 4 + i % 7 % 3 END AS x, i * 11 % 5 AS events, 0.5 + i * 13 % 7 AS wait,
    CASE WHEN i % 7 < 3 THEN i * 13 % 5 + 0.5 ELSE 0 END AS rain, (i * 7 % 11 + 1) / 13 AS share,
    CASE WHEN i % 8 > 0 THEN 'The caté ' || (i % 5) || E' sat\nhere' || CASE WHEN i % 3 = 0 THEN ' Mat''s' ELSE '' END END AS note,
    CASE WHEN i % 10 > 0 THEN ['u' || (i % 4), 'v', 'v'] END AS bag, MAP(['k', 'l'], [i % 3, 2]) AS counts,
    i % 3 AS w1, i * 7 % 5 AS w2, 0.5 + i % 4 AS weight, DATE '2026-01-01' + CAST(i % 4 AS INTEGER) AS day,
    TIMESTAMP '2026-01-01 00:00:00' + INTERVAL (i * 7) HOUR AS at
  FROM range(90) AS t(i)
"""
OPTIONS: dict[str, Any] = {"target": "y", "id": "id", "exclude": ["at"], "weight": "weight", "nulls": "category"}
FAMILIES: dict[str, Any] = {
    "events": nbsql.Poisson(a=2, b=1),
    "wait": nbsql.LogNormal(),
    "rain": nbsql.ZeroInflated(of="exponential"),
    "share": nbsql.Beta(),
    "note": nbsql.Text(stop_words="english", ngrams=2),
    "bag": nbsql.Tokens(tfidf=True),
    "counts": nbsql.TokenCounts(event="complement"),
    "words": nbsql.Multinomial(["w1", "w2"]),
}
IN_YAML = {
    "events": {"family": "poisson", "a": 2, "b": 1},
    "wait": "lognormal",
    "rain": {"family": "zero_inflated", "of": "exponential"},
    "share": "beta",
    "note": {"family": "text", "stop_words": "english", "ngrams": 2},
    "bag": {"family": "tokens", "tfidf": True},
    "counts": {"family": "token_counts", "event": "complement"},
    "words": {"family": "multinomial", "columns": ["w1", "w2"]},
}
MODELS = {
    "few": "{{ config(materialized='table') }} {{ nbsql.statistics(source('raw', 'rows')) }}",
    "priors": "{{ nbsql.class_priors(ref('counted')) }}",
    "likelihoods": "{{ nbsql.feature_likelihoods(ref('counted')) }}",
    "predict_proba": "{{ nbsql.probabilities(ref('counted'), source('raw', 'rows')) }}",
    "joint_log_likelihood": "{{ nbsql.joint_log_likelihoods(ref('counted'), source('raw', 'rows')) }}",
    "log_evidence": "{{ nbsql.evidence(ref('counted'), source('raw', 'rows'), columns='id') }}",
    "explain": "{{ nbsql.explanation(ref('counted'), source('raw', 'rows')) }}",
    "metrics": "{{ nbsql.evaluation(ref('few'), source('raw', 'rows'), weight='weight') }}",
    "slices": "{{ nbsql.evaluation(ref('few'), source('raw', 'rows'), 'slices', by='flag') }}",
    "monitor": "{{ nbsql.monitoring(ref('few'), source('raw', 'rows'), by='flag') }}",
    "review": "{{ nbsql.review_queue(ref('few'), source('raw', 'rows'), n=5) }}",
}
