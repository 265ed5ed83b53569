// What a person does with the dashboard, in Debian's Chromium, and what axe-core
// says about every page. Environment: URL (of the port), API_KEY, CURSORTRAY (the
// program), SERVER_ENV (JSON, the environment of the instance), CHROMIUM (a
// program), SHOTS (a folder for pictures).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";

const { URL: ROOT, API_KEY, CURSORTRAY, CHROMIUM, SHOTS } = process.env;
const serverEnv = JSON.parse(process.env.SERVER_ENV);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const names = ["overview", "conversations", "models", "spend", "requests", "editors", "settings", "diagnosis", "start"];
const schemes = ["light", "dark"];
const widths = [1280, 380];

const run = (...args) => execFileSync(CURSORTRAY, args, { env: serverEnv, encoding: "utf8" }).trim();
const at = (name) => `${ROOT}/dashboard/${name}`;

let browser;
before(async () => { browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] }); });
after(() => browser?.close());

// ask sends a conversation to the port and returns it with the answer.
async function ask(messages) {
  const answer = await fetch(`${ROOT}/v1/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "demo-large", messages }),
  });
  assert.equal(answer.status, 200);
  return [...messages, (await answer.json()).choices[0].message];
}

// enter opens a page by a link of its own. What the browser complains about is
// collected: a breach of the policy is one of these.
async function enter(t, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") page.complaints.push(m.text()); });
  page.on("pageerror", (e) => page.complaints.push(String(e)));
  await page.goto(run("open", name, "--no-browser"));
  assert.equal(page.url(), at(name));
  return page;
}

// settled waits until the stream has told the page all there is.
const settled = (page) => page.waitForFunction(() => performance.getEntriesByType("resource").length > 0 && document.readyState === "complete");

test("a link opens the dashboard once", async (t) => {
  const link = run("open", "--no-browser");
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  // The first page is already one of those that need the cookie.
  const first = await page.goto(link);
  assert.equal(first.status(), 200);
  assert.equal(page.url(), at("overview"));
  assert.equal(await page.locator("h1").innerText(), "Overview");
  const [cookie] = await context.cookies(at(""));
  assert.equal(cookie.sameSite, "Strict");
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.path, "/dashboard/");
  assert.equal(await page.evaluate(() => document.cookie), "");
  await page.reload();
  assert.equal(await page.locator("h1").innerText(), "Overview");

  const stranger = await browser.newContext();
  t.after(() => stranger.close());
  const locked = await stranger.newPage();
  assert.equal((await locked.goto(link)).status(), 401);
  assert.match(await locked.locator("main").innerText(), /cursortray open/);
  assert.equal((await locked.goto(at("settings"))).status(), 401);
  await locked.screenshot({ path: path.join(SHOTS, "locked.png") });
});

test("a link in a web page does not get in", async (t) => {
  const page = await enter(t, "overview");
  await page.route("http://127.0.0.1:1/", (route) => route.fulfill({ contentType: "text/html", body: `<a href="${at("overview")}">x</a>` }));
  await page.goto("http://127.0.0.1:1/");
  const [answer] = await Promise.all([page.waitForNavigation(), page.click("a")]);
  assert.equal(answer.status(), 403);
});

test("an open page follows", async (t) => {
  const page = await enter(t, "overview");
  await page.evaluate(() => { window.notReloaded = true; });
  const talks = page.locator(".talks li");
  const had = await talks.count();
  let talk = await ask([{ role: "user", content: "Say hello" }]);
  await talks.nth(had).waitFor();
  talk = await ask([...talk, { role: "user", content: "And again" }]);
  await ask([...talk, { role: "user", content: "And once more" }]);
  await page.getByText("3 turns").waitFor();
  assert.equal(await page.evaluate(() => window.notReloaded), true);
  await page.click(".talks a");
  await page.locator(".plot canvas").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("what somebody types stays while the page follows", async (t) => {
  const page = await enter(t, "settings");
  const field = page.locator("#set-agent_url");
  await field.fill("https://half.typed");
  run("stop");
  run("start");
  await page.locator(".bar-state", { hasText: "Running" }).waitFor();
  assert.equal(await field.inputValue(), "https://half.typed");
});

test("settings are checked and saved", async (t) => {
  const page = await enter(t, "settings");
  const file = await page.locator(".row code").first().innerText();
  await page.locator("#set-telemetry").click();
  await page.getByText("Saved.").waitFor();
  assert.match(readFileSync(file, "utf8"), /^telemetry = true$/m);
  await page.locator("#set-agent_max_runs").fill("9999");
  await page.getByRole("button", { name: "Save agent_max_runs" }).click();
  await page.getByText("must be a whole number").waitFor();
  assert.equal(await page.locator("#set-agent_max_runs").inputValue(), "9999");
  assert.doesNotMatch(readFileSync(file, "utf8"), /agent_max_runs/);
  await page.locator("#set-telemetry").click();
  await page.waitForFunction(() => !document.querySelector("#set-telemetry").checked);
});

test("the key shows after a click only", async (t) => {
  const page = await enter(t, "editors");
  assert.ok(!(await page.content()).includes(API_KEY));
  await page.getByRole("button", { name: "Show the key" }).click();
  assert.equal(await page.locator("#main-key").inputValue(), API_KEY);
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByRole("button", { name: "Show the key" }).waitFor();
  assert.ok(!(await page.content()).includes(API_KEY));
});

test("models are searched and sorted in place", async (t) => {
  const page = await enter(t, "models");
  await page.evaluate(() => { window.notReloaded = true; });
  const rows = page.locator("table.models tbody tr");
  assert.equal(await rows.count(), 2);
  await page.locator("#q").pressSequentially("small");
  await page.waitForFunction(() => document.querySelectorAll("table.models tbody tr").length === 1);
  assert.equal(await page.locator("#q").inputValue(), "small");
  assert.match(page.url(), /q=small/);
  await page.locator("#q").fill("");
  await page.waitForFunction(() => document.querySelectorAll("table.models tbody tr").length === 2);
  await page.locator("#sort-window").click();
  await page.locator("th[aria-sort=ascending]").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "sort-window");
  assert.equal(await page.evaluate(() => window.notReloaded), true);
});

test("everything works without scripts", async (t) => {
  const page = await enter(t, "models", { javaScriptEnabled: false });
  await page.locator("#q").fill("small");
  await page.getByRole("button", { name: "Search" }).click();
  assert.equal(await page.locator("table.models tbody tr").count(), 1);
  await page.goto(at("settings"));
  await page.locator("#set-telemetry").check();
  await page.getByRole("button", { name: "Save telemetry" }).click();
  assert.equal(page.url(), at("settings"));
  assert.match(await page.locator("#flash").innerText(), /Saved/);
  assert.ok(await page.locator("#set-telemetry").isChecked());
  await page.locator("#set-telemetry").uncheck();
  await page.getByRole("button", { name: "Save telemetry" }).click();
  await page.goto(at("diagnosis"));
  await page.getByRole("button", { name: "Check now" }).click();
  await page.locator(".checks li").first().waitFor();
  await page.goto(at("editors"));
  await page.getByRole("button", { name: "Show the key" }).click();
  assert.equal(await page.locator("#main-key").inputValue(), API_KEY);
});

test("the keyboard reaches everything and is never lost", async (t) => {
  for (const name of names) {
    const page = await enter(t, name);
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    const stops = await page.evaluate(() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")]
      .filter((e) => !e.disabled && e.checkVisibility()).length);
    let reached = 1;
    for (;;) {
      await page.keyboard.press("Tab");
      const here = await page.evaluate(() => {
        const e = document.activeElement;
        if (e === document.body) return null;
        const style = getComputedStyle(e);
        return { what: e.outerHTML.slice(0, 120), seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
      });
      if (!here) break;
      assert.ok(here.seen, `${name}: the focus does not show on ${here.what}`);
      reached++;
      assert.ok(reached <= stops, `${name}: the focus goes in a circle`);
    }
    assert.equal(reached, stops, `${name}: stops of the keyboard`);
  }
  const page = await enter(t, "overview");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});

for (const scheme of schemes) {
  for (const width of widths) {
    test(`every page, ${scheme}, ${width} px wide`, async (t) => {
      const page = await enter(t, "overview", { colorScheme: scheme, viewport: { width, height: 860 } });
      for (const name of names) {
        const by = name === "editors" ? "editors?editor=opencode" : name;
        await page.goto(at(by));
        await settled(page);
        if (name === "diagnosis") {
          await page.locator("#examine").click();
          await page.locator(".checks li").first().waitFor();
        }
        if (name === "conversations" || name === "spend") await page.locator(".plot canvas").waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `${name} scrolls sideways by ${wide} px`);
        await page.screenshot({ path: path.join(SHOTS, `${name}-${scheme}-${width}.png`), fullPage: true });
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const found = violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
        assert.deepEqual(found, [], name);
      }
      assert.deepEqual(page.complaints, []);
    });
  }
}

test("a page says when the program is gone, and goes on when it is back", async (t) => {
  const page = await enter(t, "overview");
  run("stop");
  await page.getByText("cursortray does not answer").waitFor();
  run("start");
  await page.locator("#gone").waitFor({ state: "hidden" });
});
