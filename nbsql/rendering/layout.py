"""The sizes at which nbsql changes from one way of counting or scoring to another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """How large a model may be in each form of scoring (nbsql/plan/form.py), and other sizes of plans, below.

    The time to plan a star of joins grows faster than the number of its joins and columns, and each join needs a hash table.
    Therefore, if there are more categorical features than `star_joins`, those with at most `few_values` values are looked up in
    lists, and the others are scored in several stars of `block_joins` joins. With fewer, numbers in bins are found by their
    edges if there are at least `listed_bins`. Models with more classes than `wide_classes` or
    more terms than `wide_terms` are scored in the long form. tests/benchmarks/plans.py measures both sides of these limits.
    """

    star_joins: int = 40  # the largest number of categorical features in a single star of joins
    few_values: int = 64  # the largest number of values of a category that is looked up in a list
    listed_bins: int = 2  # the fewest numbers in bins whose scores are in lists
    listed_pairs: int = 5_000  # the most values times those of their parents that are found in a list
    block_joins: int = 20  # the number of categorical features in each star, if there are several stars
    wide_classes: int = 100  # the largest number of classes that are scored in one column each
    # The largest number of columns times classes that are scored so, of numbers and of categories in blocks.
    wide_terms: int = 500
    # The number of log-likelihoods of categories that are added before checking for a missing one: a larger number is faster on
    # clean rows, a smaller one if many values are missing.
    added_first: int = 10
    added_first_terms: int = 400  # the largest number of categories times classes for which this is worth the longer statement
    matrix_columns: int = 10  # the largest number of columns of a covariance matrix whose elements are columns, not lists
    class_columns: bool = True  # whether any model may be scored in one column for each class

    # Counting. A read of one column of Parquet files takes the metadata of all columns of all files, so that files of which
    # more categories and texts are counted are copied first. tests/benchmarks/sources.py measures it.
    file_rereads: int = 100

    # Joins. A dimension with more rows is scored on its rows only for a table of at least as many.
    dimension_rows: int = 100_000
    # With fewer facts for each class and key, counting by key takes longer than joining the facts as they are read. Measured
    # with 600,000 facts, it is quicker from 1.2 facts per key on.
    facts_per_key: float = 1.25

    # Folds. Larger sources are split by a hash, which is as even. Sorting all their rows would take longer than the fit.
    sorted_rows: int = 100_000
    fold_cells: int = 5_000_000  # cells of all folds together, for which one statement makes all models

    # Searches. With more than four times as many rows, they start on a sample of `sample_rows`.
    sample_rows: int = 50_000
    cluster_rows: int = 20_000  # rows of a large class, and the fewest distinct rows of a sample that represents all
    cluster_scans: int = 100  # the most iterations of a search for components
    cluster_candidates: int = 256  # points of a class from which the first centres are chosen
    logistic_sums: int = 2_000  # sums in one statement; its planning time grows with them
    value_pairs: int = 2_000_000  # pairs of values that AODE counts; the lookups hold two rows for each

    # Scorers in other dialects. A category with more values is joined with a table of them, since a CASE tests them one by one.
    case_values: int = 24
    literal_pairs: int = 20_000  # pairs of values, each a row of literals: some 2 MB

    view_length: int = 30_000  # characters of a view in Spark: a Derby metastore stores up to 32,700
