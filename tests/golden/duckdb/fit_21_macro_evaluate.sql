CREATE OR REPLACE MACRO "spam"."evaluate"(source, database := '') AS TABLE
FROM query(concat('FROM query(replace(''', replace(
  'WITH ' || 'nbsql_parameters AS NOT MATERIALIZED (FROM ' || chr(1) || '"spam"."parameters"' || '), ' || 'nbsql_scores AS NOT MATERIALIZED (FROM ' || chr(1) || '"spam"."class_scores"' || '(''' || replace(source, '''', '''''') || '''' || coalesce(', database := ''' || replace(database, '''', '''''') || '''', '') || ')' || ' AS source WHERE ' || 'CASE
  WHEN typeof(source."label") = ''VARCHAR'' OR regexp_full_match(typeof(source."label"), ''ENUM.*|UUID'') OR source."label" IS NULL THEN TRUE
  ELSE error(printf(''column %s is %s, and the model has learnt %s there; read it as that, or cast it'', ''label'', typeof(source."label"), ''text''))
END' || '), ' || 'nbsql_source AS NOT MATERIALIZED (FROM query_table(''' || replace(source, '''', '''''') || ''') AS source WHERE '
  || CASE WHEN coalesce(database, '') = '' AND current_setting('duckdb_api') = 'wasm' THEN '(
  SELECT
    CASE
      WHEN count(*) <= 1 OR list_contains(current_schemas(FALSE), ''spam'') THEN TRUE
      ELSE error(''several databases have a model spam: say which, database := ''''its name'''''')
    END
  FROM duckdb_tables()
  WHERE schema_name = ''spam'' AND table_name = ''statistics''
)' || ' AND ' ELSE '' END || 'TRUE'
  || ') FROM ('
  || 'WITH outcomes AS MATERIALIZED (
  SELECT
    CAST(source."label" AS VARCHAR) COLLATE "C" AS class,
    CAST(nbsql_prediction AS VARCHAR) COLLATE "C" AS prediction,
    coalesce(source.nbsql_probability, 0) AS probability,
    list_transform(
      [source.nbsql_joint_1, source.nbsql_joint_2],
      lambda joint: CASE WHEN source.nbsql_log_evidence > -CAST(''infinity'' AS DOUBLE) THEN exp(joint - source.nbsql_log_evidence) ELSE 0 END
    ) AS posteriors,
    CAST(1 AS DOUBLE) AS weight,
    FALSE AS broken
  FROM nbsql_scores AS source
),
known AS (
  SELECT CAST(class AS VARCHAR) COLLATE "C" AS class, class_no
  FROM (
    SELECT
      unnest([class_1, class_2]) AS class,
      unnest([1, 2]) AS class_no
    FROM nbsql_parameters AS parameters
  ) AS classes
),
judged AS (
  SELECT outcomes.*, known.class_no
  FROM outcomes
  LEFT JOIN known ON known.class = outcomes.class
  WHERE outcomes.class IS NOT NULL AND outcomes.weight > 0 AND NOT outcomes.broken
),
one_against_rest AS (
  SELECT
    class_no,
    posterior,
    CASE
      WHEN other < 1e-8 AND posterior > 0.5 THEN -1 / greatest(other, 1e-300)
      WHEN other >= 0.5 AND posterior >= 1e-8 THEN other - 1
      ELSE -posterior
    END AS rank,
    weight,
    CASE WHEN class_no = true_no THEN weight ELSE 0 END AS positive
  FROM (
    SELECT
      class_no,
      true_no,
      weight,
      posterior,
      CASE WHEN (SELECT count(*) FROM known) = 2 THEN posteriors[greatest(3 - class_no, 1)] END AS other
    FROM (
      SELECT
        judged.class_no AS true_no,
        judged.weight,
        judged.posteriors,
        generate_subscripts(judged.posteriors, 1) AS class_no, unnest(judged.posteriors) AS posterior
      FROM judged
    ) AS posteriors
  ) AS posteriors
),
ranked AS (
  SELECT
    class_no,
    positive,
    weight - positive AS negative,
    sum(positive) OVER (PARTITION BY class_no ORDER BY rank ASC NULLS LAST) AS true_positives,
    sum(weight - positive) OVER (PARTITION BY class_no ORDER BY rank ASC NULLS LAST) AS false_positives
  FROM one_against_rest
),
pairs AS (
  SELECT
    class_no,
    sum(negative * true_positives) AS won,
    sum(positive * false_positives) AS lost,
    max(true_positives) * max(false_positives) AS all_pairs,
    sum(positive * true_positives / (true_positives + false_positives)) / nullif(max(true_positives), 0) AS average_precision,
    max(abs(true_positives / of_class.n - false_positives / nullif(of_all.n - of_class.n, 0))) AS ks
  FROM ranked
  LEFT JOIN (SELECT class_no AS k, nullif(sum(weight), 0) AS n FROM judged GROUP BY class_no) AS of_class ON of_class.k = class_no
  CROSS JOIN (SELECT sum(weight) AS n FROM judged) AS of_all
  GROUP BY class_no
),
areas AS (
  SELECT
    class_no,
    (won - lost + all_pairs) / nullif(2 * all_pairs, 0) AS roc_auc,
    average_precision,
    CASE WHEN all_pairs > 0 THEN ks END AS ks
  FROM pairs
),
confusion AS (
  SELECT class, prediction, sum(weight) AS n FROM judged GROUP BY class, prediction
),
classes AS (
  SELECT class, class_no FROM known
  UNION ALL
  SELECT DISTINCT class, class_no FROM judged WHERE class_no IS NULL
),
counts AS (
  SELECT
    classes.class,
    classes.class_no,
    coalesce(actual.n, 0) AS support,
    coalesce(actual.hits, 0) AS hits,
    coalesce(predicted.n, 0) AS predicted
  FROM classes
  LEFT JOIN (
    SELECT class, sum(n) AS n, sum(CASE WHEN prediction = class THEN n ELSE 0 END) AS hits FROM confusion GROUP BY class
  ) AS actual ON actual.class = classes.class
  LEFT JOIN (
    SELECT prediction, sum(n) AS n FROM confusion GROUP BY prediction
  ) AS predicted ON predicted.prediction = classes.class
),
by_class AS (
  SELECT
    counts.*,
    CASE WHEN predicted > 0 THEN hits / predicted WHEN support > 0 THEN 0 END AS precision,
    CASE WHEN support > 0 THEN hits / support WHEN predicted > 0 THEN 0 END AS recall,
    2 * hits / nullif(support + predicted, 0) AS f1,
    CASE WHEN counts.class_no IS NOT NULL THEN areas.roc_auc WHEN support < weight THEN 0.5 END AS roc_auc,
    CASE WHEN counts.class_no IS NOT NULL THEN areas.average_precision ELSE support / weight END AS average_precision,
    CASE WHEN counts.class_no IS NOT NULL THEN areas.ks WHEN support < weight THEN 0 END AS ks
  FROM (
    SELECT
      *,
      nullif(sum(support) OVER (), 0) AS weight,
      first_value(class) OVER (ORDER BY class DESC NULLS LAST) AS larger
    FROM counts
  ) AS counts
  LEFT JOIN areas ON areas.class_no = counts.class_no
),
averages AS (
  SELECT
    avg(precision) AS precision_macro,
    sum(support * precision)
      / nullif(sum(CASE WHEN precision IS NOT NULL THEN support END), 0) AS precision_weighted,
    avg(recall) AS recall_macro,
    sum(support * recall)
      / nullif(sum(CASE WHEN recall IS NOT NULL THEN support END), 0) AS recall_weighted,
    avg(f1) AS f1_macro,
    sum(support * f1)
      / nullif(sum(CASE WHEN f1 IS NOT NULL THEN support END), 0) AS f1_weighted,
    avg(roc_auc) AS roc_auc_macro,
    sum(support * roc_auc)
      / nullif(sum(CASE WHEN roc_auc IS NOT NULL THEN support END), 0) AS roc_auc_weighted,
    avg(average_precision) AS average_precision_macro,
    sum(support * average_precision)
      / nullif(sum(CASE WHEN average_precision IS NOT NULL THEN support END), 0) AS average_precision_weighted,
    avg(ks) AS ks_macro,
    sum(support * ks)
      / nullif(sum(CASE WHEN ks IS NOT NULL THEN support END), 0) AS ks_weighted,
    max(CASE WHEN class = larger THEN roc_auc END) AS roc_auc_of_larger,
    max(CASE WHEN class = larger THEN average_precision END) AS average_precision_of_larger,
    max(CASE WHEN class = larger THEN ks END) AS ks_of_larger,
    avg(CASE WHEN support > 0 THEN recall END) AS balanced_accuracy,
    max(weight) AS weight,
    sum(hits) AS hits,
    max(support) AS largest,
    count(*) AS classes
  FROM by_class
),
read AS (
  SELECT
    sum(CASE WHEN class IS NULL THEN 1 ELSE 0 END) AS left_out,
    sum(CASE WHEN broken AND class IS NOT NULL THEN 1 ELSE 0 END) AS broken_weights
  FROM outcomes
),
row_losses AS (
  SELECT
    *,
    -ln(least(greatest(posterior, 2.220446049250313e-16), 1 - 2.220446049250313e-16)) AS log_loss,
    squares - posterior * posterior + (1 - posterior) * (1 - posterior) AS brier
  FROM (
    SELECT
      *,
      coalesce(posteriors[class_no], 0) AS posterior,
      list_dot_product(posteriors, posteriors) AS squares
    FROM judged
  ) AS posteriors
),
losses AS (
  SELECT
    count(*) AS row_count,
    sum(CASE WHEN class_no IS NULL THEN 1 ELSE 0 END) AS unknown,
    sum(CASE WHEN prediction IS NULL THEN 1 ELSE 0 END) AS unexplained,
    sum(weight * log_loss) AS log_loss,
    sum(weight * brier) AS brier
  FROM row_losses
),
gaps AS (
  SELECT abs(sum(CASE WHEN prediction = class THEN weight ELSE 0 END) - sum(weight * probability)) AS gap
  FROM judged
  GROUP BY CAST(least(greatest(floor(probability * 10) + CASE WHEN (floor(probability * 10) + 1) * (CAST(1 AS DOUBLE) / 10) < probability THEN 1 WHEN floor(probability * 10) * (CAST(1 AS DOUBLE) / 10) < probability THEN 0 ELSE -1 END, 0), 9) AS INTEGER)
),
gap AS (
  SELECT sum(gap) AS gap FROM gaps
),
overall AS (
  SELECT
    losses.row_count,
    read.left_out,
    losses.unknown,
    losses.unexplained,
    read.broken_weights,
    averages.hits / averages.weight AS accuracy,
    averages.largest / averages.weight AS majority,
    losses.log_loss / averages.weight AS log_loss,
    losses.brier / averages.weight / CASE WHEN averages.classes > 2 THEN 1 ELSE 2 END AS brier,
    gap.gap / averages.weight AS calibration_error,
    averages.*,
    CASE WHEN averages.classes = 2 THEN averages.roc_auc_of_larger ELSE averages.roc_auc_macro END AS roc_auc,
    CASE WHEN averages.classes = 2 THEN averages.average_precision_of_larger ELSE averages.average_precision_macro END AS average_precision,
    CASE WHEN averages.classes = 2 THEN averages.ks_of_larger ELSE averages.ks_macro END AS ks
  FROM averages
  CROSS JOIN read
  CROSS JOIN losses
  CROSS JOIN gap
)
SELECT class, metric, value
FROM (
  SELECT
    0 AS part,
    NULL AS class,
    unnest([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27]) AS position,
    unnest([''rows'', ''weight'', ''left_out'', ''unknown'', ''unexplained'', ''broken_weights'', ''accuracy'', ''majority'', ''balanced_accuracy'', ''log_loss'', ''brier'', ''calibration_error'', ''roc_auc'', ''average_precision'', ''ks'', ''precision_macro'', ''recall_macro'', ''f1_macro'', ''roc_auc_macro'', ''average_precision_macro'', ''ks_macro'', ''precision_weighted'', ''recall_weighted'', ''f1_weighted'', ''roc_auc_weighted'', ''average_precision_weighted'', ''ks_weighted'']) AS metric,
    unnest([row_count, weight, left_out, unknown, unexplained, broken_weights, accuracy, majority, balanced_accuracy, log_loss, brier, calibration_error, roc_auc, average_precision, ks, precision_macro, recall_macro, f1_macro, roc_auc_macro, average_precision_macro, ks_macro, precision_weighted, recall_weighted, f1_weighted, roc_auc_weighted, average_precision_weighted, ks_weighted]) AS value
  FROM overall
  UNION ALL
  SELECT
    1 AS part,
    class,
    unnest([1, 2, 3, 4, 5, 6, 7]) AS position,
    unnest([''support'', ''precision'', ''recall'', ''f1'', ''roc_auc'', ''average_precision'', ''ks'']) AS metric,
    unnest([support, precision, recall, f1, roc_auc, average_precision, ks]) AS value
  FROM by_class
) AS metrics
ORDER BY part ASC NULLS LAST, class ASC NULLS LAST, position ASC NULLS LAST'
  || ')', '''', ''''''), ''', chr(1), ', CASE
    WHEN database <> '' THEN '''' || replace(database, '''', '''''') || '.'''
    WHEN current_setting('duckdb_api') = 'wasm' THEN ''''''
    ELSE 'coalesce(CASE
  WHEN len(regexp_extract_all(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|[ .])\Qspam\E[.]class_scores(?:,| or |$)'')) > 1 THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
  WHEN regexp_matches(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'') THEN CASE
    WHEN json_serialize_plan(''FROM "spam".spec'') ->> ''error'' = ''false'' THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
    ELSE ''"'' || replace(regexp_extract(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'', 1), ''"'', ''""'') || ''".''
  END
END, '''')'
  END, '))'));
