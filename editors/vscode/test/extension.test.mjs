// The extension's own logic, and its bundle with an editor that is none.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

const root = join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);

const bundled = (file) => {
  const out = mkdtempSync(join(tmpdir(), "palisade-"));
  execFileSync(join(root, "node_modules/.bin/esbuild"), [join(root, file), "--bundle", "--platform=node", "--format=cjs", "--external:vscode", "--log-level=warning", "--outfile=" + join(out, "it.js")]);
  const found = require(join(out, "it.js"));
  rmSync(out, { recursive: true });
  return found;
};
const { settings, selector, panel } = bundled("src/shown.ts");

test("the settings are the server's, and auto is nothing", () => {
  const all = { timeout: 3, memory: 100, model: "auto", criterion: "safe", checkOnSave: true, rust: false };
  assert.deepEqual(settings((name) => all[name]), { ...all, model: undefined });
});

test("C and Rust files are looked at only where that is wanted", () => {
  const languages = (chosen) => selector((name) => chosen[name]).map(({ language }) => language);
  assert.deepEqual(languages({}), ["pal", "palisade-litmus", "palisade-tpl"]);
  assert.ok(languages({ c: true }).includes("c") && !languages({ c: true }).includes("rust"));
  assert.ok(languages({ rust: true }).includes("rust"));
});

test("a run is shown as it is, anything else as text", () => {
  assert.equal(panel({ html: "<p>" }), "<p>");
  assert.ok(panel({ headline: "<script>" }).includes("&#60;script&#62;"));
});

test("what the package names is there", () => {
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const file of [about.main, about.contributes.grammars[0].path, about.contributes.languages[0].configuration]) assert.ok(existsSync(join(root, file)), file);
});

test("the bundle starts and registers its commands", async () => {
  const registered = [];
  const nothing = () => ({ dispose() {} });
  const anything = new Proxy(function () {}, { get: (_, name) => (name === "prototype" ? {} : name === Symbol.toPrimitive ? () => "" : anything), apply: () => anything, construct: () => ({}) });
  const vscode = new Proxy(
    {
      commands: { registerCommand: (name) => (registered.push(name), nothing()), executeCommand: async () => {} },
      workspace: new Proxy({ onDidChangeConfiguration: nothing, getConfiguration: () => ({ get: (name, usual) => (name === "command" ? "/nowhere/palisade" : usual) }) }, { get: (all, name) => all[name] ?? anything }),
      window: new Proxy({ showErrorMessage: async () => undefined }, { get: (all, name) => all[name] ?? anything }),
    },
    { get: (all, name) => all[name] ?? (/^[A-Z]/.test(String(name)) ? class {} : anything), has: () => true },
  );
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  try {
    const { activate } = require(join(root, "out/extension.js"));
    await Promise.race([activate({ subscriptions: [] }).catch(() => {}), new Promise((done) => setTimeout(done, 3000))]);
  } finally {
    Module._load = load;
  }
  const offered = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).contributes.commands;
  assert.deepEqual(registered.sort(), offered.map(({ command }) => command).sort());
});

// The real server, where it is built: what the extension sends and reads.
const command = process.env.PALISADE ?? join(root, "../../target/debug/palisade");
const built = existsSync(command) && spawnSync(command, ["lsp", "--help"]).status === 0;
test("the server answers what the extension asks", { skip: built ? false : "no palisade: build it, or set PALISADE" }, async () => {
  const server = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  let [read, waiting] = [Buffer.alloc(0), new Map()];
  server.stdout.on("data", (data) => {
    read = Buffer.concat([read, data]);
    for (;;) {
      const head = /^(?:.*\r\n)*?Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(read.toString("latin1"));
      if (!head || read.length < head[0].length + Number(head[1])) return;
      const message = JSON.parse(read.subarray(head[0].length, head[0].length + Number(head[1])).toString());
      read = read.subarray(head[0].length + Number(head[1]));
      const key = message.method ?? message.id;
      waiting.get(key)?.(message);
    }
  });
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const wait = (key) => new Promise((found) => waiting.set(key, found));
  let ids = 0;
  const ask = async (method, params) => {
    const answer = wait(++ids);
    send({ id: ids, method, params });
    return (await answer).result;
  };
  await ask("initialize", { capabilities: { workspace: { codeLens: { refreshSupport: true } } }, initializationOptions: settings((name) => ({ timeout: 30, model: "auto", criterion: "auto", checkOnSave: true, rust: false, memory: 1000 })[name]) });
  send({ method: "initialized", params: {} });
  const text = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";
  const checked = wait("workspace/codeLens/refresh");
  send({ method: "textDocument/didOpen", params: { textDocument: { uri: "file:///sb.pal", languageId: "pal", version: 1, text } } });
  await checked;
  const run = await ask("palisade/run", { uri: "file:///sb.pal" });
  assert.ok(panel(run).includes('class="player"'));
  await ask("shutdown");
  send({ method: "exit" });
  assert.equal(await new Promise((done) => server.on("exit", done)), 0);
});
