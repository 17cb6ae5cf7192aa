// The page as people use it, in Chromium: needs the built page (web/build) and a Chromium.
import assert from "node:assert/strict";
import { createReadStream, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";

const dist = join(import.meta.dirname, "../dist");
const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
const missing = !browserPath ? "no Chromium here" : !existsSync(join(dist, "palisade.wasm")) ? "the page is not built: web/build" : false;
const pictures = process.env.SCREENSHOTS;

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const PATIENCE = 60_000;
const ENDLESS = "shared x, y;\nthread p { loop { x = y + 1; } }\nthread q { loop { y = x + 1; } }\nnever x == 0 - 7;\n";

let server, browser, address;

before(async () => {
  if (missing) return;
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://h").pathname);
    const file = join(dist, path === "/" ? "index.html" : path);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** A page that is ready; what goes wrong in it is an error here. */
async function opened(options = {}, at = address) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.wrong.push(message.text()));
  await page.goto(at);
  await page.waitForSelector("body[data-ready=yes]", { timeout: PATIENCE });
  await verdict(page);
  return page;
}

const close = async (page) => {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
};

async function verdict(page) {
  const found = await page.waitForSelector("#verdict:is(.holds, .violated, .unknown, .error)", { timeout: PATIENCE });
  return found.getAttribute("class");
}

/** Whatever verdict comes now is a new one. */
const forget = (page) => page.evaluate(() => (document.getElementById("verdict").className = ""));

async function write(page, text) {
  await forget(page);
  await page.click(".cm-content");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  return verdict(page);
}

const text = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("palisade.program")).text);

const it = (name, run) => test(name, { skip: missing, timeout: 300_000 }, run);

it("every example has an answer", async () => {
  const page = await opened();
  const names = await page.$$eval("#example option", (all) => all.map((option) => option.value).filter(Boolean));
  assert.ok(names.length >= 12);
  const seen = new Set();
  for (const name of names) {
    await forget(page);
    await page.selectOption("#example", name);
    const found = await verdict(page);
    assert.notEqual(found, "error", name + ": " + (await page.textContent("#verdict")));
    seen.add(found);
  }
  assert.ok(seen.has("holds") && seen.has("violated"));
  await close(page);
});

it("every model and criterion can be asked", async () => {
  const page = await opened();
  const values = (id) => page.$$eval(`#${id} option`, (all) => all.map((option) => option.value));
  let pairs = 0;
  for (const model of await values("model")) {
    await page.selectOption("#model", model);
    for (const criterion of await values("criterion")) {
      if (!model && criterion) continue;
      await forget(page);
      await page.selectOption("#criterion", criterion);
      await page.click("#check");
      const found = await verdict(page);
      assert.ok(["holds", "violated"].includes(found), [model, criterion, found, await page.textContent("#verdict")].join(" "));
      pairs++;
    }
  }
  assert.ok(pairs > 15, String(pairs));
  await close(page);
});

it("a mistake is shown in its place", async () => {
  const page = await opened();
  assert.equal(await write(page, "shared flag;\nthread t { flga = 1; }\n"), "error");
  await page.waitForSelector(".cm-lint-marker-error");
  assert.equal(await page.textContent(".cm-lintRange-error"), "flga");
  await close(page);
});

it("fences are a difference to apply, and the run is played beside the text", async () => {
  const page = await opened();
  assert.equal(await verdict(page), "violated");
  const frame = page.frameLocator("#player");
  await frame.locator("[data-go=on]").first().click();
  await frame.locator("output", { hasText: /step 1 of/ }).first().waitFor({ timeout: PATIENCE });
  assert.ok((await frame.locator(".beside tr.now").count()) === 1);
  await forget(page);
  await page.click("#fence");
  assert.equal(await verdict(page), "holds");
  assert.match(await page.textContent(".diff .add"), /fence;/);
  await forget(page);
  await page.click("#apply");
  assert.equal(await verdict(page), "holds");
  assert.match(await text(page), /fence;/);
  // It can be taken back.
  await page.click(".cm-content");
  await page.keyboard.press("Control+z");
  await page.waitForSelector("#verdict.violated", { timeout: PATIENCE });
  await close(page);
});

it("texts that are put in are taken back one by one, but for the first", async () => {
  const page = await opened();
  const first = await text(page);
  // Both at once: nobody is that fast, but a browser that a test drives is nearly.
  const chosen = await page.evaluate(() => {
    const example = document.getElementById("example");
    return [2, 3].map((index) => {
      example.selectedIndex = index;
      example.dispatchEvent(new Event("change"));
      return JSON.parse(localStorage.getItem("palisade.program")).text;
    });
  });
  assert.equal(await text(page), chosen[1]);
  await page.click(".cm-content");
  for (const expected of [chosen[0], first, first]) {
    await page.keyboard.press("Control+z");
    assert.equal(await text(page), expected);
  }
  await close(page);
});

it("a link carries the program, and a reload keeps it", async () => {
  const page = await opened();
  const mine = "shared zebra;\nthread t { zebra = 1; }\n";
  await write(page, mine);
  await page.selectOption("#model", "ra");
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#p="));
  const link = page.url();
  await page.reload();
  await page.waitForSelector("body[data-ready=yes]", { timeout: PATIENCE });
  assert.equal(await text(page), mine);
  await close(page);
  const other = await opened({}, link);
  assert.equal(await text(other), mine);
  assert.equal(await other.inputValue("#model"), "ra");
  await close(other);
  // A link that was cut is none.
  const broken = await opened({}, link.slice(0, -9) + "!");
  assert.match(await text(broken), /shared/);
  await close(broken);
});

it("a search without an end is stopped, by the limit and by the user", async () => {
  const page = await opened();
  await page.selectOption("#seconds", "3");
  assert.equal(await write(page, ENDLESS), "unknown");
  await page.selectOption("#seconds", "60");
  await forget(page);
  await page.click("#check");
  await page.waitForSelector("#stop:not([hidden])");
  await page.click("#stop");
  assert.equal(await verdict(page), "unknown");
  assert.match(await page.textContent("#verdict"), /stopped/);
  // The page goes on.
  assert.equal(await write(page, "shared x;\nthread t { x = 1; }\n"), "holds");
  await close(page);
});

it("it is written in one way, by a key", async () => {
  const page = await opened();
  await write(page, "shared x;\nthread t{x=1;}\n");
  await page.keyboard.press("Shift+Alt+F");
  await page.waitForFunction(() => JSON.parse(localStorage.getItem("palisade.program")).text.includes("thread t { x = 1; }"));
  await forget(page);
  await page.keyboard.press("Control+Enter");
  assert.equal(await verdict(page), "holds");
  await close(page);
});

for (const [name, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true, isMobile: true },
}))
  it(`it fits: ${name}`, async () => {
    const page = await opened(options);
    await page.selectOption("#example", "Peterson's lock");
    await page.waitForSelector("#verdict.violated", { timeout: PATIENCE });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} pixels too wide`);
    // The run in words, and what is said below it, is as wide as there is room.
    await page.evaluate(() => (document.getElementById("saydetails").open = true));
    const cut = await page.evaluate(() => document.getElementById("say").scrollWidth - document.getElementById("say").clientWidth);
    assert.ok(cut <= 0, `${cut} pixels of the text are cut`);
    if (pictures) {
      mkdirSync(pictures, { recursive: true });
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(pictures, `page-${name}.png`), fullPage: true });
    }
    await close(page);
  });
