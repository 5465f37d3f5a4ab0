{# The numbers of a row as the text of a list, for an explanation. #}
{% macro spark__multivariate_gaussian_value(feature, relation) -%}
concat('[', array_join(array(
{%- for column in feature.columns -%}
CAST(CAST({{ relation }}.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}) AS {{ nbsql.string() }}){{ nbsql.comma_blank(loop) }}
{%- endfor %}), ', ', 'NULL'), ']')
{%- endmacro %}
