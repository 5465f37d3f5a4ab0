// The page: it opens a file, asks DuckDB, and shows the answers. All figures are SQL's (sql/ad_hoc.sql, roles.sql). What a file says
// becomes text of the page by textContent alone, and SQL by `quoted` alone.
import {AsyncDuckDB, ConsoleLogger, DuckDBDataProtocol, LogLevel} from "@duckdb/duckdb-wasm";

const at = (id) => document.getElementById(id);
const quoted = (text, mark) => mark + text.replaceAll(mark, mark + mark) + mark;
const ident = (name) => quoted(name, '"');
const literal = (text) => quoted(text, "'");
const literals = (texts) => `CAST([${texts.map(literal).join(", ")}] AS VARCHAR[])`;

const fetched = async (name) => (await fetch(name)).text();
// A fifth of the rows, spread over the file (by Fibonacci hashing), whatever its order, and the same in every engine and run.
const IS_JUDGED = "row_number() OVER () * 2654435761 % 4294967296 < 858993459";
const TAKEN = ["nb_row", "prediction", "probability"];
const WORSE = `Its log loss is worse than that of the priors: it is too sure of itself. Numbers that are far from a normal distribution
  and columns that repeat each other do that. Leave them out, or calibrate the model in Python.`;
let db, connection, macros;
let file = {name: "", columns: []}; // what is open, with the roles that were guessed
let script = []; // the statements since then, for somebody to run them elsewhere

async function start() {
  // A worker from a blob keeps to the page's policy: it may not ask another site for anything either.
  const program = `importScripts(${JSON.stringify(new URL("duckdb.worker.js", location).href)})`;
  const worker = new Worker(URL.createObjectURL(new Blob([program], {type: "text/javascript"})));
  db = new AsyncDuckDB(new ConsoleLogger(LogLevel.ERROR), worker);
  await db.instantiate(new URL("duckdb.wasm", location).href);
  connection = await db.connect();
  await connection.query("SET autoload_known_extensions = FALSE; SET autoinstall_known_extensions = FALSE");
  macros = await fetched("ad_hoc.sql");
  await connection.query(macros);
  await connection.query(await fetched("roles.sql"));
}

async function rows(sql) {
  const plain = (value) => (typeof value === "bigint" ? Number(value) : value);
  const found = await connection.query(sql);
  return found.toArray().map((row) => Object.fromEntries(Object.entries(row.toJSON()).map(([name, value]) => [name, plain(value)])));
}

async function run(sql) {
  script.push(sql);
  await connection.query(sql);
}

// Tables of the page: a column has a head, and what a cell shows: a text, a number or an element.
function element(tag, content = "", kind = "") {
  const made = document.createElement(tag);
  if (content instanceof Node) made.append(content); else made.textContent = content ?? "–";
  if (kind) made.className = kind;
  return made;
}

function fill(table, found, columns) {
  const line = (cells) => { const made = element("tr"); made.append(...cells); return made; };
  const kind = (shown) => (columns[shown].isNumber ? "number" : "");
  const heads = columns.map((column, i) => element("th", column.head, kind(i)));
  const lines = found.map((row) => line(columns.map((column, i) => element("td", column.cell(row), kind(i)))));
  table.replaceChildren(...(found.length ? [line(heads), ...lines] : []));
}

const column = (head, cell = (row) => row[head]) => ({head, cell});
const number = (head, cell = (row) => row[head]) => ({head, isNumber: true, cell: (row) => short(cell(row))});
const short = (x) => (x === null ? "–" : x === Infinity ? "∞" : Number(x.toPrecision(4)).toLocaleString("en", {maximumSignificantDigits: 4}));
const share = (x) => (x === null ? "–" : x < 1 && x >= 0.9995 ? "> 99.9\u00a0%" : `${(100 * x).toFixed(1)}\u00a0%`);
const text = (value) => (value === null ? "–" : String(value));

async function open(name, bytes) {
  file = {name, columns: []};
  script = [];
  at("roles").hidden = at("results").hidden = true;
  await db.dropFile("rows.csv");
  if (bytes instanceof File) await db.registerFileHandle("rows.csv", bytes, DuckDBDataProtocol.BROWSER_FILEREADER, true);
  else await db.registerFileBuffer("rows.csv", bytes);
  await connection.query("CREATE OR REPLACE TABLE source AS FROM read_csv('rows.csv')");
  script.push(`CREATE OR REPLACE TABLE source AS FROM read_csv(${literal(name)})`);
  const taken = (await rows("DESCRIBE source")).find((row) => TAKEN.includes(row.column_name.toLowerCase()));
  if (taken) throw new Error(`${name} has a column ${taken.column_name}, a name that the answers have: rename it in the file`);
  file.columns = await rows("FROM guess_roles('source')");
  if (!file.columns.length) throw new Error(`${name} has no rows`);
  fill(at("columns"), file.columns, [column("column", (row) => row.feature), column("type"), number("levels", (row) => row.levels),
    column("is", chooser)]);
  at("roles").hidden = false;
}

function chooser(row) {
  const select = element("select");
  select.ariaLabel = `What ${row.feature} is`;
  const isNumber = /INT|FLOAT|DOUBLE|DECIMAL/.test(row.type);
  const fitting = row.type === "VARCHAR" ? ["category", "words"] : isNumber ? ["number", "category"] : ["category"];
  select.append(...["target", ...fitting, "left out"].map((role) => element("option", role)));
  select.value = row.role;
  select.onchange = () => {
    row.role = select.value;
    if (row.role !== "target") return;
    for (const [i, other] of file.columns.entries()) // there is one target
      if (other !== row && other.role === "target") at("columns").querySelectorAll("select")[i].value = other.role = "left out";
  };
  return select;
}

const named = (role) => file.columns.filter((each) => each.role === role).map((each) => each.feature);

async function fit() {
  const [target] = named("target");
  if (target === undefined) throw new Error("no column is the target: say which one is to be predicted");
  if (!["category", "number", "words"].some((role) => named(role).length)) throw new Error("every column is left out: there is nothing to learn from");
  const texts = file.columns.filter((each) => each.role === "category" && each.type !== "BOOLEAN").map((each) => ident(each.feature));
  const columns = texts.length ? `* REPLACE (${texts.map((name) => `CAST(${name} AS VARCHAR) AS ${name}`).join(", ")})` : "*";
  script = script.slice(0, 1);
  await run(`CREATE OR REPLACE TABLE learnt AS SELECT ${columns} FROM source QUALIFY NOT ${IS_JUDGED}`);
  await run(`CREATE OR REPLACE TABLE judged AS SELECT ${columns} FROM source QUALIFY ${IS_JUDGED}`);
  const arguments_ = `${literal(target)}, texts := ${literals(named("words"))}, keys := ${literals(named("left out"))}`;
  await run(`CREATE OR REPLACE TABLE model AS FROM naive_bayes('learnt', ${arguments_})`);
  await run("CREATE OR REPLACE VIEW priors_alone AS FROM model WHERE kind = 'class'");
  await run("CREATE OR REPLACE TABLE scored AS FROM naive_bayes_predict('model', 'judged')");
  await show(target);
}

async function show(target) {
  const [found] = await rows(`FROM naive_bayes_evaluate('model', 'judged', ${literal(target)})`);
  const [priors] = await rows(`FROM naive_bayes_evaluate('priors_alone', 'judged', ${literal(target)})`);
  const figures = [["log loss", found.log_loss, short], ["log loss of the priors", priors.log_loss, short], ["accuracy", found.accuracy, share],
    ["most frequent class", found.majority, share], ["rows judged", found.rows, short]];
  at("figures").replaceChildren(...figures.map(([name, value, shown]) => {
    const card = element("div");
    const figure = element("dd", shown(value));
    figure.title = text(value); // all its digits
    card.append(element("dt", name), figure);
    return card;
  }));
  at("verdict").textContent = found.log_loss <= priors.log_loss ? "" : WORSE;
  await showRatios();
  const wrong = `prediction <> CAST(${ident(target)} AS VARCHAR)`;
  const mistakes = await rows(`SELECT row_number() OVER () AS nb_row, * FROM scored QUALIFY ${wrong} ORDER BY probability DESC LIMIT 5`);
  const shown = file.columns.filter((each) => each.role !== "target").map((each) => column(each.feature, (row) => text(row[each.feature])));
  fill(at("mistakes"), mistakes, [column("", whyButton), column(target, (row) => text(row[target])), column("predicted", (row) => row.prediction),
    column("sure to", (row) => share(row.probability)), ...shown]);
  at("row").max = found.rows;
  at("python").textContent = `model = nbsql.from_statistics("my.duckdb", "counts.csv", name="mine", target=${JSON.stringify(target)})`;
  at("results").hidden = false;
  await explain(mistakes.length ? mistakes[0].nb_row : 1);
}

async function showRatios() {
  const found = await rows(`FROM naive_bayes_ratios('model') WHERE ratio > 1
    QUALIFY row_number() OVER (PARTITION BY class ORDER BY n * ln(ratio) DESC, feature, value) <= 8
    ORDER BY class, n * ln(ratio) DESC, feature, value`);
  const classes = [...new Set(found.map((row) => row.class))];
  at("ratios").replaceChildren(...classes.map((name) => {
    const part = element("div");
    const table = element("table");
    fill(table, found.filter((row) => row.class === name), [column("feature"), column("value"), number("times likelier", (row) => row.ratio)]);
    part.append(element("h3", name), table);
    return part;
  }));
  const numbers = await rows(`SELECT feature, class, mean, sqrt(variance) AS deviation FROM naive_bayes_likelihoods('model')
    WHERE kind = 'number' ORDER BY feature, class`);
  fill(at("numbers"), numbers, [column("number", (row) => row.feature), column("class"), number("mean"), number("deviation")]);
}

function whyButton(row) {
  const button = element("button", "why?");
  button.onclick = () => busy("", () => explain(row.nb_row));
  return button;
}

async function explain(place) {
  at("row").value = place;
  await connection.query(`CREATE OR REPLACE TABLE one AS FROM judged LIMIT 1 OFFSET ${Math.max(0, Math.trunc(place) - 1)}`);
  const [scored] = await rows("FROM naive_bayes_predict('model', 'one')");
  if (!scored) throw new Error(`there is no row ${place} among those judged`);
  const found = await rows("FROM naive_bayes_reasons('model', 'one')");
  at("answer").textContent = `It says ${text(scored.prediction)} (${share(scored.probability)}).`;
  fill(at("reasons"), found, [column("feature", (row) => row.feature ?? "(priors)"), column("value", (row) => text(row.value)),
    number("times likelier", (row) => row.ratio), column("in", (row) => text(row.class)), column("than in", (row) => text(row.other))]);
}

function save(name, content) {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
}

async function counts() {
  await connection.query("COPY model TO 'counts.csv' (HEADER)");
  return db.copyFileToBuffer("counts.csv");
}

const whole = () => `${macros}\n\n${script.join(";\n")};\nFROM naive_bayes_evaluate('model', 'judged', ${literal(named("target")[0])});\n`;

// One thing at a time, with what it is doing, or what went wrong, in the line of status.
async function busy(what, act) {
  const inputs = document.querySelectorAll("button, input, select");
  const status = at("status");
  delete document.body.dataset.drawn;
  status.className = "";
  status.textContent = what;
  inputs.forEach((input) => { input.disabled = true; });
  const began = performance.now();
  try {
    await act();
    if (what) status.textContent = `${file.name ? `${file.name}: ` : ""}done in ${((performance.now() - began) / 1000).toFixed(1)} s`;
  } catch (error) {
    status.textContent = error.message;
    status.className = "wrong";
  }
  document.querySelectorAll("button, input, select").forEach((input) => { input.disabled = false; });
  document.body.dataset.drawn = "yes";
}

const opened = (chosen) => busy(`${chosen.name} is being read …`, () => open(chosen.name, chosen));
at("file").onchange = () => {
  const [chosen] = at("file").files;
  at("file").value = ""; // so that the same file can be chosen again
  if (chosen) opened(chosen);
};
at("drop").ondragover = (event) => { event.preventDefault(); at("drop").classList.add("over"); };
at("drop").ondragleave = () => at("drop").classList.remove("over");
at("drop").ondrop = (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  if (event.dataTransfer.files.length) opened(event.dataTransfer.files[0]);
};
at("flights").onclick = () => busy("The flights are being read …", async () =>
  open("flights.csv", new Uint8Array(await (await fetch("flights.csv")).arrayBuffer())));
at("fit").onclick = () => busy("Counting, and judging …", fit);
at("row").onchange = () => busy("", () => explain(Number(at("row").value) || 1));
at("sql").onclick = () => busy("", () => save("model.sql", whole()));
at("counts").onclick = () => busy("", async () => save("counts.csv", await counts()));
busy("DuckDB is loading …", start);
