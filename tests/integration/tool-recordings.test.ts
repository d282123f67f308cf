import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import { runFolder } from "../../src/runs/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-tool-recordings-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");

afterAll(() => rm(runs, { recursive: true, force: true }));

/** A run of the pipeline with these settings: its id, and its trajectories by task, of the step if it came to it. */
async function runWith(...settings: string[]) {
  const overrides = ["rollout.batchSize=2", ...settings].flatMap((setting) => ["--set", setting]);
  const { stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...overrides);
  const newest = readdirSync(runs).filter((name) => name.startsWith("tools-"));
  const run = newest.sort().at(-1) ?? "";
  const { root } = runFolder(runs, run);
  const begun = readdirSync(join(root, "trajectories")).filter((name) => /^(evaluation|step)-/.test(name));
  const trajectories = await stageRecords(root, begun.sort().at(-1) ?? "");
  return { run, trajectories, output: stdout + stderr };
}

function observationsOf(trajectories: TrajectoryRecord[]): (string | undefined)[] {
  return trajectories.map(({ turns }) => turns[0]?.toolCalls[0]?.observation);
}

test("recorded results answer a later run and an evaluation; what was not recorded leaves the trajectory out", async () => {
  let answers = 0;
  const host = createServer((_, response) => response.end(`answer ${++answers}`));
  await new Promise<void>((listening) => host.listen(0, "127.0.0.1", listening));
  const address = host.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const recorded = await runWith(`tools.0.config.url=http://127.0.0.1:${port}`);
  await new Promise((closed) => host.close(closed));
  const folder = runFolder(runs, recorded.run).root;
  expect(answers, "calls of the step's two trajectories and of the evaluations' four").toBe(6);

  const offline = await runWith(`rollout.toolRecordings=${folder}`);
  expect(observationsOf(offline.trajectories), offline.output).toEqual(observationsOf(recorded.trajectories));

  const options = ["--limit", "2", "--tool-recordings", recorded.run, "--runs", runs, "--json"];
  const { stdout, stderr } = await everturn("evaluate", recorded.run, ...options);
  expect(lastLine(stdout), stderr).toMatchObject({ tasks: 2, leftOut: 0, toolCallRate: 1 });

  const call = '<tool_call>{"name":"calculator","arguments":{"expression":"1 + 1"}}</tool_call>';
  const conversations = `policy.config.conversations=${JSON.stringify([[call, "2"]])}`;
  const unknown = await runWith(`rollout.toolRecordings=${folder}`, conversations);
  expect(unknown.output).toContain("Every trajectory of evaluation-v0000 was left out");
  expect(unknown.trajectories).toHaveLength(2);
  for (const { outcome, failure } of unknown.trajectories) {
    expect(outcome).toBe("left-out");
    expect(failure).toMatch(
      /no result of calculator for task task-\d+ with the arguments {"expression":"1 \+ 1"}/,
    );
  }
});
