import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generateTurn } from "../../../activities/generate-turn.ts";
import { makeFolder } from "../../../src/base/files/make-folder.ts";
import type { GenerateTurnInput } from "../../../src/contracts/generate-turn.ts";
import { framedChats } from "../../../src/plan/demonstrations/framed-examples.ts";
import { checkPipeline, loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { readDemonstrations } from "../../../src/plan/pipeline/read/demonstrations.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder, openRuns } from "../../../src/run/folder/open-runs.ts";
import { trainingTrajectory } from "../../../src/run/projections/training-trajectory.ts";
import { callKey, turnKey } from "../../../src/run/store/keys.ts";
import { readRows } from "../../../src/run/trajectory/segments.ts";
import { policyWorker } from "../../../src/work/workers/policy-worker.ts";
import { imageFile } from "../../support/image-cases.ts";
import { writeScriptedPipeline } from "../../support/scripted-pipeline.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { initializeVersion } from "../../support/versions.ts";

const calculator = join(import.meta.dirname, "../../../pipelines/calculator/tokenizer");
const imageTokens = ["<fake_token_around_image>", "<global-img>", "<image>"];

/** The calculator's tokenizer with SmolVLM's tokens of images, and a template that reads contents in parts. */
function seeingTokenizer(folder: string): string {
  const json = JSON.parse(readFileSync(join(calculator, "tokenizer.json"), "utf8"));
  const first = Object.keys(json.model.vocab).length;
  imageTokens.forEach((content, index) => {
    json.model.vocab[content] = first + index;
    json.added_tokens.push({ ...json.added_tokens[0], id: first + index, content });
  });
  const config = JSON.parse(readFileSync(join(calculator, "tokenizer_config.json"), "utf8"));
  const shown =
    "(message.content if message.content is string else (message.content | map(attribute='text', default='<image>') | join))";
  config.chat_template = config.chat_template.replaceAll("+ message.content +", `+ ${shown} +`);
  makeFolder(folder);
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(json));
  writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify(config));
  return folder;
}

const vision = {
  image_size: 32,
  patch_size: 8,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 16,
  longest_edge: 64,
};
const architecture = {
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 32,
  max_position_embeddings: 512,
  vision,
};

async function openedRun() {
  const folder = temporaryFolder();
  for (const name of ["rotated.jpg", "gray.png"]) writeFileSync(join(folder, name), imageFile(name));
  const prompt = [{ role: "user", content: "<image>How many?" }];
  const row = { data_source: "d", prompt, images: ["rotated.jpg"], reward_model: { ground_truth: "1" } };
  writeFileSync(join(folder, "rows.jsonl"), JSON.stringify(row));
  const dataset = { plugin: "dataset-jsonl", config: { path: "./rows.jsonl" } };
  const tokenizer = seeingTokenizer(join(folder, "tokenizer"));
  const pipeline = writeScriptedPipeline(folder, [["yes"]], {
    steps: 0,
    tools: [],
    dataset: { train: dataset, validation: dataset, images: "." },
    policy: { plugin: "policy-onnx", config: { tokenizer, architecture } },
  });
  const runs = temporaryFolder();
  const run = await createRunFolder(await loadPlan(pipeline), { runs });
  const opened = await openRunFolder(runs, run);
  await initializeVersion(opened, 0);
  return { runs, run, opened, folder, pipeline };
}

test("images of tasks and tools are tokens that are named by content, and a trajectory repeats bit for bit", async () => {
  const { runs, run, opened, pipeline } = await openedRun();
  const { store } = opened;
  const { signal } = new AbortController();
  const [good, broken] = [imageFile("gray.png"), imageFile("subsampled.jpg").subarray(0, 2000)];
  const media = await Promise.all(
    [good, broken].map(async (data) => ({
      type: "image" as const,
      frames: [
        { sha256: await store.bytes(data), bytes: data.length, mediaType: "image/png", width: 9, height: 9 },
      ],
    })),
  );

  async function turns(sample: number) {
    const worker = policyWorker(openRuns(runs));
    const generate = generateTurn(worker, runTasks());
    const place = {
      id: `${run}/s/task-00000/${sample}`,
      run,
      stage: "s",
      step: 0,
      task: "task-00000",
      sample,
    };
    const input = { place, policyVersion: 0, seed: 1, sampling: { temperature: 0, maxTokens: 5 } };
    const opening: GenerateTurnInput = {
      ...input,
      turn: 1,
      head: null,
      callsBefore: 0,
      source: "validation",
      tools: [],
      messages: [],
    };
    const first = await generate(opening, signal, () => {});
    await store.record(callKey(place, 1, 0), {
      tool: "zoom",
      arguments: {},
      observation: "two",
      valid: true,
      reward: 0,
      attempts: 1,
      seconds: 0,
      media,
    });
    const messages = [{ role: "tool" as const, name: "zoom", content: "two" }];
    const next = { ...input, turn: 2, head: first.head, messages, callsBefore: 1, callsSoFar: 1 };
    const second = await generate(next, signal, () => {});
    await worker.close();
    const recorded = await Promise.all([1, 2].map((turn) => store.read(turnKey(place, turn))));
    return { place, head: second.head, recorded };
  }

  const { place, head, recorded } = await turns(0);
  const [prompt, observation] = recorded.map((turn) => turn?.appended);
  const rotated = await store.bytes(imageFile("rotated.jpg"));
  // 41 × 70 pixels upright are 64 × 64 pixels in four tiles, and a fifth shows the whole image.
  expect(prompt?.images).toEqual([{ sha256: rotated, start: expect.any(Number) }]);
  expect(prompt?.text).toContain("<image>How many?");
  expect(prompt?.tokens.length).toBeGreaterThan(5 * 4);
  const { counted } = (await checkPipeline(pipeline)).preflight;
  expect(counted?.rows.map(({ longest }) => longest)).toEqual([prompt?.tokens.length, prompt?.tokens.length]);
  const gray = media[0]?.frames[0]?.sha256;
  expect(observation?.images).toEqual([{ sha256: gray, start: expect.any(Number) }]);
  expect(observation?.text).toMatch(/\[image 2 of this answer can't be shown: .*premature/i);

  const trained = trainingTrajectory(
    { id: "t", group: "g", reward: 1 },
    await readRows(store, place, head),
    1,
  );
  const before = (prompt?.tokens.length ?? 0) + (recorded[0]?.action.tokens.length ?? 0);
  expect(trained.images).toEqual([
    prompt?.images?.[0],
    { sha256: gray, start: before + (observation?.images?.[0]?.start ?? 0) },
  ]);
  expect(trained.images?.map(({ start }) => trained.mask[start])).toEqual([0, 0]);

  const again = await turns(1);
  const samples = (all: typeof recorded) => all.map((turn) => [turn?.action.tokens, turn?.action.logprobs]);
  expect(samples(again.recorded)).toEqual(samples(recorded));
});

test("an image of a task that can't be decoded is told with its trajectory", async () => {
  const { runs, run, folder } = await openedRun();
  writeFileSync(join(folder, "rotated.jpg"), imageFile("subsampled.jpg").subarray(0, 2000));
  const worker = policyWorker(openRuns(runs));
  const generate = generateTurn(worker, runTasks());
  const place = { id: `${run}/s/task-00000/0`, run, stage: "s", step: 0, task: "task-00000", sample: 0 };
  const turn = generate(
    {
      place,
      policyVersion: 0,
      seed: 1,
      sampling: { temperature: 0, maxTokens: 5 },
      turn: 1,
      head: null,
      callsBefore: 0,
      source: "validation",
      tools: [],
      messages: [],
    },
    new AbortController().signal,
    () => {},
  );
  await expect(turn).rejects.toThrow(/image 1 can't be used: .*premature end/i);
  await worker.close();
});

test("a demonstration with images has their tokens, without loss", async () => {
  const { opened, folder } = await openedRun();
  const path = join(folder, "demonstrations.jsonl");
  const messages = [
    { role: "user", content: "<image>How many?" },
    { role: "assistant", content: "two" },
    { role: "user", content: "And here?<image>" },
    { role: "assistant", content: "one" },
  ];
  copyFileSync(join(folder, "gray.png"), join(folder, "other.png"));
  writeFileSync(path, JSON.stringify({ messages, images: ["rotated.jpg", "other.png"] }));
  const [chat] = await framedChats(opened, await readDemonstrations(path)).at([0]);
  expect(chat?.images?.map(({ start }) => chat.mask[start])).toEqual([0, 0]);
  expect(chat?.images?.map(({ sha256 }) => sha256)).toEqual([
    await opened.store.bytes(imageFile("rotated.jpg")),
    await opened.store.bytes(imageFile("gray.png")),
  ]);
  writeFileSync(path, JSON.stringify({ messages, images: ["rotated.jpg"] }));
  await expect(readDemonstrations(path)).rejects.toThrow("has <image> 2 times, and its images are 1");
});

test("a prompt whose images leave no room for an action is refused before a run", async () => {
  const { pipeline } = await openedRun();
  const limited = checkPipeline(pipeline, { overrides: ["rollout.limits.tokens=30"] });
  await expect(limited).rejects.toThrow(/no room for an action in rollout\.limits\.tokens \(30\)/);
});
