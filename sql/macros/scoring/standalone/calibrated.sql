{#
  Calibrated posteriors of a standalone scorer, by the formulas of scoring/calibrated.sql with the numbers of the calibration in them. A
  temperature is in the ratios of scorer.sql. The steps of the other methods:

    nbsql_ranked      nbsql_top, the number of the most probable class, and nbsql_second, the highest joint log-likelihood of the others
    nbsql_odds        nbsql_odds_1, ...: the log-odds of a class against the rest; NULL for a class that is ruled out
    nbsql_shares      nbsql_share_1, ...: the calibrated probability of a class against the rest
    nbsql_calibrated  nbsql_total, their sum, and nbsql_best_share, the highest
#}
{% macro standalone_calibrated(scorer, materialized) -%}
nbsql_ranked AS {{ materialized }}(
  SELECT
    nbsql_topped.*,
    {%+ call(class) nbsql.greatest_of(scorer.classes) -%}
CASE WHEN nbsql_top = {{ class.number }} THEN -{{ nbsql.infinity() }} ELSE nbsql_joint_{{ class.number }} END
{%- endcall %} AS nbsql_second
  FROM (
    SELECT
      nbsql_evidence.*,
      CASE
        {% for class in scorer.classes %}
        WHEN nbsql_joint_{{ class.number }} = nbsql_highest THEN {{ class.number }}
        {% endfor %}
      END AS nbsql_top
    FROM nbsql_evidence
  ) AS nbsql_topped
),
nbsql_odds AS {{ materialized }}(
  SELECT
    nbsql_rested.*
    {%- for class in scorer.classes %},
    {{ nbsql.standalone_odds(class.number) | indent(4) }} AS nbsql_odds_{{ class.number }}
    {%- endfor +%}
  FROM (
    SELECT
      nbsql_ranked.*,
      {%+ call(class) nbsql.sum_in_blocks(scorer.classes) -%}
{% set difference %}nbsql_joint_{{ class.number }} - nbsql_second{% endset -%}
CASE WHEN nbsql_top = {{ class.number }} THEN 0 ELSE {{ nbsql.exp(difference) }} END
{%- endcall %} AS nbsql_rest
    FROM nbsql_ranked
  ) AS nbsql_rested
),
nbsql_shares AS {{ materialized }}(
  SELECT
    nbsql_odds.*
    {%- for class in scorer.classes %},
    {{ nbsql.standalone_calibrated_share(scorer, class.number) | indent(4) }} AS nbsql_share_{{ class.number }}
    {%- endfor +%}
  FROM nbsql_odds
),
nbsql_calibrated AS {{ materialized }}(
  SELECT
    nbsql_shares.*,
    {%+ call(class) nbsql.sum_in_blocks(scorer.classes) %}nbsql_share_{{ class.number }}{% endcall %} AS nbsql_total,
    {% call(class) nbsql.greatest_of(scorer.classes) %}nbsql_share_{{ class.number }}{% endcall %} AS nbsql_best_share
  FROM nbsql_shares
)
{%- endmacro %}

{# A share of the total; the same for every class if the total is 0, as in scikit-learn. #}
{% macro standalone_share(scorer, name) -%}
CASE WHEN nbsql_total > 0 THEN nbsql_{{ nbsql.word(name) }} / nbsql_total ELSE {{ nbsql.number(1 / (scorer.classes | length)) }} END
{%- endmacro %}

{# The log-odds of a class against the rest; 1e308 for a class beside which all others are ruled out. #}
{% macro standalone_odds(number) -%}
{% set rest = nbsql.word('nbsql_rest') -%}
{% set others %}nbsql_relative_evidence - {{ nbsql.standalone_ratio(number) }}{% endset -%}
CASE
  WHEN nbsql_joint_{{ number }} <= -{{ nbsql.infinity() }} THEN NULL
  WHEN nbsql_top <> {{ number }} THEN nbsql_joint_{{ number }} - nbsql_highest - {{ nbsql.natural_log(others) }}
  WHEN nbsql_second > -{{ nbsql.infinity() }} THEN nbsql_joint_{{ number }} - nbsql_second - {{ nbsql.natural_log(rest) }}
  ELSE {{ nbsql.number(1e308) }}
END
{%- endmacro %}

{# The calibrated probability of a class against the rest: of Platt's line, or between the knots of the isotonic function. #}
{% macro standalone_calibrated_share(scorer, number) -%}
{% set odds %}nbsql_odds_{{ number }}{% endset -%}
CASE
  WHEN {{ odds }} IS NULL THEN 0
  WHEN {{ odds }} >= {{ nbsql.number(1e308) }} THEN 1
  {% if scorer.calibration.method == 'platt' %}
  {% set slope, intercept = scorer.calibration.lines[number] %}
  {% set z %}({{ nbsql.number(slope) }} * {{ odds }} + {{ nbsql.number(intercept) }}){% endset %}
  ELSE {{ nbsql.logistic(z) }}
  {% elif number not in scorer.calibration.knots %}
  ELSE {{ nbsql.logistic(odds) }}
  {% else %}
  {% set knots = scorer.calibration.knots[number] %}
  {% for x, y in knots %}
  {% if loop.first %}
  WHEN {{ odds }} <= {{ nbsql.number(x) }} THEN {{ nbsql.number(y) }}
  {% else %}
  {% set x0, y0 = knots[loop.index0 - 1] %}
  {% set part %}(({{ odds }} - {{ nbsql.number(x0) }}) / {{ nbsql.number(x - x0) }}){% endset %}
  {% set rise %}({{ nbsql.number(y) }} - {{ nbsql.number(y0) }}) * {{ part }}{% endset %}
  WHEN {{ odds }} <= {{ nbsql.number(x) }} THEN {{ nbsql.number(y0) }} + {{ rise }}
  {% endif %}
  {% endfor %}
  ELSE {{ nbsql.number(knots[-1][1]) }}
  {% endif %}
END
{%- endmacro %}
