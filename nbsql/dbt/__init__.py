"""The dbt package in `sql/`: its generated files, and its mirror in a separate repository."""
