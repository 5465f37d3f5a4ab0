"""Spark. Nothing here can be imported without pyspark."""
