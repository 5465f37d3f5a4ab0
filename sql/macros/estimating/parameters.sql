{#
  The tables that scoring reads, computed once from the likelihoods.

    parameters  one row: class_count, for every class k its label class_k and log_prior_k, and the parameters of the features that need
                no lookup, as mean_3_k for the third feature. Long form: one row per class with class_no, class, log_prior, mean_3.
                Parameters of numbers that no row lacked are lists: means_k, peaks_k, precisions_k, and the others that expanded_terms
                (families/gaussian.sql) reads; so are those of a large matrix, as means_3_k, and whites_3_k, its rows.
    lookups     one row per value of a categorical feature or a token: feature, value and its log-likelihood in every class, as
                class_1, class_2, ... or, in the long form, as one list; with TF-IDF also its idf.

  Because parameters is a single row and lookups has one column per class, scoring needs no join on the class. With many classes the long
  form keeps statements short. nbsql/plan/form.py chooses the form.
#}

{# The ending of a parameter of class k: mean_3_1 belongs to the first class. In the long form, one row per class, it is mean_3. #}
{% macro class_suffix(k) -%} {% if k is not none %}_{{ k }}{% endif %} {%- endmacro %}

{# The column name of a feature's parameter. #}
{% macro parameter_name(item) -%}
{{ nbsql.word(item.parameter.name) }}{{ nbsql.feature_suffix(item.feature, item.parameter.column) }}
{%- endmacro %}

{#
  The numbers are first listed, one row per class and parameter, and then laid out in columns. Taking an element of a list for each column
  is faster to plan than an aggregate for each.
#}
{% macro parameters(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.parameters') | list -%}
WITH classes AS (
  {% if model.has_prior %}
  {{ nbsql.classes(priors) | indent(2) }}
  {%- else %}
  SELECT class_no, class, 0 AS log_prior
  FROM {{ nbsql.subquery(nbsql.classes(priors)) | indent(2) }} AS classes
  {%- endif +%}
)
{%- if model.options.weights %},
weights AS {{ nbsql.subquery(nbsql.weights_by_class(model.options.weights)) }}
{%- endif %}
{%- if model.facts.parameters %},
{{ nbsql.listed_parameters(model, nbsql.scored_likelihoods(model, statistics, priors, features), features) }}
{%- endif %}
{%- if model.form.numbers_in_lists %},
near AS {{ nbsql.subquery(nbsql.expanded_parameters(model)) }}
{%- endif +%}
{% if model.form.class_numbers -%}
{{ nbsql.parameters_in_one_row(model, nbsql.word('classes')) }}
{%- else -%}
{{ nbsql.parameters_in_rows(model, nbsql.word('classes')) }}
{%- endif %}
{%- endmacro %}

{# The parameters in one row, from the relation `numbers` and the given relation of classes: class_no, class, log_prior. #}
{% macro default__parameters_in_one_row(model, classes) -%}
SELECT
  {{ nbsql.parameter_columns(model, classes) }}
FROM (
  SELECT
    {{ nbsql.ordered_list(nbsql.word('class'), nbsql.word('class_no')) }} AS labels,
    {{ nbsql.ordered_list(nbsql.word('log_prior'), nbsql.word('class_no')) }} AS log_priors
  FROM {{ classes }}
) AS {{ classes }}
{%- if model.form.column_parameters +%}
CROSS JOIN (
  {% set order %}class_no, position{% endset %}
  SELECT {{ nbsql.ordered_list(nbsql.word('number'), order) }} AS numbers FROM numbers
) AS numbers
{%- endif %}
{%- if model.form.numbers_in_lists +%}
CROSS JOIN near
{%- endif %}
{%- endmacro %}

{#
  A relation with a column `class` as a relation; an error if its classes are no longer those of the query, which has numbers for them. Only
  a query that somebody has kept can be out of date: a view, or a script.
#}
{% macro with_current_classes(model, relation, message) -%}
{% set count = model.form.class_columns | length -%}
{% set labels -%}
{% for column in model.form.class_columns %}{{ nbsql.label_of_column(model, column) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
(
  SELECT classes.*
  FROM {{ relation }} AS classes
  CROSS JOIN (
    SELECT
      count(*) AS class_count,
      max(CAST(class AS {{ nbsql.string() }})) AS label,
      sum(CASE WHEN class IN ({{ labels }}) THEN 1 ELSE 0 END) AS expected
    FROM (
      SELECT DISTINCT class FROM {{ relation }} AS classes
    ) AS classes
  ) AS known
  WHERE CASE WHEN known.class_count = {{ count }} AND known.expected = {{ count }} THEN TRUE
    ELSE {{ nbsql.raise_error(message, nbsql.word('known.label')) }} END
)
{%- endmacro %}

{# The same of the parameters in one row. #}
{% macro with_current_row(model, parameters, message) -%}
{% set as_text %}CAST(classes.class_1 AS {{ nbsql.string() }}){% endset -%}
(
  SELECT classes.*
  FROM {{ parameters }} AS classes
  WHERE CASE WHEN classes.class_count = {{ model.component_model.form.class_numbers | length }}
    {%- for column in model.form.class_columns +%}
    AND classes.class_{{ column.number }} = {{ nbsql.label_of_column(model, column) }}
    {%- endfor +%}
  THEN TRUE ELSE {{ nbsql.raise_error(message, as_text) }} END
)
{%- endmacro %}

{# The label of a class of the query, in the type of the classes. #}
{% macro label_of_column(model, column) -%}
{% set label %}CAST({{ nbsql.text(column.label) }} AS {{ model.facts.class_type }}){% endset -%}
{{ nbsql.as_label(label, model.facts.class_type) }}
{%- endmacro %}

{#
  The parameters, one row per class. member: the column that holds the class_no of `numbers`; leading_columns: the columns to put before all
  others.
#}
{% macro parameters_in_rows(model, classes, member='class_no', leading_columns=[]) -%}
SELECT
  {% for column in leading_columns + ['class_no', 'class'] %}
  {{ classes }}.{{ nbsql.word(column) }},
  {% endfor %}
  {{ classes }}.log_prior
  {%- for item in model.facts.parameters %},
  {{ nbsql.element(nbsql.word('numbers'), item.position) }} AS {{ nbsql.parameter_name(item) }}
  {%- endfor +%}
FROM {{ classes }}
{%- if model.facts.parameters +%}
JOIN (
  SELECT class_no, {{ nbsql.ordered_list(nbsql.word('number'), nbsql.word('position')) }} AS numbers FROM numbers GROUP BY class_no
) AS numbers ON numbers.class_no = {{ classes }}.{{ nbsql.word(member) }}
{%- endif %}
{%- endmacro %}

{# The lists `labels` and `log_priors` of a relation, and `numbers`, as columns. #}
{% macro parameter_columns(model, classes) -%}
{% set labels %}{{ classes }}.labels{% endset -%}
{% set log_priors %}{{ classes }}.log_priors{% endset -%}
{% for k in model.form.class_numbers -%}
{%+ if not loop.first %}  {%+ endif %}{{ nbsql.element(labels, k) }} AS class_{{ k }},
  {{ nbsql.element(log_priors, k) }} AS log_prior_{{ k }}{{ nbsql.comma_line(loop) }}
{%- endfor %},
  {{ nbsql.list_size(labels) }} AS class_count
{%- for item in model.form.column_parameters %}
{%- set is_listed = item.parameter.column and item.feature in model.form.matrices_in_lists %}
{%- if not is_listed or item.parameter.column == 1 %}
{%- set first = loop.index %}
{%- for k in model.form.class_numbers if k == 1 or not item.parameter.common %},
  {% set place = (k - 1) * (model.form.column_parameters | length) + first %}
  {% if is_listed %}
  {{ nbsql.parameters_of_matrix(item, place) }} AS {{ nbsql.of_feature(item.parameter.name ~ 's', item.feature) }}_{{ k }}
  {%- else %}
  {{ nbsql.element(nbsql.word('numbers'), place) }} AS {{ nbsql.parameter_name(item) }}_{{ k }}
  {%- endif %}
{%- endfor %}
{%- endif %}
{%- endfor %}
{%- if model.form.numbers_in_lists %},
  is_near,
  origins
  {%- for k in model.form.class_numbers %}
  {%- for name in ['mean', 'peak', 'precision', 'constant', 'slope'] %},
  {{ nbsql.word(name) }}s[{{ k }}] AS {{ nbsql.word(name) }}{% if name != 'constant' %}s{% endif %}_{{ k }}
  {%- endfor %}
  {%- endfor %}
{%- endif %}
{%- endmacro %}

{#
  The parameters in long form, except those kept in lists: numbers(class_no, position, number), NULL where a class has no such likelihood.
#}
{% macro listed_parameters(model, estimates, features) -%}
smoothed AS {{ nbsql.subquery(estimates) }}
{%- if model.form.column_parameters %},
{% set single = model.form.column_parameters | rejectattr('parameter.paired') | list %}
wanted AS (
  SELECT *
  FROM {% call(item, _) nbsql.constants(single, 'listed', ['position', 'feature', 'quantity', 'value', 'unseen', 'total'], 2) -%}
{% set parameter = item.parameter -%}
{{ item.position }}, {{ nbsql.text(item.feature.name) }}, {{ nbsql.text(parameter.quantity) }},
{%- if parameter.value is none %} NULL{% else %} {{ nbsql.text(parameter.value) }}{% endif %}, {{
  nbsql.boolean(parameter.unseen) }}, {{ nbsql.boolean(parameter.total) }}
{%- endcall +%}
  {% for item in model.form.column_parameters if item.parameter.paired and item.parameter.column == 1 %}
  UNION ALL
  {{ nbsql[item.feature.family.macros.pairs](item.feature, item.position) | indent(2) }}
  {% endfor %}
),
{% if model.options.weights %}numbers_without_weights{% else %}numbers{% endif %} AS (
  SELECT
    classes.class_no,
    wanted.position,
    sum(
      CASE wanted.quantity
        WHEN 'score' THEN smoothed.score
        {%- for distribution in features | map(attribute='family.distribution') | unique %}
        {%- set alike = features | selectattr('family.distribution', 'equalto', distribution) | list %}
        {%- set quantities = nbsql[distribution ~ '_quantities'] %}
        {%- if alike[0].family.kind == 'density' %}
        {{- nbsql.number_quantities(alike) | indent(8) }}
        {%- elif quantities is defined and quantities is not none %}
        {{- quantities() | indent(8) }}
        {%- endif %}
        {%- endfor +%}
      END
    ) AS number
  FROM classes
  JOIN wanted ON TRUE
  LEFT JOIN smoothed
    ON smoothed.class = classes.class
    AND smoothed.feature = wanted.feature
    AND smoothed.unseen = wanted.unseen
    {# with an OR, which totals need, engines would compare each value with each #}
    {% if model.form.column_parameters | selectattr('parameter.total') | list %}
    AND (wanted.total OR smoothed.value IS NOT DISTINCT FROM wanted.value)
    {% else %}
    AND smoothed.value IS NOT DISTINCT FROM wanted.value
    {% endif %}
  GROUP BY classes.class_no, wanted.position
)
{%- if model.options.weights %},
numbers AS {{ nbsql.subquery(nbsql.numbers_with_weights(model)) }}
{%- endif %}
{%- endif %}
{%- endmacro %}

{# One row per feature and value that is looked up: feature, value, and a score for each class. #}
{% macro lookups(model, statistics, priors) -%}
{% if model.options.weights -%}
{{ nbsql.weighted_lookups(model, nbsql.lookups_without_weights(model, statistics, priors), priors) }}
{%- else -%}
{{ nbsql.lookups_without_weights(model, statistics, priors) }}
{%- endif %}
{%- endmacro %}

{# The same by the likelihoods alone. #}
{% macro lookups_without_weights(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.has_lookups') | list -%}
{% set dirichlet = features | selectattr('family.distribution', 'equalto', 'dirichlet') -%}
{% set by_count = dirichlet | rejectattr('family.declared') | rejectattr('family.reweights_tokens') -%}
{% set by_count = by_count | rejectattr('family.best') | list -%}
{% set by_count = by_count | selectattr('family.bag') | list if model.options.estimates else by_count -%}
{% set in_table = model.options.estimates and not model.options.without_tokens -%}
{% set is_other = in_table or model.facts.is_logistic or model.spec.given or model.options.centred -%}
{% set conditional = features | selectattr('family.distribution', 'equalto', 'conditional') | list -%}
{% set pairs = features | selectattr('family.distribution', 'equalto', 'pairs') | list -%}
{% set counted = [('dirichlet', by_count), ('conditional', [] if model.options.estimates else conditional), ('pairs', pairs)] -%}
{% set counted = counted if model.form.class_numbers and not is_other else [] -%}
{% set others = features | reject('in', counted | map(attribute=1) | sum(start=[])) | list -%}
{% set tfidf = features | selectattr('family.tfidf') | list -%}
{% for distribution, alike in counted if alike -%}
{{ nbsql[distribution ~ '_lookups'](model, statistics, priors, alike, with_idf=tfidf) }}
{%- if others or not loop.last +%}
UNION ALL
{% endif %}
{%- endfor %}
{%- if others -%}
{% set likelihoods = nbsql.scored_likelihoods(model, statistics, priors, others) -%}
{{ nbsql.dense_lookups(model, likelihoods, nbsql.classes(priors), statistics, tfidf) }}
{%- endif %}
{%- endmacro %}

{# Lookups from a query of likelihoods and one of the class numbers. tfidf: the features with an idf, which comes from the statistics. #}
{% macro dense_lookups(model, likelihoods, classes, statistics, tfidf) -%}
{% set score %}smoothed.score{% if tfidf %} * coalesce(idf.idf, 1){% endif %}{% endset -%}
SELECT
  smoothed.feature,
  smoothed.value
  {%- if tfidf %},
  max(coalesce(idf.idf, 1)) AS idf
  {%- endif %}
  {%- set class_no %}classes.class_no{% endset %},
  {{ nbsql.scores_by_class(model, score, class_no) }}
FROM {{ nbsql.subquery(likelihoods) }} AS smoothed
JOIN (
  {{ classes }}
) AS classes ON classes.class = smoothed.class
{% if tfidf %}
LEFT JOIN (
  {{ (nbsql.given_idf(statistics, tfidf) if model.facts.is_logistic else nbsql.idf(statistics, tfidf)) | indent(2) }}
) AS idf ON idf.feature = smoothed.feature AND idf.value = smoothed.value
{% endif %}
WHERE smoothed.value IS NOT NULL
GROUP BY smoothed.feature, smoothed.value
{%- endmacro %}

{# The scores of a value, one column per class, or in the long form a list of them. class_no: the class number of a score. #}
{% macro scores_by_class(model, score, class_no) -%}
{% for k in model.form.class_numbers -%}
{%+ if not loop.first %}  {%+ endif %}max(CASE WHEN {{ class_no }} = {{ k }} THEN {{ score }} END) AS class_{{ k }}
{{- nbsql.comma_line(loop) }}
{%- else -%}
{{ nbsql.ordered_list(score, class_no) }} AS scores
{%- endfor %}
{%- endmacro %}

{# The parameters in the long form, whichever form the table has. #}
{% macro default__parameters_by_class(model, parameters) -%}
{% if model.form.numbers_in_lists -%}
SELECT
  class_no,
  class,
  log_prior
  {%- for item in model.facts.parameters %}
  {%- set place = model.form.number_positions.get(item.feature.index) %},
  {% if place %}
  {{ nbsql.word(item.parameter.name) }}s[{{ place }}] AS {{ nbsql.parameter_name(item) }}
  {%- else %}
  {{ nbsql.parameter_name(item) }}
  {%- endif %}
  {%- endfor +%}
FROM {{ nbsql.subquery(nbsql.unnested_parameters(model, parameters)) }} AS parameters
{%- elif model.form.class_numbers -%}
{{ nbsql.unnested_parameters(model, parameters) }}
{%- else -%}
SELECT * FROM {{ parameters }} AS parameters
{%- endif %}
{%- endmacro %}

{# The one row of parameters as one row per class. Lists stay lists: means, peaks, precisions. #}
{% macro unnested_parameters(model, parameters) -%}
SELECT
  {% if model.facts.has_segments %}
  nbsql_segment,
  {% endif %}
  unnest({{ nbsql.list_by_class(model) }}) AS class_no,
  {% if model.facts.has_components %}
  unnest({{ nbsql.array() }}[{% for k in model.form.class_of_component %}{{ k
    }}{{ nbsql.comma_blank(loop) }}{% endfor %}]) AS of_class,
  {% endif %}
  {{ nbsql.unnested_parameter(model, 'class') }},
  {{ nbsql.unnested_parameter(model, 'log_prior') }}
  {%- for item in model.form.column_parameters %}
  {%- set name = nbsql.parameter_name(item) %},
  {% if item.parameter.column and item.feature in model.form.matrices_in_lists %}
  {{ nbsql.unnested_parameter_of_matrix(model, item) }} AS {{ name }}
  {%- elif item.parameter.common %}
  {{ name }}_1 AS {{ name }}
  {%- else %}
  {{ nbsql.unnested_parameter(model, name) }}
  {%- endif %}
  {%- endfor %}
  {%- for name in ['means', 'peaks', 'precisions'] if model.form.numbers_in_lists %},
  {{ nbsql.unnested_parameter(model, name) }}
  {%- endfor +%}
FROM {{ parameters }} AS parameters
{%- endmacro %}

{# A parameter of all classes in one column, from its one column per class. #}
{% macro unnested_parameter(model, name) -%} unnest({{ nbsql.list_by_class(model, name) }}) AS {{ nbsql.word(name) }} {%- endmacro %}
