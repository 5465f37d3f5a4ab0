{#
  Columns of a row, predicted from its other columns through the class:

    p(x = v | rest) = sum over the classes c of p(c | rest) p(v | c)

  p(c | rest) is the posterior of a row without x. For a number with a density the sum is a mixture, described by its mean m, the sum of
  p(c | rest) m_c, and its standard deviation, the root of the sum of p(c | rest) (v_c + (m_c - m)^2).

  imputations: for each column to fill, feature, the column of the source, the type of the value (none: text), the name of the added
  column. labelled: whether the class of a row is taken as certain if the model knows it.
#}

{#
  The rows of the source with gaps filled, and for each column in question the probability or the standard deviation of the filled value.
#}
{% macro imputed_rows(model, scored, parameters, likelihoods, imputations, labelled, columns) -%}
WITH {{ nbsql.completions(model, scored, parameters, likelihoods, imputations, labelled, 1, true) }}
SELECT
  {% for column in columns %}
  {% set of_column = imputations | selectattr('column', 'equalto', column) | list %}
  {% if of_column %}
  {% set imputation = of_column[0] %}
  CASE
    WHEN {{ nbsql.is_missing(imputation.feature, column, nbsql.word('source')) }} THEN {{ nbsql.completed_value(imputation) }}
    ELSE {{ nbsql.present_value(imputation) }}
  END AS {{ nbsql.ident(column) }},
  {% else %}
  source.{{ nbsql.ident(column) }},
  {% endif %}
  {% endfor %}
  {% for imputation in imputations %}
  {% set quantity %}{% if imputation.is_value %}probability{% else %}deviation{% endif %}{% endset %}
  drawn.{{ quantity }}{{ nbsql.feature_suffix(imputation.feature) }} AS {{ nbsql.ident(imputation.added) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM scores AS source
LEFT JOIN completions AS drawn USING (nbsql_row)
ORDER BY nbsql_row ASC NULLS LAST
{%- endmacro %}

{#
  The rows of the source with the value of one column predicted from the others: prediction and probability of a category, and rank if
  several values are asked for; prediction and deviation of a number with a density.
#}
{% macro predicted_column(model, scored, parameters, likelihoods, imputations, labelled, most) -%}
{% set imputation = imputations[0] -%}
{% set i = nbsql.feature_suffix(imputation.feature) -%}
WITH {{ nbsql.completions(model, scored, parameters, likelihoods, imputations, labelled, most or 1, false) }}
SELECT
  {{ nbsql.passed_columns(model) }}{{ nbsql.completed_value(imputation, true) }} AS prediction,
  {% set quantity %}{% if imputation.is_value %}probability{% else %}deviation{% endif %}{% endset %}
  drawn.{{ quantity }}{{ i }} AS {{ quantity }}
  {%- if most %},
  coalesce(drawn.nbsql_rank, 1) AS rank
  {%- endif +%}
FROM scores AS source
LEFT JOIN completions AS drawn USING (nbsql_row)
ORDER BY nbsql_row ASC NULLS LAST{% if most %}, nbsql_rank ASC NULLS LAST{% endif +%}
{%- endmacro %}

{#
  Common table expressions of both: scores, the numbered rows with their posteriors, and completions, one row per row and rank, from 1:
  nbsql_row, nbsql_rank, and for the third feature value_3 (a text) and probability_3, or number_3 and deviation_3.

  most: the number of ranks. gaps: whether only rows without the feature are completed.
#}
{% macro completions(model, scored, parameters, likelihoods, imputations, labelled, most, gaps) -%}
{% set values = imputations | selectattr('is_value') | map(attribute='feature') | list -%}
{% set numbers = imputations | rejectattr('is_value') | map(attribute='feature') | list -%}
scores AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.with_class_posteriors(model, scored, parameters, labelled)) }},
cells AS (
  {% for imputation in imputations %}
  SELECT nbsql_row, {{ nbsql.text(imputation.feature.name) }} AS feature, nbsql_taken AS posteriors
  FROM scores
  {%- if gaps +%}
  WHERE {{ nbsql.is_missing(imputation.feature, imputation.column, nbsql.word('scores')) }}
  {%- endif %}
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor +%}
),
told AS {{ nbsql.materialized() }}(
  SELECT known.feature, known.value, known.likelihood, known.mean, known.variance, known.rate, classes.class_no
  FROM {{ likelihoods }} AS known
  JOIN {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) | indent(2) }} AS classes ON classes.class = known.class
  WHERE known.feature IN ({{ nbsql.feature_names(imputations | map(attribute='feature') | list) }})
),
{% if values %}
choices AS {{ nbsql.subquery(nbsql.likeliest_values(most)) }},
{% endif %}
{% if numbers %}
expectations AS {{ nbsql.subquery(nbsql.expected_numbers(numbers)) }},
{% endif %}
completions AS (
  SELECT
    nbsql_row,
    nbsql_rank
    {%- for imputation in imputations %}
    {%- for name in (['value', 'probability'] if imputation.is_value else ['number', 'deviation']) %},
    {% set of_feature %}CASE WHEN feature = {{ nbsql.text(imputation.feature.name) }} THEN {{ nbsql.word(name) }} END{% endset %}
    max({{ of_feature }}) AS {{ nbsql.word(name) }}{{ nbsql.feature_suffix(imputation.feature) }}
    {%- endfor %}
    {%- endfor +%}
  FROM (
    {% if values %}
    SELECT * FROM choices
    {% endif %}
    {% if values and numbers %}
    UNION ALL
    {% endif %}
    {% if numbers %}
    SELECT * FROM expectations
    {% endif %}
  ) AS answers
  GROUP BY nbsql_row, nbsql_rank
)
{%- endmacro %}

{# The scored rows with nbsql_taken, the list of the posteriors used to fill gaps; a class that is known has 1. #}
{% macro with_class_posteriors(model, scored, parameters, labelled) -%}
{% set label %}known.class_no{% endset -%}
{% set certain %}CASE WHEN k = {{ label }} THEN {{ nbsql.number(1) }} ELSE {{ nbsql.number(0) }} END{% endset -%}
{% set posteriors %}source.nbsql_posteriors{% endset -%}
{% set certain_posteriors = nbsql.list_mapped(posteriors, certain, 'p', 'k') -%}
{% set of_labelled %}CASE WHEN {{ label }} IS NULL THEN {{ posteriors }} ELSE {{ certain_posteriors }} END{% endset -%}
SELECT
  source.*,
  {%+ if labelled %}{{ of_labelled }}{% else %}{{ posteriors }}{%+ endif %} AS nbsql_taken
FROM {{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) }} AS source
{%- if labelled +%}
LEFT JOIN {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS known ON known.class = {{ nbsql.target(model) }}
{%- endif %}
{%- endmacro %}

{#
  One row per missing value and one of its likeliest values: nbsql_row, nbsql_rank, feature, value, probability, number, deviation. Of equal
  probabilities the first value wins.
#}
{% macro likeliest_values(most) -%}
{% set likelihoods %}levels.likelihoods{% endset -%}
SELECT
  nbsql_row,
  nbsql_rank,
  feature,
  value,
  mass / total AS probability,
  {{ nbsql.null_columns(['number', 'deviation']) | indent(2) }}
FROM (
  SELECT
    *,
    sum(mass) OVER (PARTITION BY nbsql_row, feature) AS total,
    row_number() OVER (PARTITION BY nbsql_row, feature ORDER BY mass DESC NULLS LAST, value ASC NULLS LAST) AS nbsql_rank
  FROM (
    SELECT cells.nbsql_row, cells.feature, levels.value, {{ nbsql.list_product(nbsql.word('cells.posteriors'), likelihoods) }} AS mass
    FROM cells
    JOIN (
      SELECT feature, value, {{ nbsql.ordered_list(nbsql.word('likelihood'), nbsql.word('class_no')) }} AS likelihoods
      FROM told
      WHERE value IS NOT NULL
      GROUP BY feature, value
    ) AS levels ON levels.feature = cells.feature
  ) AS masses
) AS ranked
WHERE nbsql_rank <= {{ most }} AND total > 0
{%- endmacro %}

{#
  One row per missing number, the same columns: its mean and its standard deviation, if all classes determine them. The lists contain no
  NULL, not even those of numbers that are left out, because a product rejects one even in a row that it need not multiply.
#}
{% macro expected_numbers(features) -%}
{% set distance %}(x - answers.number) * (x - answers.number){% endset -%}
{% set posteriors_of_answer %}answers.posteriors{% endset -%}
{% set within %}answers.variances{% endset -%}
{% set centre %}coalesce(centre, 0){% endset -%}
{% set spread %}coalesce(spread, 0){% endset -%}
{% set between = nbsql.list_mapped(nbsql.word('answers.means'), distance) -%}
SELECT
  nbsql_row,
  CAST(1 AS BIGINT) AS nbsql_rank,
  feature,
  {{ nbsql.no_text() }} AS value,
  CAST(NULL AS {{ nbsql.double() }}) AS probability,
  number,
  sqrt({{ nbsql.list_product(posteriors_of_answer, within) }} + {{ nbsql.list_product(posteriors_of_answer, between) }}) AS deviation
FROM (
  SELECT
    cells.nbsql_row,
    cells.feature,
    cells.posteriors,
    numbers.means,
    numbers.variances,
    {{ nbsql.list_product(nbsql.word('cells.posteriors'), nbsql.word('numbers.means')) }} AS number
  FROM cells
  JOIN (
    SELECT
      feature,
      {{ nbsql.ordered_list(centre, nbsql.word('class_no')) }} AS means,
      {{ nbsql.ordered_list(spread, nbsql.word('class_no')) }} AS variances
    FROM (
      SELECT
        feature,
        class_no
        {%- for name, quantity in [('centre', 'mean'), ('spread', 'variance')] %},
        CASE feature
          {% for feature in features %}
          WHEN {{ nbsql.text(feature.name) }} THEN {{ nbsql.class_moment(feature, quantity) }}
          {% endfor %}
        END AS {{ nbsql.word(name) }}
        {%- endfor +%}
      FROM told
    ) AS moments
    GROUP BY feature
    HAVING count(centre) = count(*) AND count(spread) = count(*)
  ) AS numbers ON numbers.feature = cells.feature
  WHERE {{ nbsql.list_total(nbsql.word('cells.posteriors')) }} > 0
) AS answers
{%- endmacro %}

{# The mean or the variance of a number in a class, from its likelihoods: their own columns, unless the family has a macro for it. #}
{% macro class_moment(feature, quantity) -%}
{% set macros = feature.family.macros -%}
{% if feature.family.zeros -%}
{% set is_own = feature.family.formula == 'lognormal' -%}
{% set mean = nbsql.lognormal_moment('mean') if is_own else nbsql.word('mean') -%}
{% set variance = nbsql.lognormal_moment('variance') if is_own else nbsql.word('variance') -%}
{{ nbsql.zero_inflated_moment(quantity, mean, variance) }}
{%- elif 'moment' in macros %}{{ nbsql[macros.moment](quantity) }}
{%- else %}{{ nbsql.word(quantity) }}
{%- endif %}
{%- endmacro %}

{# Whether a row lacks a feature. #}
{% macro is_missing(feature, column, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
{% set number %}CAST({{ x }} AS {{ nbsql.double() }}){% endset -%}
{% if feature.floating and feature.is_number %}{{ nbsql.finite(number) }}{% else %}{{ x }}{% endif %} IS NULL
{%- endmacro %}

{# The value of a column that has one: a text beside filled texts, if the column is of another type, or has only NULL, and so none. #}
{% macro present_value(imputation) -%}
{% set x %}source.{{ nbsql.ident(imputation.column) }}{% endset -%}
{% set is_text = imputation.type in [none, 'string'] or nbsql.is_text(imputation.type) -%}
{% set is_category = imputation.feature.family.cell in ['level', 'list'] -%}
{% if is_text and is_category %}CAST({{ x }} AS {{ nbsql.string() }}){% else %}{{ x }}{% endif %}
{%- endmacro %}

{# The filled value of a column: a value in its type, the middle of a bin, or a mean; with `whole_bins` the label of a bin. #}
{% macro completed_value(imputation, whole_bins=false) -%}
{% set i = nbsql.feature_suffix(imputation.feature) -%}
{% set macros = imputation.feature.family.macros -%}
{% set value -%}
{% if not imputation.is_value %}drawn.number{{ i }}
{%- elif 'middle' in macros %}{{ nbsql[macros.middle](imputation.feature) }}
{%- else %}{{ nbsql[macros.drawn](imputation.feature, 0, 0) }}
{%- endif %}
{%- endset -%}
{% if whole_bins and imputation.feature.family.labels is defined -%}
drawn.value{{ i }}
{%- elif imputation.type is none or whole_bins and not (imputation.is_value and 'middle' not in macros) -%}
{{ value }}
{%- else -%}
{{ nbsql.cast_or_null(value, imputation.type) }}
{%- endif %}
{%- endmacro %}
