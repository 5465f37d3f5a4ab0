"""What is measured against what: one file a contender, imported only where it runs."""

from importlib import import_module

from contenders.base import THREADS, Contender, connect, limited

__all__ = ["CONTENDERS", "THREADS", "Contender", "connect", "limited", "load", "missing"]

# In the order of the report. nbsql first: whatever has the same model is held against its answers.
CONTENDERS = {
    "nbsql": "nbsql.Nbsql",
    "again": "nbsql.Again",
    "scan": "scan.Scan",
    "sql": "by_hand.ByHand",
    "resident": "sklearn.Resident",
    "fetching": "sklearn.Fetching",
    "polars": "polars.Polars",
    "spark": "spark.Spark",
    "e1071": "e1071.E1071",
    "bornrule": "bornrule.Bornrule",
    "clickhouse": "clickhouse.ClickHouse",
}


def load(name: str) -> type[Contender]:
    """The class of a contender; ImportError where what it needs is not installed."""
    module, _, contender = CONTENDERS[name].partition(".")
    return getattr(import_module(f"contenders.{module}"), contender)


def missing(name: str) -> str | None:
    """Why a contender cannot run on this machine, None if it can."""
    try:
        return load(name).missing()
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
