"""The steps of a fit whose statements are printed: what the statements would create cannot be read."""

from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.runner import MATRICES_IN_SQL
from nbsql.errors import InputError
from nbsql.learning.collinear import features_with_covariance
from nbsql.learning.count import Count
from nbsql.learning.draft import Draft
from nbsql.plan import Entry, Statement
from nbsql.plan.classes import class_columns
from nbsql.plan.context import Context
from nbsql.plan.counting import Scan
from nbsql.spec.capabilities import check
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.spec import Spec
from nbsql.version import __version__


def check_script(draft: Draft) -> Draft:
    """The step that raises InputError if the statements of the fit follow from the counts."""
    check(draft.spec, "fit_sql")
    if draft.best is not None:
        chosen = f"⟨features=nbsql.{type(draft.best).__name__}(...)⟩"
        raise InputError(f"the statements of {chosen} follow from the counts; fit, or name the features")
    if features_with_covariance(draft.spec):
        draft.engine.require(MATRICES_IN_SQL)
    return draft


class _PrintedCount(Count):
    """A count whose scans are only printed. What depends on their sums is asked of the rows instead."""

    def print_scans(self) -> list[Statement]:
        """The statements that scan the source, some features a second time if their sums lose digits."""
        plan, scanned, centres = self.plan, self.plan.scanned_features, self.centres()
        query = self.engine.renderer.fragment("subquery", plan.scan_query(self.relation, self.rules, centres, scanned))
        found = [row for each in plan.find_imprecise_features([Scan(query, scanned)]) for row in self.engine.rows(each)]
        imprecise = {index for index, is_imprecise, _ in found if is_imprecise}
        careful = [feature for feature in plan.centred_features if feature.index in imprecise]
        self._scans = [Scan(self._scan, [feature for feature in scanned if feature not in careful])]
        statements = [plan.scan(self.relation, Scan(self._scan, scanned), self.rules, centres)]
        if careful:
            self._scans.append(Scan(self._temporary("rescan"), careful))
            statements.append(plan.rescan(self.relation, self._scans[-1].table, careful))
        return statements


def scan_in_script(draft: Draft) -> Draft:
    """The step that prints the scan of the source, and asks for the classes of its rows if they are given priors."""
    count = _PrintedCount(draft.engine, draft.source, draft.plan, draft.temporary)
    draft.write(count.print_scans())
    draft = replace(draft, counting=count, entries=(Entry(1, "1", "fit", draft.source.label, 0),))
    if draft.spec.prior.kind != "given":
        return draft
    rows = draft.engine.query_macro("classes_of_scan", _counted_classes(draft))
    return replace(draft, labels=[row for row in rows if row[0] is not None])


def add_relations(draft: Draft) -> Draft:
    """The step that prints how the model is built from its cells, in the form for the classes that the rows have now."""
    engine, plan, entry = draft.engine, draft.plan, draft.entries[0]
    now = Context.of(_with_weights_of_now(draft.spec))
    order = plan.class_order(engine.renderer.subquery("priors", now, _counted_classes(draft)))
    classes, is_single = class_columns(engine.rows(order)), draft.has_unique_cells
    statements = [
        *plan.describe_model(__version__, entry, draft.count.checked_rows(), has_unique_cells=is_single),
        *plan.create_scoring_tables(classes, has_unique_cells=is_single, in_script=True),
        *plan.create_macros(classes),
        *plan.create_user_views(),
    ]
    draft.write([*statements, *plan.add_comments(statements, ["statistics"])])
    return draft


def drop_scans(draft: Draft) -> Draft:
    """The step that prints the end of the tables of the scans."""
    render = draft.engine.renderer.statement
    draft.write(Statement("drop the scan", render("drop_if_exists", scan)) for scan in draft.count.scans)
    return draft


def _counted_classes(draft: Draft) -> Markup:
    """The cells of the classes, as a query of the rows."""
    spec = _with_weights_of_now(draft.spec)
    return draft.engine.renderer.fragment("counted_classes", Context.of(spec), draft.count.relation)


def _with_weights_of_now(spec: Spec) -> Spec:
    """The spec for rows whose weights have been computed from their age."""
    return spec if spec.half_life is None else replace(spec, weight=WEIGHT_NOW, half_life=None)
