{#
  The macros that engines may override. Each uses adapter.dispatch to find its form in this package or in the project that uses
  it, so that a project's redshift__double, for example, takes the place of `double`. Generated: after adding a macro, run
  python -m nbsql.dbt write.
#}

{# Whether the engine is of a kind whose engines share forms of macros, and none of those with their own. #}
{% macro is_of(kind, own='') -%}
{% set engines = {
  'warehouses': ['snowflake', 'bigquery', 'trino'],
  'without_lists': ['clickhouse', 'sqlite', 'snowflake', 'bigquery', 'trino']} -%}
{% do return(target.type in engines[kind] and target.type not in own.split()) %}
{%- endmacro %}

{% macro any_true() %}{% do return(adapter.dispatch('any_true', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro array() %}{% do return(adapter.dispatch('array', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro array_of() %}{% do return(adapter.dispatch('array_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro as_label() %}{% do return(adapter.dispatch('as_label', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro as_number() %}{% do return(adapter.dispatch('as_number', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro as_whole() %}{% do return(adapter.dispatch('as_whole', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro bernoulli_inputs() %}{% do return(adapter.dispatch('bernoulli_inputs', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro binary() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__binary(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('binary', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro body() %}{% do return(adapter.dispatch('body', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro body_in_tables() %}{% do return(adapter.dispatch('body_in_tables', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro boolean_of() %}{% do return(adapter.dispatch('boolean_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro breaks_negative_counts() %}{% do return(adapter.dispatch('breaks_negative_counts', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro broadcast_hint() %}{% do return(adapter.dispatch('broadcast_hint', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro characters() %}{% do return(adapter.dispatch('characters', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro collation_of_letters() %}{% do return(adapter.dispatch('collation_of_letters', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro column_kind() %}{% do return(adapter.dispatch('column_kind', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro column_named() %}{% do return(adapter.dispatch('column_named', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro columns_of_relation() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__columns_of_relation(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('columns_of_relation', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro common_value() %}{% do return(adapter.dispatch('common_value', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro compiled_apart() %}{% do return(adapter.dispatch('compiled_apart', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro completed_inputs() %}{% do return(adapter.dispatch('completed_inputs', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro composed() %}{% do return(adapter.dispatch('composed', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro concatenated_lists() %}{% do return(adapter.dispatch('concatenated_lists', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro default__as_whole() %}{% do return(nbsql.bigquery__as_whole(*varargs, **kwargs)) %}{% endmacro %}
{% macro default__most_numbers() %}{% do return(nbsql.clickhouse__most_numbers(*varargs, **kwargs)) %}{% endmacro %}
{% macro default__scored_columns() %}{% do return(nbsql.postgres__scored_columns(*varargs, **kwargs)) %}{% endmacro %}
{% macro distinct_count() %}{% do return(adapter.dispatch('distinct_count', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro distinct_elements() %}
{% if nbsql.is_of('warehouses', 'bigquery') %}{% do return(nbsql.warehouses__distinct_elements(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('distinct_elements', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro double() %}{% do return(adapter.dispatch('double', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro drift() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('drift', 'feature_drift', varargs) %}
{% do return(adapter.dispatch('drift', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro element() %}{% do return(adapter.dispatch('element', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro exact_cells() %}{% do return(adapter.dispatch('exact_cells', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro exp() %}{% do return(adapter.dispatch('exp', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro expected_costs() %}{% do return(adapter.dispatch('expected_costs', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro explain() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('explain', 'explanation', varargs) %}
{% do return(adapter.dispatch('explain', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro explained_block() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__explained_block(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('explained_block', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro explained_rows() %}{% do return(adapter.dispatch('explained_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro falling_powers() %}{% do return(adapter.dispatch('falling_powers', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro final_sigma() %}{% do return(nbsql.duckdb__final_sigma(*varargs, **kwargs)) %}{% endmacro %}
{% macro finite() %}{% do return(adapter.dispatch('finite', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro floor_of() %}{% do return(adapter.dispatch('floor_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro fraction_as_text() %}{% do return(adapter.dispatch('fraction_as_text', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro from_scored() %}{% do return(adapter.dispatch('from_scored', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro greatest_of_few() %}{% do return(adapter.dispatch('greatest_of_few', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro groups_texts() %}{% do return(adapter.dispatch('groups_texts', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro has_digit() %}{% do return(adapter.dispatch('has_digit', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro ident() %}{% do return(adapter.dispatch('ident', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro in_time_zone() %}{% do return(adapter.dispatch('in_time_zone', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro infinity() %}{% do return(adapter.dispatch('infinity', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro instant() %}{% do return(adapter.dispatch('instant', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro is_in_lake() %}{% do return(adapter.dispatch('is_in_lake', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro is_none_of() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__is_none_of(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('is_none_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro is_wide() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__is_wide(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('is_wide', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro is_zoned() %}{% do return(adapter.dispatch('is_zoned', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro isotonic_shares() %}{% do return(adapter.dispatch('isotonic_shares', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro join_parameters() %}{% do return(adapter.dispatch('join_parameters', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro joined_tokens() %}
{% if nbsql.is_of('warehouses', 'snowflake bigquery') %}{% do return(nbsql.warehouses__joined_tokens(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('joined_tokens', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro joint_log_likelihood() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('joint_log_likelihood', 'joint_log_likelihoods', varargs) %}
{% do return(adapter.dispatch('joint_log_likelihood', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro json_element() %}{% do return(adapter.dispatch('json_element', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro labels_in_rows() %}{% do return(adapter.dispatch('labels_in_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro lacking() %}
{% if nbsql.is_of('warehouses', 'snowflake trino') %}{% do return(nbsql.warehouses__lacking(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('lacking', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro largest() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__largest(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('largest', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro last_knot() %}{% do return(adapter.dispatch('last_knot', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro letters_and_digits() %}{% do return(nbsql.postgres__letters_and_digits(*varargs, **kwargs)) %}{% endmacro %}
{% macro letters_marks_and_digits() %}{% do return(nbsql.postgres__letters_marks_and_digits(*varargs, **kwargs)) %}{% endmacro %}
{% macro level() %}{% do return(adapter.dispatch('level', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro likelihoods() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('likelihoods', 'feature_likelihoods', varargs) %}
{% do return(adapter.dispatch('likelihoods', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_filtered() %}
{% if nbsql.is_of('warehouses', 'snowflake bigquery') %}{% do return(nbsql.warehouses__list_filtered(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('list_filtered', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_highest() %}{% do return(adapter.dispatch('list_highest', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_lowest() %}{% do return(adapter.dispatch('list_lowest', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_mapped() %}{% do return(adapter.dispatch('list_mapped', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_of() %}{% do return(adapter.dispatch('list_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_of_whole_numbers() %}{% do return(adapter.dispatch('list_of_whole_numbers', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_place() %}{% do return(adapter.dispatch('list_place', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_product() %}{% do return(adapter.dispatch('list_product', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_size() %}{% do return(adapter.dispatch('list_size', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro list_total() %}{% do return(adapter.dispatch('list_total', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro listed_metrics() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__listed_metrics(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('listed_metrics', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro log_evidence() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('log_evidence', 'evidence', varargs) %}
{% do return(adapter.dispatch('log_evidence', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro log_factorial() %}{% do return(adapter.dispatch('log_factorial', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro log_factorial_of() %}{% do return(adapter.dispatch('log_factorial_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro log_of_input() %}{% do return(adapter.dispatch('log_of_input', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro logistic() %}{% do return(adapter.dispatch('logistic', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro longest_whole() %}{% do return(adapter.dispatch('longest_whole', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro lookup_join() %}{% do return(adapter.dispatch('lookup_join', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro lower_case() %}{% do return(adapter.dispatch('lower_case', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro matches() %}{% do return(adapter.dispatch('matches', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro materialized() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__materialized(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('materialized', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro maximum() %}{% do return(adapter.dispatch('maximum', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro mixed_hash() %}{% do return(adapter.dispatch('mixed_hash', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro monitor() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('monitor', 'monitoring', varargs) %}
{% do return(adapter.dispatch('monitor', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro most_numbers() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__most_numbers(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('most_numbers', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro multinomial_drawn() %}{% do return(adapter.dispatch('multinomial_drawn', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro name_of_column() %}{% do return(adapter.dispatch('name_of_column', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro named_values() %}{% do return(adapter.dispatch('named_values', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro natural_log() %}{% do return(adapter.dispatch('natural_log', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro not_materialized() %}{% do return(adapter.dispatch('not_materialized', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro number() %}{% do return(adapter.dispatch('number', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro number_as_text() %}{% do return(nbsql.postgres__number_as_text(*varargs, **kwargs)) %}{% endmacro %}
{% macro number_of() %}{% do return(adapter.dispatch('number_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro number_of_rows() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__number_of_rows(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('number_of_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro number_of_weekday() %}{% do return(adapter.dispatch('number_of_weekday', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro numbered_classes() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__numbered_classes(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('numbered_classes', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro one_against_rest() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__one_against_rest(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('one_against_rest', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro optimisation_fence() %}{% do return(adapter.dispatch('optimisation_fence', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro ordered_list() %}{% do return(adapter.dispatch('ordered_list', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro output() %}{% do return(adapter.dispatch('output', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro output_column() %}{% do return(adapter.dispatch('output_column', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro output_label() %}{% do return(adapter.dispatch('output_label', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro output_null() %}{% do return(adapter.dispatch('output_null', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro parameters_by_class() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__parameters_by_class(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('parameters_by_class', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro parameters_in_one_row() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__parameters_in_one_row(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('parameters_in_one_row', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro part_of_time() %}{% do return(adapter.dispatch('part_of_time', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro pattern_literal() %}{% do return(adapter.dispatch('pattern_literal', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro plain_label() %}{% do return(adapter.dispatch('plain_label', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro posterior_columns() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__posterior_columns(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('posterior_columns', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro posteriors() %}{% do return(adapter.dispatch('posteriors', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro posteriors_of_judged() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__posteriors_of_judged(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('posteriors_of_judged', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro predict() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('predict', 'predictions', varargs) %}
{% do return(adapter.dispatch('predict', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro predict_proba() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('predict_proba', 'probabilities', varargs) %}
{% do return(adapter.dispatch('predict_proba', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro priors() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('priors', 'class_priors', varargs) %}
{% do return(adapter.dispatch('priors', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro product() %}{% do return(adapter.dispatch('product', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro query_rows() %}{% do return(adapter.dispatch('query_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro raise_error() %}
{% if nbsql.is_of('warehouses', 'bigquery') %}{% do return(nbsql.warehouses__raise_error(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('raise_error', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro replace_columns() %}{% do return(adapter.dispatch('replace_columns', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro replaces_slices() %}{% do return(adapter.dispatch('replaces_slices', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro review() %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_relation('review', 'review_queue', varargs) %}
{% do return(adapter.dispatch('review', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro row_id() %}{% do return(adapter.dispatch('row_id', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro row_losses() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__row_losses(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('row_losses', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro run_once() %}{% do return(adapter.dispatch('run_once', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro runs_of_letters() %}{% do return(adapter.dispatch('runs_of_letters', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro runs_of_words() %}
{% if nbsql.is_of('warehouses', 'bigquery') %}{% do return(nbsql.warehouses__runs_of_words(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('runs_of_words', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro same_value() %}{% do return(adapter.dispatch('same_value', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro scan_value() %}{% do return(adapter.dispatch('scan_value', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro scanned_cells() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__scanned_cells(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('scanned_cells', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro score_of_token() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__score_of_token(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('score_of_token', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro scored_columns() %}{% do return(adapter.dispatch('scored_columns', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro scores_of_token() %}
{% if nbsql.is_of('without_lists') %}{% do return(nbsql.without_lists__scores_of_token(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('scores_of_token', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro single_blanks() %}{% do return(adapter.dispatch('single_blanks', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro smallest() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__smallest(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('smallest', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro source_columns() %}{% do return(adapter.dispatch('source_columns', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro source_row_id() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__source_row_id(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('source_row_id', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro square() %}{% do return(adapter.dispatch('square', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro string() %}{% do return(adapter.dispatch('string', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro sum_of_squares() %}{% do return(adapter.dispatch('sum_of_squares', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro summed_squares() %}{% do return(adapter.dispatch('summed_squares', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro text() %}{% do return(adapter.dispatch('text', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro text_as_fitted() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__text_as_fitted(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('text_as_fitted', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro text_drawn() %}{% do return(adapter.dispatch('text_drawn', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro time_as_text() %}{% do return(adapter.dispatch('time_as_text', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro token_rows() %}
{% if nbsql.is_of('warehouses', 'snowflake') %}{% do return(nbsql.warehouses__token_rows(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('token_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro type_of() %}{% do return(adapter.dispatch('type_of', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro types_of_rows() %}{% do return(adapter.dispatch('types_of_rows', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro union_distinct() %}{% do return(adapter.dispatch('union_distinct', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro unnested() %}{% do return(adapter.dispatch('unnested', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro unnested_with_places() %}{% do return(adapter.dispatch('unnested_with_places', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro untyped_as_text() %}{% do return(adapter.dispatch('untyped_as_text', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro value_to_hash() %}{% do return(adapter.dispatch('value_to_hash', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro weighted_square() %}{% do return(adapter.dispatch('weighted_square', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro whole_as_text() %}{% do return(adapter.dispatch('whole_as_text', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro whole_numbers() %}{% do return(adapter.dispatch('whole_numbers', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro with_final_sigmas() %}{% do return(nbsql.duckdb__with_final_sigmas(*varargs, **kwargs)) %}{% endmacro %}
{% macro with_posteriors() %}{% do return(adapter.dispatch('with_posteriors', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro with_slices() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__with_slices(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('with_slices', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro without_accents() %}{% do return(adapter.dispatch('without_accents', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro words() %}{% do return(adapter.dispatch('words', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro yes_or_no() %}
{% if nbsql.is_of('warehouses') %}{% do return(nbsql.warehouses__yes_or_no(*varargs, **kwargs)) %}{% endif -%}
{% do return(adapter.dispatch('yes_or_no', 'nbsql')(*varargs, **kwargs)) %}{% endmacro %}
{% macro calibrate() %}
{% if execute -%}
{% do nbsql.refuse_if([varargs, kwargs], 'the package has no nbsql.calibrate; call nbsql.fitted_calibration(...)') %}
{%- endif %}{% endmacro %}
{% macro compare() %}
{% if execute -%}
{% do nbsql.refuse_if([varargs, kwargs], 'the package has no nbsql.compare; call nbsql.comparison(...)') %}
{%- endif %}{% endmacro %}
{% macro evaluate() %}
{% if execute -%}
{% do nbsql.refuse_if([varargs, kwargs], 'the package has no nbsql.evaluate; call nbsql.evaluation(...)') %}
{%- endif %}{% endmacro %}
{% macro fit() %}
{% if execute -%}
{% do nbsql.refuse_if([varargs, kwargs], 'the package has no nbsql.fit; call nbsql.statistics(...)') %}
{%- endif %}{% endmacro %}
