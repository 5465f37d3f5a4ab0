"""The dbt package in `sql/`: what is written of it from the classes and macros, and its copy in a repository of its own."""
