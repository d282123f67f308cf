import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, expect, test, vi } from "vitest";
import { callTool } from "../../activities/call-tool.ts";
import { releaseTools } from "../../activities/release-tools.ts";
import type { CallToolInput, LoadTaskInput } from "../../src/contracts/activities.ts";
import type { GenerateTurnInput } from "../../src/contracts/generate-turn.ts";
import type { ToolBinding, TrajectoryInput, TrajectoryResult } from "../../src/contracts/trajectory.ts";
import { durable } from "../../src/control/temporal/durable.ts";
import { toolWorker } from "../../src/work/workers/tool-worker.ts";
import { createMemoryRun, placeOf } from "../support/memory-run.ts";
import { taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startToolHolder } from "../support/tool-holder.ts";
import { startWorkflows, type WorkflowWorker } from "../support/workflow-worker.ts";

const runs = temporaryFolder();
const { run } = await createMemoryRun(runs);
const gate = join(runs, "gate");
const waiting = { timeout: 250_000, interval: 20 };
const queues = { orchestration: "flows", policy: "flows", tools: "tools", trainer: "flows" };
const memory: ToolBinding = {
  definition: { name: "replay", description: "Remembers.", parameters: {} },
  retry: { maximumAttempts: 1, initialInterval: 100, backoffCoefficient: 1, maximumInterval: 100 },
  timeout: 60_000,
  stateful: true,
  pure: false,
};
const ended: (() => Promise<void>)[] = [];

afterAll(async () => {
  rmSync(gate, { force: true });
  for (const end of ended.reverse()) await end();
});

/** What each trajectory asks its memory, turn by turn; a turn may begin when it was opened. */
const turnsByTask: Record<string, string[]> = { a: ["1", `while ${gate}`], b: ["1", "2", "3"] };
const opened = new Set(["a 1", "b 1"]);
const begun = new Set<string>();

const activities = {
  "load-task": async ({ place }: LoadTaskInput) => taskOf(place.task),
  "generate-turn": durable(async ({ turn, place, messages }: GenerateTurnInput) => {
    const expression = turnsByTask[place.task]?.[turn - 1];
    const named = `${place.task} ${turn}`;
    begun.add(named);
    if (expression !== undefined) await vi.waitUntil(() => opened.has(named), waiting);
    const call = JSON.stringify({ name: "replay", arguments: { expression } });
    return {
      action: expression === undefined ? "done" : `<tool_call>${call}</tool_call>`,
      finishReason: "stop",
      head: "a".repeat(64),
      policyVersion: 1,
      seconds: 0,
      workSeconds: 0,
      tokens: { prompt: messages.length, action: 1, observation: 0 },
    };
  }),
};

test("a holder whose slots are full for more than ten seconds keeps its instances; a stopped one is taken over from", async () => {
  const workflow = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  const loop = { name: "loop-tool-agent", workflow };
  const server = await startWorkflows({ folder: runs, queue: queues.orchestration, loop, activities });
  ended.push(server.stop);
  const holder = await startToolHolder(runs, run);
  ended.push(async () => holder.kill());
  await holder.serve(server.address);
  const [a, b] = [trajectory(server, "a"), trajectory(server, "b")];
  await vi.waitUntil(() => begun.has("a 2") && begun.has("b 2"), waiting);
  await holder.leave();

  const seen = await workHere(server);
  writeFileSync(gate, "");
  opened.add("a 2");
  await vi.waitUntil(() => readFileSync(gate, "utf8") !== "", waiting); // it has the holder's only slot
  opened.add("b 2");
  await vi.waitUntil(() => seen.some(({ place }) => place.task === "b"), waiting);
  expect(seen.at(-1)?.silent).toEqual({ queue: holder.queue, ms: 10_000 });
  rmSync(gate);
  await vi.waitUntil(() => begun.has("b 3"), waiting);
  expect(await observed(a)).toEqual([["1"], ["1", `while ${gate}`]]);
  await holder.whileStopped(async () => {
    opened.add("b 3");
    expect(await observed(b)).toEqual([["1"], ["1", "2"], ["again 1", "again 2", "3"]]);
  });
});

/** A worker of this process on the queue `tools`; the calls that it gets. */
async function workHere({ address }: WorkflowWorker): Promise<CallToolInput[]> {
  const seen: CallToolInput[] = [];
  const here = toolWorker(runs, run);
  const call = callTool(here, "replay");
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue: queues.tools,
    activities: {
      replay: durable<CallToolInput, unknown>((input, ...more) => {
        seen.push(input);
        return call(input, ...more);
      }),
      "release-tools": durable(releaseTools(here)),
      "score-trajectory": async () => ({ reward: 1, success: true }),
    },
  });
  const running = worker.run();
  ended.push(async () => {
    worker.shutdown();
    await running;
    await connection.close();
    await here.close();
  });
  return seen;
}

function trajectory({ client }: WorkflowWorker, name: string): Promise<TrajectoryResult> {
  const place = placeOf(run, name);
  const input: TrajectoryInput = {
    place,
    source: "training",
    quickTurns: false,
    newest: false,
    policyVersion: 0,
    seed: 1,
    sampling: { temperature: 1, maxTokens: 8 },
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 5 } },
    limits: {},
    reward: { retry: memory.retry, pure: true },
    tools: [memory],
    queues,
  };
  const started = { workflowId: place.id, taskQueue: queues.orchestration, args: [input] };
  return client.workflow.execute("trajectory", started);
}

/** The state of the memory after each call, without its first word. */
async function observed(result: Promise<TrajectoryResult>): Promise<string[][]> {
  const { turns } = await result;
  return turns.flatMap(({ toolCalls }) =>
    toolCalls.map(({ observation }) =>
      JSON.parse(observation)
        .slice(1)
        .map((text: string) => text.replace(/turn /, "")),
    ),
  );
}
