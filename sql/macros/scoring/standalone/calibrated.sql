{#
  Calibrated posteriors of a standalone scorer, by the formulas of scoring/calibrated.sql with the numbers of the calibration in them. A
  temperature is in the relative likelihoods (engines/standalone/). The other methods add columns to the scores:

    nbsql_top      the number of the most probable class; nbsql_second: the highest joint log-likelihood of the others
    nbsql_rest     the sum of the likelihoods of the others, relative to the second
    nbsql_odds_k   the log-odds of a class against the rest; NULL for a class that is ruled out
    nbsql_share_k  the calibrated probability of a class against the rest; nbsql_total: their sum; nbsql_best_share: the highest
#}
{% macro standalone_shares(scorer, made) -%}
{% set numbers = scorer.form.class_numbers -%}
{% set columns = namespace(odds=[], shares=[]) -%}
{% for k in numbers -%}
{% set columns.odds = columns.odds + [('nbsql_odds_' ~ k, nbsql.standalone_odds(k))] -%}
{% set columns.shares = columns.shares + [('nbsql_share_' ~ k, nbsql.standalone_calibrated_share(scorer.calibration, k))] -%}
{% endfor -%}
{% set top %}CASE{% for k in numbers %} WHEN nbsql_joint_{{ k }} = nbsql_highest THEN {{ k }}{% endfor %} END{% endset -%}
{% set second -%}
{% call(k) nbsql.greatest_of(numbers) -%}
CASE WHEN nbsql_top = {{ k }} THEN -{{ nbsql.infinity() }} ELSE nbsql_joint_{{ k }} END
{%- endcall %}
{%- endset -%}
{% set rest -%}
{% call(k) nbsql.sum_in_blocks(numbers) -%}
{% set difference %}nbsql_joint_{{ k }} - nbsql_second{% endset -%}
CASE WHEN nbsql_top = {{ k }} THEN 0 ELSE {{ nbsql.exp(difference) }} END
{%- endcall %}
{%- endset -%}
{% set total %}{% call(k) nbsql.sum_in_blocks(numbers) %}nbsql_share_{{ k }}{% endcall %}{% endset -%}
{% set best_share %}{% call(k) nbsql.greatest_of(numbers) %}nbsql_share_{{ k }}{% endcall %}{% endset -%}
{% for name, step in {
  'ranked': [('nbsql_top', top)], 'compared': [('nbsql_second', second)], 'rested': [('nbsql_rest', rest)], 'odds': columns.odds,
  'shares': columns.shares, 'calibrated': [('nbsql_total', total), ('nbsql_best_share', best_share)]}.items() -%}
{{ nbsql.standalone_step(made, 'nbsql_' ~ name, step) }}
{%- endfor %}
{%- endmacro %}

{# A share of the total; the same for every class if the total is 0, as in scikit-learn. #}
{% macro standalone_share(scorer, name) -%}
CASE WHEN nbsql_total > 0 THEN nbsql_{{ nbsql.word(name) }} / nbsql_total ELSE {{ nbsql.number(1 / (scorer.labels | length)) }} END
{%- endmacro %}

{# The log-odds of a class against the rest; 1e308 for a class beside which all others are ruled out. #}
{% macro standalone_odds(k) -%}
{% set joint, rest = nbsql.word('nbsql_joint_' ~ k), nbsql.word('nbsql_rest') -%}
{% set difference %}{{ joint }} - nbsql_highest{% endset -%}
{% set others %}nbsql_relative_evidence - {{ nbsql.exp(difference) }}{% endset -%}
CASE
  WHEN {{ joint }} <= -{{ nbsql.infinity() }} THEN NULL
  WHEN nbsql_top <> {{ k }} THEN {{ joint }} - nbsql_highest - {{ nbsql.natural_log(others) }}
  WHEN nbsql_second > -{{ nbsql.infinity() }} THEN {{ joint }} - nbsql_second - {{ nbsql.natural_log(rest) }}
  ELSE {{ nbsql.number(1e308) }}
END
{%- endmacro %}

{# The calibrated probability of a class against the rest: of Platt's line, or between the knots of the isotonic function. #}
{% macro standalone_calibrated_share(calibration, k) -%}
{% set odds = nbsql.word('nbsql_odds_' ~ k) -%}
CASE
  WHEN {{ odds }} IS NULL THEN 0
  WHEN {{ odds }} >= {{ nbsql.number(1e308) }} THEN 1
  {% if calibration.method == 'platt' %}
  {% set slope, intercept = calibration.lines[k] %}
  {% set z %}({{ nbsql.number(slope) }} * {{ odds }} + {{ nbsql.number(intercept) }}){% endset %}
  ELSE {{ nbsql.logistic(z) }}
  {% elif k not in calibration.knots %}
  ELSE {{ nbsql.logistic(odds) }}
  {% else %}
  {% set knots = calibration.knots[k] %}
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
