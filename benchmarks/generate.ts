// Generation, side by side with transformers, onnxruntime-genai and llama.cpp: end-to-end time from prompts to the last
// token, each side in a process of its own, in turns.
// node benchmarks/generate.ts --python venv/bin/python [--shapes tiny,small] [--batches 1,8,32] [--rounds 5]
//   [--spreads unequal prompts,ragged,equal] [--peers transformers,static,compile,genai,genai-int4,llamacpp] [--threads 2]
//   [--drawn greedy,sampled] [--lengths 128,32] [--files Q8_0,Q4_0] [--json]
// With --files, the same weights as a GGUF file of each of these types, which llama.cpp makes and runs, and which we import
// without widening; other peers keep their own precision.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { defined } from "../src/base/records/defined.ts";
import { memoryFlags } from "../src/control/supervision/worker-process.ts";
import { formatModelConfig } from "../src/engine/models/config/model-config-file.ts";
import { importModel } from "../src/engine/models/policy/import-model.ts";
import { exportGguf } from "../src/engine/models/weights/gguf/export-gguf.ts";
import { copyTokenizerFiles } from "../src/engine/models/weights/policy-folder.ts";
import { randomModelWeights } from "../src/engine/models/weights/random-weights.ts";
import { writeSafetensors } from "../src/engine/models/weights/safetensors.ts";
import { type Generated, type Side, startSide } from "./generate/side.ts";
import { generateRequest, observation, type Spread, spreads } from "./generate/workload.ts";
import { configs, median, type ShapeName, shapes } from "./shapes.ts";

/** Types of GGUF files, and what we keep their matrices as. */
const fileTypes = { Q8_0: "int8", Q4_0: "int4" } as const;
type FileType = keyof typeof fileTypes;

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    shapes: { type: "string", default: "tiny,small" },
    batches: { type: "string", default: "1,8,32" },
    spreads: { type: "string", default: spreads.join() },
    peers: { type: "string", default: "transformers,genai" },
    drawn: { type: "string", default: "greedy,sampled" },
    lengths: { type: "string" },
    rounds: { type: "string", default: "5" },
    threads: { type: "string", default: "2" },
    files: { type: "string", default: "" },
    json: { type: "boolean", default: false },
  },
});
const here = import.meta.dirname;
const peerScript = join(here, "peers", "generate.py");
const runFile = promisify(execFile);
const rounds = Number(options.rounds);
/** The longest prompt and the most new tokens; default what the shape has. */
const lengths = options.lengths?.split(",").map(Number);
/** What a row of llama.cpp's holds: a conversation of the benchmark's own lengths, or of those. */
const rowTokens = Math.max(512, 256 * Math.ceil((lengths?.reduce((sum, one) => sum + one, 0) ?? 0) / 256));
const requestOf = (shape: ShapeName, batch: number, spread: Spread, round: number) =>
  generateRequest(shape, batch, spread, round, lengths);
/** Tokens a second over llama.cpp's with the same quantized file, at least, by the sequences at once. */
const fileBars: Readonly<Record<number, number>> = { 1: 0.9, 8: 1, 32: 1.2 };

/** Bars: our time over transformers', over genai's, and over llama.cpp's with the same file; none was set for the others, nor at smol-135m without a file. */
function barOf(shape: ShapeName, peer: string, batch: number, file?: FileType): number | undefined {
  if (file) return peer === "llamacpp" && fileBars[batch] ? 1 / fileBars[batch] : undefined;
  if (shape !== "tiny" && shape !== "small") return undefined;
  if (peer === "genai") return 1;
  return peer === "transformers" ? (shape === "tiny" ? 0.25 : 0.4) : undefined;
}

/** On the CPU, genai continues prompts that it had to pad wrongly: it is compared where all are of one length. */
const wantsEqualPrompts = (name: string) => name.startsWith("genai");

type Sides = ReadonlyMap<string, Side>;

/** genai's builder and GGUF want a tokenizer, though nobody encodes a text: GGUF one that splits as a known one does. */
async function writeTokenizer(folder: string): Promise<void> {
  await copyTokenizerFiles(join(here, "../pipelines/calculator/tokenizer"), folder);
  const path = join(folder, "tokenizer.json");
  const json = JSON.parse(await readFile(path, "utf8"));
  const likeGpt2 = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  await writeFile(path, JSON.stringify({ ...json, pre_tokenizer: likeGpt2 }));
}

/**
 * The folders of llama.cpp's quantized model and of ours: what it makes of the GGUF file `whole` is what we import. Where it is no
 * peer, there is no such file, and we round the model as it does.
 */
async function writeQuantized(
  folder: string,
  work: string,
  type: FileType,
  whole?: string,
): Promise<[string, string]> {
  const [theirs, ours] = [join(work, type), join(work, fileTypes[type])];
  const file = join(theirs, "model.gguf");
  if (whole !== undefined) {
    await mkdir(theirs);
    await runFile(options.python, [peerScript, "quantize", whole, file, type]);
  }
  await importModel(whole === undefined ? folder : file, ours, fileTypes[type]);
  return [theirs, ours];
}

async function startSides(shape: ShapeName, folder: string, file?: FileType): Promise<Sides> {
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
  const whole = peers.includes("llamacpp") ? join(work, "model.gguf") : undefined;
  if (whole !== undefined) await exportGguf(folder, weights, whole, "F32");
  const [theirs, ours] = file ? await writeQuantized(folder, work, file, whole) : [work, folder];
  const sides = new Map<string, Side>();
  const everturn = join(here, "generate", "everturn.ts");
  const commands: [string, string, string[]][] = [
    ["everturn", process.execPath, [...memoryFlags, everturn, ours, options.threads]], // as workers run
    ...peers.map((peer): [string, string, string[]] => {
      const place = peer === "llamacpp" ? theirs : work;
      return [peer, options.python, [peerScript, peer, folder, options.threads, place, String(rowTokens)]];
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

type Task = (side: Side, round: number) => Promise<Generated>;

/** Has a side generate a little from another prompt: what slept in the pause, caches too, is awake then. */
const wake = (shape: ShapeName, side: Side, round: number) =>
  side.generate({ ...requestOf(shape, 1, "equal", rounds + round), sampled: false });

/** Has every side do the same, round after round, each with prompts of its own, once all are warm. */
async function inTurns(shape: ShapeName, sides: Sides, names: readonly string[], task: Task) {
  const answers = new Map<string, Generated[]>(names.map((name) => [name, []]));
  for (const name of names) {
    for (let [spent, round] = [0, rounds]; spent < warmUp; round++)
      spent += (await task(sides.get(name)!, round)).seconds;
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length; // what a side did just before weighs on the next one
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      await sleep(pause);
      await wake(shape, sides.get(name)!, round);
      answers.get(name)!.push(await task(sides.get(name)!, round));
    }
  }
  return answers;
}

/** Five turns of trajectories: each goes on from the one before, with what a tool answered between. */
async function trajectories(shape: ShapeName, side: Side, round: number): Promise<Generated> {
  const first = requestOf(shape, 8, "unequal prompts", round);
  const limits = first.prompts.map(() => 24);
  let contexts = first.prompts;
  let [seconds, processorSeconds, generated] = [0, 0, 0];
  for (let turn = 0; turn < 5; turn++) {
    const answer = await side.generate({ prompts: contexts, limits, sampled: false });
    seconds += answer.seconds;
    processorSeconds += answer.processorSeconds;
    generated += answer.generated;
    contexts = contexts.map((context, row) => [
      ...context,
      ...answer.tokens[row]!,
      ...observation(shape, row, turn),
    ]);
  }
  return { seconds, processorSeconds, generated, tokens: contexts };
}

interface What {
  file?: FileType;
  batch: number;
  spread: string;
  drawn: string;
}

async function compare(shape: ShapeName, sides: Sides, what: What, names: string[], task: Task) {
  const answers = await inTurns(shape, sides, names, task);
  const measured = (name: string) => {
    const all = answers.get(name)!;
    const times = (of: (answer: Generated) => number) => all.map(of);
    return {
      seconds: times(({ seconds }) => seconds),
      processor: times(({ processorSeconds }) => processorSeconds),
      rate: Math.max(...times(({ generated, seconds }) => generated / seconds)),
      tokens: all.at(-1)!.tokens,
    };
  };
  const ours = measured("everturn");
  return names
    .filter((name) => name !== "everturn")
    .map((peer) => {
      const theirs = measured(peer);
      const ratios = {
        min: Math.min(...ours.seconds) / Math.min(...theirs.seconds),
        median: median(ours.seconds) / median(theirs.seconds),
        processor: Math.min(...ours.processor) / Math.min(...theirs.processor),
      };
      const equal = ours.tokens.filter((tokens, at) => tokens.join() === theirs.tokens[at]!.join()).length;
      const bar = barOf(shape, peer, what.batch, what.file);
      const times = { ours: ours.seconds, theirs: theirs.seconds };
      const rates = [ours.rate, theirs.rate].map((rate) => Number(rate.toPrecision(4)));
      const row = { shape, ...what, peer, ...times, rates, ratios, bar, equal };
      const milliseconds = (seconds: number[]) => (1000 * Math.min(...seconds)).toFixed(1);
      const told = bar === undefined ? "" : ` (bar ${bar.toFixed(2)})`;
      console.log(
        `${[shape, ...(what.file ? [what.file] : []), `batch ${what.batch}`, what.spread, what.drawn].join(", ")}, ${peer}: ${milliseconds(ours.seconds)} / ${milliseconds(theirs.seconds)} ms at least, ${rates.join(" / ")} tokens/s; ` +
          `ratios ${ratios.min.toFixed(2)}, ${ratios.median.toFixed(2)}${told}, CPU ${ratios.processor.toFixed(2)}; ` +
          `equal rows ${equal} of ${ours.tokens.length}`,
      );
      return row;
    });
}

async function compareShape(shape: ShapeName, file?: FileType) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-generate-"));
  const sides = await startSides(shape, folder, file);
  const padding = [...sides.keys()].filter((name) => !wantsEqualPrompts(name));
  const wanted = options.spreads.split(",");
  const rows = [];
  for (const batch of options.batches.split(",").map(Number)) {
    for (const spread of spreads.filter((name) => wanted.includes(name))) {
      for (const drawn of options.drawn.split(",")) {
        const sampled = drawn === "sampled";
        const what = defined<What>({ file, batch, spread, drawn });
        const names = spread === "equal" ? [...sides.keys()] : padding;
        const task: Task = (side, round) =>
          side.generate({ ...requestOf(shape, batch, spread, round), sampled });
        rows.push(...(await compare(shape, sides, what, names, task)));
      }
    }
  }
  const what = defined<What>({ file, batch: 8, spread: "five turns", drawn: "greedy" });
  rows.push(
    ...(await compare(shape, sides, what, padding, (side, round) => trajectories(shape, side, round))),
  );
  for (const side of sides.values()) side.close();
  await rm(folder, { recursive: true });
  return rows;
}

const rows = [];
const files = Object.keys(fileTypes).filter((type): type is FileType =>
  options.files.split(",").includes(type),
);
for (const shape of [...shapes, "qwen-0.5b" as const].filter((name) =>
  options.shapes.split(",").includes(name),
)) {
  for (const file of files.length > 0 ? files : [undefined]) rows.push(...(await compareShape(shape, file)));
}
if (options.json) console.log(JSON.stringify({ benchmark: "generate", rows }));
