import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import { workflowBundle } from "../../src/control/temporal/workflow-bundle.ts";

const histories = join(import.meta.dirname, "histories");
const workflow = join(import.meta.dirname, "..", "..", "plugins", "loop-tool-agent", "workflow.ts");

let code = "";
beforeAll(async () => {
  code = await workflowBundle([{ name: "loop-tool-agent", workflow }], false);
});

const recorded = readdirSync(histories).flatMap((version) =>
  readdirSync(join(histories, version)).map((file) => ({ version, file })),
);

test("every recorded history replays on today's workflow code", async () => {
  const all = recorded.map(({ version, file }) => ({
    workflowId: `${version}/${file}`,
    history: JSON.parse(readFileSync(join(histories, version, file), "utf8")),
  }));
  const replays: Record<string, string> = {};
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code } }, all)) {
    replays[workflowId] = error === undefined ? "replays" : String(error);
  }
  expect(replays).toEqual(Object.fromEntries(all.map(({ workflowId }) => [workflowId, "replays"])));
});

const newest = recorded.at(-1)?.version ?? "";

/** What of an event of a recorded history says which activity it is. */
interface ActivityEvent {
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  markerRecordedEventAttributes?: { details: { data?: { payloads: { data: string }[] } } };
}

/** The activities that a recorded history shows, in order: those that the server handed out, and `local` ones. */
function activitiesIn(shape: string): string[] {
  const file = join(histories, newest, `${shape}.json`);
  const { events }: { events: ActivityEvent[] } = JSON.parse(readFileSync(file, "utf8"));
  return events.flatMap((event) => {
    const handedOut = event.activityTaskScheduledEventAttributes?.activityType.name;
    if (handedOut !== undefined) return [handedOut];
    const [marked] = event.markerRecordedEventAttributes?.details.data?.payloads ?? [];
    return marked === undefined
      ? []
      : [`local ${JSON.parse(Buffer.from(marked.data, "base64").toString()).activity_type}`];
  });
}

test("to draw tasks, to reserve groups and to record a step costs no way through the server", () => {
  expect(activitiesIn("training").filter((name) => name.includes("draw"))).toEqual(
    Array(3).fill("local draw-tasks"),
  );
  expect(activitiesIn("shard")).toEqual(["local reserve-groups"]);
  expect(activitiesIn("step")).toEqual(["train-step", "publish-policy", "local record-step"]);
});

test("a trajectory's quick turn reads the task itself; before others people see it", () => {
  const [first, second, third] = activitiesIn("trajectory-quick");
  expect([first, second, third]).toEqual(["local generate-turn", "local calculator", "local generate-turn"]);
  expect(activitiesIn("trajectory")[0]).toBe("local load-task");
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
