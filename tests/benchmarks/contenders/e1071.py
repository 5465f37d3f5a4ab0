"""R's e1071."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from tables import Case

from contenders.base import SAMPLE, Contender

PROGRAM = Path(__file__).with_suffix(".R")


class E1071(Contender):
    """`naiveBayes` of a data frame in memory, read from a CSV file untimed. It predicts row by row, so the tables are small.

    It takes the sample variance, as nbsql does by Gaussian(variance="sample").
    """

    title = "R's e1071"
    rows = dict.fromkeys(("numeric", "categorical"), 10_000)
    lacks = "naiveBayes takes no texts and is no discriminant analysis"

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        self.file = self.database.with_suffix(".csv")
        self.con.execute(f"COPY (SELECT * EXCLUDE id FROM {self.table} ORDER BY id) TO '{self.file}'")
        command = [str(shutil.which("Rscript")), "--vanilla", str(PROGRAM), str(self.file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    @classmethod
    def missing(cls) -> str | None:
        if shutil.which("Rscript") is None:
            return "R is not installed"
        return None if cls._versions() else "the R package e1071 is not installed"

    @classmethod
    def version(cls) -> str:
        return cls._versions()

    @staticmethod
    def _versions() -> str:
        code = 'cat("e1071", as.character(packageVersion("e1071")), "on R", as.character(getRversion()))'
        command = [str(shutil.which("Rscript")), "--vanilla", "-e", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    @classmethod
    def same(cls, case: Case) -> dict[str, Any] | None:
        return {"variance": "sample"} if case.numbers else {}

    def _answer(self) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != "done":
            raise RuntimeError("R stopped; its error is above")

    def _tell(self, act: str) -> None:
        assert self.process.stdin is not None
        print(act, file=self.process.stdin, flush=True)
        self._answer()

    def fit(self) -> None:
        self._tell("fit")

    def predict(self) -> None:
        self._tell("predict")

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        self._tell(f"answers {SAMPLE}")
        predictions = np.loadtxt(f"{self.file}.predictions", dtype=int)
        return {"predictions": predictions, "posterior": np.loadtxt(f"{self.file}.posterior", delimiter=",")}

    def stop(self) -> None:
        self.process.communicate()
