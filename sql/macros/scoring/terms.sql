{# The terms in the score of a class (model.terms), and the sums of many terms. #}

{% macro prior_term(model, k) -%}
{% if model.options.without_prior %}0{% else %}parameters.log_prior{{ nbsql.class_suffix(k) }}{% endif %}
{%- endmacro %}

{# What a dimension adds, which is scored apart (joins.sql). #}
{% macro dimension_term(joining, k) -%} coalesce(number.nbsql_dimension_{{ joining.place }}_class_{{ k }}, 0) {%- endmacro %}

{# The sum of the categories that are scored in blocks. #}
{% macro blocks_term(model, k) -%} blocks.class_{{ k }} {%- endmacro %}

{#
  The sums of categorical features that are too many for one star of joins, because the time to plan one grows faster than the number of
  its joins: stars of twenty, summed by row.
#}
{% macro block_sums(model, parameters, lookups) -%}
blocks AS (
  SELECT
    nbsql_row
    {%- for k in model.form.class_numbers %},
    sum(class_{{ k }}) AS class_{{ k }}
    {%- endfor +%}
  FROM (
    {% for block in model.form.category_blocks %}
    SELECT
      number.nbsql_row
      {%- for k in model.form.class_numbers %},
      {{ nbsql.sum_of_terms(block, k) | indent(8) }} AS class_{{ k }}
      {%- endfor +%}
    FROM {{ nbsql.with_inputs(nbsql.columns_of_block(model, block), block | selectattr('family.parameters') | list) | indent(4) }}
    {%- if block | selectattr('family.parameters') | list %}
    {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(4) }}
    {%- endif %}
    {%- for feature in block +%}
    {{ nbsql.lookup_join(model, feature, lookups) | indent(4) }}
    {%- endfor %}
    {{- nbsql.union_all(loop) | indent(4) }}
    {%- endfor +%}
  ) AS stars
  GROUP BY nbsql_row
)
{%- endmacro %}

{# The sum of the terms of some items, which a block renders. It is made in blocks, because an expression may not nest that deep. #}
{% macro sum_in_blocks(items) -%}
{% for block in items | batch(50) -%}
({% for item in block %}{{ caller(item) }}{% if not loop.last %} + {% endif %}{% endfor %}){% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# The same with a line for each term. #}
{% macro sum_in_lines(items) -%}
{% for block in items | batch(50) -%}
{% if items | length > 50 %}({% endif -%}
{% for item in block -%}
{{ caller(item) }}
{%- if not loop.last +%}
+ {% endif %}
{%- endfor %}
{%- if items | length > 50 %}){% endif %}{% if not loop.last +%}
+ {% endif %}
{%- endfor %}
{%- endmacro %}

{# The largest of the numbers of some items, none of them NULL, which a block renders. #}
{% macro greatest_of(items) -%}
{% set values = namespace(list=[]) -%}
{% for item in items %}{% set values.list = values.list + [caller(item)] %}{% endfor -%}
{{ nbsql.greatest_of_list(values.list) }}
{%- endmacro %}

{# The same of rendered numbers. It is computed in blocks, because a function may not take as many arguments as a model has classes. #}
{% macro greatest_of_list(values) -%}
{% if values | length == 1 -%}
{{ values[0] }}
{%- elif values | length <= 50 -%}
{{ nbsql.greatest_of_few(values) }}
{%- else -%}
{% set blocks = namespace(list=[]) -%}
{% for block in values | batch(50) %}{% set blocks.list = blocks.list + [nbsql.greatest_of_list(block)] %}{% endfor -%}
{{ nbsql.greatest_of_list(blocks.list) }}
{%- endif %}
{%- endmacro %}

{# The sum of the terms of some features in class k. #}
{% macro sum_of_terms(features, k) -%}
{% call(feature) nbsql.sum_in_lines(features) %}{{ nbsql.term(feature, k) }}{% endcall %}
{%- endmacro %}

{# The term of one feature in the joint log-likelihood of class k. #}
{% macro term(feature, k) -%}
{% if feature.family.level -%}
{% set score = nbsql.level(feature, k) -%}
{{ nbsql.level_term(feature, k, score) }}
{%- else -%}
{% if feature.family.bag %}coalesce(bag{{ nbsql.feature_suffix(feature) }}.class_{{ k }}, 0){% endif -%}
{% if feature.family.bag and feature.family.has_parameter_term %} + {% endif -%}
{% if feature.family.has_parameter_term %}{{ nbsql.computed_term(feature, k) }}{% endif -%}
{%- endif %}
{%- endmacro %}

{#
  The sum of the terms of categories. Most rows have a known value in every column, so the log-likelihoods are simply added; only if one
  of them is missing are the terms evaluated one by one. Twenty coalesces a class took half of the time of a score.
#}
{% macro sum_of_level_terms(features, k) -%}
{% if features | length > 1 -%}
coalesce(
  {% for feature in features %}{{ nbsql.level(feature, k) }}{% if not loop.last %} + {% endif %}{% endfor %},
  {{ nbsql.sum_of_terms(features, k) | indent(2) }}
)
{%- else -%}
{{ nbsql.sum_of_terms(features, k) }}
{%- endif %}
{%- endmacro %}

{# The term of a category. A value without a lookup is missing or was never seen; it is skipped unless the feature's options differ. #}
{% macro level_term(feature, k, score) -%}
{% set i %}{{ nbsql.feature_suffix(feature) }}{{ nbsql.class_suffix(k) }}{% endset -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% set missing = feature.family.nulls == 'category' -%}
{% set unseen = feature.family.unseen == 'smooth' -%}
coalesce({{ score }}
{%- if missing %}, CASE WHEN {{ x }} IS NULL THEN parameters.missing{{ i }} END{% endif %}
{%- if unseen and missing %}, parameters.unseen{{ i }}
{%- elif unseen %}, CASE WHEN {{ x }} IS NOT NULL THEN parameters.unseen{{ i }} END
{%- endif %}, 0)
{%- endmacro %}

{# The scores of a bag of tokens, summed by row. Tokens without a lookup are dropped or smoothed. #}
{% macro bag_sums(model, feature, lookups, parameters) -%}
{% if feature.family.over_columns -%}
{{ nbsql.pairs_sums(model, feature, lookups) }}
{%- else -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
bag{{ nbsql.feature_suffix(feature) }} AS (
  SELECT
    tokens.nbsql_row
    {%- for k in model.form.class_numbers %},
    {% set found %}lookups.class_{{ k }}{% endset %}
    {% set unseen %}parameters.unseen{{ nbsql.feature_suffix(feature) }}_{{ k }}{% endset %}
    sum({{ nbsql.occurrence_factor(feature) }}{% if smooth %}coalesce({{ found }}, {{ unseen }}){% else %}{{ found }}{% endif %})
      {%- if feature.family.norm %} / {{ nbsql.bag_length(feature) }}{% endif %} AS class_{{ k }}
    {%- endfor %}
    {%- if feature.family.min_known %},
    count(DISTINCT lookups.value) AS known
    {%- endif +%}
  FROM {{ nbsql.tokens_with_lookups(model, feature, lookups, parameters if smooth else none) | indent(2) }}
  GROUP BY tokens.nbsql_row
)
{%- endif %}
{%- endmacro %}

{# Whether a row has as many known tokens as `predict_certain` asks for (min_known), as the last column of a list, if it asks. #}
{% macro enough_known(model) -%}
{% set bags = model.facts.features | selectattr('family.bag') | selectattr('family.min_known') | list -%}
{% if bags %},
  {% for feature in bags -%}
  {% set known %}bag{{ nbsql.feature_suffix(feature) }}.known{% endset -%}
  coalesce({{ known }}, 0) >= {{ nbsql.number(feature.family.min_known) }}{% if not loop.last %} AND {% endif %}
  {%- endfor %} AS nbsql_enough_known
{%- endif %}
{%- endmacro %}

{# The join that gives enough_known its counts in the long form, where tokens are summed by class. #}
{% macro join_known_tokens(model, lookups) -%}
{% for feature in model.facts.features | selectattr('family.bag') if feature.family.min_known +%}
LEFT JOIN (
  SELECT tokens.nbsql_row, count(DISTINCT lookups.value) AS known
  FROM {{ nbsql.tokens_with_lookups(model, feature, lookups, none) | indent(2) }}
  GROUP BY tokens.nbsql_row
) AS bag{{ nbsql.feature_suffix(feature) }} ON bag{{ nbsql.feature_suffix(feature) }}.nbsql_row = source.nbsql_row
{%- endfor %}
{%- endmacro %}

{#
  The tokens of the rows, `tokens`, each with the lookup of its value, `lookups`; and the parameters, if there are any. Empty tokens are
  kept, since they find no lookup.
#}
{% macro tokens_with_lookups(model, feature, lookups, parameters) -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
{{ nbsql.subquery(nbsql.scored_tokens(model, feature)) }} AS tokens
{% if smooth %}LEFT {% endif %}JOIN (
  {{ nbsql.lookups_of_tokens(feature, lookups) | indent(2) }}
) AS lookups ON lookups.value = tokens.value{{ nbsql.same_part(model, nbsql.word('lookups'), nbsql.word('tokens')) }}
{%- if parameters %}{{ nbsql.join_parameters(model, parameters, nbsql.word('tokens')) }}{% endif %}
{%- if smooth +%}
WHERE tokens.value <> '' OR lookups.value IS NOT NULL
{%- endif %}
{%- endmacro %}

{#
  The lookups of the tokens of a feature, none of which is empty. That is said in a way that DuckDB cannot infer of the tokens, too, and
  takes to hold for a fifth of the lookups. So it makes its hash table of the lookups and not of the tokens, which are many times as many
  as it takes them to be, and the tokens of a row stay together when they are summed: up to three times as fast.
#}
{% macro lookups_of_tokens(feature, lookups) -%}
SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }} AND nullif(value, '') IS NOT NULL
{%- endmacro %}

{# How often a token counts: once an occurrence, unless a map has its count, or the occurrences are already summed. #}
{% macro occurrence_factor(feature) -%}
{% if 'token counts' in feature.family.accepts or feature.family.norm %}tokens.times * {% endif %}
{%- endmacro %}
