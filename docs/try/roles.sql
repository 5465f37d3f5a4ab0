-- A guess of what each column of a table is, from 20,000 of its rows. One row per column, in the order of the table: feature, type,
-- levels (its different values), role: target, category, number, words or left out. What tells nearly every row from every other, or none,
-- is left out.
CREATE OR REPLACE MACRO guess_roles(source) AS TABLE
WITH numbered AS MATERIALIZED (
  SELECT row_number() OVER () AS nb_row, * FROM (FROM query_table(source) USING SAMPLE reservoir(20000 ROWS) REPEATABLE (1))
),
types AS (
  SELECT row_number() OVER () AS place, feature, type FROM naive_bayes_columns('numbered')
  WHERE type <> 'PART' AND feature <> 'nb_row'
),
facts AS (
  SELECT
    place, feature, type, count(value) AS n, count(DISTINCT value) AS levels, avg(len(naive_bayes_words(value))) AS words,
    type SIMILAR TO 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?' AS is_integer
  FROM types LEFT JOIN naive_bayes_cells('numbered') USING (feature)
  GROUP BY place, feature, type
),
kinds AS (
  SELECT
    *,
    CASE
      WHEN levels <= 1 OR (levels = n AND ((is_integer AND n > 24) OR (type = 'VARCHAR' AND words < 3))) THEN 'left out'
      WHEN type = 'BOOLEAN' OR (is_integer AND levels <= 24) THEN 'category'
      WHEN is_integer OR type SIMILAR TO 'FLOAT|DOUBLE|DECIMAL.*' THEN 'number'
      WHEN type = 'VARCHAR' AND words >= 3 AND levels > 24 THEN 'words'
      WHEN type = 'VARCHAR' AND (levels <= 24 OR levels <= n / 10) THEN 'category'
      ELSE 'left out'
    END AS kind
  FROM facts
),
likely AS (
  SELECT
    *,
    row_number() OVER (
      ORDER BY
        kind = 'category' AND levels <= 24 DESC NULLS LAST,
        lower(feature) SIMILAR TO '(target|class|label|outcome|result|category|surviv|churn|default|spam|fraud).*' DESC NULLS LAST,
        lower(feature) NOT IN ('split', 'fold', 'set', 'part') DESC NULLS LAST,
        place DESC NULLS LAST
    ) AS rank
  FROM kinds
)
SELECT feature, type, CAST(levels AS DOUBLE) AS levels, CASE WHEN rank = 1 THEN 'target' ELSE kind END AS role
FROM likely
ORDER BY place ASC NULLS LAST;
