import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registerShow } from "../../../../src/apps/cli/commands/show.ts";
import type { Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import { rowToolsReader } from "../../../../src/plan/pipeline/read/row-tools.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { segmentRef } from "../../../../src/run/projections/segment-ref.ts";
import { trajectoryKey } from "../../../../src/run/store/keys.ts";
import { trajectoryOf } from "../../../../src/run/trajectory/trajectory-of.ts";
import { png } from "../../../support/images.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { changeRecord } from "../../../support/stored-record.ts";
import { writeTurn } from "../../../support/written-turn.ts";
import { runCommand } from "./run-command.ts";

const { runs } = await writeSampleRun();
const show = (...parameters: string[]) => runCommand(registerShow, "show", ...parameters, "--runs", runs);

test("prints a trajectory turn by turn, with retried calls and the reward", async () => {
  expect(await show("calculator-sample/step-0001/task-01009/0")).toMatchInlineSnapshot(`
    "calculator-sample/step-0001/task-01009/0
    answered · reward 1 · policy version 1 · 2 turns · 1 tool call · tokens: 270 prompt, 38 action, 22 observation · 0.4 s

    prompt
      <|im_start|>system
      # Tools
      {"name": "calculator", "description": "Evaluates an arithmetic expression.", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}, "stateful": false, "retry": {"maximumAttempts": 5, "backoffCoefficient": 2, "initialInterval": "100ms", "maximumInterval": "5s"}, "timeout": "10s"}
      <|im_end|>
      <|im_start|>user
      State the final answer to the following arithmetic problem: 6 - 1 + 3 =<|im_end|>
      <|im_start|>assistant

    turn 1  policy version 1 · 30 tokens · 0.1 s
    action
      <tool_call>{"name": "calculator", "arguments": {"expression": "6 - 1 + 3"}}</tool_call>
    tool call  calculator {"expression":"6 - 1 + 3"}  valid, 3 attempts
    observation
      8

    turn 2  policy version 1 · 8 tokens · 0.1 s
    action
      Answer: 8

    answered  reward 1  solved  expected: 8
    "
  `);
});

test("tells why a trajectory was left out, and which call was not valid", async () => {
  expect(await show("step-0001/task-01010/0")).toContain(
    "left out because: calculator: TOOL_FAILED: the host is down",
  );
  expect(await show("step-0001/task-01008/0")).toMatch(/^ *tool call {2}calculator\(1 \+\) {2}not valid$/m);
});

test("shows a trajectory under way as far as it is", async () => {
  const text = await show("task-05000/0");
  expect(text).toContain("under way · policy version 5 · 1 turn");
  expect(text).toContain("State the final answer to the following arithmetic problem: 287 - 813 - 977 =");
  expect(text).toContain('"expression": "287 - 813 - 977"');
});

test("adds every token with its text, mask and log-probability", async () => {
  const text = await show("step-0001/task-01009/0", "--tokens");
  const rows = text.split("\n").filter((line) => /^ +\d+ {2}(prompt|action|observation)/.test(line));
  expect(rows).toHaveLength(270 + 38 + 22);
  expect(rows[0]).toMatch(/^ +0 {2}prompt +\d+ {2}"<\|im_start\|>" +0$/);
  expect(rows[270]).toMatch(/^ +270 {2}action +\d+ {2}"<tool_call>" +1 +-0\.\d{4}$/);
});

test("prints one line of JSON with the whole record and its segments", async () => {
  const text = await show("step-0001/task-01009/0", "--json");
  expect(text.trimEnd()).not.toContain("\n");
  const record = JSON.parse(text);
  expect(record).toMatchObject({ finished: true, outcome: "answered", reward: 1, tokens: { prompt: 270 } });
  expect(record.segments.map(({ origin }: { origin: string }) => origin)).toEqual([
    "prompt",
    "action",
    "observation",
    "action",
  ]);
  expect(record.segments[1].logprobs).toHaveLength(record.segments[1].tokens.length);
  expect(record.turns[0].generated).toMatchObject({ finishReason: "stop", seconds: 0.125 });
  expect(JSON.parse(await show("task-05000/0", "--json"))).toMatchObject({
    finished: false,
    turns: [{ toolCalls: [] }],
  });
});

test("names an observation's images, writes them where it is told to, and prints what was cut whole", async () => {
  const { store, folder } = await openRunFolder(runs, "calculator-sample");
  const image = png(640, 480);
  const text = "a long page";
  const frame = {
    sha256: await store.bytes(image),
    mediaType: "image/png",
    bytes: 33,
    width: 640,
    height: 480,
  };
  const whole = await store.bytes(Buffer.from(text));
  const name = trajectoryOf("calculator-sample/step-0001/task-01009/0");
  changeRecord<Trajectory>(join(folder.root, trajectoryKey(name).path), (record) => ({
    ...record,
    turns: record.turns.map((turn) => ({
      ...turn,
      toolCalls: turn.toolCalls.map((call) => ({
        ...call,
        observation: "a long\n[5 characters cut]",
        whole,
        done: true,
        media: [
          { type: "image", frames: [frame] },
          { type: "video", frames: [frame, frame] },
          { type: "image", name: "image 7", frames: [frame] },
        ],
      })),
    })),
  }));
  const cut = await show("step-0001/task-01009/0");
  expect(cut).toContain("  a long\n  [5 characters cut]");
  expect(cut).toContain(`  image-1: image/png, 640×480, 33 bytes, sha256 ${frame.sha256}`);
  expect(cut).toContain("  video-1-frame-2: image/png");
  expect(cut).toContain("  image 7: image/png");
  expect(cut).toContain("  the tool ended the trajectory");
  const target = join(runs, "media");
  expect(await show("step-0001/task-01009/0", "--whole", "--media", target)).toContain(
    "observation\n  a long page\n",
  );
  expect(readdirSync(target).sort()).toEqual(
    ["image-1", "image-2", "video-1-frame-1", "video-1-frame-2"].map((one) => `turn-1-call-0-${one}.png`),
  );
  expect(readFileSync(join(target, "turn-1-call-0-image-1.png"))).toEqual(Buffer.from(image));
});

test("names ids like the one that is not there, and those that an ending fits", async () => {
  await expect(show("step-0001/task-1009/0")).rejects.toThrow(
    "There is no trajectory step-0001/task-1009/0. An id is run/stage/task/sample. Ids like it: calculator-sample/step-0001/task-01009/0,",
  );
  await expect(show("task-00003/0")).rejects.toThrow(
    "The ids of 4 trajectories end with task-00003/0. Write more of the id: calculator-sample/evaluation-v0000/task-00003/0,",
  );
  await expect(show("0003/0")).rejects.toThrow("There is no trajectory 0003/0.");
});

test("tells what the reward and the tools measured", async () => {
  const { folder } = await openRunFolder(runs, "calculator-sample");
  const place = trajectoryOf("calculator-sample/step-0001/task-01009/0");
  const metrics = { length: 2, "calculator.digits": 1.5 };
  const file = join(folder.root, trajectoryKey(place).path);
  changeRecord<Trajectory>(file, (record) => ({ ...record, metrics }));
  expect(await show("step-0001/task-01009/0")).toContain("\nlength 2 · calculator.digits 1.5\n");
});

test("prints the tools that an agent sent as demonstrations list them", async () => {
  const { store } = await openRunFolder(runs, "calculator-sample");
  const weather = { name: "weather", description: "", parameters: { type: "object", properties: {} } };
  const request = { key: "k", follows: null, messages: [], tools: [weather] };
  const prompt = { previous: null, origin: "prompt" as const, text: "weather()", tokens: [1] };
  const action = { previous: segmentRef(prompt), origin: "action" as const, text: "", tokens: [2] };
  const place = { stage: "evaluation-v0099", task: "task-00000", sample: 0 };
  await writeTurn(store, place, 1, [prompt, action], { request });
  const printed = await show("evaluation-v0099/task-00000/0", "--tools");
  expect(rowToolsReader()({ tools: printed }, "")).toEqual([weather]);
  expect(await show("step-0001/task-01009/0", "--tools")).toBe("[]\n");
});
