"""Reads the families of a model from a file, in the format of `meta.nbsql` in a dbt project."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbsql.cli.arguments import Parsed, family_with
from nbsql.engines.duckdb.paths import check_readable
from nbsql.errors import InputError
from nbsql.family import Family

AUTO = "auto"
_OPTIONS = ("families", "derive", "missing")


def read_families(path: str) -> dict[str, Any]:
    """The options of a fit in a file: under `families` a mapping of columns, or of patterns such as soil_*, to a family.

    A family is given by its name, or by a mapping of `family` and its options. The file holds this mapping alone, or under the
    key `families` beside `derive` and `missing`, as in `meta.nbsql` of a dbt model. YAML is read by its safe loader, which
    creates only plain values. Raises InputError if there is no such file, its content has another form, or PyYAML is not
    installed.
    """
    try:
        check_readable(path)
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or "it is no text of UTF-8"
        raise InputError(f"cannot read {path!r}: {reason}") from None
    found = _parsed(text, path)
    options: dict[str, Any] = {}
    if isinstance(found, dict) and any(_is_option(found.get(key)) for key in _OPTIONS):
        others = [key for key in found if key not in _OPTIONS]
        if others:
            raise InputError(f"{path!r} has {others[0]!r} beside families; what to model is said by the options of the command")
        options = {key: value for key, value in found.items() if key != "families"}
        found = found.get("families", {})
    if not isinstance(found, dict) or not (found or options):
        raise InputError(f"{path!r} holds no families by column, such as visits: poisson")
    families: dict[str, str | Family] = {}
    for column, asked in found.items():
        if not isinstance(column, str):
            raise InputError(f"a column in {path!r} is {column!r}, which is no text; put it in quotes")
        try:
            families[column] = _family(asked)
        except InputError as error:
            raise InputError(f"{column!r} in {path!r}: {error.marked}") from None
    return {"families": families, **options}


def _is_option(value: Any) -> bool:
    """Whether a value is no family."""
    return isinstance(value, list) or (isinstance(value, dict) and "family" not in value)


def _parsed(text: str, path: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except json.JSONDecodeError:
        pass
    except InputError as error:
        raise InputError(f"{path!r}: {error}") from None
    except RecursionError:
        raise InputError(f"{path!r} holds no families by column: it is nested too deep") from None
    except ValueError:
        raise InputError(f"{path!r} holds a number of thousands of digits") from None
    try:
        import yaml
    except ImportError:
        raise InputError(f"{path!r} is no JSON, and YAML needs PyYAML: pip install 'nbsql[yaml]'") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
        """The safe loader, which also refuses duplicate keys."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            self.flatten_mapping(node)
            return _pairs([(self.construct_object(k, deep=True), self.construct_object(v, deep=deep)) for k, v in node.value])

    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is the safe one
    except InputError as error:
        raise InputError(f"{path!r}: {error}") from None
    except RecursionError:
        raise InputError(f"{path!r} holds no families by column: it is nested too deep") from None
    except (yaml.YAMLError, TypeError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{path!r} is neither YAML nor JSON: {getattr(error, 'problem', None) or error}{where}") from None


def _pairs(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"{key!r} comes twice; say it once")
        found[key] = value
    return found


def _family(asked: Any) -> str | Family:
    """A family by its name, or by a mapping of its name and its options."""
    options = {"family": asked} if isinstance(asked, str) else asked
    if not isinstance(options, Mapping) or not isinstance(options.get("family"), str):
        raise InputError(f"a family is a name, or a mapping with family and its options, not {asked!r}")
    options = dict(options)
    name = options.pop("family")
    if name == AUTO and not options:
        return AUTO
    return family_with(name, options, options)


FAMILIES_FILE = Parsed("auto|FILE", lambda text: AUTO if text == AUTO else read_families(text))
