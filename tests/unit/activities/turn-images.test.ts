import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test } from "vitest";
import { generateTurn } from "../../../activities/generate-turn.ts";
import type { GenerateTurnInput } from "../../../src/contracts/generate-turn.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder, openRuns } from "../../../src/run/folder/open-runs.ts";
import { callKey, turnKey } from "../../../src/run/store/keys.ts";
import { policyWorker } from "../../../src/work/workers/policy-worker.ts";
import { jsonServer } from "../../support/json-server.ts";
import { writeScriptedPipeline } from "../../support/scripted-pipeline.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { initializeVersion } from "../../support/versions.ts";

const zoom = join(import.meta.dirname, "../../../pipelines/zoom/images");
const photo = await sharp({ create: { width: 8, height: 6, channels: 3, background: "blue" } })
  .jpeg()
  .toBuffer();

/** A folder with a data set whose one row shows these images, and a pipeline over it. */
function pipeline(url: string, images: unknown[], policy?: object): string {
  const folder = temporaryFolder();
  copyFileSync(join(zoom, "001.png"), join(folder, "a.png"));
  writeFileSync(join(folder, "b.jpg"), photo);
  writeFileSync(join(folder, "c.png"), "no image");
  const prompt = [{ role: "user", content: "Is <image> in <image>?" }];
  const row = { data_source: "d", prompt, images, reward_model: { ground_truth: "yes" } };
  writeFileSync(join(folder, "rows.jsonl"), JSON.stringify(row));
  const dataset = { plugin: "dataset-jsonl", config: { path: "./rows.jsonl" } };
  return writeScriptedPipeline(folder, [["yes"]], {
    steps: 0,
    tools: [],
    dataset: { train: dataset, validation: dataset, images: "." },
    ...(policy ?? { policy: { plugin: "policy-openai", config: { url, model: "m", patience: 1 } } }),
  });
}

test("images of a task and of its tools reach the endpoint, and stand in the records by their content alone", async () => {
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "x", type: "function", function: { name: "look", arguments: "{}" } }],
  };
  const { url, asked } = await jsonServer(() => ({
    value: { choices: [{ index: 0, finish_reason: "stop", message }] },
  }));
  const plan = await loadPlan(pipeline(url, ["a.png", "b.jpg"]));
  const runs = temporaryFolder();
  const run = await createRunFolder(plan, { runs });
  const opened = await openRunFolder(runs, run);
  await initializeVersion(opened, 0);
  const worker = policyWorker(openRuns(runs));
  const generate = generateTurn(worker, runTasks());
  const place = { id: `${run}/s/task-00000/0`, run, stage: "s", step: 0, task: "task-00000", sample: 0 };
  const input = { place, policyVersion: 0, seed: 1, sampling: { temperature: 0, maxTokens: 50 } };
  const opening: GenerateTurnInput = {
    ...input,
    turn: 1,
    head: null,
    callsBefore: 0,
    source: "validation",
    tools: [],
    messages: [],
  };
  const { signal } = new AbortController();
  const first = await generate(opening, signal, () => {});
  const sha256 = await opened.store.bytes(photo);
  await opened.store.record(callKey(place, 1, 0), {
    tool: "look",
    arguments: {},
    observation: "[image 1: 8×6 jpg]",
    valid: true,
    reward: 0,
    attempts: 1,
    seconds: 0,
    media: [
      {
        type: "image",
        frames: [{ sha256, bytes: photo.length, mediaType: "image/jpeg", width: 8, height: 6 }],
      },
    ],
  });
  const messages = [{ role: "tool" as const, name: "look", content: "[image 1: 8×6 jpg]" }];
  const later = { ...input, turn: 2, head: first.head, messages, callsBefore: 1, callsSoFar: 1 };
  await generate(later, signal, () => {});
  await worker.close();

  const image = (type: string, data: Uint8Array) => ({
    type: "image_url",
    image_url: { url: `data:image/${type};base64,${Buffer.from(data).toString("base64")}` },
  });
  const prompt = {
    role: "user",
    content: [
      { type: "text", text: "Is " },
      image("png", readFileSync(join(zoom, "001.png"))),
      { type: "text", text: " in " },
      image("jpeg", photo),
      { type: "text", text: "?" },
    ],
  };
  expect(asked[0]?.body.messages).toEqual([prompt]);
  expect(asked[1]?.body.messages).toEqual([
    prompt,
    expect.objectContaining({ role: "assistant" }),
    { role: "tool", tool_call_id: "x", content: "[image 1: 8×6 jpg]" },
    { role: "user", content: [image("jpeg", photo)] },
  ]);
  const recorded = JSON.stringify([
    await opened.store.read(turnKey(place, 1)),
    await opened.store.read(turnKey(place, 2)),
  ]);
  expect(recorded).toContain(sha256);
  expect(recorded).not.toContain("base64");
  expect(first.prompt).toEqual([{ role: "user", content: "Is <image> in <image>?" }]);
});

test("images that can't be shown are told when the pipeline is checked, with their row", async () => {
  const url = "http://127.0.0.1:1/v1";
  await expect(loadPlan(pipeline(url, ["a.png", "c.png"]))).rejects.toThrow(
    /rows\.jsonl:1: the images of a task of dataset\.train can't be shown: image 2 can't be used: it is no image/,
  );
  await expect(loadPlan(pipeline(url, ["a.png"]))).rejects.toThrow(
    /has <image> 2 times, and its images are 1/,
  );
  await expect(loadPlan(pipeline(url, ["a.png", "b.jpg"], {}))).rejects.toThrow(
    /rows\.jsonl:1: the prompt of a task of dataset\.train contains images, but the policy policy-scripted reads only text/,
  );
});
