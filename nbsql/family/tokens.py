"""Bags of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.bag import Bag


@dataclass(frozen=True, kw_only=True)
class Tokens(Bag):
    """A bag of tokens, VARCHAR[]: ln((n_ct + alpha) / (n_c + alpha V)) an occurrence, V the tokens seen.

    Args:
        event: "multinomial", "bernoulli", which scores whether each token of the vocabulary is there (McCallum and Nigam 1998),
            or "complement" (Rennie et al. 2003).
        weight_norm: of the complement: divide the weights of a class by their sum.
        tfidf: weigh each token by how few bags hold it.
        norm: "l2" gives every bag the same length.
        best: so many tokens that tell most of the class are the vocabulary, chosen by their counts; None for all.
        best_by: "mutual_information" or "chi_square", as `Model.relevance(values=True)` has them.
        vocabulary: the tokens that there are, seen or not; all others are left out. None: those that training meets.

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
    """A bag of tokens with their counts, MAP(VARCHAR, number), scored as `Tokens`, with the same options.

    >>> import duckdb, nbsql
    >>> data = "SELECT MAP {'free': 2} AS said, 'spam' AS y UNION ALL SELECT MAP {'lunch': 1}, 'ham'"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y")
    >>> model.predict("SELECT MAP {'free': 1} AS said").fetchall()[0][1]
    'spam'
    """

    name: ClassVar[str] = "token_counts"
    accepts: ClassVar[tuple[str, ...]] = ("token counts",)
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"token counts": ("negative_counts",)}
