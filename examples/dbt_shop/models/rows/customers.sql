{# A hundred and twenty customers, and whether they left. Some have not told their age. #}
{% for i in range(1, 121) -%}
{% set month, risk = i * 5 % 12 + 1, i * 37 % 23 + (i * 5 % 12) -%}
{{ made_up({
  'customer_id': i,
  'churned': "'yes'" if risk > 19 else "'no'",
  'joined_on': "CAST('2025-%02d-%02d' AS DATE)" | format(month, i * 11 % 28 + 1),
  'plan': one_of(['free', 'plus', 'pro'], i * 37 % 23 // 4 + i % 2),
  'orders': (i * 37 % 23 - 23) * -1 // 3 + i % 3,
  'age': 'NULL' if i % 9 == 4 else 20 + i * 13 % 41}, loop.last) }}
{% endfor %}
