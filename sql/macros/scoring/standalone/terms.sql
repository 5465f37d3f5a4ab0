{#
  The columns that a standalone scorer reads of a row for each feature, and the term of each feature in the score of class k. A term
  is as in the file of its family (families/), with numbers in place of parameters; it is minus infinity (engines/standalone/) if
  the class is impossible, and 0 if the value is missing.

  term.shape names the macros: "levels", a value of a list; "edges", a number between two; "cells", the number of a grid cell; "density",
  a number whose density is a formula; or the family.
#}

{# A column of the table of a category with many values. #}
{% macro standalone_level(term, name) -%} {{ nbsql.of_feature('level', term) }}.{{ name }} {%- endmacro %}

{# Categories and Booleans. term.kind is the type in which their values are compared. #}

{# A category of a row, as it is compared with its literals. #}
{% macro standalone_levels_input(term) -%}
{% set x %}source.{{ nbsql.ident(term.columns[0]) }}{% endset -%}
{% if term.kind == 'text' -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{{ nbsql.exact(text, term.kind) }}
{%- elif term.kind == 'number' -%}
{{ nbsql.finite(nbsql.number_of(term.columns[0])) }}
{%- else -%}
{{ x }}
{%- endif %} AS nbsql_x_{{ term.index }}
{%- endmacro %}

{# The term of a category in class k: the score of its value, or of a missing or unseen one. #}
{% macro standalone_levels(term, k) -%}
{% set x = nbsql.of_feature('nbsql_x', term) -%}
{% set missing, unseen = term.missing[k - 1], term.unseen[k - 1] -%}
{% set scores_differ = term.missing != term.unseen -%}
{% if term.joined -%}
{% set score %}class_{{ k }}{% endset -%}
CASE WHEN {{ nbsql.standalone_level(term, nbsql.word('value')) }} IS NOT NULL THEN {{ nbsql.standalone_level(term, score) }}
{%- if scores_differ %} WHEN {{ x }} IS NULL THEN {{ nbsql.standalone_number(missing) }}{% endif -%}
{{ ' ' }}ELSE {{ nbsql.standalone_number(unseen) }} END
{%- elif scores_differ -%}
CASE WHEN {{ x }} IS NULL THEN {{ nbsql.standalone_number(missing) }}
{%- for key in term.keys %} WHEN {{ x }} = {{ key }} THEN {{ nbsql.standalone_number(term.scores[loop.index0][k - 1]) }}
{%- endfor %} ELSE {{ nbsql.standalone_number(unseen) }} END
{%- elif term.keys -%}
CASE {{ x }}
{%- for key in term.keys %} WHEN {{ key }} THEN {{ nbsql.standalone_number(term.scores[loop.index0][k - 1]) }}
{%- endfor %} ELSE {{ nbsql.standalone_number(unseen) }} END
{%- else -%}
{{ nbsql.number(unseen) }}
{%- endif %}
{%- endmacro %}

{# A bin includes its lower edge and excludes its upper one. #}

{% macro standalone_edges_input(term) -%} {{ nbsql.finite(nbsql.number_of(term.columns[0])) }} AS nbsql_x_{{ term.index }} {%- endmacro %}

{# The term of a binned number in class k: the score of its bin, or of a missing number. #}
{% macro standalone_edges(term, k) -%}
{% set x = nbsql.of_feature('nbsql_x', term) -%}
CASE WHEN {{ x }} IS NULL THEN {{ nbsql.standalone_number(term.missing[k - 1]) }}
{%- for edge in term.edges %} WHEN {{ x }} < {{ nbsql.number(edge) }} THEN {{ nbsql.standalone_number(term.scores[loop.index0][k - 1]) }}
{%- endfor %} ELSE {{ nbsql.standalone_number(term.scores[-1][k - 1]) }} END
{%- endmacro %}

{# Numbers beyond the grid count as those in its outermost cells. #}

{# The grid cell of a number of a row, as a column. #}
{% macro standalone_cells_input(term) -%}
{% set x = nbsql.finite(nbsql.number_of(term.columns[0])) -%}
{% set family = term.family -%}
{% set cell %}({{ x }} - {{ nbsql.number(family.low) }}) / {{ nbsql.number(family.width) }}{% endset -%}
{% set last = family.cells - 1 -%}
CASE WHEN {{ cell }} < 0 THEN 0 WHEN {{ cell }} >= {{ last }} THEN {{ last }} ELSE FLOOR({{ cell }}) END
  AS nbsql_x_{{ term.index }}
{%- endmacro %}

{# Numbers. #}

{#
  A number of a row as a column, or its logarithm if the density is a formula of that, which is minus infinity for a number without one;
  and if zeros are counted apart, whether it is 0, and then not the number.
#}
{% macro standalone_density_input(term, is_scored=true) -%}
{% set number, zeros = nbsql.number_of(term.columns[0]), term.family.zeros -%}
{% set x %}{% if zeros %}NULLIF({{ number }}, 0){% else %}{{ number }}{% endif %}{% endset -%}
{% if term.family.is_logarithmic %}{{ nbsql.log_of_input(x, not is_scored, true) }}{% else %}{{ nbsql.finite(x) }}{% endif %}
{{- ' ' }}AS {{ nbsql.of_feature('nbsql_x', term) }}
{%- if zeros %},
CASE WHEN {{ number }} = 0 THEN 1 ELSE 0 END AS nbsql_zero_{{ term.index }}
{%- endif %}
{%- endmacro %}

{#
  The term of models (families/numbers.sql), where it does not exceed the range of a double: beyond term.widest, or if it is minus infinity
  for each count, the class is impossible.
#}
{% macro standalone_density(term, k) -%}
{% set x, p, widest = nbsql.of_feature('nbsql_x', term), term.numbers[k - 1], term.widest[k - 1] -%}
{% set beyond -%}
{% if widest is not none %}ABS({{ x }} - {{ nbsql.number(p.mean) }}) > {{ nbsql.number(widest) }}
{%- elif 'at_zero' in term.family.macros and (p.values() | reject('none') | list + [0]) | min <= -1e305 %}{{ x }} > 0
{%- endif %}
{%- endset -%}
{% if beyond %}CASE WHEN {{ beyond }} THEN -{{ nbsql.infinity() }} ELSE {% endif -%}
{{ nbsql.number_term(term, k) }}
{%- if beyond %} END{% endif %}
{%- endmacro %}

{# The part that all classes subtract. Outside of its range a logarithm is an error on most engines. #}
{% macro standalone_density_common(term, k) -%}
{% set macros, x = term.family.macros, nbsql.of_feature('nbsql_x', term) -%}
{% set base = nbsql[macros.base](x, none) -%}
{% if term.numbers[0].values() | select('none') | list %}0
{%- else %}CASE WHEN {{ nbsql[macros.inside](x) }} THEN -({{ base }}) ELSE 0 END
{%- endif %}
{%- endmacro %}
