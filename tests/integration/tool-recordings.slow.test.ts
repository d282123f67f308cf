import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-tool-recordings-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");

afterAll(() => rm(runs, { recursive: true, force: true }));

/** A run on two tasks with these settings: its id, and the step's trajectories. */
async function runWith(rollout: object, ...settings: string[]) {
  const all = [`rollout=${JSON.stringify(rollout)}`, "evaluation.tasks=1", ...settings];
  const overrides = all.flatMap((setting) => ["--set", setting]);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...overrides);
  expect(code, stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(stdout);
  return { run, trajectories: await stageRecords(runFolder(runs, run).root, "step-0001") };
}

function observationsOf(trajectories: Trajectory[] = []) {
  return trajectories.map(({ taskId, turns }) => [taskId, turns[0]?.toolCalls[0]?.observation]);
}

test("recorded results answer a later run and an evaluation; what was not recorded leaves the trajectory out", async () => {
  let answers = 0;
  const host = createServer((_, response) => response.end(`answer ${++answers}`));
  await new Promise<void>((listening) => host.listen(0, "127.0.0.1", listening));
  const address = host.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const recorded = await runWith({ batchSize: 2 }, `tools.0.config.url=http://127.0.0.1:${port}`);
  await new Promise((closed) => host.close(closed));
  const toolRecordings = runFolder(runs, recorded.run).root;
  expect(answers, "calls of the step's two trajectories and of the evaluations' two").toBe(4);

  const [known, unknown] = ["6 * 7", "1 + 1"].map((expression) => [
    `<tool_call>${JSON.stringify({ name: "calculator", arguments: { expression } })}</tool_call>`,
    "42",
  ]);
  const conversations = `policy.config.conversations=${JSON.stringify([known, unknown])}`;
  const { trajectories } = await runWith(
    { batchSize: 4, groupSize: 2, minGroup: 1, maxInfrastructureFailures: 1, toolRecordings },
    conversations,
  );
  const [answered, left] = [0, 1].map((one) => trajectories.filter(({ sample }) => sample === one));
  expect(observationsOf(answered)).toEqual(observationsOf(recorded.trajectories));
  expect(left).toHaveLength(2);
  for (const { outcome, failure } of left ?? []) {
    expect(outcome).toBe("left-out");
    expect(failure).toMatch(
      /no result of calculator for task task-\d+ with the arguments {"expression":"1 \+ 1"}/,
    );
  }

  const options = ["--limit", "1", "--tool-recordings", recorded.run, "--runs", runs, "--json"];
  const { stdout, stderr } = await everturn("evaluate", recorded.run, ...options);
  expect(lastLine(stdout), stderr).toMatchObject({ tasks: 1, leftOut: 0, toolCallRate: 1 });
});
