"""Features in dimension tables, on every engine: the model of the joined table, which joins by itself what it meets."""

import pytest
from engines.places import ENGINES, assert_same_rows

import nbsql
import nbsql.learning.factorised

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

ORDERS = [
    (i, i % 6 if i % 11 else None, i % 4, ["no", "yes", "maybe"][(i * i + i // 3) % 3], i * 37 % 10 / 2, i % 3)
    for i in range(90)
]
CUSTOMERS = [(i, i * 1.5, None if i == 2 else "xy"[i % 2], f"note of {i % 3}", i % 2) for i in range(5)]
PRODUCTS = [(i, i * 10.25, "abc"[i % 3]) for i in range(4)]
JOINS = [nbsql.Join("customers", on="customer"), nbsql.Join("products", on={"product": "id"}, prefix="product_")]
JOINED = """SELECT o.*, c.age, c.kind, c.note, c.vip, p.price AS product_price, p.kind AS product_kind
    FROM orders AS o LEFT JOIN customers AS c ON c.customer = o.customer LEFT JOIN products AS p ON p.id = o.product"""
OPTIONS = {"target": "returned", "id": "id", "families": {"note": nbsql.Text()}, "weight": "times"}


@pytest.fixture
def shop(connect):
    def make(engine):
        place = connect(engine)
        columns = {
            "id": "INTEGER",
            "customer": "INTEGER",
            "product": "BIGINT",
            "returned": "VARCHAR",
            "amount": "DOUBLE PRECISION",
        }
        place.table("orders", {**columns, "times": "INTEGER"}, ORDERS)
        columns = {"customer": "INTEGER", "age": "DOUBLE PRECISION", "kind": "VARCHAR", "note": "VARCHAR", "vip": "INTEGER"}
        place.table("customers", columns, CUSTOMERS)
        place.table("products", {"id": "INTEGER", "price": "DOUBLE PRECISION", "kind": "VARCHAR"}, PRODUCTS)
        return place

    return make


def rows(query):
    return sorted(query.fetchall(), key=lambda row: [str(value) for value in row if not isinstance(value, float)])


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("least", [0, 10**9])
def test_a_model_of_joins_is_that_of_the_joined_table(shop, engine, least, layout):
    layout(facts_per_key=least)
    place = shop(engine)
    model = nbsql.fit(place.con, "orders", joins=JOINS, name="returns", **OPTIONS)
    other = nbsql.fit(place.con, JOINED, exclude=["customer", "product"], **OPTIONS)
    assert_same_rows(rows(model.statistics), rows(other.statistics))
    loaded = nbsql.load(place.con, "returns")
    width = len(ORDERS[0])
    for verb in ("predict_proba", "joint_log_likelihood", "log_evidence"):
        ours, theirs = getattr(loaded, verb)("orders"), getattr(other, verb)(JOINED)
        assert ours.columns == [*theirs.columns[:width], *theirs.columns[width + 6 :]]
        found = [(*row[:1], *row[width:]) for row in sorted(ours.fetchall())]
        assert_same_rows(found, [(*row[:1], *row[width + 6 :]) for row in sorted(theirs.fetchall())])
    explained = [row[1:] for row in loaded.explain("orders")]
    assert_same_rows(sorted(explained, key=str), sorted((row[1:] for row in other.explain(JOINED)), key=str))
    assert loaded.evaluate("orders").log_loss == pytest.approx(other.evaluate(JOINED).log_loss, abs=1e-9)
    loaded.update("orders", batch="again")
    other.update(JOINED, batch="again")
    assert_same_rows(rows(loaded.priors), rows(other.priors))
    assert_same_rows(rows(loaded.predict("orders")), rows(loaded.predict("SELECT * FROM orders")))


@pytest.mark.slow
def test_a_function_of_a_row_looks_up_what_it_lacks(shop):
    place = shop("postgres")
    model = nbsql.fit(place.con, "orders", joins=JOINS, name="returns", **OPTIONS)
    said = place.run("SELECT orders.id, said.* FROM orders, returns.predict(to_jsonb(orders)) AS said ORDER BY orders.id")
    assert_same_rows(said, [(row[0], *row[-2:]) for row in sorted(model.predict("orders").fetchall())])


@pytest.mark.parametrize("engine", ENGINES)
def test_what_cannot_be_joined_is_refused(shop, engine):
    place = shop(engine)
    place.run("INSERT INTO customers VALUES (4, 1, 'x', 'twice', 0)")
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(place.con, "orders", joins=JOINS, **OPTIONS)
    assert (
        str(caught.value)
        == "customers has 2 rows of 'customer' '4', and a join needs one row per key; make a view with one row per key"
    )
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(place.con, "orders", joins=[nbsql.Join("clients", "customer")], **OPTIONS)
    assert str(caught.value).startswith("no table or view 'clients'")
    place.run(f"CREATE TEMP {'VIEW' if engine == 'spark' else 'TABLE'} brief AS SELECT * FROM products")
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(
            place.con, "orders", joins=[nbsql.Join("brief", {"product": "id"})], name="returns", **{**OPTIONS, "families": {}}
        )
    assert str(caught.value).startswith("'brief' is a temporary table, which a model with a name cannot be joined with;")


@pytest.mark.slow
def test_the_tables_are_those_of_duckdb(shop):
    there, here = (nbsql.fit(shop(engine).con, "orders", joins=JOINS, **OPTIONS) for engine in ("postgres", "duckdb"))
    assert_same_rows(rows(there.predict_proba("orders")), rows(here.predict_proba("orders")))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_slices_folds_and_decisions_of_joins(shop, engine):
    place = shop(engine)
    options = {name: value for name, value in OPTIONS.items() if name != "weight"}
    for slice_by in ("times", "kind"):  # of the facts, and of a dimension
        model = nbsql.fit(place.con, "orders", joins=JOINS, slice_by=slice_by, **options)
        other = nbsql.fit(place.con, JOINED, exclude=["customer", "product"], slice_by=slice_by, **options)
        assert_same_rows(rows(model.statistics), rows(other.statistics))
    decided = model.predict("orders", thresholds={"no": 0.4})
    assert decided.columns == [*model.predict("orders").columns]
    width = len(ORDERS[0])
    theirs = other.predict(JOINED, thresholds={"no": 0.4})
    assert_same_rows(
        [(*row[:1], *row[width:]) for row in sorted(decided.fetchall())],
        [(*row[:1], *row[width + 6 :]) for row in sorted(theirs.fetchall())],
    )
    judged = nbsql.cross_validate(place.con, "orders", joins=JOINS, folds=3, **options)
    assert judged.rows == len(ORDERS)
    assert 0.5 < judged.log_loss < 3


@pytest.mark.nightly
@pytest.mark.spark
def test_a_view_of_the_session_is_a_dimension_of_a_model_without_a_name(shop):
    place = shop("spark")
    place.run("CREATE TEMPORARY VIEW brief AS SELECT id, price FROM products")
    options = {"target": "returned", "id": "id", "exclude": ["customer"]}
    model = nbsql.fit(place.con, "orders", joins=[nbsql.Join("brief", {"product": "id"})], **options)
    wide = "SELECT o.*, price FROM orders AS o LEFT JOIN brief AS b ON b.id = o.product"
    other = nbsql.fit(place.con, wide, target="returned", id="id", exclude=["customer", "product"])
    answers = (model.predict("orders"), other.predict(wide))
    assert_same_rows(*([(row[0], *row[-2:]) for row in sorted(query.fetchall())] for query in answers))
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.merge(place.con, [model], name="lasting")
    assert str(caught.value).startswith("'brief' is a temporary table, which a model with a name cannot be joined with;")
    assert nbsql.models(place.con) == []
