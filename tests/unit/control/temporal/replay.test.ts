import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replayHistories } from "../../../../src/control/temporal/replay.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const loop = {
  name: "loop-tool-agent",
  workflow: join(root, "plugins", "loop-tool-agent", "workflow.ts"),
};
const recorded = () =>
  JSON.parse(readFileSync(join(root, "tests", "replay", "histories", "0.4.0", "trajectory.json"), "utf8"));

test("a recorded history replays, and one that today's code would not make is told apart", async () => {
  expect(await replayHistories([recorded()], "run/stage/task/0", [loop])).toEqual({ deterministic: true });
  const changed = recorded();
  for (const event of changed.events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType.name === "generate-turn") scheduled.activityType.name = "another-activity";
  }
  expect(await replayHistories([changed], "run/stage/task/0", [loop])).toEqual({
    deterministic: false,
    reason: expect.stringMatching(/[Nn]ondeterminism|TMPRL1100/),
  });
});
