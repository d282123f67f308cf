import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registerReport } from "../../../../src/apps/cli/commands/report.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { Media, Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import type { RecordedTurn } from "../../../../src/contracts/recorded-turn.ts";
import type { EvaluationRecord } from "../../../../src/contracts/run.ts";
import { writeReport } from "../../../../src/results/report/write-report.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { evaluationKey, recordedStepKey, trajectoryKey, turnKey } from "../../../../src/run/store/keys.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { png } from "../../../support/images.ts";
import { type SampleRun, writeSampleRun } from "../../../support/sample-run.ts";
import { changeRecord } from "../../../support/stored-record.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

async function reportOf({ runs, id, folder }: SampleRun): Promise<string> {
  await writeReport(await openRunFolder(runs, id));
  return readFile(folder.report, "utf8");
}

/** Changes what the steps recorded. */
function changeSteps({ folder }: SampleRun, how: (record: StepRecord) => StepRecord): void {
  for (const step of [1, 2, 3, 4]) changeRecord(join(folder.root, recordedStepKey(step).path), how);
}

/** What a reader sees of a page, without its hover texts. */
function textOf(page: string): string {
  const body = page.replace(/<(style|title)[\s\S]*?<\/\1>/g, "").replace(/<[^>]+>/g, " ");
  return body.replace(/\s+/g, " ");
}

test("shows the headline, every plot, trajectories before and after, and the last steps", async () => {
  const run = await writeSampleRun();
  const page = await reportOf(run);
  const text = textOf(page);
  for (const title of ["Accuracy over the run", "Reward", "Tool use", "KL", "Entropy", "Clip fraction"]) {
    expect(page).toContain(`<h3>${title}</h3>`);
  }
  for (const title of [
    "Value loss",
    "Gradient norm",
    "Time by phase",
    "Action tokens",
    "Turns",
    "Left out",
  ]) {
    expect(page).toContain(`<h3>${title}</h3>`);
  }
  expect(text).toContain("policy as built 0 %");
  expect(text).toMatch(/after the warm start 16\.7 % .*after reinforcement learning [\d.]+ %/);
  expect(text).toContain("reinforcement learning: 4 steps of 8 trajectories");
  expect(text).toMatch(/Of 6 held-out tasks: \d newly solved/);
  expect(text).toMatch(/before reinforcement learning \(version 1\) .* after step 4 \(version 5\)/);
  expect(text).toContain("31 trajectories trained on, 1 left out");
  expect(text).toContain("calculator: TOOL_FAILED: the host is down");
  expect(page).toMatch(/<title>step 3\nmean reward: [\d.]+<\/title>/);
  expect(page).toMatch(/<title>step 2\nrollout: 2\.5 s\ntrain: [\d.]+ s/);
});

test("shows the images of observations, those that are large by name", async () => {
  const run = await writeSampleRun();
  const image = png(640, 480);
  const sha256 = await run.store.bytes(image);
  const frame = { sha256, mediaType: "image/png", bytes: image.length };
  const media: Media[] = [
    { type: "image", frames: [frame] },
    { type: "video", name: "video 3", frames: [{ ...frame, sha256: "0".repeat(64), bytes: 2 ** 30 }] },
  ];
  const names = await trajectoryReader(run).list({ stage: "evaluation-v0005" });
  for (const name of names) {
    changeRecord<Trajectory>(join(run.folder.root, trajectoryKey(name).path), (record) => ({
      ...record,
      turns: record.turns.map((turn) => ({
        ...turn,
        toolCalls: turn.toolCalls.map((call) => ({ ...call, media })),
      })),
    }));
  }
  const page = await reportOf(run);
  expect(page).toContain(`<img src="data:image/png;base64,${Buffer.from(image).toString("base64")}"`);
  expect(page).toContain(`video 3, image/png, sha256 ${"0".repeat(64)}</span>`);
  expect(page.match(/<img /g)?.length).toBe(page.match(/class="media">video/g)?.length);
});

test("shows the images of a prompt in their places, where the policy saw them", async () => {
  const run = await writeSampleRun();
  const image = png(320, 320);
  const sha256 = await run.store.bytes(image);
  for (const name of await trajectoryReader(run).list({ stage: "evaluation-v0001" })) {
    const turn = join(run.folder.root, turnKey(name, 1).path);
    changeRecord<RecordedTurn>(turn, ({ appended, ...rest }) => ({
      ...rest,
      appended: appended && { ...appended, images: [{ sha256, start: 1 }] },
    }));
    changeRecord<Trajectory>(join(run.folder.root, trajectoryKey(name).path), (record) => ({
      ...record,
      task: { ...record.task, prompt: [{ role: "user", content: "<image>Which letter is it?" }] },
    }));
  }
  const page = await reportOf(run);
  const data = Buffer.from(image).toString("base64");
  expect(page).toMatch(/<div class="asked"><img [^>]*><p>Which letter is it\?<\/p><\/div>/);
  expect(page).toContain(`<img src="data:image/png;base64,${data}"`);
});

test("draws the reward smoothed over the steps, with the held-out tasks where they were evaluated", async () => {
  const page = await reportOf(await writeSampleRun({ steps: 12, evaluationEvery: 6 }));
  expect(textOf(page)).toMatch(/mean reward [\d.]+ over the first 5 steps, [\d.]+ over the last 5/);
  expect(page).toMatch(
    /step 6\na step&#39;s mean reward: .*\nmean of the last 5 steps: .*\nheld-out tasks \(greedy\): /,
  );
  expect(page).toMatch(/<title>step 0\nheld-out tasks \(greedy\): [\d.]+<\/title>/);
  expect(page.match(/<polyline class="line blue faint"/g)).toHaveLength(2); // broad and narrow
});

test("leaves out what the trainer doesn't measure", async () => {
  const run = await writeSampleRun();
  changeSteps(run, ({ kl: _, valueLoss: __, ...record }) => record);
  const page = await reportOf(run);
  expect(page).toContain("<h3>Entropy</h3>");
  expect(page).not.toMatch(/KL|[Vv]alue loss|NaN|undefined/);
});

test("loads nothing from anywhere and runs nothing", async () => {
  const page = await reportOf(await writeSampleRun());
  expect(page).not.toMatch(/<(script|link|img|iframe|object|embed)\b/i);
  expect(page).not.toMatch(/\b(src|href|xlink:href|on\w+)=/i);
  expect(page).not.toMatch(/@import|url\(|https?:/i);
});

test("escapes whatever a model, a tool or a task wrote", async () => {
  const run = await writeSampleRun();
  const place = { stage: "evaluation-v0005", task: "task-00000", sample: 0 };
  const attack = `</style><script>alert("1")</script><img src=x onerror='1'>`;
  const call = {
    tool: attack,
    arguments: { [attack]: attack },
    observation: attack,
    valid: false,
    attempts: 2,
  };
  const turns = [
    { action: attack, toolCalls: [call] },
    { action: attack, toolCalls: [] },
  ];
  changeRecord<Trajectory>(join(run.folder.root, trajectoryKey(place).path), (record) => {
    return { ...record, turns, success: !record.success };
  });
  const page = await reportOf(run);
  expect(page).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
  expect(page).not.toMatch(/<script|<img/);
});

test("is the same page for the same folder", async () => {
  const run = await writeSampleRun();
  expect(await reportOf(run)).toBe(await reportOf(run));
});

test("copes with a run that has no steps yet", async () => {
  const run = await writeSampleRun();
  for (const step of [1, 2, 3, 4]) await run.store.remove(recordedStepKey(step));
  for (const name of ["evaluation-v0003", "evaluation-v0005"]) await run.store.remove(evaluationKey(name));
  const text = textOf(await reportOf(run));
  expect(text).toContain("No step has finished yet.");
  expect(text).toContain("after the warm start 16.7 %");
  expect(text).not.toContain("Trajectories before and after");
  await rm(join(run.folder.root, "evaluations"), { recursive: true });
  expect(textOf(await reportOf(run))).toContain("No evaluation has finished yet.");
});

test("copes with a run without a warm start, and whatever became of metrics.jsonl", async () => {
  const run = await writeSampleRun({ warmStart: false, steps: 2 });
  await writeFile(run.folder.metrics, '{"step":3,"policyVer');
  const page = await reportOf(run);
  expect(textOf(page)).not.toContain("after the warm start");
  expect(textOf(page)).toContain("before reinforcement learning (version 0)");
  expect(textOf(page)).toContain("2 of 2 steps");
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
});

test("copes with one step and one evaluation", async () => {
  const run = await writeSampleRun({ steps: 1 });
  for (const name of ["evaluation-v0001", "evaluation-v0002"]) await run.store.remove(evaluationKey(name));
  const page = await reportOf(run);
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
  expect(textOf(page)).toContain("1 of 1 step");
});

test("lists an evaluation of `everturn evaluate` apart from the run's own", async () => {
  const run = await writeSampleRun();
  const record: EvaluationRecord = {
    name: "evaluation-v0005-no-tools-1",
    step: 0,
    policyVersion: 5,
    accuracy: 0.015,
    tasks: 200,
    leftOut: 0,
    toolCallRate: 1,
    meanActionTokens: 20,
    seconds: 5,
  };
  await run.store.record(evaluationKey(record.name), record);
  const page = await reportOf(run);
  expect(textOf(page)).toContain("evaluation-v0005-no-tools-1 5 1.5 %");
  expect(page.match(/<g class="evaluation">/g)).toHaveLength(8); // broad and narrow
});

test("`everturn report` writes the file and says where it is", async () => {
  const { runs, id, folder } = await writeSampleRun();
  expect(await runCommand(registerReport, "report", id, "--runs", runs)).toBe(`${folder.report}\n`);
  const line = await runCommand(registerReport, "report", id, "--runs", runs, "--json");
  expect(JSON.parse(line)).toEqual({ run: id, report: folder.report });
  await expect(runCommand(registerReport, "report", "none", "--runs", runs)).rejects.toThrow(
    "There is no run none",
  );
});

test("plots what the reward and the tools measured", async () => {
  const run = await writeSampleRun();
  changeSteps(run, (record) => ({ ...record, metrics: { "search.hits": record.step } }));
  expect(await reportOf(run)).toContain("<h3>search.hits</h3>");
});

test("a browser applies the report's own style, and loads and runs nothing", async () => {
  const page = await reportOf(await writeSampleRun());
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page) ?? [];
  const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
  const digest = createHash("sha256").update(style).digest("base64");
  expect(policy?.replaceAll("&#39;", "'")).toBe(
    `default-src 'none'; img-src data:; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
  );
  expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf("<title>"));
  expect(page).not.toMatch(/<script| style="| on[a-z]+="/);
});
