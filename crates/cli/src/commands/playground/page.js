// The page of `palisade playground`. Whatever comes from a program is shown as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
const text = $("text"), gutter = $("gutter"), verdict = $("verdict"), words = $("words");
const picture = $("picture"), example = $("example"), model = $("model"), criterion = $("criterion");
const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(16)).join("");

const modelNames = {
  tso: "TSO (x86)", ra: "release/acquire", sc: "sequential consistency", c20: "C++20 (C, C++, Rust)", rc11: "RC11",
};
const criterionNames = {
  robust: "robust", persistent: "persistent", trf: "free of triangular races",
  drf: "free of data races", safe: "safe (assert, never)", observational: "observationally robust", live: "live (nothing stuck)",
};

const BY_PROGRAM = "by the program"; // what is asked follows from the text

let setup = { examples: [], models: [] };
let edits = []; // what became of each example, so that looking at another one loses nothing
let current = 0;
let marked = new Set();
let asked = 0; // the number of the last question: answers to older ones are dropped
let timer = 0;
let changed = null;

function options(select, list) {
  select.replaceChildren(...list.map(([value, label]) => new Option(label, value)));
}

// What the editor holds, and that it is remembered.
function keep(value) {
  edits[current] = value;
  if (text.value !== value) text.value = value;
  $("reset").hidden = value === setup.examples[current].text;
}

function showGutter() {
  const count = text.value.split("\n").length;
  const rows = [];
  for (let line = 1; line <= count; line++) {
    const row = document.createElement("span");
    row.textContent = line;
    if (marked.has(line)) row.className = "marked";
    rows.push(row);
  }
  gutter.replaceChildren(...rows);
  gutter.scrollTop = text.scrollTop;
}

function showCriteria() {
  const before = criterion.value;
  const all = [...new Set(setup.models.flatMap((m) => m.criteria))];
  const known = setup.models.find((m) => m.name === model.value)?.criteria || all;
  options(criterion, [["", BY_PROGRAM], ...known.map((name) => [name, criterionNames[name] || name])]);
  criterion.value = known.includes(before) ? before : "";
}

function show(answer) {
  $("answer").classList.remove("waiting");
  $("fence").disabled = $("orders").disabled = false;
  verdict.className = answer.verdict;
  const isMistake = answer.verdict === "error" && (answer.problems || []).length > 0;
  verdict.textContent = answer.headline || (isMistake ? "This is no program yet." : answer.verdict === "error" ? "This cannot be asked." : "");
  words.textContent = answer.text || "";
  picture.hidden = !answer.svg;
  if (answer.svg) {
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(answer.svg);
    picture.alt = "The run that shows it, as told below";
  }
  changed = answer.changed || null;
  $("take").hidden = changed === null;
  marked = new Set(answer.lines || []);
  showGutter();
}

async function ask(path) {
  clearTimeout(timer);
  const number = ++asked;
  $("answer").classList.add("waiting");
  if (path !== "/check") $(path.slice(1)).disabled = true;
  const slow = setTimeout(() => {
    if (number === asked) { verdict.className = ""; verdict.textContent = "Searching …"; }
  }, 300);
  let answer;
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: text.value, model: model.value, criterion: criterion.value, page }),
    });
    answer = response.ok ? await response.json() : { verdict: "error", headline: (await response.text()).trim() };
  } catch {
    answer = { verdict: "error", headline: "The playground does not answer: has the command ended?" };
  }
  clearTimeout(slow);
  if (number === asked) show(answer);
}

function soon() {
  clearTimeout(timer);
  asked++;
  $("answer").classList.add("waiting");
  timer = setTimeout(() => ask("/check"), 300);
}

text.addEventListener("input", () => { keep(text.value); marked = new Set(); showGutter(); soon(); });
text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
model.addEventListener("change", () => { showCriteria(); ask("/check"); });
criterion.addEventListener("change", () => ask("/check"));
example.addEventListener("change", () => choose(Number(example.value)));
$("fence").addEventListener("click", () => ask("/fence"));
$("orders").addEventListener("click", () => ask("/orders"));
$("apply").addEventListener("click", () => {
  if (changed === null) return;
  keep(changed);
  ask("/check");
});
$("reset").addEventListener("click", () => {
  keep(setup.examples[current].text);
  ask("/check");
});

function choose(index) {
  current = index;
  keep(edits[index]);
  text.scrollTop = 0;
  marked = new Set();
  showGutter();
  ask("/check");
}

async function begin() {
  try {
    setup = await (await fetch("/setup")).json();
  } catch {
    show({ verdict: "error", headline: "The playground does not answer: has the command ended?" });
    return;
  }
  edits = setup.examples.map((one) => one.text);
  options(example, setup.examples.map((one, index) => [index, one.name]));
  options(model, [["", BY_PROGRAM], ...setup.models.map((m) => [m.name, modelNames[m.name] || m.name])]);
  showCriteria();
  choose(0);
}

begin();
