// The grammar gives every kind of word its scope, in every program of the project.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry } = require("vscode-textmate");
const root = join(import.meta.dirname, "..");

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new Registry({
  onigLib: Promise.resolve({ createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns), createOnigString: (text) => new oniguruma.OnigString(text) }),
  loadGrammar: async () => JSON.parse(readFileSync(join(root, "syntaxes/pal.tmLanguage.json"), "utf8")),
});
const grammar = await registry.loadGrammar("source.pal");

function scopes(text) {
  const found = [];
  let stack = INITIAL;
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    for (const token of tokens) {
      const word = line.slice(token.startIndex, token.endIndex).trim();
      if (word) found.push([word, token.scopes.at(-1)]);
    }
  }
  return found;
}

test("words have their scopes", () => {
  const text = `// a comment
/* two
 lines */ const N = 0x1F;
nonatomic shared d; shared x;
include "a.pal";
fn f(a) { return a; }
thread t[2] { let r = x.load(acquire); cs: skip; x.store(me, release); cas(x, 0, 1); if r == null { fence; } }
never t[0]@cs && deadlock;`;
  const found = scopes(text);
  const has = (word, scope) => assert.ok(found.some(([w, s]) => w === word && s.startsWith(scope)), word + " " + scope + " " + JSON.stringify(found.filter(([w]) => w.includes(word))));
  has("// a comment", "comment.line");
  has("lines", "comment.block");
  has("0x1F", "constant.numeric");
  has("acquire", "storage.modifier.order");
  has("nonatomic", "storage.modifier.order");
  has("load", "support.function");
  has("cas", "support.function");
  has("t", "entity.name.function");
  has("f", "entity.name.function");
  has("if", "keyword.control");
  has("never", "keyword.control");
  has("me", "constant.language");
  has("null", "constant.language");
  has("deadlock", "constant.language");
});

test("no program ends inside a comment or a string", () => {
  const programs = join(root, "../../programs");
  let count = 0;
  for (const directory of readdirSync(programs, { withFileTypes: true }).filter((d) => d.isDirectory()))
    for (const file of readdirSync(join(programs, directory.name)).filter((f) => f.endsWith(".pal"))) {
      const last = scopes(readFileSync(join(programs, directory.name, file), "utf8")).at(-1);
      assert.ok(!/^(comment\.block|string)/.test(last[1]), file);
      count++;
    }
  assert.ok(count > 200, String(count));
});
