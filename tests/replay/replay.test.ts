import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleWorkflows } from "../../src/temporal/workflow-bundle.ts";

const histories = join(import.meta.dirname, "histories");
const folder = mkdtempSync(join(tmpdir(), "everturn-replay-"));
const bundle = join(folder, "workflows.js");
const workflow = join(import.meta.dirname, "..", "..", "plugins", "loop-tool-agent", "workflow.ts");

beforeAll(() => bundleWorkflows(bundle, { name: "loop-tool-agent", workflow }, false));
afterAll(() => rm(folder, { recursive: true, force: true }));

const recorded = readdirSync(histories).flatMap((version) =>
  readdirSync(join(histories, version)).map((file) => ({ version, file })),
);

test.each(recorded)("$file of $version replays on today's workflow code", async ({ version, file }) => {
  const history = JSON.parse(readFileSync(join(histories, version, file), "utf8"));
  await Worker.runReplayHistory({ workflowBundle: { codePath: bundle } }, history);
});

test("a history that the code would not have made is refused", async () => {
  const history = JSON.parse(
    readFileSync(join(histories, recorded[0]?.version ?? "", "trajectory.json"), "utf8"),
  );
  for (const event of history.events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType.name === "generate-turn") scheduled.activityType.name = "another-activity";
  }
  const replay = Worker.runReplayHistory({ workflowBundle: { codePath: bundle } }, history);
  await expect(replay).rejects.toThrow(/[Nn]ondeterminism|TMPRL1100/);
});
