{#
  Families of the kind density. A family writes the formula of its density once, in terms of an expression x and a function `get` from the
  name of a parameter to its expression. family.macros names these macros by part; a family may name those of another:

    <family>_density(x, get)   ln p(x | c) of a number inside the distribution, except for the part that all classes share
    <family>_inside(x)         whether a number is inside; without it every number is. Any other is an unseen value: it adds nothing, or
                               with unseen='smooth' its density, which is 0 in every class
    <family>_at_zero(get)      for counts, the density at 0, apart because 0 ln 0 = 0; nothing is subtracted from it
    <family>_base(x, feature)  the part to subtract in all classes alike, if there is one; feature: none in a standalone scorer

  The form of the query determines x and the parameters: here they are columns, in a standalone scorer numbers
  (scoring/standalone/terms.sql).

  The estimates (family.distribution) are also written once, in terms of a function `get` from the name of a known number to its
  expression:

    <distribution>_estimate(quantity, get)   the mean, the variance or the rate; nothing if the distribution has none. Known are n, mean
                                             and m2 of the class (if it has no value, n is 0 and the others NULL), the same of all
                                             classes (pooled_n, ...), and the numbers of family.estimate_options
    <distribution>_parameter(quantity, get)  a parameter of the family, from its mean, variance and rate

  Likelihoods and parameters here use these macros, and so does leave-one-out (evaluation/left_out/left_out_numbers.sql).
#}

{# The columns of a row that a scan or a score reads for a feature (statistics.sql); of a category, whether it is given. #}
{% macro inputs(feature, centre, careful, centred) -%}
{% if feature.family.level %}{{ nbsql.given(feature, nbsql.word('source')) }} AS {{ nbsql.of_feature('nbsql_x', feature) }}
{%- else %}{{ nbsql[feature.family.macros.inputs](feature, centre, careful, centred) }}
{%- endif %}
{%- endmacro %}

{#
  The density of a family, or at_zero its density at 0. Call it with a block that renders the expression of the parameter with a
  given name. dbt 2 can call that block only here, but the get of a dictionary anywhere.
#}
{% macro density(family, x, at_zero=false) -%}
{% set expressions = namespace(by_name={}) -%}
{% for name in family.parameters | map(attribute='name') -%}
{% set expressions.by_name = dict(expressions.by_name, **{name: caller(name)}) %}
{%- endfor -%}
{% if at_zero %}{{ nbsql[family.macros.at_zero](expressions.by_name.get) }}
{%- else %}{{ nbsql[family.macros.density](x, expressions.by_name.get) }}
{%- endif %}
{%- endmacro %}

{#
  A feature's parameter in class k: a column, or in a standalone scorer the number itself. In the statement of one row the parameters stand
  beside the number, for which a feature without an index stands (one_row.sql). part: the number of one of several of that name.
#}
{% macro parameter_column(feature, name, k, part=none) -%}
{% if feature.numbers is defined -%}
{{ nbsql.number_or_null(feature.numbers[k - 1][name ~ ('' if part is none else '_' ~ part)]) }}
{%- else -%}
{{ nbsql.word('parameters' if feature.index else 'number') }}.{{ nbsql.of_feature(name, feature, part) }}{{ nbsql.class_suffix(k) }}
{%- endif %}
{%- endmacro %}

{# The term of a number in the joint log-likelihood of class k, in the long form of the row's class; 0 if the number is missing. #}
{% macro number_term(feature, k) -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% if feature.family.zeros -%}
{% set zero, other = nbsql.parameter_column(feature, 'zero', k), nbsql.parameter_column(feature, 'other', k) -%}
{% set is_zero = nbsql.of_feature('number.nbsql_zero', feature) -%}
{{ nbsql.zero_inflated_term(is_zero, zero, other, nbsql.density_term(feature, k, x), nbsql.is_scored(feature.family, x)) }}
{%- else -%}
{{ nbsql.density_term(feature, k, x) }}
{%- endif %}
{%- endmacro %}

{# The density of x in class k, whose parameters are columns; 0 if x or the parameters are missing. #}
{% macro density_term(feature, k, x) -%}
{% set macros = feature.family.macros -%}
{% set density -%}
{% call(name) nbsql.density(feature.family, x) %}{{ nbsql.parameter_column(feature, name, k) }}{% endcall %}
{%- if 'base' in macros and feature.numbers is not defined %} - {{ nbsql[macros.base](x, feature) }}{% endif %}
{%- endset -%}
{% if 'inside' in macros -%}
coalesce(CASE
  {% if 'at_zero' in macros %}
  WHEN {{ x }} > 0 THEN {{ density }}
  WHEN {{ x }} = 0 THEN {% call(name) nbsql.density(feature.family, x, at_zero=true) -%}
  {{ nbsql.parameter_column(feature, name, k) }}
  {%- endcall +%}
  {% else %}
  WHEN {{ nbsql[macros.inside](x) }} THEN {{ density }}
  {% endif %}
  {% if feature.family.unseen == 'smooth' %}
  WHEN {{ x }} IS NOT NULL THEN -{{ nbsql.infinity() }}
  {% endif %}
END, 0)
{%- else -%}
coalesce({{ density }}, 0)
{%- endif %}
{%- endmacro %}

{# Whether a number adds anything to a score: not if it is missing, or outside of the distribution and such a number says nothing. #}
{% macro is_scored(family, x) -%}
{% if 'inside' in family.macros and family.unseen != 'smooth' %}{{ nbsql[family.macros.inside](x) }}{% else %}{{ x }} IS NOT NULL{% endif %}
{%- endmacro %}

{# The term of a feature that is computed from its parameters alone. part: the column number in a feature over several columns. #}
{% macro computed_term(feature, k, part=none) -%}
{% if feature.family.kind == 'density' -%}
{{ nbsql.number_term(feature, k) }}
{%- else -%}
{{ nbsql[feature.family.macros.term](feature, k, part) }}
{%- endif %}
{%- endmacro %}

{# An estimate or a parameter. Call it with a block that renders the expression of the number with a given name. #}
{% macro estimate_of(family, quantity) -%}
{% set moments = ['n', 'mean', 'm2', 'pooled_n', 'pooled_mean', 'pooled_m2', 'within_n', 'within_m2', 'within_classes', 'largest'] -%}
{% set expressions = namespace(by_name={}) -%}
{% for name in moments + (['zeros'] if family.zeros else []) + family.estimate_options | list -%}
{% set expressions.by_name = dict(expressions.by_name, **{name: caller(name)}) %}
{%- endfor -%}
{% if family.zeros %}{{ nbsql.zero_inflated_estimate(quantity, expressions.by_name.get, family.formula) }}
{%- else %}{{ nbsql[family.distribution ~ '_estimate'](quantity, expressions.by_name.get) }}
{%- endif %}
{%- endmacro %}

{# A parameter from the mean, the variance and the rate. Call it in the same way. #}
{% macro parameter_of(family, quantity) -%}
{% set expressions = namespace(by_name={}) -%}
{% for name in ['mean', 'variance', 'rate'] %}{% set expressions.by_name = dict(expressions.by_name, **{name: caller(name)}) %}{% endfor -%}
{% if family.zeros %}{{ nbsql.zero_inflated_parameter(quantity, expressions.by_name.get, family.formula) }}
{%- else %}{{ nbsql[family.macros.parameter](quantity, expressions.by_name.get) }}
{%- endif %}
{%- endmacro %}

{#
  One row per class and feature, for numbers of one distribution: the columns of likelihoods (likelihoods.sql), from the relations classes,
  moments and pooled_moments. part: a column of classes and pooled_moments, if only classes with the same part are pooled.
#}
{% macro number_likelihoods(features, part=none) -%}
{% set family = features[0].family -%}
{% set names = ['feature'] + family.estimate_options | list -%}
{% set window %}OVER (PARTITION BY options.feature{% if part %}, classes.{{ part }}{% endif %}){% endset -%}
SELECT
  class,
  feature,
  {{ nbsql.no_text() }} AS value,
  FALSE AS unseen,
  {{ nbsql.null_columns(['likelihood', 'log_likelihood', 'score']) | indent(2) }}
  {%- for column in ['mean', 'variance', 'rate'] %}
  {%- set estimate %}{% call(name) nbsql.estimate_of(family, column) %}{{ nbsql.word(name) }}{% endcall %}{% endset %},
  {%+ if estimate %}{{ estimate | indent(2) }}{% else %}CAST(NULL AS {{ nbsql.double() }}){%+ endif %} AS {{ nbsql.word(column) }}
  {%- endfor +%}
FROM (
  SELECT
    classes.class,
    {% for name in names %}
    options.{{ nbsql.word(name) }},
    {% endfor %}
    coalesce(cells.n, 0) AS n,
    {% if family.zeros %}
    coalesce(zero_cells.n, 0) AS zeros,
    {% endif %}
    cells.mean,
    cells.m2,
    pooled.n AS pooled_n,
    pooled.mean AS pooled_mean,
    pooled.m2 AS pooled_m2
    {%- if family.distribution == 'shared_gaussian' %},
    sum(cells.n) {{ window }} AS within_n,
    sum(cells.m2) {{ window }} AS within_m2,
    count(cells.n) {{ window }} AS within_classes
    {%- elif family.distribution == 'smoothed_gaussian' %},
    max(pooled.m2 / pooled.n) OVER (PARTITION BY {% if part %}classes.{{ part }}{% else %}1{% endif %}) AS largest
    {%- endif +%}
  FROM classes
  JOIN {% call(feature, _) nbsql.constants(features, 'options', names, 2) -%}
{{ nbsql.text(feature.name) }}
{%- for option in feature.family.estimate_options.values() %}, {{ nbsql.number_or_null(option) }}{% endfor %}
{%- endcall %} ON TRUE
  LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
  LEFT JOIN pooled_moments AS pooled ON pooled.feature = options.feature{% if part %} AND pooled.{{ part }} = classes.{{ part }}{% endif +%}
  {%- if family.zeros +%}
  LEFT JOIN counts AS zero_cells
    ON zero_cells.class = classes.class
    AND zero_cells.feature = options.feature
    AND zero_cells.value = 'zero'
  {%- endif +%}
) AS known
{%- endmacro %}

{# A number as a literal; NULL for none. #}
{% macro number_or_null(value) -%}
{% if value is none %}{{ nbsql.nullable_double(value) }}{% else %}{{ nbsql.number(value) }}{% endif %}
{%- endmacro %}

{# The quantities of some features' parameters (parameters.sql), from their likelihoods. #}
{% macro number_quantities(features) %}
{% set family = features[0].family -%}
{% for quantity in family.parameters | map(attribute='quantity') | unique +%}
WHEN {{ nbsql.text(quantity) }} THEN {% call(name) nbsql.parameter_of(family, quantity) %}smoothed.{{ nbsql.word(name) }}{% endcall %}
{%- endfor %}
{%- endmacro %}
