import assert from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pictureArguments, reportArguments, verdictOfStatus } from "./command";

test("arguments name the file and the page", () => {
  assert.ok(pictureArguments("a.pal", "b.html").includes("b.html"));
  assert.deepStrictEqual(reportArguments("a.pal", "b.html"), ["report", "a.pal", "-o", "b.html"]);
});

test("every status has its words", () => {
  const words = [0, 1, 2, 3].map(verdictOfStatus);
  assert.strictEqual(new Set(words).size, 4);
});

test("the grammar's patterns are regular expressions", () => {
  const path = join(__dirname, "..", "syntaxes", "pal.tmLanguage.json");
  const grammar = JSON.parse(readFileSync(path, "utf8"));
  for (const pattern of grammar.patterns) {
    for (const text of [pattern.match, pattern.begin, pattern.end]) {
      if (text) new RegExp(text);
    }
  }
});
