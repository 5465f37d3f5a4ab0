{# Twenty visits of each day, and whether they ended in a purchase. The days are texts, as a log wrote them. #}
{% set days = var('last_day') | int -%}
{% for i in range(1, days * 20 + 1) -%}
{% set bought = i * 29 % 17 % 3 == 0 -%}
{{ made_up({
  'visit_id': i,
  'day': "'2026-05-%02d'" | format((i - 1) // 20 + 1),
  'bought': "'yes'" if bought else "'no'",
  'pages': i * 7 % 9 + (3 if bought else 1),
  'minutes': (i * 11 % 31 + (20 if bought else 4)) / 8,
  'device': one_of(['phone', 'desktop', 'phone', 'tablet'], i * 5 % 13 + (1 if bought else 0)),
  'source': one_of(['search', 'mail', 'friend'], i * 3 % 7)}, loop.last) }}
{% endfor %}
