import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { namesInSync } from "../../src/files/names-in.ts";
import { start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const log = join(folder, "calls.log");
const count = '<tool_call>{"name":"count","arguments":{"text":"abc"}}</tool_call>';
/** How long everything is down: longer than a trajectory may take. */
const outage = 6000;

/**
 * A step of two trajectories whose turns may take 3 s and which may take 5 s in all: one has three turns of a second; the
 * tool of the other takes a minute.
 */
const pipeline = writeScriptedPipeline(folder, [], {
  policy: {
    plugin: join(import.meta.dirname, "..", "plugins", "policy-scripted"),
    config: {
      tokenizer: join(import.meta.dirname, "../../pipelines/calculator/tokenizer"),
      conversations: [["<tool_call>?</tool_call>", "<tool_call>?</tool_call>", "1"], [count]],
      seconds: 1,
    },
  },
  tools: [
    {
      plugin: join(import.meta.dirname, "..", "plugins", "tool-counted"),
      ...{ config: { log, pause: 60_000 }, timeout: "2m" },
    },
  ],
  rollout: { batchSize: 2, groupSize: 2, limits: { turnTime: "3s", time: "5s" } },
});

test("time in which everything was down counts for no limit, and what a tool takes too long for is scored", async () => {
  const command = start("run", pipeline, "--runs", runs, "--json");
  const trajectories = () => {
    const [run = ""] = namesInSync(runs);
    const stage = join(runs, run, "trajectories", "step-0001");
    return namesInSync(stage).flatMap((task) =>
      namesInSync(join(stage, task)).map((sample) => join(stage, task, sample)),
    );
  };
  await vi.waitUntil(() => trajectories().some((path) => namesInSync(path).includes("turn-1.json")), {
    timeout: 400_000,
    interval: 50,
  });
  command.killGroup();
  await command.end();
  await sleep(outage);
  const [run = ""] = namesInSync(runs);
  const { code, stderr } = await start("resume", run, "--runs", runs, "--json").end();
  expect(code, stderr).toBe(0);
  const records = await stageRecords(join(runs, run), "step-0001");
  const ended = records.map(({ outcome, turns }) => ({ outcome, turns: turns.length }));
  expect(ended).toEqual([
    { outcome: "answered", turns: 3 },
    { outcome: "time-limit", turns: 1 },
  ]);
});
