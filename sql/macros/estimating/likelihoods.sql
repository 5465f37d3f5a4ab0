{#
  Priors and likelihoods from the statistics. Everything here is a query on additive cells, so smoothing, priors and floors are arguments
  of a query and never of a fit.
#}

{#
  One row per class: class, n, prior, log_prior.

    empirical  n_c / N        uniform  1 / C        smoothed  (n_c + a) / (N + a C)        given  as given

  The smoothed prior is the mean of its posterior distribution. For the mode, (n_c + a - 1) / (N + a C - C), a is one less.

  `model.spec.classes` lists all possible labels; a class without rows is then included with n = 0.

  `model.spec.prior.given` has one pair per class: the label as the engine casts it to text, and its probability.
#}
{% macro default__priors(model, statistics) -%}
{% if model.spec.given -%}
{{ nbsql.given_priors(statistics) }}
{%- else -%}
SELECT
  class,
  n,
  prior,
  {{ nbsql.safe_ln(nbsql.word('prior')) }} AS log_prior
FROM (
  SELECT
    counts.class,
    counts.n,
    {% if model.spec.prior.kind == 'given' %}
    given.prior
    {%- elif model.spec.prior.kind == 'uniform' %}
    1 / CAST(count(*) OVER () AS {{ nbsql.double() }})
    {%- elif model.spec.prior.kind == 'smoothed' %}
    {% set a = nbsql.number(model.spec.prior.added_count) %}
    (counts.n + {{ a }}) / (sum(counts.n) OVER () + {{ a }} * count(*) OVER ())
    {%- else %}
    counts.n / sum(counts.n) OVER ()
    {%- endif %} AS prior
  FROM (
    {% if model.spec.classes %}
    SELECT declared.class, coalesce(counted.n, 0) AS n
    FROM {{ nbsql.subquery(nbsql.declared_classes(model.spec.classes, model.facts.class_type)) | indent(4) }} AS declared
    LEFT JOIN {{ nbsql.subquery(nbsql.class_counts(statistics)) | indent(4) }} AS counted ON counted.class = declared.class
    {% else %}
    {{ nbsql.class_counts(statistics) | indent(4) }}
    {% endif %}
  ) AS counts
  {% if model.spec.prior.kind == 'given' %}
  LEFT JOIN {% call(row, _) nbsql.constants(model.spec.prior.given, 'given', ['label', 'prior'], 2) -%}
{{ nbsql.text(row[0]) }}, {{ nbsql.number(row[1]) }}
{%- endcall +%}
    ON {{ nbsql.class_of_text(nbsql.word('given.label'), model.facts.class_type) }} = counts.class
  {% endif %}
) AS estimates
{%- endif %}
{%- endmacro %}

{#
  The columns of likelihoods for values with a probability: `likelihood`, and no moments. The score is its logarithm unless another is
  given.
#}
{% macro likelihood_columns(score=none, unseen=none) -%}
{% set logarithm = nbsql.safe_ln(nbsql.word('likelihood')) -%}
class,
feature,
value,
{%+ if unseen %}{{ unseen }}{% else %}FALSE AS unseen{%+ endif %},
likelihood,
{{ logarithm }} AS log_likelihood,
{{ score or logarithm }} AS score,
{{ nbsql.null_columns(['mean', 'variance', 'rate']) }}
{%- endmacro %}

{# One row per class with rows, or a group of other keys: the keys, n. sliced: whether rows without a slice are left out. #}
{% macro class_counts(statistics, keys=['class'], sliced=false) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT {{ by }}, sum(n) AS n
FROM {{ statistics }} AS statistics
WHERE feature IS NULL{% if sliced %} AND slice IS NOT NULL{% endif +%}
GROUP BY {{ by }}
HAVING {{ nbsql.has_weight() }}
{%- endmacro %}

{#
  One row per class: class_no, class, log_prior. Classes are numbered in the order of their labels, not of their frequencies, which change
  with the rows: whatever is stored (a view, a macro, a script) contains the numbers beside the labels.
#}
{% macro classes(priors) -%}
SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, log_prior FROM {{ priors }} AS priors
{%- endmacro %}

{#
  Whether a cell has any weight left after rows were forgotten. A sum of weights that were added and subtracted may miss 0 by its rounding
  error. The column is qualified, because some engines would take the sum of that name for it.
#}
{% macro has_weight(relation='statistics') -%}
{% set n %}{{ nbsql.word(relation) }}.n{% endset -%}
{% set size %}abs({{ n }}){% endset -%}
sum({{ n }}) > {{ nbsql.rounding_of_sum(size, n) }}
{%- endmacro %}

{#
  The possible rounding error of a sum of n, where `size` is what was added and subtracted. It is 0 if all terms are whole and below 2^53,
  because doubles add such numbers exactly; so a row of weight 1 remains when one of 1e10 is forgotten. Otherwise it is a trillionth of
  the size, ten times the error of a sum of ten million doubles.
#}
{% macro rounding_of_sum(size, n) -%}
{% set exact = nbsql.number(9007199254740992) -%}
CASE
    WHEN min(CASE WHEN {{ n }} = {{ nbsql.floor_of(n) }} THEN 1 ELSE 0 END) = 1 AND sum({{ size }}) <= {{ exact }} THEN 0
    ELSE 1e-12 * sum({{ size }})
  END
{%- endmacro %}

{# The same for a difference of two sums, neither of which is larger than `size`: a share of it, or 0. #}
{% macro rounding_of_difference(a, b, size, share) -%}
{% set exact = nbsql.number(9007199254740992) -%}
CASE
    WHEN {{ a }} = {{ nbsql.floor_of(a) }} AND {{ b }} = {{ nbsql.floor_of(b) }} AND {{ size }} <= {{ exact }} THEN 0
    ELSE {{ nbsql.number(share) }} * {{ size }}
  END
{%- endmacro %}

{#
  Moments from the cells of numbers: Chan, Golub and LeVeque's update of a mean and its squared deviations, for any number of parts. The
  cells of forgotten rows are negative.

  Equal means have exactly that mean (`centre`), so that a constant has no variance. A remainder of squares that is only rounding counts
  as 0. Cells with equal means are added first, so that a batch that was learnt and
  forgotten disappears exactly, however large its numbers were. If rows were forgotten and the rest do not vary, their mean is their
  common value except for rounding; it is cut to thirteen digits, so that it equals the mean of another class with only the same number.
#}
{% macro pooled_moments(cells, keys) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set same %}OVER (PARTITION BY {{ by }}){% endset -%}
{% set size %}abs(cells.n){% endset -%}
{% set varies %}sum(square) > 1e-12 * sum(abs(square)){% endset -%}
{% set digits %}12 - floor(ln(nullif(max(abs(mean)), 0)) / ln(10)){% endset -%}
{% set scale %}power(10, {{ nbsql.smallest([digits, 300]) }}){% endset -%}
SELECT
  {{ by }},
  sum(n) AS n,
  CASE WHEN min(n) < 0 AND NOT {{ varies }} THEN coalesce(round(max(centre) * {{ scale }}) / {{ scale }}, 0) ELSE max(centre) END AS mean,
  CASE WHEN {{ varies }} THEN sum(square) WHEN sum(m2) IS NOT NULL THEN 0 END AS m2
FROM (
  SELECT *, m2 + n * (mean - centre) * (mean - centre) AS square
  FROM (
    SELECT
      *,
      {# one window takes half the time of two #}
      CASE
        WHEN min(mean) {{ same }} = max(mean) {{ same }} THEN mean
        ELSE sum(n * mean) {{ same }} / nullif(sum(n) {{ same }}, 0)
      END AS centre
    FROM (
      SELECT {{ by }}, mean, sum(n) AS n, sum(m2) AS m2, sum(abs(n)) AS gross
      FROM {{ cells }} AS cells
      GROUP BY {{ by }}, mean
      HAVING abs(sum(cells.n)) > {{ nbsql.rounding_of_sum(size, nbsql.word('cells.n')) }}
        OR abs(sum(cells.m2)) > 1e-9 * sum(abs(cells.m2))
    ) AS distinct_means
  ) AS centred
) AS parts
GROUP BY {{ by }}
HAVING sum(parts.n) > {{ nbsql.rounding_of_sum(nbsql.word('gross'), nbsql.word('parts.n')) }}
{%- endmacro %}

{#
  The same moments from those that are already pooled, where no n is negative and nothing cancels. One row per group of the keys, none of
  which is NULL: the keys, n, mean, m2. moments: a relation, which is read twice, as a window takes longer than a join of few rows.
#}
{% macro merged_moments(moments, keys) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set above %}(cells.mean - wholes.mean){% endset -%}
SELECT
  {{ by }},
  max(wholes.n) AS n,
  max(wholes.mean) AS mean,
  sum(cells.m2 + cells.n * {{ above }} * {{ above }}) AS m2
FROM {{ moments }} AS cells
JOIN (
  SELECT
    {{ by }},
    sum(n) AS n,
    CASE WHEN min(mean) = max(mean) THEN min(mean) ELSE sum(n * mean) / nullif(sum(n), 0) END AS mean
  FROM {{ moments }} AS cells
  GROUP BY {{ by }}
) AS wholes USING ({{ by }})
GROUP BY {{ by }}
{%- endmacro %}

{#
  The likelihoods of some features, one row per class and value, or a class for numbers: class, feature, value, unseen, likelihood,
  log_likelihood, score, mean, variance, rate. The relation is dense: every class has every value that any class has seen or that is
  declared.

  score: what the value adds to the score of the class, where values are looked up. unseen: TRUE on the extra rows with the likelihood of
  a value never seen, of the features that smooth it.
#}
{% macro smoothed_likelihoods(model, statistics, priors, features) -%}
{% if model.facts.is_logistic -%}
{{ nbsql.weights_as_likelihoods(statistics, priors, features) }}
{%- elif model.options.estimates -%}
{% set tokens = features | selectattr('family.bag') | list if model.options.without_tokens else [] -%}
{% set tabulated = features | reject('in', tokens) | list -%}
{% if tabulated -%}
{% set is_all = model.options.without_tokens and tabulated | length == model.facts.features | rejectattr('family.bag') | list | length -%}
SELECT * FROM {{ model.options.estimates }} AS estimates{% if not is_all %} WHERE feature IN ({{
    nbsql.feature_names(tabulated) }}){% endif %}
{%- endif %}
{%- if tabulated and tokens +%}
UNION ALL
{% endif %}
{%- if tokens -%}
SELECT * FROM {{ nbsql.subquery(nbsql.estimated_likelihoods(model, statistics, priors, tokens)) }} AS tokens
{#- so that no token is estimated if only another feature is asked for #}

WHERE feature IN ({{ nbsql.feature_names(tokens) }})
{%- endif %}
{%- else -%}
{{ nbsql.estimated_likelihoods(model, statistics, priors, features) }}
{%- endif %}
{%- endmacro %}

{# The same likelihoods, estimated from the statistics or given in their place. #}
{% macro estimated_likelihoods(model, statistics, priors, features) -%}
{% set together = features | selectattr('family.kind', 'equalto', 'matrix') | list -%}
{% if model.spec.given and together -%}
{% set others = features | reject('in', together) | list -%}
SELECT * FROM {{ nbsql.subquery(nbsql.likelihoods_of_cells(statistics, priors, together)) }} AS together
{%- if others +%}
UNION ALL
{{ nbsql.given_likelihoods(statistics, priors, others) }}
{%- endif %}
{%- elif model.spec.given -%}
{{ nbsql.given_likelihoods(statistics, priors, features) }}
{%- else -%}
{{ nbsql.likelihoods_of_cells(statistics, priors, features, single=model.options.has_unique_cells, met=model.options.met) }}
{%- endif %}
{%- endmacro %}

{#
  One row per class, feature and value, or parameter of a feature: the columns of likelihoods, estimated from the cells and the priors.
  part: a column of `priors`; only classes of the same part are pooled. single: whether no two cells need to be summed. met: see
  conditional_estimates (families/conditional_estimates.sql).
#}
{% macro likelihoods_of_cells(statistics, priors, features, part=none, single=false, met=none) -%}
{% set tfidf = features | selectattr('family.tfidf') | list -%}
{% set limited = features | selectattr('family.best') | list -%}
WITH classes AS (
  SELECT class{% if part %}, {{ part }}{% endif %} FROM {{ priors }} AS priors
),
{% if limited %}all_counts{% else %}counts{% endif %} AS (
  {{ nbsql.counts_of(statistics, tfidf, single) | indent(2) }}
  {% if tfidf %}
  UNION ALL
  {{ nbsql.tfidf_counts(statistics, tfidf) | indent(2) }}
  {% endif %}
),
{% if limited %}
{{ nbsql.best_counts(priors, limited) }},
{% endif %}
moments AS (
  {% if single %}
  SELECT class, feature, n, mean, CASE WHEN m2 < 0 THEN 0 ELSE m2 END AS m2
  FROM {{ statistics | indent(2) }} AS statistics
  WHERE mean IS NOT NULL AND value IS NULL AND n > 0
  {%- else %}
  {{ nbsql.pooled_moments(nbsql.number_cells(statistics), ['class', 'feature']) | indent(2) }}
  {%- endif +%}
)
{%- if features | selectattr('family.kind', 'equalto', 'density') | list %},
pooled_moments AS (
  {% if part %}
  {% set parts %}(SELECT moments.*, classes.{{ part }} FROM moments JOIN classes ON classes.class = moments.class){% endset %}
  {{ nbsql.merged_moments(parts, [part, 'feature']) | indent(2) }}
  {%- else %}
  {{ nbsql.merged_moments(nbsql.word('moments'), ['feature']) | indent(2) }}
  {%- endif +%}
)
{%- endif %}
{%- set together = features | selectattr('family.kind', 'equalto', 'matrix') | list %}
{%- if together %},
comoments AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.comoments_of(statistics, together), ['class', 'feature', 'value'])) }}
{%- endif %}
{%- for distribution in features | map(attribute='family.distribution') | unique %}
{%- set alike = features | selectattr('family.distribution', 'equalto', distribution) | list %},
{{ nbsql.word(distribution) }} AS (
  {% set is_density = alike[0].family.kind == 'density' %}
  {% set arguments = [alike, met] if met and alike[0].family.parent else [alike] %}
  {{ (nbsql.number_likelihoods(alike, part) if is_density else nbsql[distribution ~ '_likelihoods'](*arguments)) | indent(2) }}
)
{%- endfor +%}
{% for distribution in features | map(attribute='family.distribution') | unique -%}
SELECT * FROM {{ nbsql.word(distribution) }}
{%- if not loop.last %} UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}

{# The summed cells of categories and tokens, without some features or `only` of some: class, feature, value, n. single: each once. #}
{% macro counts_of(statistics, others=(), single=false, only=()) -%}
SELECT class, feature, value, {% if single %}n{% else %}sum(n) AS n{% endif +%}
FROM {{ statistics }} AS statistics
WHERE feature IS NOT NULL AND mean IS NULL{% if others %} AND feature NOT IN ({{ nbsql.feature_names(others) }}){% endif %}
{% if only %} AND feature IN ({{ nbsql.feature_names(only) }}){% endif %}
{% if single %} AND n > 0{% else +%}
GROUP BY class, feature, value
HAVING {{ nbsql.has_weight() }}
{%- endif %}
{%- endmacro %}

{# The cells of numbers, without those of tokens (tfidf.sql). #}
{% macro number_cells(statistics) -%}
(SELECT * FROM {{ statistics }} AS statistics WHERE mean IS NOT NULL AND value IS NULL)
{%- endmacro %}

{# The cells of the statistics that hold moments. #}
{% macro moments_of(statistics) -%} (SELECT * FROM {{ statistics }} AS statistics WHERE mean IS NOT NULL) {%- endmacro %}

{# The cells of numbers with squares, including those of pairs of numbers. #}
{% macro square_cells(statistics) -%} (SELECT * FROM {{ statistics }} AS statistics WHERE m2 IS NOT NULL) {%- endmacro %}

{# The columns of the view `likelihoods`. #}
{% macro default__likelihoods(model, statistics, priors) -%}
SELECT class, feature, value, likelihood, log_likelihood, mean, variance, rate
FROM {{ nbsql.subquery(nbsql.smoothed_likelihoods(model, statistics, priors, model.facts.features)) }} AS smoothed
WHERE NOT unseen
{%- endmacro %}

{# The view of a model without features. #}
{% macro no_likelihoods(priors) -%}
SELECT
  class,
  {{ nbsql.no_text() }} AS feature,
  {{ nbsql.no_text() }} AS value,
  {{ nbsql.null_columns(['likelihood', 'log_likelihood', 'mean', 'variance', 'rate']) | indent(2) }}
FROM {{ priors }} AS priors
WHERE FALSE
{%- endmacro %}

{# One row per class: class_no, and its label as text, which names the columns of a wide score. #}
{% macro class_order(priors) -%}
SELECT class_no, {{ nbsql.text_of(nbsql.word('class')) }} AS label
FROM (
  {{ nbsql.classes(priors) }}
) AS classes
ORDER BY class_no ASC NULLS LAST
{%- endmacro %}

{# The labels in their own type, the most probable class first, or in the order of the class numbers. #}
{% macro class_values(priors, by_number=false) -%}
SELECT class FROM {{ priors }} AS priors ORDER BY {% if not by_number %}prior DESC NULLS LAST, {% endif %}class ASC NULLS LAST
{%- endmacro %}
