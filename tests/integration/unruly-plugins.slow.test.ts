import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const plugins = join(import.meta.dirname, "..", "plugins");
const [unruly, judge] = [join(plugins, "tool-unruly"), join(plugins, "reward-unruly")];
const crashing = join(import.meta.dirname, "..", "one-file", "crashing.ts");

const call = (act: string) => `<tool_call>{"name":"unruly","arguments":{"act":"${act}"}}</tool_call>`;

test("a tool that never returns, exits, forgets an error, or ends its process, and a judge that hangs, lose the trajectories that had to do with them so, and the run goes on: none counts as 0", async () => {
  const crash = ['<tool_call>{"name":"crashing","arguments":{}}</tool_call>', "2"];
  const conversations = ["behave", "loop", "exit", "forget"].map((act) => [call(act), "2"]);
  const pipeline = writeScriptedPipeline(folder, [...conversations, crash, ["hang"]], {
    tools: [{ plugin: unruly }, { plugin: crashing }],
    reward: { plugin: judge, timeout: "300ms", retry: { maximumAttempts: 2 } },
    rollout: { batchSize: 6, groupSize: 6, minGroup: 1, maxInfrastructureFailures: 1 },
  });
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(code, stderr).toBe(0);
  const { run } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  const files = runFolder(runs, run);
  const [step] = await readLines<StepRecord>(files.metrics);
  expect(step).toMatchObject({
    trajectories: 1,
    leftOut: 5,
    rewardMean: 1,
    successRate: 1,
    metrics: { length: 2 },
  });
  const reasons = Object.keys(step?.leftOutReasons ?? {}).join("\n");
  expect(reasons).toContain("no answer within 1 s");
  expect(reasons).toContain("it called process.exit(3)");
  expect(reasons).toContain(
    "crashing failed 2 times. The last error: the process that it ran in ended: SIGABRT",
  );
  expect(reasons).toContain(
    "The reward manager reward-unruly failed 2 times. The last error: no answer within 0.3 s",
  );
  const log = readFileSync(files.log("orchestration"), "utf8");
  expect(log).toContain("tool-unruly: its thread was stopped: it blocked its thread");
  expect(stderr, "no worker ended").not.toContain("worker exited");
});

test("a mistake in a plugin ends the run at once, by its name and line, and is not tried again", async () => {
  const conversations = ["behave", "stumble"].map((act) => [call(act), "2"]);
  const pipeline = writeScriptedPipeline(folder, conversations, {
    name: "stumbling",
    tools: [{ plugin: unruly }],
    rollout: { batchSize: 4, groupSize: 4, maxInfrastructureFailures: 1 },
  });
  const { code, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(code, stderr).toBe(1);
  expect(stderr).toContain("The plugin tool-unruly has a bug at ");
  expect(stderr).toMatch(/tool-unruly\/index\.ts:\d+: TypeError: Cannot read properties of undefined/);
  const run = readdirSync(runs).find((name) => name.startsWith("stumbling")) ?? "";
  const log = readFileSync(runFolder(runs, run).log("orchestration"), "utf8");
  const attempts = new Set(log.match(/attempt: \d+/g));
  expect([...attempts]).toEqual(["attempt: 1"]);
});
