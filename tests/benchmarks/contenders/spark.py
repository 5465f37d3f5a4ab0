"""Spark MLlib."""

import os
import shutil
from typing import Any, ClassVar

import numpy as np
import pyspark
from pyspark.ml import Pipeline
from pyspark.ml.classification import NaiveBayes
from pyspark.ml.feature import CountVectorizer, OneHotEncoder, RegexTokenizer, StringIndexer, VectorAssembler
from pyspark.ml.functions import vector_to_array
from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from tables import Case

from contenders.base import SAMPLE, THREADS, Contender


class Spark(Contender):
    """MLlib's NaiveBayes in local mode on a Parquet file, with the steps that make its vectors; predictions go to no sink.

    It has no categories; as every column of these tables has as many values, one vector of indicators, fitted by the
    multinomial type, is the same model. Its multinomial type smooths the prior, as nbsql does by prior="smoothed".
    """

    title = "Spark MLlib"
    rows: ClassVar = {"numeric": 1_000_000, "categorical": 200_000, "text": 100_000, "vocabulary": 100_000}
    lacks = "NaiveBayes has one type of feature a model, and MLlib no discriminant analysis"

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        file = str(self.parquet())
        builder = SparkSession.builder.master(f"local[{THREADS}]").appName("benchmark")
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "4g",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": str(THREADS),
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.source = self.spark.read.parquet(file)
        self.stages = [*self._vectors(), NaiveBayes(modelType="gaussian" if case.numbers else "multinomial", labelCol="y")]

    @classmethod
    def missing(cls) -> str | None:
        return None if shutil.which("java") or "JAVA_HOME" in os.environ else "Java is not installed"

    @classmethod
    def version(cls) -> str:
        return f"Spark {pyspark.__version__}"

    @classmethod
    def same(cls, case: Case) -> dict[str, Any] | None:
        return {} if case.numbers else {"prior": "smoothed"}

    def _vectors(self) -> list[Any]:
        case = self.case
        if case.numbers:
            return [VectorAssembler(inputCols=case.number_columns, outputCol="features")]
        if case.tokens:
            words = RegexTokenizer(inputCol="text", outputCol="words", gaps=False, pattern=r"[\p{L}\p{N}]+")
            return [words, CountVectorizer(inputCol="words", outputCol="features", vocabSize=1 << 22)]
        columns = case.category_columns
        numbers, indicators = [f"{c}_number" for c in columns], [f"{c}_indicators" for c in columns]
        return [
            StringIndexer(inputCols=columns, outputCols=numbers),
            OneHotEncoder(inputCols=numbers, outputCols=indicators, dropLast=False),
            VectorAssembler(inputCols=indicators, outputCol="features"),
        ]

    def fit(self) -> None:
        self.model = Pipeline(stages=self.stages).fit(self.source)

    def predict(self) -> None:
        scored = self.model.transform(self.source).select("prediction", "probability")
        scored.write.format("noop").mode("overwrite").save()

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        scored = self.model.transform(self.source)
        rows = scored.select("id", "prediction").orderBy("id").collect()
        sample = scored.filter(col("id") < SAMPLE).orderBy("id").select(vector_to_array("probability")).collect()
        return {"predictions": np.array([row[1] for row in rows], dtype=int), "posterior": np.array([row[0] for row in sample])}

    def stop(self) -> None:
        self.spark.stop()
