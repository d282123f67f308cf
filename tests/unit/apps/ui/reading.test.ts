import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { openJobs } from "../../../../src/apps/ui/jobs.ts";
import { openIndexes } from "../../../../src/apps/ui/open-indexes.ts";
import { openSearches } from "../../../../src/apps/ui/open-searches.ts";
import { openTables } from "../../../../src/apps/ui/open-tables.ts";
import { routes } from "../../../../src/apps/ui/routes.ts";
import { reserve } from "../../../../src/results/ledger/reservations.ts";
import { foldSteps } from "../../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../../src/results/retention/free-records.ts";
import {
  evaluationPlanKey,
  failureKey,
  recordedStepKey,
  trajectoryKey,
  turnKey,
} from "../../../../src/run/store/keys.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { trajectoryOf } from "../../../../src/run/trajectory/trajectory-of.ts";
import { makeRun } from "../../../support/made-run.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";

const sample = await writeSampleRun();
const { runs } = sample;
const parts = { format: 0.25, "length penalty": -0.5 };
const made = await makeRun(runs, {
  steps: 5,
  trajectories: 4,
  turns: 1,
  tokens: 4,
  singleRecords: 1,
  metrics: parts,
});
await foldSteps(made, 5);
await freeRecords(made, 4);
const folded = trajectoryReader(made);
const app = routes({
  runs,
  tables: openTables(),
  indexes: openIndexes(60_000),
  searches: openSearches(),
  jobs: openJobs(),
});
const page = async (path: string) => (await app.request(`http://127.0.0.1/runs/${path}`)).text();
const step = (number: number) => page(`calculator-sample/steps/${number}`);

test("a step's page has titles, units and meanings from the schema, and no field names", async () => {
  const text = await step(1);
  expect(text).toContain("<dt>Tool-call rate</dt>");
  expect(text).toContain("Share of valid tool calls; 1 if there were no calls.");
  expect(text).toMatch(/<dt>KL<\/dt><dd class="amount">[\d.]+ nats</);
  expect(text).toMatch(/<dt>Success rate<\/dt><dd class="amount">[\d.]+ %</);
  expect(text).toMatch(/<dt>Total<\/dt><dd class="amount">[\d.]+ s</);
  expect(text).toContain("calculator: TOOL_FAILED: the host is down");
  const record = await sample.store.read(recordedStepKey(1));
  for (const name of Object.keys(record ?? {}).filter((key) => /[A-Z]/.test(key)))
    expect(text).not.toContain(name);
  expect(text).not.toContain("{&quot;");
});

test("it compares each number with the step before, and marks the step in the run's curves", async () => {
  expect(await step(1)).not.toContain("before: ");
  const text = await step(2);
  expect(text).toMatch(/<dt>Entropy<\/dt><dd class="amount">[\d.]+ nats<span>before: [\d.]+ nats</);
  expect(text).toMatch(/aria-label="Mean reward">.*<line class="mark"/s);
  expect(text).toContain('aria-label="Rewards"');
});

test("only steps that were recorded are linked", async () => {
  expect(await step(1)).not.toContain("/steps/0");
  expect(await step(1)).toContain("/steps/2");
  expect(await step(4)).toContain("/steps/3");
  expect(await step(4)).not.toContain("/steps/5");
});

test("a step's page lists the conditions that hold at the step", async () => {
  expect(await step(2)).not.toContain("What to try");
  const key = recordedStepKey(5);
  const last = await sample.store.read(recordedStepKey(4));
  if (last === undefined) throw new Error("there is no step 4");
  await sample.store.record(key, {
    ...last,
    step: 5,
    policyVersion: 6,
    leftOut: 8,
    leftOutReasons: { "search: timed out after 10 s": 8 },
  });
  const text = await step(5);
  expect(text.includes("overload, step 5")).toBe(true);
  expect(text).toContain("What to try");
});

test("a trajectory's page has its neighbors, its group with rewards, and a timeline", async () => {
  const text = await page("calculator-sample/trajectories/step-0001/task-01009/0");
  expect(text).toMatch(/href="[^"]*\/task-01008\/0">← previous/);
  expect(text).toMatch(/href="[^"]*\/task-01010\/0">next →/);
  expect(text).toContain('<a href="#turn-1">turn 1</a>');
  expect(text).toMatch(/calculator<\/td>.*<td>3 attempts<\/td>/);
  expect(text).not.toContain("<h2>Group</h2>"); // a group of one
});

test("the timeline lists failed attempts with their reasons", async () => {
  const name = trajectoryOf("calculator-sample/step-0001/task-01009/0");
  const reason = "the host <b>is</b> down";
  const failure = { at: "2025-11-21T06:00:01.000Z", attempt: 4, code: "TOOL_FAILED", reason };
  await sample.store.record(failureKey(name, { turn: 1, call: 0 }, 1), failure);
  expect(await page("calculator-sample/trajectories/step-0001/task-01009/0")).toContain(
    "attempt 1 failed at 06:00:01 UTC: TOOL_FAILED: the host &lt;b&gt;is&lt;/b&gt; down",
  );
});

test("the list of trajectories filters and sorts without DuckDB", async () => {
  const tables = { use: () => Promise.reject(new Error("DuckDB was asked")), close: async () => {} };
  const own = routes({
    runs,
    tables,
    indexes: openIndexes(60_000),
    searches: openSearches(),
    jobs: openJobs(),
  });
  const list = async (query: string) => {
    const text = await (
      await own.request(`http://127.0.0.1/runs/calculator-sample/trajectories?${query}`)
    ).text();
    return [...text.matchAll(/<td><a href="[^"]*">([^<]*)<\/a><\/td>/g)].map(([, id]) => id);
  };
  expect(await list("")).toHaveLength(50);
  expect(await list("page=2")).toHaveLength(6);
  const sorted = await list("stage=step-0001&sort=trajectory+desc");
  expect(sorted[0]).toBe("step-0001/task-01015/0");
  expect(sorted).toHaveLength(8);
  expect(await list("stage=step-0001&outcome=left-out")).toEqual(["step-0001/task-01010/0"]);
  expect(await list("stage=step-0001&tool=calculator&sort=reward+desc,turns")).toContain(
    "step-0001/task-01009/0",
  );
  const task = await own.request("http://127.0.0.1/runs/calculator-sample/tasks/task-00000");
  expect(await task.text()).toContain("evaluation-v0000/task-00000/0");
});

test("the list shows the parts of rewards, of single records and of step files, with and without a condition", async () => {
  const shown = async (query: string) => {
    const text = await page(`made/trajectories?${query}`);
    return text.match(/<td class="text">format 0\.25 · length penalty -0\.5<\/td>/g)?.length;
  };
  expect(await shown("")).toBe(20);
  expect(await shown("stage=step-0001")).toBe(4);
  expect(await shown("stage=step-0005")).toBe(4);
  expect(await shown("where=metrics['format']>0")).toBe(20);
});

test("a task's plot is over policy versions", async () => {
  const [first] = await folded.folded("step-0001");
  const text = await page(`made/tasks/${first?.task}`);
  expect(text).toMatch(/policy version 0\nreward: \d/);
  expect(text).not.toMatch(/>step</);
  expect(text).not.toMatch(/>step \d/);
});

test("the list links to the trajectories in progress, and a page without matches gives advice", async () => {
  const text = await page("calculator-sample/trajectories?stage=step-0005");
  expect(text).toContain("No finished trajectory matches. Try fewer filters.");
  expect(text).toMatch(/<h2>Not finished: 1<\/h2>.*\/trajectories\/step-0005\/task-05000\/0"/);
});

test("an order by a column that does not exist is refused with the columns", async () => {
  expect(await page("calculator-sample/trajectories?sort=rewrd")).toContain("“rewrd” is not a column");
});

test("a search covers single records and step files, and marks the text in each trajectory once", async () => {
  const found = async (run: string, wanted: string) => {
    for (;;) {
      const part = await app.request(
        `http://127.0.0.1/runs/${run}/parts/search?text=${encodeURIComponent(wanted)}`,
      );
      const content = await part.text();
      if (!content.includes("at work")) return content;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const single = await found("calculator-sample", "287 - 813 - 977");
  expect(single).toContain("step-0005/task-05000/0#turn-1");
  expect(single).toContain("1 trajectory found in 57 searched");
  expect(await found("calculator-sample", "no such text")).toContain("0 trajectories found in 57 searched");
  const [first] = await folded.list({ stage: "step-0001" });
  if (first === undefined) throw new Error("there is no trajectory");
  expect(await made.store.read(turnKey(first, 1))).toBe(undefined); // only the step's file has it
  const record = await folded.read(turnKey(first, 1));
  const text = record?.action.text.toUpperCase() ?? "";
  expect(await found("made", text)).toContain(`/made/trajectories/step-0001/${first.task}/0#turn-1`);
});

test("a search that is not escaped finds its text literally", async () => {
  expect(await page("calculator-sample/search?text=%3Cscript%3E.*%28")).toContain(
    'value="&lt;script&gt;.*(" placeholder',
  );
});

test("several runs are drawn in one plot", async () => {
  const text = await (
    await app.request("http://127.0.0.1/compare-runs?run=calculator-sample&run=made&run=made")
  ).text();
  expect(text).toMatch(/Success rate<\/h3>.*class="orange"><\/i>made<.*class="aqua"><\/i>made</s);
  const two = await (
    await app.request("http://127.0.0.1/compare-runs?first=calculator-sample&second=made")
  ).text();
  expect(two).toContain("Compare their last evaluations task by task");
});

test("a run's page loads histograms of its rewards by step", async () => {
  expect(await page("calculator-sample")).toContain('hx-get="/runs/calculator-sample/parts/rewards"');
  await page("calculator-sample/trajectories");
  expect(await page("calculator-sample/parts/rewards")).toMatch(
    /step 1\nreward 0 to 0\.1: \d of 7 trajectories/,
  );
});

test("a run's log shows the end of the file that is named, and no other file", async () => {
  expect(await page("calculator-sample/log")).toContain("This run has no logs here");
  mkdirSync(dirname(sample.folder.log("session")), { recursive: true });
  writeFileSync(sample.folder.log("session"), `${"x".repeat(100_000)}the <end>`);
  const text = await page("calculator-sample/log");
  expect(text).toContain("The last 65,536 of 100,009 bytes of");
  expect(text).toContain("the &lt;end&gt;</pre>");
  expect(await page("calculator-sample/parts/log?name=../run")).toContain("There is no such log.");
});

test("the list of runs names models, algorithms and durations", async () => {
  const text = await (await app.request("http://127.0.0.1/")).text();
  expect(text).toMatch(
    /<th scope="col" class="text">model<\/th><th scope="col" class="text">algorithm<\/th>/,
  );
  expect(text).toMatch(
    /<td class="text">from random weights<\/td><td class="text">trainer-onnx<\/td><td>\d of 4<\/td>/,
  );
  expect(text).toMatch(/<td>[\d,]+ h \d\d min<\/td>/);
});

test("the list of runs leaves out the time in which nothing worked on a run", async () => {
  const began = Date.parse("2026-11-22T06:00:00.000Z");
  const at = (minutes: number) => began + minutes * 60_000;
  const sessions = [{ begin: at(0) }, { end: at(10) }, { begin: at(110) }];
  writeFileSync(made.folder.sessions, sessions.map((line) => `${JSON.stringify(line)}\n`).join(""));
  utimesSync(made.folder.metrics, at(120) / 1000, at(120) / 1000);
  const text = await (await app.request("http://127.0.0.1/")).text();
  expect(text).toMatch(/\/runs\/made".*<td>20 min[^<]*<\/td>/);
});

test("evaluations that run show how many trajectories have ended", async () => {
  expect(await page("made/evaluations")).not.toContain("<progress");
  const stage = "evaluation-again";
  const plan = { name: stage, step: 5, policyVersion: 5 };
  await made.store.record(evaluationPlanKey(stage), plan);
  const groups = [{ task: "task-00000", samples: [0, 1] }];
  await reserve(made.store, { stage, groups });
  const [first] = await folded.list({ stage: "step-0005" });
  const record = first === undefined ? undefined : await folded.read(trajectoryKey(first));
  if (record === undefined) throw new Error("there is no record");
  const name = { stage, task: "task-00000", sample: 0 };
  await made.store.record(trajectoryKey(name), {
    ...record,
    id: `made/${stage}/task-00000/0`,
    stage,
    sample: 0,
  });
  const text = await page("made/evaluations");
  expect(text).toContain('<progress aria-label="evaluation-again" value="1" max="2">');
  expect(text).toContain("1 of 2 trajectories");
});

test("while the trajectories are read, the list shows how far that is, and reloads itself at the end", async () => {
  const jobs = openJobs();
  const own = routes({ runs, tables: openTables(), indexes: openIndexes(0), searches: openSearches(), jobs });
  const ask = async (path: string) => await own.request(`http://127.0.0.1/runs/calculator-sample/${path}`);
  const text = await (await ask("trajectories")).text();
  expect(text).toContain("Reading the run&#39;s trajectories");
  expect(text).toContain('hx-get="/runs/calculator-sample/parts/index"');
  await vi.waitFor(
    async () => expect((await ask("parts/index")).headers.get("hx-refresh")).toBe("true"),
    30_000,
  );
  expect(await (await ask("trajectories")).text()).toContain("1 to 50 of");
});

test("the page after a failed read shows the failure, and the one after that reads again", async () => {
  const indexes = openIndexes(60_000);
  const lengthOf = async () => (await indexes.of({ ...made, store, unreadable: new Set() })).rows.length;
  let isBroken = true;
  const store = {
    ...made.store,
    list: (...place: Parameters<typeof made.store.list>) => {
      if (isBroken) throw new Error("the store is down");
      return made.store.list(...place);
    },
  };
  await expect(lengthOf()).rejects.toThrow("the store is down");
  isBroken = false;
  expect(await lengthOf()).toBeGreaterThan(0);
});
