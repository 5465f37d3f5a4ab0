"""Parses joins on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nbsql.errors import InputError
from nbsql.spec.join import Join

if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # older ones take no type arguments


class JoinType(_Type):
    """TABLE:KEY[:PREFIX]; the key is a list of columns, or of COLUMN=COLUMN of the source and the table."""

    name = "TABLE:KEY[:PREFIX]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Join:
        """The join."""
        try:
            return join(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def join(text: str) -> Join:
    """The join from a text such as products:product=id,shop:product_.

    >>> join("products:product=id,shop:product_")
    Join(table='products', on={'product': 'id', 'shop': 'shop'}, columns=None, prefix='product_')
    """
    table, *rest = (part.strip() for part in text.split(":"))
    if not table or not rest or len(rest) > 2 or not all(name for name in rest[0].replace("=", ",").split(",")):
        raise InputError(f"a join is TABLE:KEY or TABLE:KEY:PREFIX, such as products:product=id:product_, not {text!r}")
    pairs = [[name.strip() for name in pair.split("=", 1)] for pair in rest[0].split(",")]
    return Join(table, {pair[0]: pair[-1] for pair in pairs}, prefix=rest[1] if len(rest) > 1 else "")
