"""Pictures of a model, and the report that contains all of them.

A panel is a relation, computed by SQL, and a Vega-Lite file without data (`charts/`). The list of panels is `panels.PANELS`.
"""

from nbsql.report.page import check_request, write_report
from nbsql.report.panels import PANELS, panel_named
from nbsql.report.picture import Picture
from nbsql.report.plots import Plots, picture

__all__ = ["PANELS", "Picture", "Plots", "check_request", "panel_named", "picture", "write_report"]
