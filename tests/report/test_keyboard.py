"""A page is used by the keyboard alone: the keys are pressed in a browser."""

import pytest
from support.chromium import tab

import nbsql

HELD = """(() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const place = one.closest(".chart, nav, details");
  return {
    kind: one.type || one.localName, place: place?.id || place?.localName || "", goes: one.getAttribute("href") || "",
    seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, body: one === document.body,
    inside: one.getBoundingClientRect().bottom > 0 && one.getBoundingClientRect().top < innerHeight,
  };
})()"""
SLIDER = """[...document.querySelectorAll("#threshold-1 svg text")].map((one) => one.textContent)
  .find((one) => one.startsWith("threshold 0."))"""
POSTERIOR = """Object.values(document.getElementById("nomogram-1").view._runtime.data).map((table) => table.values.value)
  .find((table) => table && table.length && "posterior" in table[0]).map((row) => row.posterior)"""


def until(page, kind, place):
    """Press Tab until something of that kind is held."""
    for _ in range(200):
        page.press("Tab")
        held = page.run(HELD)
        if (held["kind"], held["place"]) == (kind, place):
            return
    pytest.fail(f"no {kind} of {place} is reached")


@pytest.mark.slow
def test_all_that_can_be_used_is_reached_seen_and_changed_by_keys(con, tmp_path):
    con.execute(
        """CREATE TABLE days AS SELECT i % 2 AS y, 'v' || i // 2 % (2 + i % 2) AS sky, i % 2 + hash(i) % 10 / 5.0 AS x
            FROM range(300) AS t(i)"""
    )
    model = nbsql.fit(con, "days", target="y", name="keys")
    model.report(tmp_path / "page.html", source="days", rows=1)
    with tab(tmp_path / "page.html", tmp_path) as page:
        held = []
        for _ in range(300):
            page.press("Tab")
            held.append(page.run(HELD))
            if held[-1]["body"]:
                held.pop()
                break
        assert all(one["seen"] and one["inside"] for one in held), [one for one in held if not (one["seen"] and one["inside"])]
        assert (held[0]["kind"], held[0]["goes"]) == ("a", "#content")
        contents = [one["goes"] for one in held if one["place"] == "nav"]
        assert contents == page.run("[...document.querySelectorAll('main > section[id]')].map((one) => `#${one.id}`)")
        folds = [one for one in held if one["kind"] == "summary"]
        assert len(folds) == page.run("document.querySelectorAll('details').length")
        what_if = [one["kind"] for one in held if one["place"] == "nomogram-1"]
        assert what_if.count("select-one") == 3  # of the two features, and of the class
        assert [one["kind"] for one in held if one["place"] == "threshold-1"][-3:] == ["range", "number", "number"]

        before = page.run(SLIDER)
        until(page, "range", "threshold-1")
        for _ in range(10):
            page.press("ArrowRight")
        page.run("document.getElementById('threshold-1').view.runAsync().then(() => 1)")
        after = page.run(SLIDER)
        assert (before[:14], after[:14]) == ("threshold 0.50", "threshold 0.60")
        until(page, "summary", "details")
        page.press("Enter")
        assert page.run("document.activeElement.parentElement.open") is True

        prior = page.run(POSTERIOR)
        until(page, "select-one", "nomogram-1")
        page.press("ArrowDown")
        page.run("document.getElementById('nomogram-1').view.runAsync().then(() => 1)")
        assert page.run(POSTERIOR) != pytest.approx(prior, abs=1e-6)


@pytest.mark.nightly
def test_a_sentence_is_typed_and_its_words_count_as_in_the_model(con, tmp_path):
    sentence = "Free   prize: lunch, FREE caf\u00e9 \u0928\u092e\u0938\u094d\u0924\u0947 nowhere"
    con.execute(
        """CREATE TABLE mail AS SELECT
                ['ham', 'spam'][1 + i % 2] AS y, i // 2 % 3 AS x,
                ['lunch on friday caf\u00e9', 'free prize \u0928\u092e\u0938\u094d\u0924\u0947', 'the prize of friday']
                    [1 + (i % 2 + i // 11) % 3] AS body
            FROM range(300) AS t(i)"""
    )
    model = nbsql.fit(con, "mail", target="y", families={"x": "categorical", "body": nbsql.Text()})
    model.report(tmp_path / "page.html")
    expected = model.predict_one({"x": None, "body": sentence})["probabilities"]
    with tab(tmp_path / "page.html", tmp_path) as page:
        until(page, "text", "nomogram-1")
        page.run(f"document.activeElement.value = {sentence!r}; document.activeElement.dispatchEvent(new Event('input'))")
        page.run("document.getElementById('nomogram-1').view.runAsync().then(() => 1)")
        assert sorted(page.run(POSTERIOR)) == pytest.approx(sorted(expected.values()), abs=1e-9)
