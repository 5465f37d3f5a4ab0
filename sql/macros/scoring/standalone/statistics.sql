{#
  The statistics of a source on another engine (statistics.sql), as one SELECT: what a fit would count there. One row per cell: class,
  feature, value, n, mean, m2.

  Squares are taken about the mean of the class, in a second pass. Equal values have exactly that value as their mean, so that a constant
  has no variance. The rules that a fit checks are not checked here.
#}
{% macro standalone_statistics(counted, source) -%}
{% set materialized %}{% if counted.traits.materializes %}MATERIALIZED {% endif %}{% endset -%}
{% set squared = counted.features | selectattr('family.centred') | list -%}
WITH nbsql_rows AS {{ materialized }}(
  SELECT
    {{ nbsql.standalone_statistics_columns(counted) | indent(4) }}
  FROM {{ source | indent(2) }} AS source
  WHERE source.{{ nbsql.ident(counted.target) }} IS NOT NULL
  {%- if counted.weight %} AND {{ nbsql.number_of(counted.weight) }} > 0{% endif +%}
)
{%- if squared %},
nbsql_means AS {{ materialized }}(
  SELECT
    nbsql_class
    {%- for feature in squared %},
    {% set x = nbsql.of_feature('nbsql_x', feature) %}
    {% set mean = nbsql.standalone_mean(counted, x) %}
    CASE WHEN MIN({{ x }}) = MAX({{ x }}) THEN MIN({{ x }}) ELSE {{ mean }} END AS nbsql_mean_{{ feature.index }}
    {%- endfor +%}
  FROM nbsql_rows
  GROUP BY nbsql_class
)
{%- endif +%}
SELECT
  nbsql_class AS class,
  CAST(NULL AS {{ nbsql.string() }}) AS feature,
  CAST(NULL AS {{ nbsql.string() }}) AS value,
  {{ nbsql.standalone_size(counted) }} AS n,
  {{ nbsql.null_columns(['mean', 'm2']) | indent(2) }}
FROM nbsql_rows
GROUP BY nbsql_class
{%- for feature in counted.features +%}
UNION ALL
{{ nbsql['standalone_' ~ feature.cells ~ '_cells'](counted, feature) }}
{%- endfor %}
{%- endmacro %}

{# The columns read from a row: nbsql_class, nbsql_weight, and for each feature its number, or its value as text. #}
{% macro standalone_statistics_columns(counted) -%}
{% set target %}source.{{ nbsql.ident(counted.target) }}{% endset -%}
{% set text %}CAST({{ target }} AS {{ nbsql.string() }}){% endset -%}
{% if counted.kind == 'text' %}{{ nbsql.exact(text, counted.kind) }}{% else %}{{ target }}{% endif %} AS nbsql_class
{%- if counted.weight %},
{{ nbsql.number_of(counted.weight) }} AS nbsql_weight
{%- endif %}
{%- for feature in counted.features %},
{% if feature.cells == 'number' %}{{ nbsql.standalone_density_input(feature, is_scored=false) }}
{%- elif feature.cells == 'column' %}{{ nbsql.multinomial_inputs(feature, none, true, false) }}
{%- else %}{{ nbsql['standalone_' ~ feature.shape ~ '_read'](feature) }}
{%- endif %}
{%- endfor %}
{%- endmacro %}

{# The number of rows of a group, or the sum of their weights. #}
{% macro standalone_size(counted) -%}
{% if counted.weight %}SUM(nbsql_weight){% else %}CAST(COUNT(*) AS {{ nbsql.double() }}){% endif %}
{%- endmacro %}

{# The weighted sum of x. #}
{% macro standalone_sum(counted, x) -%} SUM({% if counted.weight %}nbsql_weight * {% endif %}{{ x }}) {%- endmacro %}

{# The mean over the rows that have x. #}
{% macro standalone_mean(counted, x) -%}
{% set n %}{% if counted.weight %}SUM(CASE WHEN {{ x }} IS NOT NULL THEN nbsql_weight END){% else %}COUNT({{ x }}){% endif %}{% endset -%}
{{ nbsql.standalone_sum(counted, x) }} / {{ n }}
{%- endmacro %}

{# One cell per group: the value, n, mean and m2, some of which are NULL. #}
{% macro standalone_cell(feature, n, value=none, mean=none, m2=none) -%}
SELECT
  nbsql_rows.nbsql_class,
  {{ nbsql.text(feature.name) }},
  {%+ if value is none %}CAST(NULL AS {{ nbsql.string() }}){% else %}{{ value }}{%+ endif %},
  {{ n }},
  {%+ if mean is none %}CAST(NULL AS {{ nbsql.double() }}){% else %}{{ mean }}{%+ endif %},
  {%+ if m2 is none %}CAST(NULL AS {{ nbsql.double() }}){% else %}{{ m2 }}{%+ endif +%}
FROM nbsql_rows
{%- endmacro %}

{# Categories: one cell per value. #}

{# The cells of a feature with values, one row per class and value. #}
{% macro standalone_value_cells(counted, feature) -%}
{% set x = nbsql.of_feature('nbsql_x', feature) -%}
{{ nbsql.standalone_cell(feature, nbsql.standalone_size(counted), value=x) }}
{% if feature.family.nulls != 'category' %}
WHERE {{ x }} IS NOT NULL
{% endif %}
GROUP BY nbsql_rows.nbsql_class, {{ x }}
{%- endmacro %}

{# A category of a row as text, as a column. #}
{% macro standalone_category_read(feature) -%}
{% set x %}source.{{ nbsql.ident(feature.columns[0]) }}{% endset -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% if feature.kind == 'boolean' -%}
CASE {{ x }} WHEN {{ nbsql.true_literal() }} THEN 'true' WHEN {{ nbsql.false_literal() }} THEN 'false' END
{%- else -%}
{{ nbsql.exact(text, feature.kind) }}
{%- endif %} AS {{ nbsql.of_feature('nbsql_x', feature) }}
{%- endmacro %}

{# The Boolean of a row as a column with the text true or false. #}
{% macro standalone_bernoulli_read(feature) -%}
{% if feature.kind == 'boolean' -%}
{{ nbsql.standalone_category_read(feature) }}
{%- else -%}
{% set x = nbsql.number_of(feature.columns[0]) -%}
CASE {{ x }} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS {{ nbsql.of_feature('nbsql_x', feature) }}
{%- endif %}
{%- endmacro %}

{# The label of the bin of a number of a row, as a column. #}
{% macro standalone_binned_read(feature) -%}
{{ nbsql.binned_value(feature, nbsql.word('source')) }} AS {{ nbsql.of_feature('nbsql_x', feature) }}
{%- endmacro %}

{# Numbers: one cell per class, and one for the zeros if these are counted apart. #}

{# The cells of a number, one row per class: n, mean, and m2 if squares are counted. #}
{% macro standalone_number_cells(counted, feature) -%}
{% set x = nbsql.of_feature('nbsql_x', feature) -%}
{% if feature.family.centred -%}
{% set mean %}nbsql_mean_{{ feature.index }}{% endset -%}
{% set deviation %}({{ x }} - {{ mean }}){% endset -%}
{% set largest %}MAX({{ mean }}){% endset -%}
{% set squares = nbsql.standalone_sum(counted, nbsql.square(deviation)) -%}
{{ nbsql.standalone_cell(feature, nbsql.standalone_size(counted), mean=largest, m2=squares) }}
JOIN nbsql_means ON nbsql_means.nbsql_class = nbsql_rows.nbsql_class
{%- else -%}
{{ nbsql.standalone_cell(feature, nbsql.standalone_size(counted), mean=nbsql.standalone_mean(counted, x)) }}
{%- endif +%}
WHERE {{ x }} IS NOT NULL
GROUP BY nbsql_rows.nbsql_class
{%- if feature.family.zeros +%}
UNION ALL
{{ nbsql.standalone_cell(feature, nbsql.standalone_size(counted), value=nbsql.text('zero')) }}
WHERE nbsql_zero_{{ feature.index }} = 1
GROUP BY nbsql_rows.nbsql_class
{%- endif %}
{%- endmacro %}

{# Columns of counts: one cell per column. #}

{# The cells of columns of counts, one row per class and column. #}
{% macro standalone_column_cells(counted, feature) -%}
{% for column in feature.columns -%}
{% set x = nbsql.of_feature('nbsql_x', feature, loop.index) -%}
{{ nbsql.standalone_cell(feature, nbsql.standalone_sum(counted, x), value=nbsql.text(column)) }}
WHERE {{ x }} > 0
GROUP BY nbsql_rows.nbsql_class
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}
