"""Bags of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import Family


@dataclass(frozen=True, kw_only=True)
class Tokens(Family):
    """A bag of tokens, VARCHAR[]: ln((n_ct + alpha) / (n_c + alpha V)) an occurrence, V the tokens seen."""

    name: ClassVar[str] = "tokens"
    bag: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)


@dataclass(frozen=True, kw_only=True)
class TokenCounts(Family):
    """A bag of tokens with their counts, MAP(VARCHAR, number), scored as `Tokens`."""

    name: ClassVar[str] = "token_counts"
    bag: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("token counts",)
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"token counts": ("negative_counts",)}
