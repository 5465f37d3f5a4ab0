"""The Spark engine. Nothing here can be imported without pyspark."""
