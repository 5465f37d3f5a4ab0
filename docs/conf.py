"""How Sphinx builds the pages: sphinx-build -W docs site."""

from pathlib import Path

from docutils import nodes

import nbsql

project = "nbsql"
author = "the authors of nbsql"
release = nbsql.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
exclude_patterns = ["site", "try"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the signature has them
autodoc_member_order = "bysource"

smartquotes = False  # quotes and -- in docstrings are code
default_role = "code"  # `x` in docstrings

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"nbsql {release}"
html_extra_path = ["llms.txt"]  # an index for language models
# docs/try/build_page.py builds this folder, and needs npm.
if (Path(__file__).parent / "try" / "built").exists():
    html_extra_path.append("try/built")
html_copy_source = False
html_show_copyright = False


def setup(app):
    """Mend what sphinx-click writes, and the dash that smartquotes would make."""
    app.connect("sphinx-click-process-options", without_unset)
    app.connect("sphinx-click-process-description", examples_as_code)
    app.connect("doctree-resolved", dashes_of_parameters)


def without_unset(app, context, lines):  # noqa: ARG001
    # The default of an option without one.
    lines[:] = [line for line in lines if "Sentinel.UNSET" not in line]


def examples_as_code(app, context, lines):  # noqa: ARG001
    code = [
        f"   {line[2:].strip()}" if line.startswith("| ") else line for line in lines
    ]
    begins = [
        line.startswith("| ") and not before.startswith("| ")
        for before, line in zip(["", *lines], lines, strict=False)
    ]
    lines[:] = [
        part
        for line, first in zip(code, begins, strict=True)
        for part in (["::", "", line] if first else [line])
    ]


def dashes_of_parameters(app, doctree, name):  # noqa: ARG001
    for text in [node for node in doctree.findall(nodes.Text) if node == " -- "]:
        text.parent.replace(text, nodes.Text(" – "))
