{#
  Bags of tokens with a row left out (families/dirichlet.sql, complement.sql, text.sql). A token that no other row has, or that is too
  rare without the row, is gone from the vocabulary, as if the model had never seen it.

    sum over the tokens t of  x_t ln((n_ct + alpha) / (n_c + alpha V))

  n_ct, n_c and V are without the row. One row per row and class: nbsql_row, class_no, prior (NULL), term.
#}

{# One row per row and class: nbsql_row, class_no, term (of a bag of tokens, estimated without the row). #}
{% macro left_out_bag(model, parts, feature, classes, lookups, absences) -%}
{% if feature.family.presence -%}
{{ nbsql.left_out_presence(model, parts, feature, classes, lookups, absences) }}
{%- else -%}
{% set i, smooth = nbsql.feature_suffix(feature), feature.family.unseen == 'smooth' -%}
{% set alpha = nbsql.number(feature.family.added_count) -%}
{% set likelihood %}number.logs - CASE WHEN number.kept > 0 THEN number.kept * ln(number.total) ELSE 0 END{% endset -%}
{% set unseen %}{{ alpha }} / number.total{% endset -%}
{% set term -%}
CASE
  WHEN number.k <= 0 THEN 0
  WHEN number.total <= 0 THEN -(number.kept{% if smooth %} + number.lost{% endif %}) * ln(number.k)
  ELSE {{ likelihood }}{% if smooth %} + CASE WHEN number.lost > 0 THEN number.lost * {{ nbsql.safe_ln(unseen) }} ELSE 0 END{% endif %}

END
{%- endset -%}
SELECT
  number.nbsql_row,
  number.class_no,
  CAST(NULL AS {{ nbsql.double() }}) AS prior,
  {% set gated = nbsql.left_out_gate(parts, feature, term) %}
  {%+ if feature.family.complement %}-({{ gated }}){% else %}{{ gated }}{%+ endif %} AS term
FROM (
  SELECT
    rows.nbsql_row,
    classes.class_no
    {%- for index in parts.gates[feature.index] %},
    bool_or(rows.nbsql_seen_{{ index }}) AS nbsql_seen_{{ index }}
    {%- endfor %},
    sum(CASE WHEN rows.known AND NOT rows.gone THEN rows.times * {{ nbsql.left_out_log_count(feature) }} ELSE 0 END) AS logs,
    sum(CASE WHEN rows.known AND NOT rows.gone THEN rows.times ELSE 0 END) AS kept,
    sum(CASE WHEN rows.known AND NOT rows.gone THEN 0 ELSE rows.times END) AS lost,
    {{ nbsql.common_value(nbsql.word('classes') ~ '.k' ~ i) }} - sum(CASE WHEN rows.gone THEN 1 ELSE 0 END) AS k,
    {{ nbsql.left_out_bag_total(feature) }} AS total
  FROM (
    {{ nbsql.left_out_tokens(parts, feature, lookups) | indent(4) }}
  ) AS rows
  CROSS JOIN {{ classes }} AS classes
  GROUP BY rows.nbsql_row, classes.class_no
) AS number
{%- endif %}
{%- endmacro %}

{# The amount by which a token of the row reduces the count of a class. #}
{% macro removed_tokens(feature) -%}
{% set amount %}rows.nbsql_weight * rows.times{% endset -%}
{{ nbsql.removed_amount(feature, amount) }}
{%- endmacro %}

{# The count of a token in a class. #}
{% macro left_out_count() -%}
{{ nbsql.element(nbsql.word('rows.ns'), nbsql.word('classes.class_no')) }}
{%- endmacro %}

{# The logarithm of the count of a token in a class without the row, plus its pseudo-count. #}
{% macro left_out_log_count(feature) -%}
{% set n = nbsql.left_out_count() -%}
{% set count %}({{ nbsql.remaining_count(n, nbsql.removed_tokens(feature)) }} + {{ nbsql.number(feature.family.added_count) }}){% endset -%}
{{ nbsql.safe_ln(count) }}
{%- endmacro %}

{# The remainder of the total count of a class. Tokens that are gone also take their counts in other rows of the class with them. #}
{% macro left_out_bag_total(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set total %}coalesce({{ nbsql.common_value(nbsql.word('classes') ~ '.total' ~ i) }}, 0){% endset -%}
{% set taken -%}
sum(CASE WHEN rows.gone THEN {{ nbsql.left_out_count() }} WHEN rows.known THEN {{ nbsql.removed_tokens(feature) }} ELSE 0 END)
{%- endset -%}
{{ nbsql.remaining_count(total, taken) }} + {{ nbsql.common_value(nbsql.word('classes') ~ '.a' ~ i) }}
    - sum(CASE WHEN rows.gone THEN {{ nbsql.number(feature.family.added_count) }} ELSE 0 END)
{%- endmacro %}

{# One row per row and distinct token, with its counts: known (whether the vocabulary holds it), and whether it is gone without the row. #}
{% macro left_out_tokens(parts, feature, lookups) -%}
{% set kept -%}
source.nbsql_row, source.nbsql_own, source.nbsql_weight
{%- for index in parts.gates[feature.index] %}, source.nbsql_seen_{{ index }}{% endfor %}
{%- endset -%}
{% set own -%}
nbsql_row, nbsql_own, nbsql_weight{% for index in parts.gates[feature.index] %}, nbsql_seen_{{ index }}{% endfor %}
{%- endset -%}
SELECT
  tokens.*,
  lookups.feature IS NOT NULL AS known,
  coalesce(
    lookups.n - tokens.nbsql_weight * tokens.times <= {{ nbsql.left_out_rounding(nbsql.word('lookups.n')) }}
      OR lookups.n - tokens.nbsql_weight * tokens.times < {{ feature.family.least_count }},
    FALSE
  ) AS gone,
  lookups.ns
FROM (
  SELECT {{ own }}, value, sum(times) AS times
  FROM (
    {{ nbsql.tokens(feature, nbsql.word('numbered'), kept) | indent(4) }}
  ) AS occurrences
  GROUP BY {{ own }}, value
) AS tokens
LEFT JOIN (
  {{ nbsql.lookups_of_tokens(feature, lookups) | indent(2) }}
) AS lookups ON lookups.value = tokens.value
{%- endmacro %}

{#
  Text under the Bernoulli event model. With D = n_c + 2 alpha,

    sum over the words of ln(1 - P) = sum over the words w of ln(n_c + alpha - n_cw) - V ln D

  and a word of the text adds ln P - ln(1 - P). In the row's own class every n_c - n_cw is one row less, except for its own words, for
  which both are one less. absences holds this sum for each weight, over the words that some other row lacks.
#}
{% macro left_out_presence(model, parts, feature, classes, lookups, absences) -%}
{% set i, alpha = nbsql.feature_suffix(feature), nbsql.number(feature.family.added_count) -%}
{% set documents %}(coalesce(classes.documents{{ i }}, 0) - {{ nbsql.removed_from_own_class() }}){% endset -%}
{% set n = nbsql.left_out_count() -%}
{% set present %}({{ nbsql.remaining_count(n, nbsql.removed_from_own_class()) }} + {{ alpha }}){% endset -%}
{% set counted -%}
CASE
      WHEN {{ n }} <= {{ documents }} + 1e-12 * coalesce(classes.documents{{ i }}, 0) THEN ln({{ documents }} + {{ alpha }} - {{ n }})
      ELSE 0
    END
{%- endset -%}
{% set term -%}
number.absence + coalesce(number.words, 0) - (number.k - coalesce(number.gone, 0)) * ln(number.documents + 2 * {{ alpha }})
{%- endset -%}
SELECT
  number.nbsql_row,
  number.class_no,
  CAST(NULL AS {{ nbsql.double() }}) AS prior,
  {{ nbsql.left_out_gate(parts, feature, term) }} AS term
FROM (
  SELECT
    rows.nbsql_row,
    classes.class_no
    {%- for index in parts.gates[feature.index] %},
    rows.nbsql_seen_{{ index }}
    {%- endfor %},
    coalesce(classes.k{{ i }}, 0) AS k,
    {{ documents }} AS documents,
    coalesce(CASE WHEN classes.class_no = rows.nbsql_own THEN absences.total ELSE classes.absence{{ i }} END, 0) AS absence,
    words.words,
    words.gone
  FROM numbered AS rows
  CROSS JOIN {{ classes }} AS classes
  LEFT JOIN {{ absences }} AS absences
    ON absences.feature = {{ nbsql.text(feature.name) }} AND absences.class_no = rows.nbsql_own AND absences.weight = rows.nbsql_weight
  LEFT JOIN (
    SELECT
      rows.nbsql_row,
      classes.class_no,
      sum(CASE WHEN rows.known THEN CASE WHEN rows.gone THEN 0 ELSE ln({{ present }}) END - {{ counted }} ELSE 0 END) AS words,
      sum(CASE WHEN rows.gone THEN 1 ELSE 0 END) AS gone
    FROM (
      {{ nbsql.left_out_tokens(parts, feature, lookups) | indent(6) }}
    ) AS rows
    CROSS JOIN {{ classes }} AS classes
    GROUP BY rows.nbsql_row, classes.class_no
  ) AS words ON words.nbsql_row = rows.nbsql_row AND words.class_no = classes.class_no
  WHERE rows.{{ nbsql.ident(feature.column) }} IS NOT NULL
) AS number
{%- endmacro %}
