{# The advice on a model before it is counted. In Python nbsql/learning/look.py decides by the same facts. #}

{#
  Logs in one line which of the inferred categories are texts, which numbers have other families, and which features are keys, by a look at
  the first 10,000 rows. A feature whose family is given is not looked at. The look in Python also knows numbers by their long tails.
#}
{% macro advise(model, rows) -%}
{% set texts, numbers, facts = [], [], {} -%}
{% for feature in model.facts.features if feature.is_inferred and feature.name not in model.times -%}
{% if feature.kinds[0] == 'text' %}{% do texts.append(feature) %}
{% elif feature.kinds[0] in ['integer', 'float', 'decimal'] %}{% do numbers.append(feature) %}
{% endif -%}
{% endfor -%}
{% set queries = ([nbsql.facts_of_texts(nbsql.looked_at(model, rows, texts))] if texts else [])
  + ([nbsql.facts_of_numbers(nbsql.looked_at(model, rows, numbers), true)] if numbers else []) -%}
{% for query in queries -%}
{% for row in nbsql.query_rows(query) -%}
{% do facts.update({row[0] | int: {
  'n': row[2] | int, 'distinct': row[3] | int, 'least': row[4] | default(0, true) | float, 'largest': row[5] | default(0, true) | float,
  'mean': row[6] | default(0, true) | float, 'irregular': row[7] | int, 'marked': row[8] | int, 'coded': row[9] | default(0) | int}}) %}
{% endfor -%}
{% endfor -%}
{% set families, keys, options = [], [], [] -%}
{% for feature in texts + numbers if feature.index in facts -%}
{% set about = facts[feature.index] -%}
{% if not model.node.config.meta.nbsql.features and nbsql.is_key(feature.name, about, feature in texts) -%}
{% do keys.append(feature) %}
{% elif feature in texts and 2 * about.marked > about.n and about.distinct >= [100, about.n / 10] | max -%}
{% do families.append("'" ~ feature.name ~ "': text") %}
{% elif feature in numbers and about.n >= 100 and nbsql.family_of_number(about) -%}
{% do families.append("'" ~ feature.name ~ "': " ~ nbsql.family_of_number(about)) %}
{% endif -%}
{% endfor -%}
{% if families %}{% do options.append('families: {' ~ families | join(', ') ~ '}') %}{% endif -%}
{% set names = nbsql.quoted_names(keys | sort(attribute='index') | map(attribute='name')) -%}
{% if keys %}{% do options.append('exclude: [' ~ names ~ ']') %}{% endif -%}
{% if options -%}
{% do log(
  "nbsql: families of '" ~ model.name ~ "' follow from the types; by a look at the values they would be " ~ options | join(', '), true) %}
{% endif -%}
{%- endmacro %}

{# The first rows of a relation, one for each value of some features: feature (its index), x. They are read once. #}
{% macro looked_at(model, rows, features) -%}
WITH looked_at AS (
  SELECT * FROM {{ rows | indent(2) }} AS source WHERE {{ nbsql.is_counted(model) }} LIMIT 10000
)
{% for feature in features -%}
{% set text %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
{% set x = text if feature.kinds[0] == 'text' else nbsql.finite(nbsql.number_of(feature.column)) -%}
SELECT {{ feature.index }} AS feature, {{ x }} AS x FROM looked_at AS source
{%- if not loop.last +%}
UNION ALL
{% endif -%}
{% endfor -%}
{%- endmacro %}

{# The family of a number that the facts about it suggest, as a project writes it; none if it is that of its type. #}
{% macro family_of_number(about) -%}
{% set is_whole, has_density = about.irregular == 0, about.distinct > 10 -%}
{% set usual = 1.5 / (1 + about.mean) if is_whole and about.least == 0 else 0 -%}
{% if is_whole and about.least in [0, 1] and about.largest in [0, 1] %}{% do return('bernoulli') %}
{% elif about.distinct in range(2, 13) and about.distinct * 100 < about.n %}{% do return('categorical') %}
{% elif has_density and about.marked >= [0.2, usual] | max * about.n and about.n - about.marked >= 30 -%}
{% do return('zero_inflated' if about.least >= 0 else '{family: zero_inflated, of: gaussian}') %}
{% elif has_density and not is_whole and about.least > 0 and about.largest >= 1e-8 and about.largest < 1 %}{% do return('beta') %}
{% endif -%}
{% do return(none) %}
{%- endmacro %}

{# Whether a column is a key by its name, or because it never repeats where chance would repeat it. The name and the facts about it. #}
{% macro is_key(name, about, is_text) -%}
{% set is_named = modules.re.match('(?s).*[a-z](Id|ID|Key)$', name) or modules.re.match('(?is)(.*[_ ])?(id|key|uuid|guid|pk)$', name) -%}
{% set is_unique, is_small = about.distinct == about.n, about.n < 100 -%}
{% if about.n < 20 or (is_small and not is_unique) %}{% do return(false) %}{% endif -%}
{% if is_named and is_text %}{% do return(2 * about.distinct > about.n) %}{% endif -%}
{% if is_named and about.distinct > 12 and not about.irregular %}{% do return(true) %}{% endif -%}
{% if not is_unique or about.irregular %}{% do return(false) %}{% endif -%}
{% if is_text %}{% do return(about.coded == about.n and (not is_small or about.least >= 16)) %}{% endif -%}
{% if 1800 <= about.least and about.largest <= 2100 %}{% do return(false) %}{% endif -%} {# years #}
{% set values, chance = about.largest - about.least + 1, namespace(all_differ=1.0) -%}
{% for i in range(about.n) %}{% set chance.all_differ = chance.all_differ * (1 - i / values) %}{% endfor -%}
{% do return(chance.all_differ < 1e-9) %}
{%- endmacro %}
