"""The families of bags of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.bag import Bag


@dataclass(frozen=True, kw_only=True)
class Tokens(Bag):
    """A bag of tokens, VARCHAR[], scored by ln((n_ct + alpha) / (n_c + alpha V)) an occurrence, V the number of tokens seen.

    Args:
        event: "multinomial" scores every occurrence of a token; "bernoulli" scores the presence or absence of every token of
            the vocabulary (McCallum and Nigam 1998); "complement" scores a class by all other classes (Rennie et al. 2003).
        weight_norm: whether the weights of a class are divided by their sum; for the complement only.
        tfidf: whether a token weighs more the fewer bags contain it.
        norm: "l2" scales every bag to the same length.
        best: the size of a vocabulary of the most informative tokens, chosen by their counts; None keeps all tokens.
        best_by: the measure of information: "mutual_information" or "chi_square", as in `Model.relevance(values=True)`.
        vocabulary: the tokens of the vocabulary, seen or not; all others are left out. None takes the tokens of the training
            rows.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (['free', 'prize'], 'spam'), (['lunch', 'friday'], 'ham')) AS t(said, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"said": nbsql.Tokens()})
    >>> model.predict_one({"said": ["prize"]})["prediction"]
    'spam'
    """

    name: ClassVar[str] = "tokens"
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)


@dataclass(frozen=True, kw_only=True)
class TokenCounts(Bag):
    """A bag of tokens with counts, MAP(VARCHAR, number). It is scored as `Tokens` is, and has the same options.

    >>> import duckdb, nbsql
    >>> data = "SELECT MAP {'free': 2} AS said, 'spam' AS y UNION ALL SELECT MAP {'lunch': 1}, 'ham'"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y")
    >>> model.predict("SELECT MAP {'free': 1} AS said").fetchall()[0][1]
    'spam'
    """

    name: ClassVar[str] = "token_counts"
    accepts: ClassVar[tuple[str, ...]] = ("token counts",)
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"token counts": ("negative_counts",)}
