import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, expect, test, vi } from "vitest";
import type { Lease } from "../../src/tools/leases.ts";
import { everturn, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { callsRecorded, leasesOf } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const plugins = join(import.meta.dirname, "..", "plugins");
const commands: RunningCommand[] = [];

afterAll(() => {
  for (const command of commands) if (command.child.exitCode === null) command.killGroup();
});

const call = (name: string, parameters: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: parameters })}</tool_call>`;
const add = call("session", { variable: "x", add: 1 });
const ask = call("calculator", { expression: "1 + 1" });

test("a call that nobody approves in time is not made, and the model reads so; cancelling frees what a trajectory holds", async () => {
  const pipeline = writeScriptedPipeline(
    folder,
    [
      [ask, "2"],
      [add, ...Array(400).fill(add), "401"],
    ],
    {
      tools: [
        {
          plugin: join(plugins, "tool-counting"),
          config: { log: join(folder, "calls.log") },
          ...{ approval: "required", approvalTimeout: "1s" },
        },
        { plugin: join(plugins, "tool-session"), config: { log: join(folder, "session.log") } },
      ],
      rollout: { batchSize: 2, groupSize: 2, minGroup: 1, maxActionTokens: 200 },
    },
  );
  const command = start("run", pipeline, "--runs", runs);
  commands.push(command);
  const held = await vi.waitUntil(() => leases()[0], { timeout: 400_000 });
  await vi.waitUntil(() => leases()[0]?.handle !== undefined, { timeout: 400_000 });
  const pid = Number(JSON.parse(JSON.stringify(leases()[0]?.handle)).pid);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  // The worker that runs the workflow begins its calls without a way through the server: none goes to another queue.
  await vi.waitUntil(() => callsRecorded({ root: runFolder() }, "step-0001", 3) > 0, { timeout: 400_000 });
  expect(await queuesOf(held.trajectory, "session")).toEqual(new Set([`${basename(runFolder())}/rollout`]));

  const cancelled = await everturn("trajectory", "cancel", held.trajectory, "--runs", runs);
  expect(cancelled.code, cancelled.stderr).toBe(0);
  const { code, stderr, stdout } = await command.end();
  expect(code, stderr + stdout).toBe(0);
  expect(leases()).toEqual([]);
  expect(existsSync(`/proc/${pid}`)).toBe(false);

  const records = await stageRecords(runFolder(), "step-0001");
  expect(records.map(({ outcome }) => outcome).sort()).toEqual(["answered", "left-out"]);
  const answered = records.find(({ outcome }) => outcome === "answered");
  expect(answered?.turns[0]?.toolCalls[0]).toMatchObject({
    approval: "timed-out",
    observation: "error: nobody approved the call within 1 s",
  });
  expect(existsSync(join(folder, "calls.log")), "a call was made that nobody approved").toBe(false);
});

/** The queues to which a trajectory's calls of a tool went so far. */
async function queuesOf(trajectory: string, tool: string): Promise<Set<string | null | undefined>> {
  const session = JSON.parse(readFileSync(join(runFolder(), "session.json"), "utf8"));
  const connection = await Connection.connect({ address: session.address });
  const { events } = await new Client({ connection }).workflow.getHandle(trajectory).fetchHistory();
  await connection.close();
  const scheduled = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes);
  const calls = scheduled.filter((one) => one?.activityType?.name === tool);
  return new Set(calls.map((one) => one?.taskQueue?.name));
}

function runFolder(): string {
  return join(runs, existsSync(runs) ? (readdirSync(runs)[0] ?? "none") : "none");
}

function leases(): Lease[] {
  return leasesOf({ root: runFolder() });
}
