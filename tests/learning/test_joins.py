"""Features that live in dimension tables: a model of joins is that of the joined table, and joins what it meets by itself."""

import json
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.algebra import FAMILIES, alike, cells, connect, few, row, same_cells
from support.inserted import insert

import nbsql
import nbsql.learning.factorised
import nbsql.plan.joins
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.plan import ROW_VERBS
from nbsql.rendering.renderer import Renderer

# Small tables have constant and empty columns, and only one class at times; that is not the subject here.
pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

OTHERS = {
    "wind": nbsql.Kernel(),
    "bag": nbsql.Tokens(tfidf=True, unseen="skip"),
    "both": nbsql.Joint(["sky", "warm"]),
    "calls": nbsql.Geometric(),
    "note": nbsql.Text(event="complement", ngrams=2),
    "words": nbsql.Complement(["w1", "w2"]),
}
ORDERS = """
    CREATE TABLE orders AS
    SELECT
      i AS id,
      CASE WHEN i % 11 > 0 THEN i % 7 END AS customer_id,
      i % 5 AS product,
      ['no', 'yes', 'maybe'][1 + (i * i + i // 3) % 3] AS returned,
      (i * 37 % 10)::DOUBLE AS amount,
      ['shop', 'web'][1 + i % 2] AS channel,
      i % 4 AS times
    FROM range(120) AS t(i)
"""
CUSTOMERS = """
    CREATE TABLE customers AS
    SELECT i AS customer_id, i * 1.5 AS age, ['x', 'y', NULL][1 + i % 3] AS kind, 'note of ' || (i % 4) AS note, i % 2 AS region
    FROM range(6) AS t(i)
"""
PRODUCTS = (
    "CREATE TABLE products AS SELECT i AS id, i * 10.0 AS price, ['x', 'y', 'z'][1 + i % 3] AS kind FROM range(5) AS t(i)"
)
REGIONS = "CREATE TABLE regions AS FROM (VALUES (0, 'north', 3.5), (1, 'south', 4.5)) AS t(code, name, tax)"
JOINS = [nbsql.Join("customers", on="customer_id"), nbsql.Join("products", on={"product": "id"}, prefix="product_")]
JOINED = """SELECT o.*, c.* EXCLUDE (customer_id), p.price AS product_price, p.kind AS product_kind
    FROM orders AS o LEFT JOIN customers AS c ON c.customer_id = o.customer_id LEFT JOIN products AS p ON p.id = o.product"""


@pytest.fixture
def by_key(layout):
    """Count by key, however few facts share one."""
    layout(facts_per_key=0)


@pytest.fixture
def shop(con):
    for statement in (ORDERS, CUSTOMERS, PRODUCTS, REGIONS):
        con.execute(statement)
    return con


def by_joins(con, **options):
    return nbsql.fit(con, "orders", **{"target": "returned", "id": "id", "joins": JOINS, **options})


def of_view(con, **options):
    return nbsql.fit(con, JOINED, **{"target": "returned", "id": "id", "exclude": ["customer_id", "product"], **options})


def added(model, verb, source, width):
    """What a verb adds to each row of a source of so many columns, behind the first column."""
    return [(found[0], *found[width:]) for found in getattr(model, verb)(source)]


# Counts. ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(row, min_size=1, max_size=5),
    st.lists(st.tuples(st.none() | st.integers(1, 6), *map(st.sampled_from, ("ab", "no", "xy"))), min_size=2, max_size=14),
    st.lists(st.integers(0, 3), min_size=14, max_size=14),
    st.sampled_from([FAMILIES, OTHERS]),
    st.sampled_from([0, 10**9]),
    st.booleans(),
)
@few
def test_a_fit_over_joins_has_the_cells_of_the_joined_table(dimension, facts, times, families, least, weighted):
    con = connect(things=dimension)
    con.execute("CREATE TABLE keyed AS SELECT row_number() OVER () AS key, * EXCLUDE (play, times) FROM things")
    con.execute("CREATE TABLE events (key INTEGER, own VARCHAR, play VARCHAR, other VARCHAR, times INTEGER)")
    insert(con, "events", [(*fact, n) for fact, n in zip(facts, times, strict=False)])
    con.execute("UPDATE events SET times = 1 WHERE rowid = 0")  # some row counts
    con.execute("CREATE VIEW wide AS SELECT e.*, k.* EXCLUDE (key) FROM events AS e LEFT JOIN keyed AS k ON k.key = e.key")
    options = {"target": "play", "families": families, "weight": "times" if weighted else None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Renderer, "layout", replace(Renderer.layout, facts_per_key=least))
        model = nbsql.fit(con, "events", joins=[nbsql.Join("keyed", on="key")], **options)
    other = nbsql.fit(con, "wide", exclude=["key"], **options)
    assert model.families == other.families
    same_cells(cells(model), cells(other))
    alike(model.predict_proba("wide").fetchall(), other.predict_proba("wide").fetchall())


VARIANTS = {
    "plain": {},
    "weights": {"weight": "times"},
    "a half-life": {"weight": nbsql.HalfLife(1, at="times")},
    "missing values": {"nulls": "category", "unseen": "smooth"},
    "text": {"families": {"note": nbsql.Text(ngrams=2)}},
    "facts and dimensions together": {
        "families": {"all": nbsql.Joint(["channel", "kind"]), "n": nbsql.Multinomial(["times", "region"])}
    },
    "two dimensions together": {"families": {"kinds": nbsql.Joint(["kind", "product_kind"])}},
    "bins": {
        "families": {"age": nbsql.Binned(bins=3), "product_price": nbsql.Binned(by="mdl"), "amount": nbsql.Binned(bins=2)}
    },
    "slices": {"slice_by": "id % 3"},
    "slices of a dimension": {"slice_by": "product_kind"},
    "segments": {"segment_by": "channel"},
    "segments of a dimension": {"segment_by": "kind"},
    "a class of a dimension": {"target": "product_kind"},
    "a weight of a dimension": {"weight": "product_price"},
    "joint": {"method": nbsql.JointBayes(backoff="naive")},
    "lda": {"method": nbsql.LDA(shrinkage=0.1)},
    "qda": {"method": nbsql.QDA(shrinkage=0.5)},
    "logistic": {"method": "logistic", "exclude": ["note"]},
    "components": {"method": nbsql.Mixture(2), "exclude": ["note"]},
    "many classes": {"target": "amount"},
    "pairs of missing values": {
        "features": ["kind", "region"],
        "families": {"region": "categorical"},
        "method": "aode",
        "nulls": "category",
    },
    "the best": {"features": nbsql.Best(3)},
}


@pytest.mark.slow
@pytest.mark.forms("variant")
@pytest.mark.usefixtures("by_key")
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_model_is_that_of_the_joined_table(shop, variant):
    options = dict(VARIANTS[variant])
    excluded = ["customer_id", "product", *options.pop("exclude", ())]
    model = by_joins(shop, exclude=excluded, **options)
    other = of_view(shop, exclude=excluded, **options)
    same_cells(cells(model), cells(other))
    assert model.families.keys() == other.families.keys()
    for verb in ("predict_proba", "joint_log_likelihood"):
        ours, theirs = added(model, verb, "orders", 7), added(other, verb, JOINED, 13)
        assert len(ours) == 120
        alike(ours, theirs)
    ours, theirs = model.evaluate("orders"), other.evaluate(JOINED)
    assert ours.log_loss == pytest.approx(theirs.log_loss, abs=1e-9)
    assert ours.accuracy == theirs.accuracy


def scans(con, **options):
    """The names of the statements of a fit."""
    names = []
    with nbsql.watch(names.append):
        by_joins(con, **options)
    return names


@pytest.mark.slow
def test_a_key_that_stands_for_many_rows_is_counted_once(shop, layout):
    """120 orders are of fewer pairs of a class and a customer, and of still fewer of a class and a product."""
    pairs = "SELECT count(DISTINCT (returned, customer_id)), count(DISTINCT (returned, product)) FROM orders"
    customers, products = shop.execute(pairs).fetchall()[0]
    assert 120 // products > 120 // customers > 2
    names = scans(shop)
    assert names[:2] == ["scan", "count customer_id"]
    assert "read the source once" in names  # what the keys lead to, of which several categories are counted
    assert names.count("scan") == 3
    layout(facts_per_key=120 // customers + 1)
    assert scans(shop).count("scan") == 3  # the products by key, the customers as they are read
    layout(facts_per_key=120 // products + 1)
    assert scans(shop).count("scan") == 2


@pytest.mark.usefixtures("by_key")
def test_a_view_of_facts_is_read_once(shop):
    shop.execute("CREATE VIEW early AS SELECT * FROM orders WHERE abs(id) < 100")
    names = []
    engine = DuckDB(shop)
    engine.watch = names.append
    options = {"target": "returned", "id": "id", "joins": JOINS, "slice_by": "channel"}
    model = nbsql.fit(engine, "early", **options)
    assert names[0] == "read the source once"
    excluded = ["customer_id", "product"]
    other = nbsql.fit(shop, f"{JOINED} WHERE o.id < 100", target="returned", id="id", exclude=excluded, slice_by="channel")
    same_cells(cells(model), cells(other))


# Joins. ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_join_may_go_on_from_another_and_take_a_few_columns(shop):
    joins = [
        nbsql.Join("customers", ["customer_id"], columns=["Region"]),
        nbsql.Join("main.regions", on={"region": "code"}, prefix="r_", columns=["tax"]),
    ]
    model = by_joins(shop, joins=joins, features=["amount", "r_tax"])
    view = """SELECT o.*, r.tax AS r_tax FROM orders AS o LEFT JOIN customers AS c USING (customer_id)
        LEFT JOIN regions AS r ON r.code = c.region"""
    other = nbsql.fit(shop, view, target="returned", features=["amount", "r_tax"])
    same_cells(cells(model), cells(other))
    alike(added(model, "predict", "orders", 7), added(other, "predict", view, 8))
    assert [*by_joins(shop, joins=joins).families] == ["product", "amount", "channel", "times", "r_tax"]
    assert [*by_joins(shop, joins=joins[:1]).families] == ["product", "amount", "channel", "times", "region"]


def test_a_key_may_have_several_columns(shop):
    shop.execute("CREATE TABLE prices AS SELECT product, channel AS via, product * 2.5 AS cost FROM orders GROUP BY ALL")
    model = by_joins(shop, joins=nbsql.Join("prices", on={"product": "product", "channel": "via"}))
    view = "SELECT o.*, p.cost FROM orders AS o LEFT JOIN prices AS p ON p.product = o.product AND p.via = o.channel"
    other = nbsql.fit(shop, view, target="returned", id="id", exclude=["product", "channel"])
    same_cells(cells(model), cells(other))
    assert "channel" not in model.families
    assert "channel" in by_joins(shop, joins=JOINS[:1]).families


def test_a_key_is_a_feature_where_it_is_asked_for(shop):
    assert [*by_joins(shop, features=["product", "age"]).families] == ["product", "age"]
    assert "product" not in nbsql.families(shop, "orders", target="returned", joins=JOINS)


# Rows that a model meets. ----------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("scored", ["by key", "by row"])
def test_a_model_joins_by_itself_what_it_scores(shop, scored, monkeypatch):
    if scored == "by row":
        monkeypatch.setattr(nbsql.plan.joins, "_skips_missing", lambda _: False)
    model = by_joins(shop, name="returns", families={"note": nbsql.Text()})
    other = of_view(shop, families={"note": nbsql.Text()})
    model = nbsql.load(shop, "returns")
    assert ("nbsql_dimension_2_class_3" in model.sql("predict", "orders")) == (scored == "by key")
    shop.execute("CREATE TABLE recent AS SELECT * EXCLUDE (returned) FROM orders WHERE id >= 100")
    shop.execute("INSERT INTO recent VALUES (200, NULL, 77, 3, 'web', 1)")
    wide = JOINED.replace("FROM orders", "FROM recent")
    for verb in ROW_VERBS:
        rows = getattr(model, verb)("recent")
        assert rows.columns[:6] == ["id", "customer_id", "product", "amount", "channel", "times"]
        assert not {"age", "note"} & set(rows.columns)
        ours = added(model, verb, "recent", 6)
        assert len(ours) == 21
        alike(ours, added(other, verb, wide, 12))
        alike(ours, [(found[0], *found[6:]) for found in shop.execute(f"FROM returns.{verb}('recent')").fetchall()])
    alike(model.explain("recent").fetchall(), shop.execute("FROM returns.explain('recent')").fetchall())
    contributions = {(found[1], *found[2:5]): found[5] for found in model.explain("recent")}
    theirs = {(found[1], *found[2:5]): found[5] for found in other.explain(wide)}
    assert contributions.keys() == theirs.keys()
    assert all(contributions[key] == pytest.approx(theirs[key], abs=1e-9) for key in theirs)


@pytest.mark.slow
@pytest.mark.usefixtures("form")
def test_the_sums_of_dimensions_are_those_of_their_features_in_every_form(shop):
    shop.execute("INSERT INTO orders VALUES (500, 77, NULL, NULL, NULL, NULL, NULL)")
    for options in (
        {"families": {"note": nbsql.Text(event="bernoulli"), "region": "poisson"}, "unseen": "smooth"},
        {
            "families": {"note": nbsql.Text(tfidf=True), "age": "lognormal", "kinds": nbsql.Joint(["kind", "region"])},
            "alpha": 0,
        },
        {"nulls": "category", "exclude": ["note"]},
        {"method": nbsql.LDA(shrinkage=0.2), "exclude": ["product_price"]},
    ):
        shop.execute("UPDATE customers SET age = age + 1")
        excluded = ["customer_id", "product", *options.get("exclude", ())]
        model, other = (make(shop, **{**options, "exclude": excluded}) for make in (by_joins, of_view))
        for verb in ("joint_log_likelihood", "log_evidence", "predict_proba"):
            ours, theirs = added(model, verb, "orders", 7), added(other, verb, JOINED, 13)
            assert len(ours) == 121
            alike(ours, theirs)


def test_a_large_dimension_is_scored_only_for_more_rows(shop, layout):
    layout(dimension_rows=5)  # customers have 6, products 5
    model = by_joins(shop, name="returns")
    shop.execute("CREATE TABLE one AS FROM orders LIMIT 1; CREATE TABLE six AS FROM orders LIMIT 6")
    for source, said in [("orders", {1, 2}), ("six", {1, 2}), ("one", set()), ("FROM orders", {2})]:
        assert {place for place in (1, 2) if f"nbsql_dimension_{place}_class_1" in model.sql("predict", source)} == said
    bodies = "SELECT macro_definition FROM duckdb_functions() WHERE schema_name = 'returns' AND function_name = 'class_scores'"
    ((body,),) = shop.execute(bodies).fetchall()
    assert {place for place in (1, 2) if f"nbsql_dimension_{place}_class_1" in body} == {2}


@pytest.mark.slow
def test_in_sql_the_values_are_those_of_the_dimensions(shop):
    model = by_joins(shop, name="returns")
    aged = "WITH aged AS (SELECT *, 1 AS age FROM orders) FROM {}.predict('aged')"
    found = [(row[0], *row[-2:]) for row in shop.execute(aged.format("returns")).fetchall()]
    alike(found, added(model, "predict", "orders", 7))
    by_joins(shop, name="unsaid", nulls="category")  # what is missing says something there, so that the columns are joined
    with pytest.raises(duckdb.BinderException, match='Ambiguous reference to column name "kind"'):
        shop.execute(aged.format("unsaid").replace("age FROM", "kind FROM"))


def test_a_source_that_has_the_columns_is_not_joined(shop):
    model = by_joins(shop)
    shop.execute("CREATE TABLE wide AS " + JOINED)
    shop.execute("DROP TABLE customers")
    rows = model.predict("wide")
    assert rows.columns == [*(column[0] for column in shop.execute("FROM wide").description or ()), "prediction", "probability"]
    assert "JOIN (\n      SELECT\n        dimension" not in rows.sql
    half = "SELECT * EXCLUDE (product_price, product_kind) FROM wide"  # has those of customers, and lacks those of products
    alike(added(model, "predict", half, 11), added(model, "predict", "wide", 13))


def test_rows_of_a_frame_come_back_in_its_order(shop):
    frame = shop.execute("FROM orders ORDER BY hash(id)").df()
    model = by_joins(shop, families={"note": nbsql.Text()})
    assert [found[0] for found in model.predict(frame)] == list(frame["id"])
    assert [found[1] for found in model.explain(frame) if found[3] is None and found[2] == "no"] == list(frame["id"])


@pytest.mark.slow
def test_a_model_of_joins_learns_and_forgets(shop):
    shop.execute("CREATE TABLE first AS FROM orders WHERE id < 80")
    model = nbsql.fit(shop, "first", target="returned", id="id", joins=JOINS, name="returns", slice_by="id % 2")
    model.update("FROM orders WHERE id >= 80", batch="later")
    whole = by_joins(shop, slice_by="id % 2")
    alike(model.priors.fetchall(), whole.priors.fetchall())
    alike(model.predict_proba("orders").fetchall(), whole.predict_proba("orders").fetchall())
    model.forget(JOINED + " WHERE o.id >= 80")  # joined already
    alike(model.as_of("1").predict_proba("orders").fetchall(), model.predict_proba("orders").fetchall())
    alike(model.slices([0, 1]).predict_proba("orders").fetchall(), model.predict_proba("orders").fetchall())
    of_kinds = nbsql.fit(
        shop, "first", target="returned", id="id", joins=JOINS, slice_by="upper(product_kind)"
    )  # of a dimension
    of_kinds.update("FROM orders WHERE id >= 80")
    assert of_kinds.slice_names == ["X", "Y", "Z"]
    alike(of_kinds.priors.fetchall(), whole.priors.fetchall())


@pytest.mark.slow
def test_every_other_verb_takes_the_facts_alone(shop):
    model, other = by_joins(shop, name="returns"), of_view(shop)
    assert model.log_likelihood("orders") == pytest.approx(other.log_likelihood(JOINED))
    assert model.log_likelihood("orders", labelled=True) == pytest.approx(other.log_likelihood(JOINED, labelled=True))
    for options in ({"top_k": 2}, {"thresholds": {"no": 0.4}}, {"costs": {("no", "yes"): 3}}):
        ours, theirs = model.predict("orders", **options), other.predict(JOINED, **options)
        assert ours.columns == [*theirs.columns[:7], *theirs.columns[13:]]
        alike([(found[0], *found[7:]) for found in ours], [(found[0], *found[13:]) for found in theirs])
    assert model.calibrate("orders").calibrated_log_loss == pytest.approx(other.calibrate(JOINED).calibrated_log_loss)
    calibrated = [(found[0], *found[7:]) for found in shop.execute("FROM returns.predict('orders')").fetchall()]
    alike(calibrated, [(found[0], *found[13:]) for found in other.predict(JOINED, calibrated=True)])
    inline = shop.execute(model.sql("predict", "orders", inline=True)).fetchall()
    alike(inline, model.predict("orders").fetchall())
    model.predict("orders").create_view("scored")
    alike(shop.execute("FROM scored").fetchall(), model.predict("orders").fetchall())


@pytest.mark.slow
def test_models_are_judged_before_they_are_fitted(shop):
    options = {"target": "returned", "folds": 3}
    ours = nbsql.cross_validate(shop, "orders", joins=JOINS, exclude=["id"], **options)
    theirs = nbsql.cross_validate(shop, JOINED, exclude=["id", "customer_id", "product"], **options)
    alike(ours.folds.fetchall(), theirs.folds.fetchall())
    swept = nbsql.sweep(shop, "orders", joins=JOINS, exclude=["id"], alpha=[0.5, 2], **options)
    best = swept.best(name="best")
    assert len(best.predict("orders").fetchall()) == 120
    alike(best.predict("orders").fetchall(), nbsql.load(shop, "best").predict("orders").fetchall())


@pytest.mark.slow
def test_a_model_is_kept_and_exported_with_its_joins(shop, tmp_path):
    model = by_joins(shop, name="returns")
    expected = model.predict_proba("orders").fetchall()
    model.export(tmp_path / "returns.parquet")
    alike(nbsql.import_(shop, tmp_path / "returns.parquet").predict_proba("orders").fetchall(), expected)
    merged = nbsql.merge(shop, ["returns", nbsql.import_(shop, tmp_path / "returns.parquet")])
    assert len(merged.predict("orders").fetchall()) == 120


@pytest.mark.slow
def test_a_model_in_another_database_finds_the_tables_there(shop, tmp_path):
    shop.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS other")
    shop.execute("CREATE TABLE other.main.customers AS FROM customers")
    joins = [nbsql.Join("other.main.customers", on="customer_id"), JOINS[1]]
    model = by_joins(shop, joins=joins, name="far", database="other")
    expected = by_joins(shop).predict_proba("orders").fetchall()
    alike(model.predict_proba("orders").fetchall(), expected)
    text = shop.execute("SELECT spec FROM other.far.spec").fetchall()[0][0]
    assert [dimension["table"] for dimension in json.loads(text)["joins"]] == [
        ["main", "customers"],
        ["memory", "main", "products"],
    ]
    shop.execute("DROP TABLE customers")  # the one that other models would be joined with
    for derived in (
        model.as_of("1"),
        nbsql.merge(shop, [model], name="merged"),
        nbsql.merge(shop, [("other", "far")], name="merged", database="other"),
    ):
        alike(derived.predict_proba("orders").fetchall(), expected)
    shop.execute("DETACH other")
    again = "again" if duckdb.__version__ >= "2" else "other"  # before, a view needs the name that its database had
    shop.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS {again}")
    alike(nbsql.load(shop, "far", database=again).predict_proba("orders").fetchall(), expected)


@pytest.mark.nightly
def test_names_may_be_hostile(shop):
    table, columns = 'we"ird. t', ["the \n key", 'a"b', "source", "Select", "dimension_1"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in [table, *columns]]
    values = ", ".join(f"({i}, {i * 1.5}, 'v{i % 2}', {i % 3}, 'w{i}')" for i in range(5))
    shop.execute(f"CREATE TABLE {quoted[0]} AS FROM (VALUES {values}) AS t({', '.join(quoted[1:])})")
    shop.execute(f"ALTER TABLE orders RENAME COLUMN product TO {quoted[1]}")
    joins = [nbsql.Join(table, columns[0], prefix=""), nbsql.Join("products", on={"Select": "id"}, prefix='p"')]
    for options in ({}, {"nulls": "category"}, {"families": {"dimension_1": nbsql.Text()}}):
        model = by_joins(shop, joins=joins, name="returns", replace=True, **options)
        assert {'a"b', "source", "dimension_1", 'p"price'} <= model.families.keys()
        view = f"""SELECT o.*, w.* EXCLUDE ({quoted[1]}), p.price AS "p""price", p.kind AS "p""kind" FROM orders AS o
            LEFT JOIN {quoted[0]} AS w ON w.{quoted[1]} = o.{quoted[1]} LEFT JOIN products AS p ON w."Select" = p.id"""
        other = nbsql.fit(shop, view, target="returned", id="id", exclude=[columns[0], "Select"], **options)
        same_cells(cells(model), cells(other))
        ours = added(model, "predict_proba", "orders", 7)
        alike(ours, added(other, "predict_proba", view, 13))
        alike(ours, [(row[0], *row[7:]) for row in shop.execute("FROM returns.predict_proba('orders')").fetchall()])


def test_a_model_may_have_no_feature_of_the_facts(shop):
    model, other = (make(shop, features=["age", "product_kind"], exclude=[]) for make in (by_joins, of_view))
    same_cells(cells(model), cells(other))
    alike(added(model, "predict", "SELECT id, customer_id, product FROM orders", 3), added(other, "predict", JOINED, 13))


# Refusals. -------------------------------------------------------------------------------------------------------------

REFUSALS = [
    ([nbsql.Join("customer", "customer_id")], "no table or view 'customer'; did you mean 'customers'?"),
    ([nbsql.Join("customers", "customer")], "no column 'customer' in orders; did you mean 'customer_id'?"),
    ([nbsql.Join("customers", {"product": "ages"})], "no column 'ages' in customers; did you mean 'age'?"),
    (
        [nbsql.Join("customers", {"channel": "customer_id"})],
        "'channel' of orders is VARCHAR, and 'customer_id' of customers is BIGINT; cast one",
    ),
    (
        [nbsql.Join("customers", "customer_id"), nbsql.Join("products", {"product": "id"})],
        "column 'kind' is in orders and in products, which it is joined with; "
        "tell them apart with prefix='products_', or join fewer of its columns",
    ),
    (
        [nbsql.Join("customers", {"product": "region"}, columns=["age"])],
        "customers has 3 rows of 'region' '0', and a join needs one row per key; make a view with one row per key",
    ),
    (
        [nbsql.Join("SELECT 1 AS customer_id", "customer_id")],
        "a join takes a table or a view, not 'SELECT 1 AS customer_id'; make a view of it",
    ),
    ("customers", "joins must be a list of nbsql.Join, not 'customers'"),
    (["customers"], "joins must be a list of nbsql.Join, not ['customers']"),
    (7, "joins must be a list of nbsql.Join, not 7"),
]


def test_what_cannot_be_joined_is_refused(shop, refused):
    for joins, message in REFUSALS:
        with refused(nbsql.InputError, message):
            by_joins(shop, joins=joins, name="returns")


def test_what_is_no_join_is_refused():
    for arguments, message in [
        ((7, "id"), "a join takes a table or a view by its name, not 7"),
        (
            ("customers", []),
            "on of the join with 'customers' must be a column, a list of columns, or "
            "{column of the source: column of 'customers'}, not []",
        ),
        (
            ("customers", once := iter(["id"])),  # which would be empty when it is read again
            "on of the join with 'customers' must be a column, a list of columns, or "
            f"{{column of the source: column of 'customers'}}, not {once!r}",
        ),
        (("customers", "id", None, 1), "prefix of the join with 'customers' must be text, not 1"),
    ]:
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.Join(*arguments)
        assert str(caught.value) == message


def test_a_model_with_a_name_takes_no_temporary_table(shop, refused):
    shop.execute("CREATE TEMP TABLE brief AS FROM customers")
    assert len(by_joins(shop, joins=[nbsql.Join("brief", "customer_id")]).predict("orders").fetchall()) == 120
    message = (
        "'brief' is a temporary table, which a model with a name cannot be joined with; make it a table, or leave the name out"
    )
    with refused(nbsql.InputError, message):
        by_joins(shop, joins=[nbsql.Join("brief", "customer_id")], name="returns")


@pytest.mark.usefixtures("by_key")
def test_rows_that_break_a_rule_are_counted_as_they_are(shop, refused):
    shop.execute("UPDATE customers SET age = -1 WHERE customer_id = 3")
    rows = shop.execute("SELECT count(*) FROM orders WHERE customer_id = 3").fetchall()[0][0]
    message = f"{rows} values of column 'age' are negative; poisson counts must be at least 0"
    with refused(nbsql.InputError, message):
        by_joins(shop, families={"age": "poisson"}, name="returns")


@pytest.mark.slow
def test_a_source_that_cannot_be_joined_is_refused(shop, refused):
    model = by_joins(shop, name="returns")
    with refused(nbsql.InputError, "no column 'customer_id' in the query, by which model 'returns' joins customers"):
        model.predict("SELECT * EXCLUDE (customer_id) FROM orders")
    with refused(
        nbsql.InputError,
        "the query has 'age' and no 'kind', and model 'returns' takes both from customers; leave 'age' out, or give it both",
    ):
        model.predict("SELECT *, 1.5 AS age FROM orders")
    shop.execute("INSERT INTO customers VALUES (2, 9, 'x', 'twice', 0)")
    with refused(
        nbsql.InputError,
        "customers has 2 rows of 'customer_id' '2', and a join needs one row per key; make a view with one row per key",
    ):
        model.update("orders")
    shop.execute("ALTER TABLE customers DROP COLUMN age")
    with refused(nbsql.InputError, "no column 'age' in main.customers, which model 'returns' joins its source with"):
        model.predict("orders")
    shop.execute("DROP TABLE customers")
    with refused(
        nbsql.InputError,
        "no table main.customers, which model 'returns' joins its source with; make it, or give a source that has its columns",
    ):
        model.evaluate("orders")
