"""The macros know a model as `model`, in four parts: model.facts, model.form, model.options and model.spec."""

from jinja2 import Environment, nodes

from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.facts import Facts
from nbsql.plan.form import Form
from nbsql.rendering.renderer import macro_path
from nbsql.rendering.sources import macro_files
from nbsql.spec.spec import Spec

PARTS = {"facts": Facts, "form": Form, "options": QueryOptions, "spec": Spec}
CONTEXTS = ("component_model", "scored_model")  # attributes that are such an object themselves


def names(kind):
    return {name for name in {*vars(kind), *kind.__dataclass_fields__} if name[0] != "_"}


def is_context(node):
    return (isinstance(node, nodes.Name) and node.name == "model") or (
        isinstance(node, nodes.Getattr) and node.attr in CONTEXTS
    )


def unknown_names(text):
    """What the macros ask of a model that it does not have."""
    for node in Environment(extensions=["jinja2.ext.do"], autoescape=True).parse(text).find_all(nodes.Getattr):
        inner = node.node
        if is_context(inner) and node.attr not in names(Context):
            yield node.attr
        part = inner.attr if isinstance(inner, nodes.Getattr) and is_context(inner.node) else None
        if part in PARTS and node.attr not in names(PARTS[part]):
            yield f"{part}.{node.attr}"


def test_a_model_has_every_name_that_a_macro_asks_of_it():
    texts = {path: path.read_text(encoding="utf-8") for path in macro_files(macro_path() / "macros")}
    found = {path: unknown for path, text in texts.items() if (unknown := [*unknown_names(text)])}
    assert found == {}


def test_a_name_of_no_part_or_of_another_is_found():
    text = "{{ model.weight }}{{ model.form.weight }}{{ model.spec.weight }}{{ model.component_model.has_prior }}"
    assert [*unknown_names(text)] == ["weight", "form.weight"]
