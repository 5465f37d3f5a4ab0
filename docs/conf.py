"""How Sphinx builds the pages: sphinx-build -W docs site."""

import nbsql

project = "nbsql"
author = "the authors of nbsql"
release = nbsql.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["site"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the signature has them
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"nbsql {release}"
html_copy_source = False
html_show_copyright = False
