"""Addresses of servers, whose passwords must not appear in any message."""

import re

_SCHEME = r"(?i:postgres(?:ql)?)://"
_USER = re.compile(rf"({_SCHEME}[^\s:@/]*):\S*@")
_PARAMETER = re.compile(r"([?&][a-z]*password)=[^&\s'\"]*", re.IGNORECASE)
_WRITTEN = re.compile(r"(?:[^/@?#%\s]|%[0-9A-Fa-f]{2})*")
_MISREAD = re.compile(r"[?&][a-z]*password=[^&]*(?:\s|%(?![0-9A-F]{2})|&[^=]*(?:&|$))", re.IGNORECASE)  # a parameter


def is_address(text: str) -> bool:
    """Whether a text is the address of a PostgreSQL database."""
    return re.match(_SCHEME, text) is not None


def as_read(address: str) -> str:
    """The address as PostgreSQL's library reads it, with its scheme in lower case.

    >>> as_read("POSTGRESQL://Ann@db/Shop")
    'postgresql://Ann@db/Shop'
    """
    return re.sub(f"^{_SCHEME}", lambda scheme: scheme[0].lower(), address)


def without_passwords(text: str) -> str:
    """The text with the passwords of all addresses removed.

    >>> without_passwords("no table in postgresql://ann:secret@db/shop?sslpassword=secret&sslmode=require")
    'no table in postgresql://ann@db/shop?sslpassword=...&sslmode=require'
    """
    return _PARAMETER.sub(r"\1=...", _USER.sub(r"\1@", text))


def is_misread(address: str) -> bool:
    """Whether an unescaped character in the password may end it early when the address is parsed.

    >>> is_misread("postgresql://ann:a/b@db/shop"), is_misread("postgresql://ann:a%2Fb@db/shop")
    (True, False)
    >>> is_misread("postgresql://db:5432/shop"), is_misread("postgresql://db/shop?password=a b")
    (False, True)
    """
    match = re.match(rf"{_SCHEME}[^:@/]*:(.*)@", address, re.DOTALL)
    return (match is not None and _WRITTEN.fullmatch(match[1]) is None) or _MISREAD.search(address) is not None
