{#
  The score before it is summed, one row per source row, class and feature (for tokens also the token, for several columns the column):

    row_id        the number of the source's row, from 1 in its order
    ...           the id columns of the model; one with a name of this list begins with source_
    class, feature, value, contribution

  The contributions of one row and class sum to its joint log-likelihood; the row without a feature holds the prior. Each feature has
  exactly the term that scoring adds. Features are processed in blocks, each unnested side by side. The id columns are joined at the end,
  on a condition that all meet and that DuckDB expects a fifth to meet, so that it hashes the rows and not the contributions.
#}
{% macro default__explain(model, source, parameters, lookups) -%}
{% set own = ['row_id', 'class', 'feature', 'value', 'contribution'] -%}
WITH {{ nbsql.explained_rows(model, source, parameters, lookups) }},
parameters AS {{ nbsql.materialized() }}(
  {% if model.form.numbers_in_lists %}
  {{ nbsql.unnested_parameters(model, parameters) | indent(2) }}
  {% else %}
  {{ nbsql.parameters_by_class(model.component_model, parameters) | indent(2) }}
  {% endif %}
),
{% if model.facts.has_components %}contributions_of_members{% else %}contributions{% endif %} AS (
  SELECT{{ nbsql.broadcast_hint(nbsql.word('parameters')) }}
    source.nbsql_row,
    parameters.class_no,
    0 AS feature_no,
    CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS feature,
    CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value,
    parameters.log_prior AS contribution
  FROM numbered AS source
  {{ nbsql.join_parameters_by_class(model, nbsql.word('source')) }}
  {% if model.form.numbers_in_lists | length > model.form.omitted_numbers | length %}
  UNION ALL
  {{ nbsql.explained_numbers(model) | indent(2) }}
  {% endif %}
  {% for block in model.facts.explanation_parts | rejectattr('feature.index', 'in', model.form.number_positions) | batch(20) %}
  UNION ALL
  {{ nbsql.explained_block(model.component_model, block, lookups) | indent(2) }}
  {% endfor %}
  {% for feature in model.facts.features | selectattr('family.bag') %}
  UNION ALL
  {{ nbsql.explained_tokens(model.component_model, feature, lookups) | indent(2) }}
  {% endfor %}
)
{%- if model.facts.has_components %},
{{ nbsql.mixture_contributions() }}
{%- endif +%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('parameters')) }}
  contributions.nbsql_row AS row_id,
  {% for column in model.spec.id %}
  source.{{ nbsql.ident(column) }}{% if column | lower in own %} AS {{ nbsql.ident('source_' ~ column) }}{% endif %},
  {% endfor %}
  parameters.class,
  contributions.feature,
  contributions.value,
  contributions.contribution
FROM contributions
JOIN parameters ON parameters.class_no = contributions.class_no{% if model.facts.has_segments %} AND parameters.nbsql_segment = 0{% endif %}

{%- if model.spec.id +%}
JOIN numbered AS source ON source.nbsql_row = contributions.nbsql_row AND source.nbsql_row IS NOT NULL
{%- endif +%}
ORDER BY
  contributions.nbsql_row ASC NULLS LAST,
  contributions.class_no ASC NULLS LAST,
  contributions.feature_no ASC NULLS LAST,
  contributions.value ASC NULLS LAST
{%- endmacro %}

{#
  An explanation for people, from the rows of `explain`: how many times likelier each value of a row is in one of its two most probable
  classes than in the other. One row per source row and value: the row of the prior, the values, the strongest first, and their product, the
  total. A row of which no class is possible has none, nor has a model of one class.

    row_id, the id columns   as in `explain`
    feature, value           prior and total are features without a value
    ratio                    exp(|contribution to the most probable class - contribution to the next|), at least 1
    class, other             the class for which the value speaks, and the other of the two; both NULL where the ratio is 1
#}
{% macro reasons(model, explained) -%}
{% set own = ['row_id', 'class', 'feature', 'value', 'contribution'] -%}
{% set ids -%}
{% for column in model.spec.id %}, {{ nbsql.ident('source_' ~ column if column | lower in own else column) }}{% endfor %}
{%- endset -%}
{% set outputs -%}
{% for column in model.spec.id -%}
{% set name = 'source_' ~ column if column | lower in own else column -%}
, pairs.{{ nbsql.ident(name) }}{% if name | lower in ['ratio', 'other'] %} AS {{ nbsql.ident('source_' ~ name) }}{% endif %}
{%- endfor %}
{%- endset -%}
WITH explained AS {{ nbsql.materialized() }}(
  SELECT * FROM {{ explained }}
),
joint AS (
  SELECT row_id, class{{ ids }}, sum(contribution) AS joint FROM explained GROUP BY row_id, class{{ ids }}
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY joint DESC NULLS LAST, class ASC NULLS LAST) AS place FROM joint
),
pairs AS (
  SELECT best.*, following.class AS following
  FROM ranked AS best
  JOIN ranked AS following ON following.row_id = best.row_id AND following.place = 2
  WHERE best.place = 1 AND best.joint > -{{ nbsql.infinity() }}
),
terms AS (
  SELECT
    explained.row_id,
    explained.feature,
    explained.value,
    max(CASE WHEN explained.class = pairs.class THEN explained.contribution END)
      - max(CASE WHEN explained.class = pairs.following THEN explained.contribution END) AS log_ratio
  FROM explained
  JOIN pairs ON pairs.row_id = explained.row_id AND explained.class IN (pairs.class, pairs.following)
  GROUP BY explained.row_id, explained.feature, explained.value
),
lines AS (
  SELECT row_id, CASE WHEN feature IS NULL THEN 1 ELSE 2 END AS place, coalesce(feature, 'prior') AS feature, value, log_ratio FROM terms
  UNION ALL
  SELECT row_id, 3, 'total', NULL, sum(log_ratio) FROM terms GROUP BY row_id
)
SELECT
  pairs.row_id{{ outputs }},
  lines.feature,
  lines.value,
  exp(abs(lines.log_ratio)) AS ratio,
  CASE WHEN lines.log_ratio > 0 THEN pairs.class WHEN lines.log_ratio < 0 THEN pairs.following END AS class,
  CASE WHEN lines.log_ratio > 0 THEN pairs.following WHEN lines.log_ratio < 0 THEN pairs.class END AS other
FROM lines
JOIN pairs ON pairs.row_id = lines.row_id
ORDER BY
  pairs.row_id ASC NULLS LAST,
  lines.place ASC NULLS LAST,
  abs(lines.log_ratio) DESC NULLS LAST,
  lines.feature ASC NULLS LAST,
  lines.value ASC NULLS LAST
{%- endmacro %}

{# The join of rows with the parameters by class. #}
{% macro join_parameters_by_class(model, rows) -%}
JOIN parameters ON {% if model.facts.has_segments %}parameters.nbsql_segment = {{ rows }}.nbsql_segment{% else %}TRUE{% endif %}
{%- endmacro %}

{# The list of numbers, one a class, that a lookup found. #}
{% macro found_scores(model) -%}
{% if model.form.class_numbers %}{{ nbsql.list_by_class(model, 'found.class') }}{% else %}found.scores{% endif %}
{%- endmacro %}

{# Some features, or columns of features, that look up a value or compute with their parameters. #}
{% macro default__explained_block(model, parts, lookups) -%}
{% set features = parts | map(attribute='feature') | unique(attribute='index') | list -%}
{% set levels -%}
{% for feature in features | selectattr('family.level') %}, level{{ nbsql.feature_suffix(feature) }}{% endfor %}
{%- endset -%}
{% set terms +%}
  {% for part in parts %}
  {{ nbsql.explained_term(part) | indent(2) }}{{ nbsql.comma(loop) }}
  {% endfor %}
{% endset -%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('parameters') ~ levels) }}
  number.nbsql_row,
  parameters.class_no,
  {{ nbsql.explained_lists(parts, nbsql.array_of(terms)) | indent(2) }}
FROM {{ nbsql.with_inputs(nbsql.word('numbered'), features | selectattr('family.parameters') | list) }}
{{ nbsql.join_parameters_by_class(model, nbsql.word('number')) }}
{%- for feature in features | selectattr('family.level') +%}
{{ nbsql.star_of_scores(model, feature, lookups) }}
{%- endfor %}
{%- endmacro %}

{# The lists to unnest side by side: feature_no, feature, value and, from a list of contributions, contribution. #}
{% macro explained_lists(parts, contributions) -%}
{% set numbers %}{% for part in parts %}{{ part.feature.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set names %}{% for part in parts %}{{ nbsql.text(part.feature.name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set values +%}
  {% for part in parts %}
  {{ nbsql.explained_value(part) | indent(2) }}{{ nbsql.comma(loop) }}
  {% endfor %}
{% endset -%}
{% set lists = [nbsql.array_of(numbers), nbsql.array_of(names), nbsql.array_of(values), contributions] -%}
{{ nbsql.unnested(lists, ['feature_no', 'feature', 'value', 'contribution']) }}
{%- endmacro %}

{# The lookup of a categorical feature (score.sql), with the log-likelihoods in all classes as one list. #}
{% macro star_of_scores(model, feature, lookups) -%}
{% set level %}level{{ nbsql.feature_suffix(feature) }}{% endset -%}
LEFT JOIN (
  SELECT
    found.value,
    {% if model.part_column %}
    found.{{ nbsql.word(model.part_column) }},
    {% endif %}
    {{ nbsql.found_scores(model) }} AS scores
  FROM {{ lookups }} AS found
  WHERE feature = {{ nbsql.text(feature.name) }}
) AS {{ level }}
  ON {{ level }}.value = {{ nbsql[feature.family.macros.value](feature, nbsql.word('number')) }}
  {{- nbsql.same_part(model, level, nbsql.word('number')) }}
{%- endmacro %}

{# The terms of the numbers that are scored by lists (families/gaussian.sql): one expression for all of them. #}
{% macro explained_numbers(model) -%}
{% set parts = model.facts.explanation_parts | selectattr('feature.index', 'in', model.form.number_positions) | list -%}
{% set place -%}
{% if model.form.omitted_numbers -%}
[{% for part in parts %}{{ model.form.number_positions[part.feature.index] }}{{ nbsql.comma_blank(loop) }}{% endfor %}][place]
{%- else %}place
{%- endif %}
{%- endset -%}
{% set x %}x{% endset -%}
{% set given -%}
{% for part in parts %}CAST(number.{{ nbsql.ident(part.column) }} AS {{ nbsql.double() }}){{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
{% set density -%}
{% call(name) nbsql.density(parts[0].feature.family, x) %}parameters.{{ nbsql.word(name) }}s[{{ place }}]{% endcall %}
{%- endset -%}
{% set contributions -%}
list_transform([{{ given }}], lambda x, place: coalesce(CASE WHEN abs(x) <= 1e150 THEN {{ density }} END, 0))
{%- endset -%}
SELECT
  number.nbsql_row,
  parameters.class_no,
  {{ nbsql.explained_lists(parts, contributions) | indent(2) }}
FROM numbered AS number
JOIN parameters ON TRUE
{%- endmacro %}

{# The value of a part. The term of a text beside its words has none; a feature over several columns shows the column. #}
{% macro explained_value(part) -%}
{% if part.feature.family.bag %}NULL
{%- elif part.number is not none %}{{ nbsql.text(part.column) }}
{%- elif part.feature.family.over_columns or part.feature.columns[1:] -%}
{{ nbsql[part.feature.family.macros.value](part.feature, nbsql.word('number')) }}
{%- else %}CAST(number.{{ nbsql.ident(part.column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endif %}
{%- endmacro %}

{# The term of a part of a feature in the class of the row. #}
{% macro explained_term(part) -%}
{% if part.feature.family.level -%}
{% set scores %}level{{ nbsql.feature_suffix(part.feature) }}.scores{% endset -%}
{{ nbsql.level_term(part.feature, none, nbsql.element(scores, nbsql.word('parameters.class_no'))) }}
{%- else -%}
{{ nbsql.computed_term(part.feature, none, part.number) }}
{%- endif %}
{%- endmacro %}

{# A bag of tokens, each token once a row, with the sum over its occurrences. #}
{% macro explained_tokens(model, feature, lookups) -%}
{% if feature.family.over_columns -%}
{{ nbsql.explained_pairs(model, feature, lookups) }}
{%- else -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
{% set found = nbsql.score_of_token(model) -%}
SELECT
  tokens.nbsql_row,
  parameters.class_no,
  {{ feature.index }} AS feature_no,
  {{ nbsql.text(feature.name) }} AS feature,
  tokens.value,
  {% set unseen %}parameters.unseen{{ nbsql.feature_suffix(feature) }}{% endset %}
  tokens.times * {% if smooth %}coalesce({{ found }}, {{ unseen }}, 0){% else %}{{ found }}{% endif %}
    {%- if feature.family.norm %} / {{ nbsql.bag_length(feature, nbsql.row_and_class()) }}{% endif %} AS contribution
FROM (
  SELECT nbsql_row, {% if model.facts.has_segments %}nbsql_segment, {% endif %}value, sum(times) AS times
  FROM (
    {{ nbsql.tokens(feature, nbsql.word('numbered'), nbsql.row_key(model, nbsql.word('source'))) | indent(4) }}
  ) AS occurrences
  GROUP BY nbsql_row, {% if model.facts.has_segments %}nbsql_segment, {% endif %}value
) AS tokens
{{ nbsql.join_parameters_by_class(model, nbsql.word('tokens')) }}
{% if smooth %}LEFT {% endif %}JOIN (
  SELECT
    found.value,
    {% if model.facts.has_segments %}
    found.{{ nbsql.word(model.part_column) }},
    {% endif %}
    {% if feature.family.tfidf %}
    found.idf,
    {% endif %}
    {{ nbsql.scores_of_token(model) }}
  FROM {{ nbsql.subquery(nbsql.lookups_of_tokens(feature, lookups)) | indent(2) }} AS found
) AS lookups ON lookups.value = tokens.value{{ nbsql.same_part(model, nbsql.word('lookups'), nbsql.word('tokens')) }}
{%- endif %}
{%- endmacro %}
