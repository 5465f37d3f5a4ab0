"""The commands of `nbsql`, in the order in which a user needs them."""

from __future__ import annotations

import click

from nbsql.cli.changes import CHANGES, EXPORT
from nbsql.cli.completion import complete
from nbsql.cli.demo import demo
from nbsql.cli.evaluate import CALIBRATE, EVALUATE
from nbsql.cli.exchange import from_statistics, from_tables, import_, merge
from nbsql.cli.fit import fit
from nbsql.cli.help import ad_hoc, dbt_path, help_
from nbsql.cli.models import drop, list_, show
from nbsql.cli.monitor import MONITOR
from nbsql.cli.queries import JUDGED, LEARNT
from nbsql.cli.report import plot, report
from nbsql.cli.score import ROWS, sql
from nbsql.cli.tuning import auto, cross_validate, sweep

_IN_ORDER = (
    demo, fit, *ROWS, EVALUATE, report, plot, cross_validate, sweep, auto, CALIBRATE, *JUDGED, MONITOR, *CHANGES, merge,
    EXPORT, import_, show, list_, *LEARNT, from_tables, from_statistics, sql, drop, ad_hoc, dbt_path, help_,
)  # fmt: skip
for _command in _IN_ORDER:
    complete(_command)
COMMANDS: dict[str, click.Command] = {str(command.name): command for command in _IN_ORDER}
