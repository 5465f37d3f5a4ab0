{# What the ordinary scorer says otherwise in a standalone one (scoring/standalone/scorer.sql). `scorer` is its model. #}

{# The columns of the source: all but those of the steps. #}
{% macro standalone__source_columns(scorer) -%}
source.* {% if scorer.traits.all_but == 'EXCEPT' %}EXCEPT{% else %}EXCLUDE{% endif %} (
  {%- for name in scorer.helpers %}{{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# The prediction in an answer, of the scores, or of the shares of a calibration (scoring/standalone/calibrated.sql). #}
{% macro standalone__output_label(scorer) -%}
{% if scorer.has_shares -%}
CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN CASE source.nbsql_best_share
  {%- for k in scorer.form.class_numbers %} WHEN source.nbsql_share_{{ k }} THEN {{ scorer.labels[k - 1] }}{% endfor %} END END
{%- else -%}
source.nbsql_prediction
{%- endif %} AS prediction
{%- endmacro %}

{# The same of the probability of the prediction, or of the log evidence. #}
{% macro standalone__output_column(scorer, name, more='') -%}
{% set x %}source.nbsql_{{ nbsql.word(name) }}{% endset -%}
{% if name == 'log_evidence' %}{{ nbsql.output_joint(scorer, x) }}
{%- elif scorer.has_shares -%}
CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ nbsql.standalone_share(scorer, 'best_share') }} END
{%- else %}{{ x }}
{%- endif %} AS {{ nbsql.word(name) }}
{%- endmacro %}

{# At the temperature of a calibration. #}
{% macro standalone__relative_likelihood(scorer, difference) -%}
{% set cooled %}({{ difference }}) / {{ nbsql.number(scorer.temperature) }}{% endset -%}
{{ nbsql.exp(difference if scorer.temperature == 1 else cooled) }}
{%- endmacro %}

{# The columns that a term reads: the model's own, unless its values are compared with literals. #}
{% macro standalone__inputs(feature, centre, careful, centred) -%}
{% if feature.input_macro %}{{ nbsql[feature.input_macro](feature) }}
{%- else %}{{ nbsql[feature.family.macros.inputs](feature, centre, careful, centred) }}
{%- endif %}
{%- endmacro %}

{# The join with the literals of a category, or with the terms of a combination of values. #}
{% macro standalone__lookup_join(scorer, feature, lookups) -%}
LEFT JOIN {{ nbsql.of_feature('nbsql_level', feature) }} AS {{ nbsql.of_feature('level', feature) }}
  ON {% if feature.shape == 'pairs' %}{{ nbsql.standalone_same_codes(feature) | indent(2) }}{% else -%}
{{ nbsql.exact_literal(nbsql.standalone_level(feature, nbsql.word('value')), feature.kind) }} = {{ nbsql.of_feature('nbsql_x', feature) }}
{%- endif %}
{%- endmacro %}

{# A term, which counts only where the list of its column's values is not known, if it has such a list. #}
{% macro standalone_unless_known(term, score) -%}
{% if term.backoff %}CASE WHEN level_{{ term.backoff }}.value IS NULL THEN {{ score }} ELSE 0 END{% else %}{{ score }}{% endif %}
{%- endmacro %}

{# The costs of the features, if a scorecard gives reasons (scoring/standalone/points.sql). #}
{% macro standalone__further_scores(scorer) -%}
{% if scorer.reasons %}
{%- for term in scorer.form.terms %},
  {{ nbsql[term.macro](term, 2) | indent(2) }} AS {{ nbsql.of_feature('nbsql_cost', term) }}
{%- endfor %}
{%- endif %}
{%- endmacro %}
