{#
  Pairs of categories in a standalone scorer (families/pairs.sql). Each value of a row that may be a super-parent has the sum of the
  logarithms of its ratios to the others, and the term is the logarithm of the mean of their products.

  The term depends only on the values, so it is computed once for each combination of values and joined to the rows by these values; no
  row number would be the same every time on every engine. A value has a code, a whole number: 0 if it is missing or new, 1, 2, ... if it
  may be a super-parent, up to term.parents, and larger otherwise. A pair of values also has one number: the parent's code times
  term.stride, plus the child's code.
#}

{# The column of the code of a part. #}
{% macro standalone_code(part) -%} nbsql_code_{{ part.index }} {%- endmacro %}

{#
  The key of a list of categories (families/joint.sql, conditional.sql), as a column: the sum of the codes of its values, each times its
  stride. It is NULL if the first value is missing, or any that must be there. A parent counts only if it and those before it are known.
#}
{% macro standalone_lists_input(term) -%}
{% for part in term.parts -%}
{% set code = nbsql.standalone_code(part) -%}
{% if not loop.first %} + {% if term.nested %}CASE WHEN {{ code }} > 0 THEN {% endif %}{% endif -%}
{{ nbsql.number(term.strides[loop.index0]) }} * {{ code }}
{%- endfor %}
{%- if term.nested %}{% for _ in term.parts[1:] %} ELSE 0 END{% endfor %}{% endif %} AS {{ nbsql.of_feature('nbsql_x', term) }}
{%- endmacro %}

{# One row per combination of codes: code_1, code_2, ..., and class_1, class_2, ..., the term. #}
{% macro standalone_means(scorer, term) -%}
{% set codes %}{% for _ in term.parts %}code_{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set classes = scorer.form.class_numbers -%}
SELECT
  {{ codes }}
  {%- for k in classes %},
  {% set difference %}joint_{{ k }} - highest_{{ k }}{% endset %}
  {% set mean %}SUM({{ nbsql.exp(difference) }}) / COUNT(joint_{{ k }}){% endset %}
  CASE
    WHEN COUNT(joint_{{ k }}) = 0 THEN 0
    WHEN MAX(highest_{{ k }}) > -{{ nbsql.infinity() }} THEN MAX(highest_{{ k }}) + {{ nbsql.natural_log(mean) }}
    ELSE -{{ nbsql.infinity() }}
  END AS class_{{ k }}
  {%- endfor +%}
FROM (
  SELECT
    parents.*
    {%- for k in classes %},
    MAX(joint_{{ k }}) OVER (PARTITION BY {{ codes }}) AS highest_{{ k }}
    {%- endfor +%}
  FROM {{ nbsql.subquery(nbsql.standalone_parent_scores(scorer, term, codes)) | indent(2) }} AS parents
) AS products
GROUP BY {{ codes }}
{%- endmacro %}

{#
  One row per combination of codes and place in it: the codes, place, and joint_1, joint_2, ..., the sum of the logarithms by class; NULL if
  the value in this place is not a super-parent.
#}
{% macro standalone_parent_scores(scorer, term, codes) -%}
SELECT
  {{ codes }},
  place
  {%- for k in scorer.form.class_numbers %},
  SUM(CASE WHEN parent BETWEEN 1 AND {{ term.parents }} THEN CASE WHEN value IS NULL THEN 0 ELSE class_{{ k }} END END) AS joint_{{ k }}
  {%- endfor +%}
FROM (
  SELECT paired.*, parent * {{ term.stride }} + child AS pair
  FROM (
    SELECT
      coded.*,
      parents.value AS place,
      {{ nbsql.standalone_code_of(term, nbsql.word('parents')) }} AS parent,
      {{ nbsql.standalone_code_of(term, nbsql.word('children')) }} AS child
    FROM (
      SELECT DISTINCT
        {% for part in term.parts %}
        {{ nbsql.standalone_code(part) }} AS code_{{ loop.index }}{{ nbsql.comma(loop) }}
        {% endfor %}
      FROM nbsql_coded
    ) AS coded
    CROSS JOIN ({{ nbsql.standalone_positions(term) }}) AS parents
    CROSS JOIN ({{ nbsql.standalone_positions(term) }}) AS children
  ) AS paired
) AS paired
LEFT JOIN nbsql_ratios_{{ term.index }} ON nbsql_ratios_{{ term.index }}.value = paired.pair
GROUP BY {{ codes }}, place
{%- endmacro %}

{# The places of a combination, a relation: value. #}
{% macro standalone_positions(term) -%}
{% for _ in term.parts -%}
SELECT {{ loop.index }}{% if loop.first %} AS value{% endif %}{% if not loop.last %} UNION ALL {% endif %}
{%- endfor %}
{%- endmacro %}

{# The code in a place. #}
{% macro standalone_code_of(term, places) -%}
CASE {{ places }}.value{% for _ in term.parts %} WHEN {{ loop.index }} THEN coded.code_{{ loop.index }}{% endfor %} END
{%- endmacro %}

{# Whether a row has the codes of a combination. #}
{% macro standalone_same_codes(term) -%}
{% for part in term.parts -%}
{% set code %}code_{{ loop.index }}{% endset -%}
{% if not loop.first %}AND {% endif %}{{ nbsql.standalone_level(term, code) }} = number.{{ nbsql.standalone_code(part) }}
{%- if not loop.last +%}
{% endif %}
{%- endfor %}
{%- endmacro %}

{# The term of the pairs in class k. #}
{% macro standalone_pairs(term, k) -%}
{% set score %}class_{{ k }}{% endset -%}
{% if term.keys %}{{ nbsql.standalone_level(term, score) }}{% else %}0{% endif %}
{%- endmacro %}
