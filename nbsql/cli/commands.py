"""The commands of `nbsql`, by what a user wants."""

import click

from nbsql.cli.changes import CHANGES, EXPORT, from_statistics, from_tables, import_, merge
from nbsql.cli.completion import complete
from nbsql.cli.demo import demo
from nbsql.cli.evaluate import CALIBRATE, EVALUATE, MONITOR
from nbsql.cli.fit import fit
from nbsql.cli.help import ad_hoc, dbt_path, help_
from nbsql.cli.models import drop, list_, show
from nbsql.cli.queries import JUDGED, LEARNT
from nbsql.cli.report import plot, report
from nbsql.cli.score import ROWS, classify, sql
from nbsql.cli.tuning import auto, cross_validate, sweep

_FOUND = {
    str(each.name): each
    for each in (
        demo, fit, *ROWS, classify, EVALUATE, report, plot, cross_validate, sweep, auto, CALIBRATE, *JUDGED, MONITOR, *CHANGES,
        merge, EXPORT, import_, show, list_, *LEARNT, from_tables, from_statistics, sql, drop, ad_hoc, dbt_path, help_,
    )
}  # fmt: skip
# The names of the commands by what a user wants, as `nbsql --help` lists them. One that is in no group comes last.
GROUPS = {
    "Make a model": "demo fit auto sweep cross-validate dependence merge from-tables from-statistics",
    "Use it": "predict predict-proba explain impute unusual review sample sql joint-log-likelihood log-evidence log-likelihood "
    "classify",
    "Judge it": "evaluate compare calibrate report plot relevance discrimination profile",
    "Look inside": "list show priors likelihoods statistics counts segments components weights linear quadratic scorecard",
    "Keep it current": "update forget follow refresh unfollow rollback compact batches monitor drift class-shares",
    "Move it": "export import drop ad-hoc dbt-path",
}
_NAMED = [name for names in GROUPS.values() for name in names.split()]
COMMANDS: dict[str, click.Command] = {
    name: _FOUND[name] for name in [*_NAMED, *(name for name in _FOUND if name not in _NAMED)]
}
for _command in COMMANDS.values():
    complete(_command)
