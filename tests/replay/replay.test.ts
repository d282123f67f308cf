import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import { workflowBundle } from "../../src/temporal/workflow-bundle.ts";

const histories = join(import.meta.dirname, "histories");
const workflow = join(import.meta.dirname, "..", "..", "plugins", "loop-tool-agent", "workflow.ts");

let code = "";
beforeAll(async () => {
  code = await workflowBundle({ name: "loop-tool-agent", workflow }, false);
});

const recorded = readdirSync(histories).flatMap((version) =>
  readdirSync(join(histories, version)).map((file) => ({ version, file })),
);

test.each(recorded)("$file of $version replays on today's workflow code", async ({ version, file }) => {
  const history = JSON.parse(readFileSync(join(histories, version, file), "utf8"));
  await Worker.runReplayHistory({ workflowBundle: { code } }, history);
});

test("a history that the code would not have made is refused", async () => {
  const history = JSON.parse(
    readFileSync(join(histories, recorded[0]?.version ?? "", "trajectory.json"), "utf8"),
  );
  for (const event of history.events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType.name === "generate-turn") scheduled.activityType.name = "another-activity";
  }
  const replay = Worker.runReplayHistory({ workflowBundle: { code } }, history);
  await expect(replay).rejects.toThrow(/[Nn]ondeterminism|TMPRL1100/);
});
