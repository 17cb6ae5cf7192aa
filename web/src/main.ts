// The page: an editor, the question, and the answer beside it.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField, Text, Transaction } from "@codemirror/state";
import { Decoration, DecorationSet, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { diff } from "./diff";
import { Answer, Problem, Stopped, ask, stop } from "./engine";
import { EXAMPLES, LANGUAGES } from "./examples";
import { palLanguage } from "./language";
import { carried, link } from "./link";
import "./style.css";

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const [example, language, model, criterion, seconds] = ["example", "language", "model", "criterion", "seconds"].map((id) => find<HTMLSelectElement>(id));
const [verdict, say, picture, changes] = ["verdict", "say", "picture", "changes"].map((id) => find(id));
const player = find<HTMLIFrameElement>("player");
const stopButton = find<HTMLButtonElement>("stop");

interface Setup {
  version: string;
  models: { name: string; criteria: string[] }[];
  style: string;
}
let setup: Setup;

/** After the last key it is asked anew. */
const PAUSE = 500;
const KEPT = "palisade.program";
/** Nothing longer is put into a link: browsers cut them. */
const LONGEST_LINK = 30_000;

// ---- the editor ----

const mark = StateEffect.define<number[]>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, change) {
    old = old.map(change.changes);
    for (const effect of change.effects)
      if (effect.is(mark)) {
        const lines = effect.value.filter((line) => line >= 1 && line <= change.state.doc.lines);
        const at = lines.map((line) => Decoration.line({ class: "involved" }).range(change.state.doc.line(line).from));
        old = Decoration.set(at, true);
      }
    return old;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const highlighting = new Compartment();
const highlighter = () => (language.value === "c" ? cpp() : palLanguage());

let timer: ReturnType<typeof setTimeout> | undefined;
const editor = new EditorView({
  parent: find("editor"),
  state: EditorState.create({
    extensions: [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      syntaxHighlighting(classHighlighter),
      highlighting.of(palLanguage()),
      marked,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "The program" }),
      keymap.of([
        { key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (check(), true) },
        { key: "Shift-Alt-f", run: () => (format(), true) },
        { key: "Escape", run: (view) => (view.contentDOM.blur(), true) },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        keep();
        clearTimeout(timer);
        timer = setTimeout(check, PAUSE);
      }),
    ],
  }),
});

const text = () => editor.state.doc.toString();

/** Puts another text in. That is one thing to take back, however soon the next one comes; the text that the page begins with cannot be taken back. */
function replace(next: string, isFirst = false) {
  const annotations = isFirst ? Transaction.addToHistory.of(false) : isolateHistory.of("full");
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: next }, annotations });
}

function offset(doc: Text, line: number, column: number): number {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  // Columns count characters, not the halves that some of them have here.
  const before = [...at.text].slice(0, column - 1).join("");
  return at.from + before.length;
}

function point(problems: Problem[]) {
  const doc = editor.state.doc;
  const found = problems.map((problem) => {
    const from = offset(doc, problem.line, problem.column);
    const to = Math.max(from, offset(doc, problem.end_line, problem.end_column));
    const message = problem.help ? problem.message + " (" + problem.help + ")" : problem.message;
    return { from, to, severity: problem.severity, message };
  });
  editor.dispatch(setDiagnostics(editor.state, found));
}

// ---- what is asked ----

const file = () => LANGUAGES.find(([id]) => id === language.value)?.[2] ?? "program";
const question = (what: string) => ({ do: what, text: text(), name: file(), model: model.value, criterion: criterion.value, columns: columns() });

/** How many letters of the answer's text stand beside each other. */
function columns() {
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = getComputedStyle(say).font;
  // The verdict is as wide as the text can be.
  return Math.floor(verdict.clientWidth / pen.measureText("0").width);
}

function options(select: HTMLSelectElement, values: [value: string, name: string][]) {
  const old = select.value;
  select.replaceChildren(...values.map(([value, name]) => new Option(name, value)));
  if (values.some(([value]) => value === old)) select.value = old;
}

function offer() {
  const known = setup.models.find((m) => m.name === model.value)?.criteria ?? [...new Set(setup.models.flatMap((m) => m.criteria))];
  options(criterion, [["", "by the program"], ...known.map((name) => [name, name] as [string, string])]);
}

async function answered(what: string, working: string): Promise<Answer | undefined> {
  clearTimeout(timer);
  verdict.className = "working";
  verdict.textContent = working;
  stopButton.hidden = false;
  const begin = performance.now();
  try {
    return await ask<Answer>(question(what), Number(seconds.value));
  } catch (error) {
    if (error instanceof Stopped && error.why === "superseded") return undefined;
    const why =
      error instanceof Stopped
        ? error.why === "user"
          ? "stopped"
          : "it took longer than " + Math.round((performance.now() - begin) / 1000) + " s, and was stopped"
        : String((error as Error).message);
    return { verdict: "unknown", headline: "unknown: " + why, text: "", problems: [], lines: [] };
  } finally {
    stopButton.hidden = true;
  }
}

async function check() {
  changes.hidden = true;
  const answer = await answered("check", "looking …");
  if (answer) show(answer);
}

/** Looks for what makes it hold, and shows it as a difference to apply. */
async function repair(what: "fence" | "orders", working: string) {
  changes.hidden = true;
  const old = text();
  const answer = await answered(what, working);
  if (!answer) return;
  show(answer);
  const { changed } = answer;
  if (changed === undefined || changed === old) return;
  changes.hidden = false;
  const lines = diff(old, changed).map(({ kind, text }) => {
    const line = document.createElement("span");
    line.className = kind;
    line.textContent = { same: "  ", add: "+ ", del: "- ", gap: "  " }[kind] + text + "\n";
    return line;
  });
  const shown = document.createElement("pre");
  shown.className = "diff";
  shown.append(...lines);
  const apply = document.createElement("button");
  apply.type = "button";
  apply.id = "apply";
  apply.textContent = what === "fence" ? "Put these fences into the program" : "Put these orders into the program";
  apply.addEventListener("click", () => {
    changes.hidden = true;
    replace(changed);
    editor.focus();
  });
  changes.replaceChildren(shown, apply);
}

async function format() {
  if (language.value !== "pal") return;
  const answer = await ask<{ text?: string; problems?: Problem[] }>({ do: "format", text: text() }, 3).catch(() => undefined);
  if (answer?.text !== undefined && answer.text !== text()) replace(answer.text);
  if (answer?.problems) point(answer.problems);
}

/** The run that the frame shows, once the frame is there. */
let run: string | undefined;
let playerReady = false;

function play() {
  if (run && playerReady) player.contentWindow?.postMessage({ style: setup.style, player: run }, "*");
}

function show(answer: Answer) {
  verdict.className = answer.verdict;
  const headline = answer.verdict === "error" ? (answer.problems[0]?.message ?? answer.reason ?? "this is no program") : answer.headline;
  verdict.textContent = { holds: "✓ ", violated: "✗ ", unknown: "? ", error: "! " }[answer.verdict] + headline;
  if (answer.model && !(model.value && criterion.value) && answer.verdict !== "error") {
    const asked = document.createElement("small");
    asked.textContent = "asked: " + answer.criterion + " under " + answer.model;
    verdict.append(asked);
  }
  say.textContent = answer.text;
  find("saydetails").hidden = !answer.text;
  point(answer.problems);
  editor.dispatch({ effects: mark.of(answer.lines) });
  player.hidden = !answer.player;
  run = answer.player;
  play();
  picture.hidden = !answer.svg;
  const old = picture.querySelector("a");
  if (old) URL.revokeObjectURL(old.href);
  picture.replaceChildren();
  if (answer.svg) {
    const save = document.createElement("a");
    save.href = URL.createObjectURL(new Blob([answer.svg], { type: "image/svg+xml" }));
    save.download = "run.svg";
    save.textContent = "Save the picture (SVG)";
    picture.append(save);
  }
}

// ---- what is kept, and links ----

function keep() {
  const state = { text: text(), language: language.value, model: model.value, criterion: criterion.value };
  try {
    localStorage.setItem(KEPT, JSON.stringify(state));
  } catch {
    // Where nothing may be stored, nothing is.
  }
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

function begin(state: { text: string; language: string; model: string; criterion: string }, isFirst = false) {
  if (LANGUAGES.some(([id]) => id === state.language)) language.value = state.language;
  if (setup.models.some((m) => m.name === state.model)) model.value = state.model;
  offer();
  if ([...criterion.options].some((option) => option.value === state.criterion)) criterion.value = state.criterion;
  editor.dispatch({ effects: highlighting.reconfigure(highlighter()) });
  replace(state.text, isFirst);
}

async function share() {
  const url = await link({ text: text(), language: language.value, model: model.value, criterion: criterion.value });
  const button = find("share");
  const said = (what: string) => {
    button.textContent = what;
    setTimeout(() => (button.textContent = "Copy a link"), 2000);
  };
  if (url.length > LONGEST_LINK) return said("too long for a link");
  history_(url);
  try {
    await navigator.clipboard.writeText(url);
    said("copied");
  } catch {
    said("it is in the address bar");
  }
}

const history_ = (url: string) => window.history.replaceState(null, "", url);

async function main() {
  // On a small screen what is said in words is folded: the run is above it.
  if (innerWidth < 800) find<HTMLDetailsElement>("saydetails").open = false;
  options(example, [["", "choose …"], ...EXAMPLES.map(({ name }) => [name, name] as [string, string])]);
  options(language, LANGUAGES.map(([id, name]) => [id, name]));
  try {
    setup = await ask<Setup>({ do: "setup" }, 20);
  } catch (error) {
    verdict.className = "unknown";
    verdict.textContent = "This page could not be started: " + (error as Error).message;
    return;
  }
  find("version").textContent = "Palisade " + setup.version;
  options(model, [["", "by the program"], ...setup.models.map((m) => [m.name, m.name] as [string, string])]);
  offer();
  const state = (await carried(location.hash)) ?? kept();
  const first = EXAMPLES[0];
  begin(state && typeof state.text === "string" ? state : { ...first, model: "", criterion: "" }, true);
  document.body.dataset.ready = "yes";
  check();
}

example.addEventListener("change", () => {
  const chosen = EXAMPLES.find(({ name }) => name === example.value);
  if (!chosen) return;
  begin({ ...chosen, model: "", criterion: "" });
  check();
});
language.addEventListener("change", () => {
  editor.dispatch({ effects: highlighting.reconfigure(highlighter()) });
  keep();
  check();
});
model.addEventListener("change", () => (offer(), keep(), check()));
criterion.addEventListener("change", () => (keep(), check()));
find("check").addEventListener("click", check);
find("fence").addEventListener("click", () => repair("fence", "looking for fences …"));
find("orders").addEventListener("click", () => repair("orders", "looking for orders …"));
find("format").addEventListener("click", format);
find("share").addEventListener("click", share);
stopButton.addEventListener("click", () => stop("user"));
addEventListener("hashchange", async () => {
  const state = await carried(location.hash);
  if (state) begin(state);
});
addEventListener("message", (event) => {
  if (event.source !== player.contentWindow) return;
  if (typeof event.data?.height === "number") player.style.height = Math.min(4000, event.data.height + 2) + "px";
  if (event.data?.ready) {
    playerReady = true;
    play();
  }
});
// Only now, as it says at once that it is ready.
player.src = "player.html";

main();
