-- Naive Bayes in one page of DuckDB SQL, for any table, given by name. No Python, nothing to install:
--
--   .read ad_hoc.sql
--   CREATE TABLE spam AS FROM naive_bayes('inbox', 'label', texts := ['message']);
--   FROM naive_bayes_predict('spam', 'new_mail');
--   FROM naive_bayes_reasons('spam', 'new_mail') WHERE row_no = 1;
--   FROM naive_bayes_ratios('spam') WHERE class = 'spam' LIMIT 20;
--   FROM naive_bayes_evaluate('spam', 'held_out', 'label');
--   FROM naive_bayes_hold_out('inbox', 'label', texts := ['message']);    -- learns 80 % of the rows, is judged on the others
--
-- A row x is classified by finding the class c with the largest P(c) P(x_1 | c) P(x_2 | c) ... This is naive, because the features
-- are taken to be independent within a class. All of these are shares of counts, so a model is a table of counts, and counts add:
--
--   INSERT INTO spam FROM naive_bayes('mail_of_june', 'label', texts := ['message']);    -- learns more rows
--   INSERT INTO spam SELECT * REPLACE (-n AS n, -m2 AS m2) FROM naive_bayes('mail_of_may', ...);    -- forgets rows
--
-- Columns of text, ENUM, UUID and BOOLEAN are categories, unless `texts` names them: these are cut into words. Numbers have a normal
-- distribution in each class. Of a DATE or TIMESTAMP the year, month, day, weekday and hour are categories, such as 'weekday of sent'.
-- Columns of other types, and those in `keys`, are ignored. A value that is NULL is left out of the counts and the score, and so is one
-- that the model has never seen. Values of another kind than it learnt are an error. A FLOAT is read as the decimal that it prints as.
-- Names that begin with nb_ are the page's own. A table whose name is not plain is quoted: '"My Table"', 'raw."2024"'.


-- One row per column of a table, none if it has no rows: feature, type, and kind, NULL if it is ignored. And one per part of a date.
CREATE OR REPLACE MACRO naive_bayes_columns(source) AS TABLE
WITH columns_of_source AS (
  FROM (SELECT typeof(columns(*)) FROM query_table(source) LIMIT 1) UNPIVOT (type FOR feature IN (columns(*)))
)
SELECT
  feature, type, NULL AS source_column, NULL AS part,
  CASE
    WHEN type = 'BOOLEAN' THEN 'boolean'
    WHEN type SIMILAR TO 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*' THEN 'number'
    WHEN type SIMILAR TO 'VARCHAR|(?s:ENUM.*)|UUID' THEN 'category'
  END AS kind
FROM columns_of_source
UNION ALL
SELECT part || ' of ' || feature, 'PART', feature, part, 'part'
FROM columns_of_source CROSS JOIN (SELECT unnest(['year', 'month', 'day', 'weekday', 'hour']) AS part) AS parts
WHERE type SIMILAR TO 'DATE|TIMESTAMP(_S|_MS|_NS)?' AND NOT (type = 'DATE' AND part = 'hour');


-- The name of a column. A name that is no column is an error, so that a slip does not become a model of something else.
CREATE OR REPLACE MACRO naive_bayes_column(name, numbered) AS (
  SELECT
    CASE
      WHEN bool_or(feature = name) OR count(*) = 0 THEN name
      ELSE error(
        'no column ' || name || ' in the source; its columns are '
        || string_agg(feature, ', ') FILTER (WHERE type <> 'PART' AND feature <> 'nb_row')
      )
    END
  FROM naive_bayes_columns(numbered)
);


-- The rows of a source and their numbers, nb_row. A column with a name that the macros or their answers need is an error.
CREATE OR REPLACE MACRO naive_bayes_numbered(source, reserved := ['nb_row', 'prediction', 'probability']) AS TABLE
SELECT row_number() OVER () AS nb_row, *
FROM query_table(source)
WHERE (
  SELECT error('the source has a column ' || feature || ', which is a name of the answers; rename it, or leave it out')
  FROM naive_bayes_columns(source)
  WHERE list_contains(reserved, lower(feature))
  LIMIT 1
) IS NULL;


-- One row per cell of a table with a column nb_row: nb_row, feature, and value, as text. So are the parts of dates and times.
CREATE OR REPLACE MACRO naive_bayes_cells(numbered) AS TABLE
WITH texts AS (
  SELECT nb_row, CAST(columns(* EXCLUDE (nb_row)) AS VARCHAR) FROM query_table(numbered)
),
cells AS (
  SELECT nb_row, feature, value FROM texts UNPIVOT (value FOR feature IN (columns(* EXCLUDE (nb_row))))
),
parts AS (
  SELECT
    nb_row,
    columns.feature,
    CASE part
      WHEN 'weekday' THEN dayname(CAST(value AS TIMESTAMP))
      ELSE CAST(CAST(date_part(part, CAST(value AS TIMESTAMP)) AS BIGINT) AS VARCHAR)
    END AS value
  FROM cells JOIN naive_bayes_columns(numbered) AS columns ON columns.source_column = cells.feature
)
FROM cells
UNION ALL
FROM parts WHERE value IS NOT NULL;


-- The words of a text: runs of letters, their marks and digits, in lower case, and with a letter and its accent as one character.
CREATE OR REPLACE MACRO naive_bayes_words(message) AS
regexp_extract_all(nfc_normalize(lower(message)), '[\p{L}\p{N}][\p{L}\p{M}\p{N}]*');


-- A number that can be counted: finite, and its square too.
CREATE OR REPLACE MACRO naive_bayes_number(value) AS
CASE WHEN abs(try_cast(value AS DOUBLE)) <= 1e150 THEN try_cast(value AS DOUBLE) END;


-- The counts of a table, which are the model: class, feature, kind, value, n, mean, m2. One row per class: n is the number of its rows.
-- One row per class, feature and value: n is how often they occur together. One row per class and numeric feature: the number n of its
-- values, their mean, and m2, the sum of the squared deviations from it.
CREATE OR REPLACE MACRO naive_bayes(source, target, texts := [], keys := []) AS TABLE
WITH numbered AS MATERIALIZED (
  FROM naive_bayes_numbered(source)
),
roles AS (
  SELECT role, naive_bayes_column(name, 'numbered') AS feature
  FROM (
    SELECT unnest(['target', 'text', 'key']) AS role, unnest([[target], CAST(texts AS VARCHAR[]), CAST(keys AS VARCHAR[])]) AS names
  ) CROSS JOIN unnest(names) AS named(name)
),
kinds AS (
  SELECT
    feature,
    CASE
      WHEN role = 'text' THEN 'word'
      WHEN role IS NULL AND coalesce(source_column NOT IN (SELECT feature FROM roles), TRUE) THEN columns.kind
    END AS kind
  FROM naive_bayes_columns('numbered') AS columns LEFT JOIN roles USING (feature)
),
labels AS (
  SELECT nb_row, value AS class FROM naive_bayes_cells('numbered') JOIN roles USING (feature) WHERE role = 'target'
),
cells AS (
  SELECT class, feature, kind, value
  FROM naive_bayes_cells('numbered') JOIN labels USING (nb_row) JOIN kinds USING (feature)
),
counted AS (
  SELECT class, feature, kind, value FROM cells WHERE kind IN ('boolean', 'category', 'part')
  UNION ALL
  SELECT class, feature, kind, unnest(naive_bayes_words(value)) FROM cells WHERE kind = 'word'
)
SELECT class, NULL AS feature, 'class' AS kind, NULL AS value, CAST(count(*) AS DOUBLE) AS n, NULL AS mean, NULL AS m2
FROM labels
GROUP BY class
UNION ALL
SELECT class, feature, kind, value, count(*), NULL, NULL
FROM counted
GROUP BY class, feature, kind, value
UNION ALL
SELECT class, feature, 'number', NULL, count(x), avg(x), count(x) * var_pop(x)
FROM (SELECT class, feature, naive_bayes_number(value) AS x FROM cells WHERE kind = 'number') AS numbers
GROUP BY class, feature
HAVING count(x) > 0;


-- One row per class: class, n, prior. The prior is 'empirical', the share of the class's rows, or 'uniform'.
CREATE OR REPLACE MACRO naive_bayes_priors(model, prior := 'empirical') AS TABLE
SELECT
  class,
  n,
  CASE prior
    WHEN 'uniform' THEN 1 / count(*) OVER ()
    WHEN 'empirical' THEN n / sum(n) OVER ()
    ELSE error('prior must be empirical or uniform, not ' || prior)
  END AS prior
FROM (SELECT class, sum(n) AS n FROM query_table(model) WHERE kind = 'class' GROUP BY class HAVING sum(n) > 0) AS classes;


-- One row per class, feature and value: P(value | class), with alpha added to every count, so that a rare value is not impossible:
-- (n_cv + alpha) / (n_c + alpha k), where k is the number of values of the feature. For numbers one row per class and feature: mean and
-- variance, which is at least 1e-9 of the variance over all classes. A class without any value takes those over all classes.
CREATE OR REPLACE MACRO naive_bayes_likelihoods(model, alpha := 1) AS TABLE
WITH nb_classes AS (
  SELECT class
  FROM naive_bayes_priors(model)
  WHERE
    CASE
      WHEN alpha >= 0 AND isfinite(CAST(alpha AS DOUBLE)) THEN TRUE
      ELSE error(concat('alpha must be a number of at least 0, not ', coalesce(CAST(alpha AS VARCHAR), 'NULL')))
    END
),
nb_counts AS (
  SELECT class, feature, kind, value, sum(n) AS n
  FROM query_table(model)
  WHERE kind IN ('boolean', 'category', 'word', 'part')
  GROUP BY class, feature, kind, value
  HAVING sum(n) > 0
),
nb_levels AS (
  SELECT feature, kind, value FROM nb_counts
  UNION
  SELECT feature, kind, unnest(['true', 'false']) FROM nb_counts WHERE kind = 'boolean'
),
nb_sizes AS (  -- a part of a date that has one value, or numbers the rows, says nothing of other rows
  SELECT feature, count(DISTINCT value) AS k
  FROM nb_levels LEFT JOIN nb_counts USING (feature, kind, value)
  GROUP BY feature, kind
  HAVING kind <> 'part' OR (count(DISTINCT value) > 1 AND sum(n) >= 2 * count(DISTINCT value))
),
nb_totals AS (
  SELECT class, feature, coalesce(sum(n), 0) + alpha * k AS n, k
  FROM nb_classes CROSS JOIN nb_sizes
  LEFT JOIN nb_counts USING (class, feature)
  GROUP BY class, feature, k
),
centred AS (
  SELECT *, sum(n * mean) OVER one / sum(n) OVER one AS centre, sum(n * mean) OVER every / sum(n) OVER every AS middle
  FROM query_table(model)
  WHERE kind = 'number'
  WINDOW one AS (PARTITION BY class, feature), every AS (PARTITION BY feature)
),
moments AS (
  SELECT class, feature, max(centre) AS mean, sum(m2 + n * (mean - centre) ** 2) / sum(n) AS variance
  FROM centred
  GROUP BY class, feature
),
pooled AS (
  SELECT feature, max(middle) AS mean, sum(m2 + n * (mean - middle) ** 2) / sum(n) AS variance
  FROM centred
  GROUP BY feature
)
SELECT
  class, feature, kind, value, NULL AS mean, NULL AS variance,
  CASE WHEN nb_totals.n > 0 THEN (coalesce(nb_counts.n, 0) + alpha) / nb_totals.n ELSE 1 / k END AS likelihood
FROM nb_totals JOIN nb_levels USING (feature) LEFT JOIN nb_counts USING (class, feature, kind, value)
UNION ALL
SELECT
  class, feature, 'number', NULL, coalesce(moments.mean, pooled.mean),
  greatest(coalesce(moments.variance, pooled.variance), 1e-9 * pooled.variance), NULL
FROM nb_classes CROSS JOIN pooled LEFT JOIN moments USING (class, feature)
WHERE pooled.variance > 0;


-- One row per class, feature and value: how many times likelier the value is in the class than in the other classes together (ratio), and
-- how often it was there (n). A value that only this class has, with alpha 0, is infinitely likelier.
CREATE OR REPLACE MACRO naive_bayes_ratios(model, alpha := 1) AS TABLE
WITH values_of_classes AS (
  SELECT class, feature, kind, value, likelihood, prior, coalesce(counts.n, 0) AS n
  FROM naive_bayes_likelihoods(model, alpha := alpha) JOIN naive_bayes_priors(model) AS priors USING (class)
  LEFT JOIN (SELECT class, feature, kind, value, sum(n) AS n FROM query_table(model) GROUP BY class, feature, kind, value) AS counts
    USING (class, feature, kind, value)
  WHERE kind <> 'number'
),
compared AS (
  SELECT *, sum(prior * likelihood) OVER others / sum(prior) OVER others AS of_others
  FROM values_of_classes
  WINDOW others AS (
    PARTITION BY feature, kind, value ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
  )
)
SELECT
  class, feature, value, n, likelihood, of_others,
  CASE WHEN of_others > 0 THEN likelihood / of_others WHEN likelihood > 0 THEN CAST('infinity' AS DOUBLE) END AS ratio
FROM compared
WHERE of_others IS NOT NULL
ORDER BY class ASC NULLS LAST, ratio DESC NULLS LAST, feature ASC NULLS LAST, value ASC NULLS LAST;


-- One row per row, class and cell of a table with a column nb_row: the contribution of the cell to the log-likelihood of the class. The
-- row of the prior has no feature. Numbers have the normal density: -ln(2 pi variance) / 2 - (x - mean)^2 / (2 variance).
CREATE OR REPLACE MACRO naive_bayes_contributions(model, numbered, alpha := 1, prior := 'empirical') AS TABLE
WITH nb_likelihoods AS MATERIALIZED (
  FROM naive_bayes_likelihoods(model, alpha := alpha)
),
nb_learnt AS (  -- a column of another kind may have no value
  SELECT feature, kinds.kind, CASE WHEN kinds.kind NOT IN ('word', coalesce(columns.kind, '')) THEN type END AS other
  FROM (SELECT DISTINCT feature, kind FROM nb_likelihoods) AS kinds LEFT JOIN naive_bayes_columns(numbered) AS columns USING (feature)
),
nb_cells AS (
  SELECT nb_row, feature, kind, unnest(CASE kind WHEN 'word' THEN naive_bayes_words(value) ELSE [value] END) AS value
  FROM naive_bayes_cells(numbered) JOIN nb_learnt USING (feature)
  WHERE other IS NULL OR error(concat('column ', feature, ' has the ', other, ' ', value, ', and the model learnt a ', kind, '; cast it'))
)
SELECT source.nb_row, priors.class, NULL AS feature, NULL AS value, ln(priors.prior) AS contribution
FROM query_table(numbered) AS source CROSS JOIN naive_bayes_priors(model, prior := prior) AS priors
WHERE (SELECT count(naive_bayes_column(feature, numbered)) = count(*) FROM nb_learnt)  -- refuses a feature that has no column
UNION ALL
SELECT nb_row, class, feature, value, CASE WHEN likelihood > 0 THEN ln(likelihood) ELSE -CAST('infinity' AS DOUBLE) END
FROM nb_cells JOIN nb_likelihoods USING (feature, kind, value)
UNION ALL
SELECT nb_row, class, feature, value, -ln(6.283185307179586 * variance) / 2 - (x - mean) ** 2 / (2 * variance)
FROM (SELECT *, naive_bayes_number(value) AS x FROM nb_cells WHERE kind = 'number') AS numbers
JOIN (SELECT * EXCLUDE (value) FROM nb_likelihoods WHERE kind = 'number') AS densities USING (feature)
WHERE x IS NOT NULL;


-- One row per row of the source, class and value: row_no, from 1 in its order, class, feature, value, contribution.
CREATE OR REPLACE MACRO naive_bayes_explain(model, source, alpha := 1, prior := 'empirical') AS TABLE
WITH nb_numbered AS MATERIALIZED (
  FROM naive_bayes_numbered(source)
)
SELECT nb_row AS row_no, class, feature, value, contribution
FROM naive_bayes_contributions(model, 'nb_numbered', alpha := alpha, prior := prior)
ORDER BY nb_row ASC NULLS LAST, class ASC NULLS LAST, feature ASC NULLS FIRST, value ASC NULLS LAST;


-- One row per row and class of a table with a column nb_row: nb_row, class, log_probability, which is ln P(class | row), and place, 1 for
-- the most probable class. In a tie the smaller label comes first. With alpha 0, a row that no class explains is left out.
CREATE OR REPLACE MACRO naive_bayes_posteriors(model, numbered, alpha := 1, prior := 'empirical') AS TABLE
WITH joint AS (
  SELECT nb_row, class, sum(contribution) AS log_likelihood
  FROM naive_bayes_contributions(model, numbered, alpha := alpha, prior := prior)
  GROUP BY nb_row, class
),
compared AS (
  SELECT *, max(log_likelihood) OVER (PARTITION BY nb_row) AS highest FROM joint
)
SELECT
  nb_row,
  class,
  log_likelihood - highest - ln(sum(exp(log_likelihood - highest)) OVER (PARTITION BY nb_row)) AS log_probability,
  row_number() OVER (PARTITION BY nb_row ORDER BY log_likelihood DESC NULLS LAST, class ASC NULLS LAST) AS place
FROM compared
WHERE isfinite(highest);


-- Why: one row per row of the source and value, the strongest first: row_no, feature, value, and how many times likelier the value is
-- (ratio) in one of the two most probable classes (class) than in the other. The row of the prior has no feature.
CREATE OR REPLACE MACRO naive_bayes_reasons(model, source, alpha := 1, prior := 'empirical') AS TABLE
WITH nb_numbered AS MATERIALIZED (
  FROM naive_bayes_numbered(source)
),
contrasts AS (
  SELECT
    nb_row, feature, value,
    sum(CASE place WHEN 1 THEN contribution ELSE -contribution END) AS log_ratio,
    max(CASE place WHEN 1 THEN class END) AS best,
    max(CASE place WHEN 2 THEN class END) AS second
  FROM naive_bayes_contributions(model, 'nb_numbered', alpha := alpha, prior := prior)
  JOIN naive_bayes_posteriors(model, 'nb_numbered', alpha := alpha, prior := prior) USING (nb_row, class)
  WHERE place <= 2
  GROUP BY nb_row, feature, value
)
SELECT
  nb_row AS row_no, feature, value, exp(abs(log_ratio)) AS ratio,
  CASE WHEN log_ratio > 0 THEN best WHEN log_ratio < 0 THEN second END AS class,
  CASE WHEN log_ratio > 0 THEN second WHEN log_ratio < 0 THEN best END AS other
FROM contrasts
WHERE second IS NOT NULL
ORDER BY nb_row ASC NULLS LAST, abs(log_ratio) DESC NULLS LAST, feature ASC NULLS FIRST, value ASC NULLS LAST;


-- Every row of the source, in its order, with its prediction and the probability of the prediction.
CREATE OR REPLACE MACRO naive_bayes_predict(model, source, alpha := 1, prior := 'empirical') AS TABLE
WITH nb_numbered AS MATERIALIZED (
  FROM naive_bayes_numbered(source)
),
best AS (
  SELECT nb_row, class, exp(log_probability) AS probability
  FROM naive_bayes_posteriors(model, 'nb_numbered', alpha := alpha, prior := prior)
  WHERE place = 1
)
SELECT nb_numbered.* EXCLUDE (nb_row), best.class AS prediction, best.probability
FROM nb_numbered LEFT JOIN best USING (nb_row)
ORDER BY nb_numbered.nb_row ASC NULLS LAST;


-- The same without a table of counts between: the rows of the source, as those of `train` teach them.
CREATE OR REPLACE MACRO naive_bayes_classify(train, source, target, texts := [], keys := [], alpha := 1, prior := 'empirical') AS TABLE
WITH nb_counted AS MATERIALIZED (
  FROM naive_bayes(train, target, texts := texts, keys := keys)
)
FROM naive_bayes_predict('nb_counted', source, alpha := alpha, prior := prior);


-- One row, over the rows whose class is known: their number, the accuracy, the share of the most frequent class (majority), and the
-- log loss, the mean of -ln P(true class), which is 0 if every row is certain and right. A P counts as at least 2.2e-16.
CREATE OR REPLACE MACRO naive_bayes_evaluate(model, source, target, alpha := 1, prior := 'empirical') AS TABLE
WITH nb_numbered AS MATERIALIZED (
  FROM naive_bayes_numbered(source)
),
nb_labels AS (
  SELECT nb_row, value AS class, count(*) OVER (PARTITION BY value) AS n
  FROM naive_bayes_cells('nb_numbered')
  WHERE feature = naive_bayes_column(target, 'nb_numbered')
),
judged AS (
  SELECT nb_labels.n, posteriors.place, posteriors.log_probability
  FROM nb_labels
  LEFT JOIN naive_bayes_posteriors(model, 'nb_numbered', alpha := alpha, prior := prior) AS posteriors USING (nb_row, class)
)
SELECT
  count(*) AS rows,
  count(CASE WHEN place = 1 THEN 1 END) / nullif(count(*), 0) AS accuracy,
  max(n) / count(*) AS majority,
  avg(-ln(greatest(coalesce(exp(log_probability), 0), 2.220446049250313e-16))) AS log_loss
FROM judged;


-- One row, as naive_bayes_evaluate: how good a model of the other rows is on a share of the rows, drawn the same way each time.
CREATE OR REPLACE MACRO naive_bayes_hold_out(source, target, texts := [], keys := [], share := 0.2, alpha := 1, prior := 'empirical')
AS TABLE
WITH nb_drawn AS MATERIALIZED (
  SELECT * EXCLUDE (nb_row), row_number() OVER (ORDER BY md5(CAST(nb_row AS VARCHAR)) ASC NULLS LAST) <= share * count(*) OVER () AS nb_held
  FROM naive_bayes_numbered(source)
),
nb_learnt AS MATERIALIZED (
  SELECT * EXCLUDE (nb_held) FROM nb_drawn WHERE NOT nb_held
),
nb_judged AS MATERIALIZED (
  SELECT * EXCLUDE (nb_held) FROM nb_drawn WHERE nb_held
),
nb_counted AS MATERIALIZED (
  FROM naive_bayes('nb_learnt', target, texts := texts, keys := keys)
)
FROM naive_bayes_evaluate('nb_counted', 'nb_judged', target, alpha := alpha, prior := prior);
