{#
  The macros of the tables, macros/primitives/primitives.txt and those of engines, that the package calls. Generated: after a
  change of a table, run python -m nbsql.dbt write.
#}

{% macro bigquery__any_true(x) -%} logical_or({{ x }}) {%- endmacro %}
{% macro bigquery__as_number(x) -%} safe_cast({{ x }} AS {{ nbsql.double() }}) {%- endmacro %}
{% macro bigquery__as_whole(x) -%} safe_cast({{ x }} AS INT64) {%- endmacro %}
{% macro bigquery__boolean_of(x) -%} CAST({{ x }} AS BOOL) {%- endmacro %}
{% macro bigquery__characters(x) -%} SPLIT({{ x }}, '') {%- endmacro %}
{% macro bigquery__composed(x) -%} NORMALIZE({{ x }}, NFC) {%- endmacro %}
{% macro bigquery__concatenated_lists(lists) -%} ARRAY_CONCAT({% for list in lists %}{{ list }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro bigquery__distinct_elements(list) -%} ARRAY(SELECT DISTINCT token FROM UNNEST({{ list }}) AS token) {%- endmacro %}
{% macro bigquery__double() -%} FLOAT64 {%- endmacro %}
{% macro bigquery__in_time_zone(x, zone) -%} DATETIME({{ x }}, {{ nbsql.text(zone) }}) {%- endmacro %}
{% macro bigquery__joined_tokens(feature) -%} {{ ' ' }}CROSS JOIN UNNEST({{ nbsql.token_terms(feature.family) }}) AS token {%- endmacro %}
{% macro bigquery__list_filtered(list, condition) -%}
ARRAY(SELECT word FROM UNNEST({{ list }}) AS word WITH OFFSET AS place WHERE {{ condition }} ORDER BY place ASC NULLS LAST) {%- endmacro %}
{% macro bigquery__matches(x, pattern) -%} REGEXP_EXTRACT_ALL({{ x }}, CONCAT('(', {{ pattern }}, ')')) {%- endmacro %}
{% macro bigquery__number_of_weekday(x) -%} MOD(EXTRACT(DAYOFWEEK FROM {{ x }}) + 5, 7) + 1 {%- endmacro %}
{% macro bigquery__part_of_time(x, part) -%} EXTRACT({{ nbsql.word(part) }} FROM {{ x }}) {%- endmacro %}
{% macro bigquery__raise_error(message, text=none) -%} error({{ nbsql.text(message) }}) {%- endmacro %}
{% macro bigquery__runs_of_letters(x) -%} REGEXP_EXTRACT_ALL({{ x }}, r'[\p{L}\p{N}][\p{L}\p{M}\p{N}]*') {%- endmacro %}
{% macro bigquery__single_blanks(x, least) -%}
REGEXP_REPLACE({{ x }}, r'[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\p{Z}]{{ '{' }}{{ least }},{{ '}' }}', ' ') {%- endmacro %}
{% macro bigquery__string() -%} STRING {%- endmacro %}
{% macro bigquery__union_distinct() -%} UNION DISTINCT {%- endmacro %}
{% macro bigquery__without_accents(x) -%} NORMALIZE(REGEXP_REPLACE(NORMALIZE({{ x }}, NFD), r'\p{M}', ''), NFC) {%- endmacro %}
{% macro clickhouse__any_true(x) -%} max({{ x }}) {%- endmacro %}
{% macro clickhouse__as_number(x) -%} toFloat64OrNull({{ x }}) {%- endmacro %}
{% macro clickhouse__binary() -%} {%- endmacro %}
{% macro clickhouse__boolean_of(x) -%} CAST({{ x }} AS Nullable(Bool)) {%- endmacro %}
{% macro clickhouse__characters(x) -%} extractAll(coalesce({{ x }}, ''), '(?s).') {%- endmacro %}
{% macro clickhouse__composed(x) -%} normalizeUTF8NFC({{ x }}) {%- endmacro %}
{% macro clickhouse__concatenated_lists(lists) -%} arrayConcat({% for list in lists %}{{ list }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro clickhouse__distinct_elements(list) -%} arrayDistinct({{ list }}) {%- endmacro %}
{% macro clickhouse__double() -%} Nullable(Float64) {%- endmacro %}
{% macro clickhouse__has_digit(x) -%} match({{ x }}, '[0-9]') {%- endmacro %}
{% macro clickhouse__in_time_zone(x, zone) -%} toTimeZone({{ x }}, {{ nbsql.text(zone) }}) {%- endmacro %}
{% macro clickhouse__infinity() -%} inf {%- endmacro %}
{% macro clickhouse__is_none_of(word, texts) -%}
{{ word }} NOT IN ({% for text in texts %}{{ nbsql.text(text) }}{{ nbsql.comma_blank(loop) }}{% endfor %}) {%- endmacro %}
{% macro clickhouse__list_filtered(list, condition) -%} arrayFilter(word -> {{ condition }}, {{ list }}) {%- endmacro %}
{% macro clickhouse__lower_case(x) -%} lowerUTF8({{ x }}) {%- endmacro %}
{% macro clickhouse__matches(x, pattern) -%} extractAll(coalesce({{ x }}, ''), {{ pattern }}) {%- endmacro %}
{% macro clickhouse__number_of_weekday(x) -%} toDayOfWeek({{ x }}) {%- endmacro %}
{% macro clickhouse__raise_error(message, text=none) -%} throwIf(length(coalesce({{ text }}, '')) >= 0, {{ nbsql.text(message) }})
{%- endmacro %}
{% macro clickhouse__runs_of_words(run, length) -%}
arrayMap(i -> {{ run }}, range(1, toInt64(length(source.nbsql_words)) - {{ length - 2 }})) {%- endmacro %}
{% macro clickhouse__single_blanks(x, least) -%}
replaceRegexpAll({{ x }}, '[\\x{9}-\\x{D}\\x{1C}-\\x{20}\\x{85}\\p{Z}]{{ '{' }}{{ least }},{{ '}' }}', ' ') {%- endmacro %}
{% macro clickhouse__string() -%} Nullable(String) {%- endmacro %}
{% macro clickhouse__text_as_fitted(feature, column, whole, x) -%}
CAST({{ nbsql.without_negative_zero(x) if column in feature.fraction_types else x }} AS {{ nbsql.string() }}) {%- endmacro %}
{% macro clickhouse__token_rows(feature) -%} arrayJoin({{ nbsql.token_terms(feature.family) }}) AS value, 1 AS times {%- endmacro %}
{% macro clickhouse__union_distinct() -%} UNION DISTINCT {%- endmacro %}
{% macro clickhouse__with_slices(source, expression) -%}
(SELECT source.*, CAST(({{ expression }}) AS {{ nbsql.string() }}) AS nbsql_slice FROM {{ source }} AS source) {%- endmacro %}
{% macro clickhouse__without_accents(x) -%} normalizeUTF8NFC(replaceRegexpAll(normalizeUTF8NFD({{ x }}), '\\p{M}+', '')) {%- endmacro %}
{% macro default__any_true(x) -%} bool_or({{ x }}) {%- endmacro %}
{% macro default__array() -%} {%- endmacro %}
{% macro default__array_of(elements) -%} {{ nbsql.array() }}[{{ elements }}] {%- endmacro %}
{% macro default__as_label(x, type) -%} {{ x }}{% if nbsql.is_text(type) %}{{ nbsql.binary() }}{% endif %} {%- endmacro %}
{% macro default__as_number(x) -%} TRY_CAST({{ x }} AS {{ nbsql.double() }}) {%- endmacro %}
{% macro default__boolean_of(x) -%} CAST({{ x }} AS BOOLEAN) {%- endmacro %}
{% macro default__breaks_negative_counts(column) -%} coalesce(list_min(map_values(source.{{ nbsql.ident(column) }})) < 0, FALSE)
{%- endmacro %}
{% macro default__broadcast_hint(names) -%} {%- endmacro %}
{% macro default__characters(x) -%} string_split({{ x }}, '') {%- endmacro %}
{% macro default__collation_of_letters() -%} {{ nbsql.binary() }} {%- endmacro %}
{% macro default__common_value(x) -%} any_value({{ x }}) {%- endmacro %}
{% macro default__compiled_apart(model) -%} {%- endmacro %}
{% macro default__composed(x) -%} nfc_normalize({{ x }}) {%- endmacro %}
{% macro default__concatenated_lists(lists) -%} list_concat({% for list in lists %}{{ list }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro default__distinct_count(x, is_exact) -%}
{% if is_exact %}count(DISTINCT {{ x }}){% else %}approx_count_distinct({{ x }}){% endif %} {%- endmacro %}
{% macro default__distinct_elements(list) -%} list_distinct({{ list }}) {%- endmacro %}
{% macro default__double() -%} DOUBLE {%- endmacro %}
{% macro default__element(list, position) -%} {{ list }}[{{ position }}] {%- endmacro %}
{% macro default__exp(x) -%} exp({{ x }}) {%- endmacro %}
{% macro default__expected_costs(costs) -%} list_transform(nbsql_matrix, lambda costs: list_dot_product(costs, nbsql_posteriors))
{%- endmacro %}
{% macro default__explained_rows(model, source, parameters, lookups) -%} {{ nbsql.numbered_source(model, source, parameters, lookups) }}
{%- endmacro %}
{% macro default__falling_powers() -%} list_reverse(list_transform(range(CAST(ceil(log2(max(len(xs)) + 1)) AS BIGINT)), lambda i: 1 << i))
{%- endmacro %}
{% macro default__finite(x) -%} CASE WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END {%- endmacro %}
{% macro default__floor_of(x) -%} floor({{ x }}) {%- endmacro %}
{% macro default__greatest_of_few(values) -%} greatest({% for value in values %}{{ value }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro default__groups_texts() -%} {%- endmacro %}
{% macro default__has_digit(x) -%} translate({{ x }}, '0123456789', '') <> {{ x }} {%- endmacro %}
{% macro default__in_time_zone(x, zone) -%} ({{ x }} AT TIME ZONE {{ nbsql.text(zone) }}) {%- endmacro %}
{% macro default__infinity() -%} CAST('infinity' AS {{ nbsql.double() }}) {%- endmacro %}
{% macro default__is_none_of(word, texts) -%} NOT list_contains({{ nbsql.text_list(texts) }}, {{ word }}) {%- endmacro %}
{% macro default__joined_tokens(feature) -%} {%- endmacro %}
{% macro default__json_element(list, position) -%} json_extract_string({{ list }}, '$[{{ position }}]') {%- endmacro %}
{% macro default__labels_in_rows() -%} {%- endmacro %}
{% macro default__largest(values) -%} greatest({% for value in values %}{{ value }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro default__last_knot(xs) -%}
list_reduce(nbsql_jumps, lambda last, jump: last + CASE WHEN {{ xs }}[last + jump] <= x THEN jump ELSE 0 END, 0) {%- endmacro %}
{% macro default__level(feature, k) -%} level{{ nbsql.feature_suffix(feature) }}.class_{{ k }} {%- endmacro %}
{% macro default__list_highest(list) -%} list_max({{ list }}) {%- endmacro %}
{% macro default__list_lowest(list) -%} list_min({{ list }}) {%- endmacro %}
{% macro default__list_mapped(list, body, x='x', place=none) -%}
list_transform({{ list }}, lambda {{ nbsql.word(x) }}{% if place %}, {{ nbsql.word(place) }}{% endif %}: {{ body }}) {%- endmacro %}
{% macro default__list_of(elements, type) -%} [{{ elements }}] {%- endmacro %}
{% macro default__list_of_whole_numbers(first, end) -%} range({{ first }}, {{ end }}) {%- endmacro %}
{% macro default__list_place(list, x) -%} list_position({{ list }}, {{ x }}) {%- endmacro %}
{% macro default__list_product(a, b) -%} list_dot_product({{ a }}, {{ b }}) {%- endmacro %}
{% macro default__list_size(list) -%} len({{ list }}) {%- endmacro %}
{% macro default__list_total(list) -%} list_sum({{ list }}) {%- endmacro %}
{% macro default__log_factorial(x) -%} {{ nbsql.stirling(x) }} {%- endmacro %}
{% macro default__log_factorial_of(feature) -%} number.nbsql_log_factorial{{ nbsql.feature_suffix(feature) }} {%- endmacro %}
{% macro default__log_of_input(x, is_centred, careful) -%}
CASE WHEN {{ x }} > 0 AND {{ x }} <= 1e150 THEN ln({{ x }}) WHEN {{ x }} <= 0 AND {{ x }} >= -1e150 THEN -{{ nbsql.infinity() }} END
{%- endmacro %}
{% macro default__logistic(z) -%} 1 / (1 + exp(-{{ z }})) {%- endmacro %}
{% macro default__longest_whole() -%} HUGEINT {%- endmacro %}
{% macro default__lower_case(x) -%} lower({{ x }}) {%- endmacro %}
{% macro default__matches(x, pattern) -%} regexp_extract_all({{ x }}, {{ pattern }}) {%- endmacro %}
{% macro default__maximum(x) -%} max({{ x }}) {%- endmacro %}
{% macro default__mixed_hash(values) -%} hash(hash({{ values }})) {%- endmacro %}
{% macro default__natural_log(x) -%} ln({{ x }}) {%- endmacro %}
{% macro default__number_of(column, relation=none) -%}
CAST({{ relation or nbsql.word('source') }}.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}) {%- endmacro %}
{% macro default__number_of_rows() -%} count(*) AS rows {%- endmacro %}
{% macro default__number_of_weekday(x) -%} extract(isodow FROM {{ x }}) {%- endmacro %}
{% macro default__optimisation_fence() -%} {%- endmacro %}
{% macro default__ordered_list(x, by) -%} list({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}
{% macro default__output(name) -%} {{ nbsql.ident(name) }} {%- endmacro %}
{% macro default__output_column(model, name, more='') -%}
source.nbsql_{{ nbsql.word(name) }}{% if more %}{{ more }}{% endif %} AS {{ nbsql.word(name) }} {%- endmacro %}
{% macro default__output_label(model) -%} {{ nbsql.output_column(model, 'prediction') }} {%- endmacro %}
{% macro default__output_null(model, name) -%} CAST(NULL AS {{ nbsql.double() }}) AS {{ nbsql.word(name) }} {%- endmacro %}
{% macro default__part_of_time(x, part) -%}
{% if part == 'year' %}year({{ x }}){% else %}extract({{ nbsql.word(part) }} FROM {{ x }}){% endif %} {%- endmacro %}
{% macro default__pattern_literal(pattern) -%} {{ nbsql.text(pattern) }} {%- endmacro %}
{% macro default__plain_label(x, type) -%} {{ x }} {%- endmacro %}
{% macro default__posterior_columns(model) -%} {{ nbsql.posteriors(model) }} AS posteriors {%- endmacro %}
{% macro default__posteriors_of_judged(model) -%} {%- endmacro %}
{% macro default__product(a, b, careful=false) -%} {{ a }} * {{ b }} {%- endmacro %}
{% macro default__raise_error(message, text=none) -%} error({{ nbsql.text(message) }}) {%- endmacro %}
{% macro default__row_id() -%} row_number() OVER () {%- endmacro %}
{% macro default__run_once() -%} {%- endmacro %}
{% macro default__runs_of_letters(x) -%}
string_split(regexp_replace({{ x }}, '[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' ', 'g'), ' ') {%- endmacro %}
{% macro default__runs_of_words(run, length) -%}
list_transform(range(1, len(source.nbsql_words){% if length > 2 %} - {{ length - 2 }}{% endif %}), lambda i: {{ run }}) {%- endmacro %}
{% macro default__same_value(a, b) -%} {{ a }}.value IS NOT DISTINCT FROM {{ b }}.value {%- endmacro %}
{% macro default__scan_value(x, careful) -%} {% if careful %}{{ nbsql.finite(x) }}{% else %}{{ x }}{% endif %} {%- endmacro %}
{% macro default__score_of_token(model) -%} {{ nbsql.element(nbsql.word('lookups.scores'), nbsql.word('parameters.class_no')) }}
{%- endmacro %}
{% macro default__scores_of_token(model) -%} {{ nbsql.found_scores(model) }} AS scores {%- endmacro %}
{% macro default__single_blanks(x, least) -%}
regexp_replace({{ x }}, '[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\p{Z}]{{ '{' }}{{ least }},{{ '}' }}', ' ', 'g') {%- endmacro %}
{% macro default__smallest(values) -%} least({% for value in values %}{{ value }}{{ nbsql.comma_blank(loop) }}{% endfor %}) {%- endmacro %}
{% macro default__source_row_id(model) -%} {{ nbsql.row_id() }} {%- endmacro %}
{% macro default__square(x) -%} {{ x }} * {{ x }} {%- endmacro %}
{% macro default__string() -%} VARCHAR {%- endmacro %}
{% macro default__sum_of_squares(x) -%} list_dot_product({{ x }}, {{ x }}) {%- endmacro %}
{% macro default__text_drawn(feature, seed, position) -%} coalesce(array_to_string(bag{{ nbsql.feature_suffix(feature) }}.bag, ' '), '')
{%- endmacro %}
{% macro default__union_distinct() -%} UNION {%- endmacro %}
{% macro default__unnested_with_places(list, place, name) -%}
generate_subscripts({{ list }}, 1) AS {{ nbsql.word(place) }}, unnest({{ list }}) AS {{ nbsql.word(name) }} {%- endmacro %}
{% macro default__weighted_square(weight, x) -%} {{ weight }} * {{ nbsql.square(x) }} {%- endmacro %}
{% macro default__without_accents(x) -%} strip_accents({{ x }}) {%- endmacro %}
{% macro default__yes_or_no(x, yes, no) -%}
CASE WHEN {{ x }} IS NOT NULL THEN CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN {{ yes }} WHEN 0 THEN {{ no }} END END
{%- endmacro %}
{% macro duckdb__completed_inputs(inputs, features) -%} {{ inputs }} {%- endmacro %}
{% macro duckdb__final_sigma() -%} '(\p{L}\p{M}*)Σ([''’.:·\p{M}]*(?:[^''’.:·\p{M}\p{L}]|$))' {%- endmacro %}
{% macro duckdb__groups_texts() -%} yes {%- endmacro %}
{% macro duckdb__log_factorial(x) -%} lgamma({{ x }} + 1) {%- endmacro %}
{% macro duckdb__log_factorial_of(feature) -%} {{ nbsql.log_factorial(nbsql.of_feature('number.nbsql_x', feature)) }} {%- endmacro %}
{% macro duckdb__lower_case(x) -%} lower(CASE WHEN contains({{ x }}, 'Σ') THEN {{ nbsql.with_final_sigmas(x) }} ELSE {{ x }} END)
{%- endmacro %}
{% macro duckdb__plain_label(x, type) -%} {% if nbsql.is_text(type) %}decode(encode({{ x }})){% else %}{{ x }}{% endif %} {%- endmacro %}
{% macro duckdb__with_final_sigmas(x) -%} regexp_replace({{ x }}, {{ nbsql.final_sigma() }}, '\1ς\2', 'g') {%- endmacro %}
{% macro postgres__array() -%} ARRAY {%- endmacro %}
{% macro postgres__boolean_of(x) -%} {{ nbsql.yes_or_no(x, nbsql.boolean(true), nbsql.boolean(false)) }} {%- endmacro %}
{% macro postgres__characters(x) -%} string_to_array(({{ x }}) COLLATE "C", NULL) {%- endmacro %}
{% macro postgres__common_value(x) -%} max({{ x }}) {%- endmacro %}
{% macro postgres__composed(x) -%} normalize({{ x }}, NFC) {%- endmacro %}
{% macro postgres__concatenated_lists(lists) -%} {% for list in lists %}{{ list }}{% if not loop.last %} || {% endif %}{% endfor %}
{%- endmacro %}
{% macro postgres__distinct_count(x, is_exact) -%} count(DISTINCT {{ x }}) {%- endmacro %}
{% macro postgres__distinct_elements(list) -%} ARRAY(SELECT DISTINCT unnest({{ list }})) {%- endmacro %}
{% macro postgres__double() -%} DOUBLE PRECISION {%- endmacro %}
{% macro postgres__exp(x) -%} CASE WHEN {{ x }} < -708 THEN 0 ELSE exp({{ x }}) END {%- endmacro %}
{% macro postgres__finite(x) -%} CASE WHEN abs({{ x }}) < 1e-140 THEN 0 WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END {%- endmacro %}
{% macro postgres__fraction_as_text(x, type) -%} {{ nbsql.number_as_text(x) }} {%- endmacro %}
{% macro postgres__from_scored(model, scored) -%} FROM {{ scored }} AS source{{ nbsql.in_order_of_source(model) }} {%- endmacro %}
{% macro postgres__is_none_of(word, texts) -%}
{{ word }} NOT IN ({% for text in texts %}{{ nbsql.text(text) }}{{ nbsql.comma_blank(loop) }}{% endfor %}) {%- endmacro %}
{% macro postgres__json_element(list, position) -%} (CAST({{ list }} AS JSON) ->> {{ position }}) {%- endmacro %}
{% macro postgres__list_filtered(list, condition) -%} ARRAY(SELECT word FROM unnest({{ list }}) AS listed(word) WHERE {{ condition }})
{%- endmacro %}
{% macro postgres__list_highest(list) -%} (SELECT max(each) FROM unnest({{ list }}) AS each) {%- endmacro %}
{% macro postgres__list_lowest(list) -%} (SELECT min(each) FROM unnest({{ list }}) AS each) {%- endmacro %}
{% macro postgres__list_of(elements, type) -%} CAST(ARRAY[{{ elements }}] AS {{ type }}[]) {%- endmacro %}
{% macro postgres__list_of_whole_numbers(first, end) -%} ARRAY(SELECT generate_series({{ first }}, {{ end }} - 1)) {%- endmacro %}
{% macro postgres__list_place(list, x) -%} array_position({{ list }}, {{ x }}) {%- endmacro %}
{% macro postgres__list_product(a, b) -%} (SELECT sum(one * other) FROM unnest({{ a }}, {{ b }}) AS each(one, other)) {%- endmacro %}
{% macro postgres__list_size(list) -%} cardinality({{ list }}) {%- endmacro %}
{% macro postgres__list_total(list) -%} (SELECT sum(each) FROM unnest({{ list }}) AS each) {%- endmacro %}
{% macro postgres__logistic(z) -%} CASE WHEN {{ z }} > -708 THEN 1 / (1 + {{ nbsql.exp('-' ~ z) }}) WHEN {{ z }} <= -708 THEN 0 END
{%- endmacro %}
{% macro postgres__matches(x, pattern) -%}
ARRAY(SELECT found.match[1] COLLATE "C" FROM regexp_matches({{ x }}, '(' || {{ pattern }} || ')', 'g') AS found(match)) {%- endmacro %}
{% macro postgres__maximum(x) -%} (array_agg({{ x }} ORDER BY {{ x }} DESC NULLS LAST))[1] {%- endmacro %}
{% macro postgres__mixed_hash(values) -%} (hashtextextended(CAST(ROW({{ values }}) AS {{ nbsql.string() }}), 0) & 9223372036854775807)
{%- endmacro %}
{% macro postgres__multinomial_drawn(feature, seed, position) -%}
coalesce(cardinality(array_positions(bag{{ nbsql.feature_suffix(feature) }}.bag, {{ nbsql.text(feature.columns[position]) }})), 0)
{%- endmacro %}
{% macro postgres__number_as_text(x) -%}
CASE CAST({{ x }} AS {{ nbsql.string() }}) WHEN '-0' THEN '0' ELSE {{ nbsql.shortest_number(nbsql.postgres__double_as_text(x)) }} END
{%- endmacro %}
{% macro postgres__ordered_list(x, by) -%} array_agg({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}
{% macro postgres__raise_error(message, text=none) -%}
CAST(left({{ nbsql.word('spec.nbsql_version') if text is none else text }}, 0) || {{ nbsql.text(message) }} AS BOOLEAN) {%- endmacro %}
{% macro postgres__runs_of_words(run, length) -%}
ARRAY(SELECT {{ run }} FROM generate_series(1, cardinality(source.nbsql_words) - {{ length - 1 }}) AS i) {%- endmacro %}
{% macro postgres__same_value(a, b) -%}
coalesce({{ a }}.value, '') = coalesce({{ b }}.value, '') AND ({{ a }}.value IS NULL) = ({{ b }}.value IS NULL) {%- endmacro %}
{% macro postgres__scan_value(x, careful) -%} {{ nbsql.finite(x) }} {%- endmacro %}
{% macro postgres__square(x) -%} CASE WHEN abs({{ x }}) > 1e-140 THEN {{ x }} * {{ x }} ELSE 0 END {%- endmacro %}
{% macro postgres__string() -%} TEXT {%- endmacro %}
{% macro postgres__sum_of_squares(x) -%} (SELECT sum({{ nbsql.square(nbsql.word('p')) }}) FROM unnest({{ x }}) AS p) {%- endmacro %}
{% macro postgres__value_to_hash(column, kind) -%} source.{{ nbsql.ident(column) }} {%- endmacro %}
{% macro postgres__weighted_square(weight, x) -%}
CASE WHEN {{ x }} IS NOT NULL THEN sign({{ weight }}) * power(least(abs({{ x }} * sqrt(abs({{ weight }}))), 1e150) + 1e-150, 2) END
{%- endmacro %}
{% macro postgres__whole_as_text(x) -%} {{ nbsql.number_as_text(x) }} {%- endmacro %}
{% macro postgres__whole_numbers(first, end) -%} generate_series({{ first }}, {{ end }} - 1) {%- endmacro %}
{% macro snowflake__any_true(x) -%} boolor_agg({{ x }}) {%- endmacro %}
{% macro snowflake__as_whole(x) -%} CAST({{ x }} AS NUMBER(38, 0)) {%- endmacro %}
{% macro snowflake__in_time_zone(x, zone) -%} CONVERT_TIMEZONE({{ nbsql.text(zone) }}, {{ x }}) {%- endmacro %}
{% macro snowflake__infinity() -%} CAST('inf' AS {{ nbsql.double() }}) {%- endmacro %}
{% macro snowflake__joined_tokens(feature) -%} , LATERAL FLATTEN(INPUT => {{ nbsql.token_terms(feature.family) }}) AS tokens {%- endmacro %}
{% macro snowflake__list_filtered(list, condition) -%} FILTER({{ list }}, word VARCHAR -> {{ condition }}) {%- endmacro %}
{% macro snowflake__matches(x, pattern) -%} REGEXP_SUBSTR_ALL({{ x }}, {{ pattern }}) {%- endmacro %}
{% macro snowflake__number_of_weekday(x) -%} DAYOFWEEKISO({{ x }}) {%- endmacro %}
{% macro snowflake__token_rows(feature) -%} CAST(tokens.value AS {{ nbsql.string() }}) AS value, 1 AS times {%- endmacro %}
{% macro spark__array_of(elements) -%} array({{ elements }}) {%- endmacro %}
{% macro spark__binary() -%} {%- endmacro %}
{% macro spark__breaks_negative_counts(column) -%} coalesce(array_min(map_values(source.{{ nbsql.ident(column) }})) < 0, FALSE)
{%- endmacro %}
{% macro spark__characters(x) -%} split({{ x }}, '') {%- endmacro %}
{% macro spark__composed(x) -%}
CASE WHEN {{ x }} RLIKE r'[^\x00-\x7F]' THEN reflect('com.ibm.icu.text.Normalizer', 'compose', {{ x }}, FALSE) ELSE {{ x }} END
{%- endmacro %}
{% macro spark__concatenated_lists(lists) -%} concat({% for list in lists %}{{ list }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro spark__distinct_elements(list) -%} array_distinct({{ list }}) {%- endmacro %}
{% macro spark__element(list, position) -%} try_element_at({{ list }}, {{ position }}) {%- endmacro %}
{% macro spark__expected_costs(costs) -%}
transform(nbsql_matrix, costs -> {{ nbsql.list_product(nbsql.word('costs'), nbsql.word('nbsql_posteriors')) }}) {%- endmacro %}
{% macro spark__falling_powers() -%} reverse(transform(sequence(0, CAST(floor(log2(max(size(xs)) + 0.5)) AS INT)), i -> shiftleft(1, i)))
{%- endmacro %}
{% macro spark__floor_of(x) -%} CASE WHEN abs({{ x }}) < {{ nbsql.number(9007199254740992) }} THEN floor({{ x }}) ELSE {{ x }} END
{%- endmacro %}
{% macro spark__from_scored(model, scored) -%} FROM {{ scored }} AS source {%- endmacro %}
{% macro spark__is_none_of(word, texts) -%}
{{ word }} NOT IN ({% for text in texts %}{{ nbsql.text(text) }}{{ nbsql.comma_blank(loop) }}{% endfor %}) {%- endmacro %}
{% macro spark__json_element(list, position) -%} get(from_json({{ list }}, 'ARRAY<STRING>'), {{ position }}) {%- endmacro %}
{% macro spark__labels_in_rows() -%} yes {%- endmacro %}
{% macro spark__last_knot(xs) -%}
aggregate(nbsql_jumps, 0, (n, jump) -> n + CASE WHEN {{ nbsql.element(xs, nbsql.word('n') ~ ' + jump') }} <= x THEN jump ELSE 0 END)
{%- endmacro %}
{% macro spark__level(feature, k) -%} level{{ nbsql.feature_suffix(feature) }}.scores[{{ k - 1 }}] {%- endmacro %}
{% macro spark__list_highest(list) -%} array_max({{ list }}) {%- endmacro %}
{% macro spark__list_lowest(list) -%} array_min({{ list }}) {%- endmacro %}
{% macro spark__list_of(elements, type) -%} CAST(array({{ elements }}) AS ARRAY<{{ type }}>) {%- endmacro %}
{% macro spark__list_of_whole_numbers(first, end) -%} sequence({{ first }}, {{ end }} - 1) {%- endmacro %}
{% macro spark__list_place(list, x) -%} CAST(nullif(array_position({{ list }}, {{ x }}), 0) AS INT) {%- endmacro %}
{% macro spark__list_product(a, b) -%}
aggregate(zip_with({{ a }}, {{ b }}, (one, other) -> one * other), {{ nbsql.number(0) }}, (total, x) -> total + x) {%- endmacro %}
{% macro spark__list_size(list) -%} size({{ list }}) {%- endmacro %}
{% macro spark__list_total(list) -%} aggregate({{ list }}, {{ nbsql.number(0) }}, (total, x) -> total + x) {%- endmacro %}
{% macro spark__longest_whole() -%} DECIMAL(38, 0) {%- endmacro %}
{% macro spark__lookup_join(model, feature, lookups) -%} {{ nbsql.star_of_scores(model, feature, lookups) }} {%- endmacro %}
{% macro spark__matches(x, pattern) -%} regexp_extract_all({{ x }}, {{ pattern }}, 0) {%- endmacro %}
{% macro spark__materialized() -%} {%- endmacro %}
{% macro spark__mixed_hash(values) -%} (xxhash64({{ values }}) & 9223372036854775807) {%- endmacro %}
{% macro spark__multinomial_drawn(feature, seed, position) -%}
coalesce(size(filter(bag{{ nbsql.feature_suffix(feature) }}.bag, token -> token = {{ nbsql.text(feature.columns[position]) }})), 0)
{%- endmacro %}
{% macro spark__number_of_weekday(x) -%} weekday({{ x }}) + 1 {%- endmacro %}
{% macro spark__ordered_list(x, by) -%} transform(array_sort(collect_list(struct({{ by }}, {{ x }} AS item))), entry -> entry.item)
{%- endmacro %}
{% macro spark__raise_error(message, text=none) -%} raise_error({{ nbsql.text(message) }}) {%- endmacro %}
{% macro spark__row_id() -%} monotonically_increasing_id() {%- endmacro %}
{% macro spark__runs_of_letters(x) -%} split(regexp_replace({{ x }}, r'[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' '), ' ')
{%- endmacro %}
{% macro spark__single_blanks(x, least) -%}
regexp_replace({{ x }}, r'[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\p{Z}]{{ '{' }}{{ least }},{{ '}' }}', ' ') {%- endmacro %}
{% macro spark__string() -%} STRING {%- endmacro %}
{% macro spark__sum_of_squares(x) -%} aggregate({{ x }}, {{ nbsql.number(0) }}, (total, p) -> total + p * p) {%- endmacro %}
{% macro spark__text_drawn(feature, seed, position) -%} coalesce(array_join(bag{{ nbsql.feature_suffix(feature) }}.bag, ' '), '')
{%- endmacro %}
{% macro spark__unnested_with_places(list, place, name) -%}
inline(arrays_zip(sequence(1, size({{ list }})), {{ list }})) AS ({{ nbsql.word(place) }}, {{ nbsql.word(name) }}) {%- endmacro %}
{% macro spark__value_to_hash(column, kind) -%} source.{{ nbsql.ident(column) }} {%- endmacro %}
{% macro spark__whole_numbers(first, end) -%} explode(CASE WHEN {{ end }} > {{ first }} THEN sequence({{ first }}, {{ end }} - 1) END)
{%- endmacro %}
{% macro sqlite__any_true(x) -%} max({{ x }}) {%- endmacro %}
{% macro sqlite__as_number(x) -%}
CASE WHEN {{ x }} IN (CAST(CAST({{ x }} AS INTEGER) AS TEXT), CAST(CAST({{ x }} AS REAL) AS TEXT)) THEN CAST({{ x }} AS REAL) END
{%- endmacro %}
{% macro sqlite__double() -%} REAL {%- endmacro %}
{% macro sqlite__greatest_of_few(values) -%} MAX({% for value in values %}{{ value }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro sqlite__has_digit(x) -%} {{ x }} GLOB '*[0-9]*' {%- endmacro %}
{% macro sqlite__in_time_zone(x, zone) -%} {{ x }} {%- endmacro %}
{% macro sqlite__infinity() -%} 9e999 {%- endmacro %}
{% macro sqlite__largest(values) -%} max({{ nbsql.known_numbers(values) }}) {%- endmacro %}
{% macro sqlite__number_of_weekday(x) -%} ({{ nbsql.part_of_time(x, 'weekday') }} + 6) % 7 + 1 {%- endmacro %}
{% macro sqlite__raise_error(message, text=none) -%} json_extract('{}', substr({{ text }}, 1, 0) || {{ nbsql.text(message) }})
{%- endmacro %}
{% macro sqlite__smallest(values) -%} min({{ nbsql.known_numbers(values) }}) {%- endmacro %}
{% macro sqlite__string() -%} TEXT {%- endmacro %}
{% macro trino__as_whole(x) -%} try_cast({{ x }} AS BIGINT) {%- endmacro %}
{% macro trino__composed(x) -%} normalize({{ x }}, NFC) {%- endmacro %}
{% macro trino__concatenated_lists(lists) -%} concat({% for list in lists %}{{ list }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
{% macro trino__infinity() -%} infinity() {%- endmacro %}
{% macro trino__matches(x, pattern) -%} regexp_extract_all({{ x }}, {{ pattern }}) {%- endmacro %}
{% macro trino__number_of_weekday(x) -%} day_of_week({{ x }}) {%- endmacro %}
{% macro trino__runs_of_letters(x) -%} regexp_extract_all({{ x }}, '[\p{L}\p{N}][\p{L}\p{M}\p{N}]*') {%- endmacro %}
{% macro trino__without_accents(x) -%} normalize(regexp_replace(normalize({{ x }}, NFD), '\p{M}', ''), NFC) {%- endmacro %}
{% macro warehouses__binary() -%} {%- endmacro %}
{% macro warehouses__distinct_elements(list) -%} ARRAY_DISTINCT({{ list }}) {%- endmacro %}
{% macro warehouses__is_none_of(word, texts) -%}
{{ word }} NOT IN ({% for text in texts %}{{ nbsql.text(text) }}{{ nbsql.comma_blank(loop) }}{% endfor %}) {%- endmacro %}
{% macro warehouses__joined_tokens(feature) -%} {{ ' ' }}CROSS JOIN UNNEST({{ nbsql.token_terms(feature.family) }}) AS tokens(token)
{%- endmacro %}
{% macro warehouses__largest(values) -%} greatest({{ nbsql.known_numbers(values) }}) {%- endmacro %}
{% macro warehouses__list_filtered(list, condition) -%} FILTER({{ list }}, word -> {{ condition }}) {%- endmacro %}
{% macro warehouses__materialized() -%} {%- endmacro %}
{% macro warehouses__number_of_rows() -%} count(*) AS row_count {%- endmacro %}
{% macro warehouses__raise_error(message, text=none) -%}
CAST(concat(substr(coalesce({{ text or "''" }}, ''), 1, 0), {{ nbsql.text(message) }}) AS BOOLEAN) {%- endmacro %}
{% macro warehouses__smallest(values) -%} least({{ nbsql.known_numbers(values) }}) {%- endmacro %}
{% macro warehouses__token_rows(feature) -%} token AS value, 1 AS times {%- endmacro %}
{% macro warehouses__with_slices(source, expression) -%}
(SELECT source.*, CAST(({{ expression }}) AS {{ nbsql.string() }}) AS nbsql_slice FROM {{ source }} AS source) {%- endmacro %}
