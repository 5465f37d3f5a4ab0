{#
  The macros that engines may override. Each uses adapter.dispatch to find its form in this package or in the project that uses
  it, so that a project's snowflake__double, for example, takes the place of `double`. Generated: after adding a macro, run
  python -m nbsql.dbt write.
#}

{% macro array() %} {% do return(adapter.dispatch('array', 'nbsql')()) %} {% endmacro %}
{% macro array_of(elements) %} {% do return(adapter.dispatch('array_of', 'nbsql')(elements)) %} {% endmacro %}
{% macro as_label(x, type) %} {% do return(adapter.dispatch('as_label', 'nbsql')(x, type)) %} {% endmacro %}
{% macro as_number(x) %} {% do return(adapter.dispatch('as_number', 'nbsql')(x)) %} {% endmacro %}
{% macro bernoulli_inputs(feature, centre, careful, centred) %}
{% do return(adapter.dispatch('bernoulli_inputs', 'nbsql')(feature, centre, careful, centred)) %}
{% endmacro %}
{% macro binary() %} {% do return(adapter.dispatch('binary', 'nbsql')()) %} {% endmacro %}
{% macro body(sql) %} {% do return(adapter.dispatch('body', 'nbsql')(sql)) %} {% endmacro %}
{% macro breaks_negative_counts(column) %} {% do return(adapter.dispatch('breaks_negative_counts', 'nbsql')(column)) %} {% endmacro %}
{% macro broadcast_hint(names) %} {% do return(adapter.dispatch('broadcast_hint', 'nbsql')(names)) %} {% endmacro %}
{% macro categorical_value(feature, relation) %}
{% do return(adapter.dispatch('categorical_value', 'nbsql')(feature, relation)) %}
{% endmacro %}
{% macro characters(x) %} {% do return(adapter.dispatch('characters', 'nbsql')(x)) %} {% endmacro %}
{% macro collation_of_letters() %} {% do return(adapter.dispatch('collation_of_letters', 'nbsql')()) %} {% endmacro %}
{% macro column_kind(type, typtype=none) %} {% do return(adapter.dispatch('column_kind', 'nbsql')(type, typtype)) %} {% endmacro %}
{% macro column_named(columns, name, role, relation) %}
{% do return(adapter.dispatch('column_named', 'nbsql')(columns, name, role, relation)) %}
{% endmacro %}
{% macro columns_of_relation(relation) %} {% do return(adapter.dispatch('columns_of_relation', 'nbsql')(relation)) %} {% endmacro %}
{% macro compiled_apart(model) %} {% do return(adapter.dispatch('compiled_apart', 'nbsql')(model)) %} {% endmacro %}
{% macro completed_inputs(inputs, features) %}
{% do return(adapter.dispatch('completed_inputs', 'nbsql')(inputs, features)) %}
{% endmacro %}
{% macro composed(x) %} {% do return(adapter.dispatch('composed', 'nbsql')(x)) %} {% endmacro %}
{% macro concatenated_lists(lists) %} {% do return(adapter.dispatch('concatenated_lists', 'nbsql')(lists)) %} {% endmacro %}
{% macro default__scored_columns(model) %} {% do return(nbsql.postgres__scored_columns(model)) %} {% endmacro %}
{% macro distinct_count(x, is_exact) %} {% do return(adapter.dispatch('distinct_count', 'nbsql')(x, is_exact)) %} {% endmacro %}
{% macro distinct_elements(list) %} {% do return(adapter.dispatch('distinct_elements', 'nbsql')(list)) %} {% endmacro %}
{% macro double() %} {% do return(adapter.dispatch('double', 'nbsql')()) %} {% endmacro %}
{% macro element(list, position) %} {% do return(adapter.dispatch('element', 'nbsql')(list, position)) %} {% endmacro %}
{% macro exact_cells(statistics, class_type) %}
{% do return(adapter.dispatch('exact_cells', 'nbsql')(statistics, class_type)) %}
{% endmacro %}
{% macro exp(x) %} {% do return(adapter.dispatch('exp', 'nbsql')(x)) %} {% endmacro %}
{% macro expected_costs(costs) %} {% do return(adapter.dispatch('expected_costs', 'nbsql')(costs)) %} {% endmacro %}
{% macro explained_rows(model, source, parameters, lookups) %}
{% do return(adapter.dispatch('explained_rows', 'nbsql')(model, source, parameters, lookups)) %}
{% endmacro %}
{% macro finite(x) %} {% do return(adapter.dispatch('finite', 'nbsql')(x)) %} {% endmacro %}
{% macro floor_of(x) %} {% do return(adapter.dispatch('floor_of', 'nbsql')(x)) %} {% endmacro %}
{% macro from_scored(model, scored) %} {% do return(adapter.dispatch('from_scored', 'nbsql')(model, scored)) %} {% endmacro %}
{% macro greatest_of_few(values) %} {% do return(adapter.dispatch('greatest_of_few', 'nbsql')(values)) %} {% endmacro %}
{% macro groups_texts() %} {% do return(adapter.dispatch('groups_texts', 'nbsql')()) %} {% endmacro %}
{% macro ident(name) %} {% do return(adapter.dispatch('ident', 'nbsql')(name)) %} {% endmacro %}
{% macro in_time_zone(x, zone) %} {% do return(adapter.dispatch('in_time_zone', 'nbsql')(x, zone)) %} {% endmacro %}
{% macro infinity() %} {% do return(adapter.dispatch('infinity', 'nbsql')()) %} {% endmacro %}
{% macro instant(x, type) %} {% do return(adapter.dispatch('instant', 'nbsql')(x, type)) %} {% endmacro %}
{% macro is_in_lake(relation) %} {% do return(adapter.dispatch('is_in_lake', 'nbsql')(relation)) %} {% endmacro %}
{% macro is_none_of(word, texts) %} {% do return(adapter.dispatch('is_none_of', 'nbsql')(word, texts)) %} {% endmacro %}
{% macro is_wide(model, class_count) %} {% do return(adapter.dispatch('is_wide', 'nbsql')(model, class_count)) %} {% endmacro %}
{% macro is_zoned(type) %} {% do return(adapter.dispatch('is_zoned', 'nbsql')(type)) %} {% endmacro %}
{% macro join_parameters(model, parameters, relation) %}
{% do return(adapter.dispatch('join_parameters', 'nbsql')(model, parameters, relation)) %}
{% endmacro %}
{% macro json_element(list, position) %} {% do return(adapter.dispatch('json_element', 'nbsql')(list, position)) %} {% endmacro %}
{% macro labels_in_rows() %} {% do return(adapter.dispatch('labels_in_rows', 'nbsql')()) %} {% endmacro %}
{% macro letters_and_digits() %} {% do return(nbsql.postgres__letters_and_digits()) %} {% endmacro %}
{% macro letters_marks_and_digits() %} {% do return(nbsql.postgres__letters_marks_and_digits()) %} {% endmacro %}
{% macro level(feature, k) %} {% do return(adapter.dispatch('level', 'nbsql')(feature, k)) %} {% endmacro %}
{% macro list_filtered(list, condition) %} {% do return(adapter.dispatch('list_filtered', 'nbsql')(list, condition)) %} {% endmacro %}
{% macro list_highest(list) %} {% do return(adapter.dispatch('list_highest', 'nbsql')(list)) %} {% endmacro %}
{% macro list_lowest(list) %} {% do return(adapter.dispatch('list_lowest', 'nbsql')(list)) %} {% endmacro %}
{% macro list_mapped(list, body, x='x', place=none) %}
{% do return(adapter.dispatch('list_mapped', 'nbsql')(list, body, x, place)) %}
{% endmacro %}
{% macro list_of(elements, type) %} {% do return(adapter.dispatch('list_of', 'nbsql')(elements, type)) %} {% endmacro %}
{% macro list_place(list, x) %} {% do return(adapter.dispatch('list_place', 'nbsql')(list, x)) %} {% endmacro %}
{% macro list_product(a, b) %} {% do return(adapter.dispatch('list_product', 'nbsql')(a, b)) %} {% endmacro %}
{% macro list_size(list) %} {% do return(adapter.dispatch('list_size', 'nbsql')(list)) %} {% endmacro %}
{% macro list_total(list) %} {% do return(adapter.dispatch('list_total', 'nbsql')(list)) %} {% endmacro %}
{% macro log_factorial(x) %} {% do return(adapter.dispatch('log_factorial', 'nbsql')(x)) %} {% endmacro %}
{% macro log_factorial_of(feature) %} {% do return(adapter.dispatch('log_factorial_of', 'nbsql')(feature)) %} {% endmacro %}
{% macro log_of_input(x, is_centred, careful) %}
{% do return(adapter.dispatch('log_of_input', 'nbsql')(x, is_centred, careful)) %}
{% endmacro %}
{% macro logistic_relative_likelihood(below) %}
{% do return(adapter.dispatch('logistic_relative_likelihood', 'nbsql')(below)) %}
{% endmacro %}
{% macro longest_whole() %} {% do return(adapter.dispatch('longest_whole', 'nbsql')()) %} {% endmacro %}
{% macro lookup_join(model, feature, lookups) %}
{% do return(adapter.dispatch('lookup_join', 'nbsql')(model, feature, lookups)) %}
{% endmacro %}
{% macro matches(x, pattern) %} {% do return(adapter.dispatch('matches', 'nbsql')(x, pattern)) %} {% endmacro %}
{% macro materialized() %} {% do return(adapter.dispatch('materialized', 'nbsql')()) %} {% endmacro %}
{% macro maximum(x) %} {% do return(adapter.dispatch('maximum', 'nbsql')(x)) %} {% endmacro %}
{% macro mixed_hash(values) %} {% do return(adapter.dispatch('mixed_hash', 'nbsql')(values)) %} {% endmacro %}
{% macro multinomial_drawn(feature, seed, position) %}
{% do return(adapter.dispatch('multinomial_drawn', 'nbsql')(feature, seed, position)) %}
{% endmacro %}
{% macro natural_log(x) %} {% do return(adapter.dispatch('natural_log', 'nbsql')(x)) %} {% endmacro %}
{% macro not_materialized() %} {% do return(adapter.dispatch('not_materialized', 'nbsql')()) %} {% endmacro %}
{% macro number(value) %} {% do return(adapter.dispatch('number', 'nbsql')(value)) %} {% endmacro %}
{% macro number_of_weekday(x) %} {% do return(adapter.dispatch('number_of_weekday', 'nbsql')(x)) %} {% endmacro %}
{% macro optimisation_fence() %} {% do return(adapter.dispatch('optimisation_fence', 'nbsql')()) %} {% endmacro %}
{% macro ordered_list(x, by) %} {% do return(adapter.dispatch('ordered_list', 'nbsql')(x, by)) %} {% endmacro %}
{% macro output(name) %} {% do return(adapter.dispatch('output', 'nbsql')(name)) %} {% endmacro %}
{% macro output_column(model, name, more='') %}
{% do return(adapter.dispatch('output_column', 'nbsql')(model, name, more)) %}
{% endmacro %}
{% macro output_label(model) %} {% do return(adapter.dispatch('output_label', 'nbsql')(model)) %} {% endmacro %}
{% macro output_null(model, name) %} {% do return(adapter.dispatch('output_null', 'nbsql')(model, name)) %} {% endmacro %}
{% macro parameters_by_class(model, parameters) %}
{% do return(adapter.dispatch('parameters_by_class', 'nbsql')(model, parameters)) %}
{% endmacro %}
{% macro part_of_time(x, part) %} {% do return(adapter.dispatch('part_of_time', 'nbsql')(x, part)) %} {% endmacro %}
{% macro pattern_literal(pattern) %} {% do return(nbsql.postgres__pattern_literal(pattern)) %} {% endmacro %}
{% macro plain_label(x, type) %} {% do return(adapter.dispatch('plain_label', 'nbsql')(x, type)) %} {% endmacro %}
{% macro posteriors(model) %} {% do return(adapter.dispatch('posteriors', 'nbsql')(model)) %} {% endmacro %}
{% macro product(a, b, careful=false) %} {% do return(adapter.dispatch('product', 'nbsql')(a, b, careful)) %} {% endmacro %}
{% macro raise_error(message, text=none) %} {% do return(adapter.dispatch('raise_error', 'nbsql')(message, text)) %} {% endmacro %}
{% macro recursive() %} {% do return(adapter.dispatch('recursive', 'nbsql')()) %} {% endmacro %}
{% macro replace_columns(model, replaced, others=[]) %}
{% do return(adapter.dispatch('replace_columns', 'nbsql')(model, replaced, others)) %}
{% endmacro %}
{% macro replaces_slices(name) %} {% do return(adapter.dispatch('replaces_slices', 'nbsql')(name)) %} {% endmacro %}
{% macro row_id() %} {% do return(adapter.dispatch('row_id', 'nbsql')()) %} {% endmacro %}
{% macro run_once() %} {% do return(adapter.dispatch('run_once', 'nbsql')()) %} {% endmacro %}
{% macro runs_of_letters(x) %} {% do return(adapter.dispatch('runs_of_letters', 'nbsql')(x)) %} {% endmacro %}
{% macro runs_of_words(run, length) %} {% do return(adapter.dispatch('runs_of_words', 'nbsql')(run, length)) %} {% endmacro %}
{% macro same_value(a, b) %} {% do return(adapter.dispatch('same_value', 'nbsql')(a, b)) %} {% endmacro %}
{% macro scan_value(x, careful) %} {% do return(adapter.dispatch('scan_value', 'nbsql')(x, careful)) %} {% endmacro %}
{% macro scored_columns(model) %} {% do return(adapter.dispatch('scored_columns', 'nbsql')(model)) %} {% endmacro %}
{% macro single_blanks(x, least) %} {% do return(adapter.dispatch('single_blanks', 'nbsql')(x, least)) %} {% endmacro %}
{% macro source_columns(model=none) %} {% do return(adapter.dispatch('source_columns', 'nbsql')(model)) %} {% endmacro %}
{% macro square(x) %} {% do return(adapter.dispatch('square', 'nbsql')(x)) %} {% endmacro %}
{% macro string() %} {% do return(adapter.dispatch('string', 'nbsql')()) %} {% endmacro %}
{% macro sum_of_squares(x) %} {% do return(adapter.dispatch('sum_of_squares', 'nbsql')(x)) %} {% endmacro %}
{% macro summed_squares(model, x, careful) %} {% do return(adapter.dispatch('summed_squares', 'nbsql')(model, x, careful)) %} {% endmacro %}
{% macro text(value) %} {% do return(adapter.dispatch('text', 'nbsql')(value)) %} {% endmacro %}
{% macro text_as_fitted(feature, column, whole, x) %}
{% do return(adapter.dispatch('text_as_fitted', 'nbsql')(feature, column, whole, x)) %}
{% endmacro %}
{% macro text_drawn(feature, seed, position) %}
{% do return(adapter.dispatch('text_drawn', 'nbsql')(feature, seed, position)) %}
{% endmacro %}
{% macro time_as_text(x, type) %} {% do return(adapter.dispatch('time_as_text', 'nbsql')(x, type)) %} {% endmacro %}
{% macro token_rows(feature) %} {% do return(adapter.dispatch('token_rows', 'nbsql')(feature)) %} {% endmacro %}
{% macro type_of(x) %} {% do return(adapter.dispatch('type_of', 'nbsql')(x)) %} {% endmacro %}
{% macro unnested(lists, names) %} {% do return(adapter.dispatch('unnested', 'nbsql')(lists, names)) %} {% endmacro %}
{% macro unnested_matrix(lists, matrix, width, relation) %}
{% do return(adapter.dispatch('unnested_matrix', 'nbsql')(lists, matrix, width, relation)) %}
{% endmacro %}
{% macro unnested_with_places(list, place, name) %}
{% do return(adapter.dispatch('unnested_with_places', 'nbsql')(list, place, name)) %}
{% endmacro %}
{% macro untyped_as_text(x) %} {% do return(adapter.dispatch('untyped_as_text', 'nbsql')(x)) %} {% endmacro %}
{% macro value_at_maximum(x, y, text) %} {% do return(adapter.dispatch('value_at_maximum', 'nbsql')(x, y, text)) %} {% endmacro %}
{% macro value_to_hash(column, kind) %} {% do return(adapter.dispatch('value_to_hash', 'nbsql')(column, kind)) %} {% endmacro %}
{% macro weighted_square(weight, x) %} {% do return(adapter.dispatch('weighted_square', 'nbsql')(weight, x)) %} {% endmacro %}
{% macro whole_numbers(first, end) %} {% do return(adapter.dispatch('whole_numbers', 'nbsql')(first, end)) %} {% endmacro %}
{% macro with_posteriors(model, scored, parameters) %}
{% do return(adapter.dispatch('with_posteriors', 'nbsql')(model, scored, parameters)) %}
{% endmacro %}
{% macro with_slices(source, expression) %} {% do return(adapter.dispatch('with_slices', 'nbsql')(source, expression)) %} {% endmacro %}
{% macro without_accents(x) %} {% do return(adapter.dispatch('without_accents', 'nbsql')(x)) %} {% endmacro %}
{% macro words(feature, source) %} {% do return(adapter.dispatch('words', 'nbsql')(feature, source)) %} {% endmacro %}
{% macro yes_or_no(x, yes, no) %} {% do return(adapter.dispatch('yes_or_no', 'nbsql')(x, yes, no)) %} {% endmacro %}
{% macro postgres__completed_inputs(inputs, features) %} {% do return(nbsql.plain__completed_inputs(inputs, features)) %} {% endmacro %}
{% macro postgres__groups_texts() %} {% do return(nbsql.plain__groups_texts()) %} {% endmacro %}
{% macro postgres__log_factorial(x) %} {% do return(nbsql.plain__log_factorial(x)) %} {% endmacro %}
{% macro postgres__log_factorial_of(feature) %} {% do return(nbsql.plain__log_factorial_of(feature)) %} {% endmacro %}
{% macro postgres__output_column(model, name, more='') %} {% do return(nbsql.plain__output_column(model, name, more)) %} {% endmacro %}
{% macro postgres__output_label(model) %} {% do return(nbsql.plain__output_label(model)) %} {% endmacro %}
{% macro postgres__output_null(model, name) %} {% do return(nbsql.plain__output_null(model, name)) %} {% endmacro %}
{% macro postgres__plain_label(x, type) %} {% do return(nbsql.plain__plain_label(x, type)) %} {% endmacro %}
{% macro postgres__posteriors(model) %} {% do return(nbsql.plain__posteriors(model)) %} {% endmacro %}
{% macro postgres__replace_columns(model, replaced, others=[]) %}
{% do return(nbsql.plain__replace_columns(model, replaced, others)) %}
{% endmacro %}
{% macro postgres__source_columns(model) %} {% do return(nbsql.plain__source_columns(model)) %} {% endmacro %}
{% macro spark__completed_inputs(inputs, features) %} {% do return(nbsql.plain__completed_inputs(inputs, features)) %} {% endmacro %}
{% macro spark__groups_texts() %} {% do return(nbsql.plain__groups_texts()) %} {% endmacro %}
{% macro spark__log_factorial(x) %} {% do return(nbsql.plain__log_factorial(x)) %} {% endmacro %}
{% macro spark__log_factorial_of(feature) %} {% do return(nbsql.plain__log_factorial_of(feature)) %} {% endmacro %}
{% macro spark__output_column(model, name, more='') %} {% do return(nbsql.plain__output_column(model, name, more)) %} {% endmacro %}
{% macro spark__output_label(model) %} {% do return(nbsql.plain__output_label(model)) %} {% endmacro %}
{% macro spark__output_null(model, name) %} {% do return(nbsql.plain__output_null(model, name)) %} {% endmacro %}
{% macro spark__plain_label(x, type) %} {% do return(nbsql.plain__plain_label(x, type)) %} {% endmacro %}
{% macro spark__posteriors(model) %} {% do return(nbsql.plain__posteriors(model)) %} {% endmacro %}
{% macro spark__replace_columns(model, replaced, others=[]) %}
{% do return(nbsql.plain__replace_columns(model, replaced, others)) %}
{% endmacro %}
{% macro spark__source_columns(model) %} {% do return(nbsql.plain__source_columns(model)) %} {% endmacro %}
