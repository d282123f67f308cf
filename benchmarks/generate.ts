// Generation, side by side with transformers, onnxruntime-genai and llama.cpp: end-to-end time from prompts to the last
// token, each side in a process of its own, in turns.
// node benchmarks/generate.ts --python venv/bin/python [--shapes tiny,small] [--batches 1,8,32] [--rounds 5]
//   [--spreads unequal prompts,ragged,equal] [--peers transformers,static,compile,genai,llamacpp] [--threads 2] [--json]
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { exportGguf } from "../src/models/gguf/export-gguf.ts";
import { formatModelConfig } from "../src/models/model-config-file.ts";
import { randomModelWeights } from "../src/models/model-weights.ts";
import { copyTokenizerFiles } from "../src/models/policy-folder.ts";
import { writeSafetensors } from "../src/models/safetensors.ts";
import { memoryFlags } from "../src/supervision/worker-process.ts";
import { type GenerateAnswer, type Side, startSide } from "./generate/side.ts";
import { generateRequest, observation, spreads } from "./generate/workload.ts";
import { configs, median, type ShapeName, shapes } from "./shapes.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    shapes: { type: "string", default: "tiny,small" },
    batches: { type: "string", default: "1,8,32" },
    spreads: { type: "string", default: spreads.join() },
    peers: { type: "string", default: "transformers,genai" },
    rounds: { type: "string", default: "5" },
    threads: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const here = import.meta.dirname;
const rounds = Number(options.rounds);
/** Bars: ours over transformers', and over genai's; none was set for the others, nor at smol-135m. */
function barOf(shape: ShapeName, peer: string): number | undefined {
  if (shape === "smol-135m") return undefined;
  if (peer === "genai") return 1;
  return peer === "transformers" ? (shape === "tiny" ? 0.25 : 0.4) : undefined;
}

/** On the CPU, genai continues prompts that it had to pad wrongly: it is compared where all are of one length. */
const wantsEqualPrompts = (name: string) => name === "genai";

type Sides = ReadonlyMap<string, Side>;

/** genai's builder and GGUF want a tokenizer, though nobody encodes a text: GGUF one that splits as a known one does. */
async function writeTokenizer(folder: string): Promise<void> {
  await copyTokenizerFiles(join(here, "../pipelines/calculator/tokenizer"), folder);
  const path = join(folder, "tokenizer.json");
  const json = JSON.parse(await readFile(path, "utf8"));
  const likeGpt2 = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  await writeFile(path, JSON.stringify({ ...json, pre_tokenizer: likeGpt2 }));
}

async function startSides(shape: ShapeName, folder: string): Promise<Sides> {
  const config = configs[shape];
  const tokens = { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 };
  await writeTokenizer(folder);
  await writeFile(join(folder, "config.json"), formatModelConfig(config, tokens));
  // A large deviation: what a model chooses hangs on its context, and ties are rare.
  const weights = randomModelWeights({ ...config, initializer_range: 0.2 }, 1);
  await writeSafetensors(join(folder, "model.safetensors"), weights);
  const work = join(folder, "work");
  await mkdir(work);
  const peers = options.peers.split(",");
  if (peers.includes("llamacpp")) await exportGguf(folder, weights, join(work, "model.gguf"), "F32");
  const sides = new Map<string, Side>();
  const everturn = join(here, "generate", "everturn.ts");
  const commands: [string, string, string[]][] = [
    ["everturn", process.execPath, [...memoryFlags, everturn, folder, options.threads]], // as workers run
    ...peers.map((peer): [string, string, string[]] => {
      const script = join(here, "peers", "generate.py");
      return [peer, options.python, [script, peer, folder, options.threads, work]];
    }),
  ];
  for (const [name, command, args] of commands) {
    const side = await startSide(name, command, args);
    if (side) sides.set(name, side);
  }
  return sides;
}

/** Milliseconds between two turns: the threads of a runtime that has just finished spin for a while before they sleep. */
const pause = 300;

/** Seconds that a side does a thing before it is measured, at least once: V8 compiles what it has seen often. */
const warmUp = 1;

type Task = (side: Side, round: number) => Promise<GenerateAnswer>;

/** Has a side generate a little from another prompt: what slept in the pause, caches too, is awake then. */
const wake = (shape: ShapeName, side: Side, round: number) =>
  side.generate({ ...generateRequest(shape, 1, "equal", rounds + round), sampled: false });

/** Has every side do the same, round after round, each with prompts of its own, once all are warm. */
async function inTurns(shape: ShapeName, sides: Sides, names: readonly string[], task: Task) {
  const seconds = new Map<string, number[]>(names.map((name) => [name, []]));
  const tokens = new Map<string, number[][]>();
  for (const name of names) {
    for (let [spent, round] = [0, rounds]; spent < warmUp; round++)
      spent += (await task(sides.get(name)!, round)).seconds;
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length; // what a side did just before weighs on the next one
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      await sleep(pause);
      await wake(shape, sides.get(name)!, round);
      const answer = await task(sides.get(name)!, round);
      seconds.get(name)!.push(answer.seconds);
      tokens.set(name, answer.tokens);
    }
  }
  return { seconds, tokens };
}

/** Five turns of trajectories: each goes on from the one before, with what a tool answered between. */
async function trajectories(shape: ShapeName, side: Side, round: number): Promise<GenerateAnswer> {
  const first = generateRequest(shape, 8, "unequal prompts", round);
  const limits = first.prompts.map(() => 24);
  let contexts = first.prompts;
  let seconds = 0;
  for (let turn = 0; turn < 5; turn++) {
    const answer = await side.generate({ prompts: contexts, limits, sampled: false });
    seconds += answer.seconds;
    contexts = contexts.map((context, row) => [
      ...context,
      ...answer.tokens[row]!,
      ...observation(shape, row, turn),
    ]);
  }
  return { seconds, tokens: contexts };
}

async function compare(shape: ShapeName, sides: Sides, what: object, names: string[], task: Task) {
  const { seconds, tokens } = await inTurns(shape, sides, names, task);
  const ours = seconds.get("everturn")!;
  return names
    .filter((name) => name !== "everturn")
    .map((peer) => {
      const theirs = seconds.get(peer)!;
      const ratios = {
        min: Math.min(...ours) / Math.min(...theirs),
        median: median(ours) / median(theirs),
      };
      const equal = tokens
        .get("everturn")!
        .filter((row, at) => row.join() === tokens.get(peer)![at]!.join()).length;
      const row = { shape, ...what, peer, ours, theirs, ratios, bar: barOf(shape, peer), equal };
      const milliseconds = (times: number[]) => (1000 * Math.min(...times)).toFixed(1);
      const bar = row.bar === undefined ? "" : ` (bar ${row.bar})`;
      console.log(
        `${[shape, ...Object.values(what)].join(", ")}, ${peer}: ${milliseconds(ours)} / ${milliseconds(theirs)} ms at least; ` +
          `ratios ${ratios.min.toFixed(2)}, ${ratios.median.toFixed(2)}${bar}; ` +
          `equal rows ${equal} of ${tokens.get(peer)!.length}`,
      );
      return row;
    });
}

async function compareShape(shape: ShapeName) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-generate-"));
  const sides = await startSides(shape, folder);
  const padding = [...sides.keys()].filter((name) => !wantsEqualPrompts(name));
  const wanted = options.spreads.split(",");
  const rows = [];
  for (const batch of options.batches.split(",").map(Number)) {
    for (const spread of spreads.filter((name) => wanted.includes(name))) {
      for (const sampled of [false, true]) {
        const what = { batch: `batch ${batch}`, spread, drawn: sampled ? "sampled" : "greedy" };
        const names = spread === "equal" ? [...sides.keys()] : padding;
        const task: Task = (side, round) =>
          side.generate({ ...generateRequest(shape, batch, spread, round), sampled });
        rows.push(...(await compare(shape, sides, what, names, task)));
      }
    }
  }
  const what = { batch: "batch 8", spread: "five turns", drawn: "greedy" };
  rows.push(
    ...(await compare(shape, sides, what, padding, (side, round) => trajectories(shape, side, round))),
  );
  for (const side of sides.values()) side.close();
  await rm(folder, { recursive: true });
  return rows;
}

const rows = [];
for (const shape of shapes.filter((name) => options.shapes.split(",").includes(name))) {
  rows.push(...(await compareShape(shape)));
}
if (options.json) console.log(JSON.stringify({ benchmark: "generate", rows }));
