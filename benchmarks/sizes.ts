// A LoRA step of 8 × 512 tokens at the shapes and vocabularies of real models, side by side with PyTorch and PEFT with
// gradient checkpointing: peak of the process and time, each side in a process of its own, in turns.
// node benchmarks/sizes.ts --python venv/bin/python [--shapes qwen-0.5b,llama-1b,qwen-1.5b] [--bases int8] (of ours:
//   float32, bfloat16, int8, int4) [--peers float32,bfloat16] [--rows 8 --tokens 512] [--memory MB] (for ours; default: by shape and base)
//   [--rounds 1] [--updates 1] [--warm 0] [--threads 2] [--json]
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { trainingEnvironment } from "../src/engine/onnx/allocator.ts";
import { median, realShapes } from "./shapes.ts";

/** Bars: MB of our process, with a base in int8; of PyTorch's peak; of its time in float32. */
const peakBars = { "qwen-0.5b": 3000, "llama-1b": 6000, "qwen-1.5b": 8000 } as const;
const [memoryBar, timeBar] = [0.5, 0.8];
/** MB that our process is given: within its bar, and within half of what PyTorch takes in bfloat16 (6.5, 8.2 and 10 GB). A base in float32, which is larger than that by itself, is given the bar. */
const givenMemory = { "qwen-0.5b": 3000, "llama-1b": 4000, "qwen-1.5b": 4900 } as const;

interface Measurement {
  milliseconds: number[];
  processorSeconds: number[];
  peakBytes: number;
  loss: number;
  gradientNorm: number;
}

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    shapes: { type: "string", default: realShapes.join() },
    bases: { type: "string", default: "int8" },
    rows: { type: "string" },
    tokens: { type: "string" },
    memory: { type: "string" },
    peers: { type: "string", default: "float32,bfloat16" },
    rounds: { type: "string", default: "1" },
    updates: { type: "string", default: "1" },
    warm: { type: "string", default: "0" },
    threads: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const runFile = promisify(execFile);

async function measure(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<Measurement> {
  const { stdout, stderr } = await runFile(command, args, { env, maxBuffer: 2 ** 26 });
  const [plan] = /^a training step holds .*$/m.exec(stderr) ?? [];
  if (plan !== undefined) console.log(plan);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

function everturn(folder: string, megabytes: number): Promise<Measurement> {
  const file = join(import.meta.dirname, "train", "everturn.ts");
  const args = [
    file,
    folder,
    options.updates,
    options.threads,
    "cpu",
    "float32",
    options.warm,
    String(megabytes),
  ];
  return measure(process.execPath, args, trainingEnvironment(process.env));
}

function torch(folder: string, dtype: string): Promise<Measurement> {
  const file = join(import.meta.dirname, "peers", "train.py");
  const counts = ["--updates", options.updates, "--warm", options.warm, "--threads", options.threads];
  const args = [file, folder, ...counts, "--head", "loss", "--dtype", dtype, "--checkpointing"];
  return measure(options.python, args, process.env);
}

function summary(measured: readonly Measurement[]) {
  const times = measured.flatMap(({ milliseconds }) => milliseconds);
  const processor = measured.flatMap(({ processorSeconds }) => processorSeconds);
  const { loss = Number.NaN, gradientNorm = Number.NaN } = measured[0] ?? {};
  return {
    min: Math.min(...times),
    median: median(times),
    processorMin: Math.min(...processor),
    processorMedian: median(processor),
    peakBytes: median(measured.map((one) => one.peakBytes)),
    loss,
    gradientNorm,
  };
}

type Summary = ReturnType<typeof summary>;

const shown = ({ peakBytes, processorMin, processorMedian, min }: Summary) =>
  `${(peakBytes / 1e6).toFixed(0)} MB, ${processorMin.toFixed(1)} s of CPU at least, ` +
  `${processorMedian.toFixed(1)} median, ${(min / 1e3).toFixed(1)} s at least`;

const bases = options.bases.split(",");
const peers = options.peers.split(",").filter(Boolean);
const rows = [];
for (const shape of realShapes.filter((name) => options.shapes.split(",").includes(name))) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-sizes-"));
  const writer = join(import.meta.dirname, "train", "write-workload.ts");
  const size = options.rows && options.tokens ? [options.rows, options.tokens] : [];
  await runFile(process.execPath, [writer, folder, shape, options.bases, ...size]);
  const ours = new Map<string, Measurement[]>(bases.map((base) => [base, []]));
  const theirs = new Map<string, Measurement[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const base of bases) {
      const given = (base === "float32" ? peakBars : givenMemory)[shape];
      ours.get(base)?.push(await everturn(join(folder, base), Number(options.memory ?? given)));
    }
    for (const peer of peers) theirs.get(peer)?.push(await torch(join(folder, "float32"), peer));
  }
  await rm(folder, { recursive: true });
  for (const [peer, measured] of theirs)
    console.log(`${shape}, PyTorch ${peer}: ${shown(summary(measured))}`);
  for (const [base, measured] of ours) {
    const own = summary(measured);
    console.log(
      `${shape}, Everturn ${base}: ${shown(own)}${base === "int8" ? ` (bar ${peakBars[shape]} MB)` : ""}`,
    );
    for (const [peer, others] of theirs)
      rows.push(compared(shape, { base, own }, { peer, other: summary(others) }));
    if (peers.length === 0) rows.push({ shape, base, ours: own });
  }
}
if (options.json)
  console.log(JSON.stringify({ benchmark: "sizes", rows, bars: { peakBars, memoryBar, timeBar } }));

/** Ours over theirs. Rounded bases have a loss of their own, near the other one. */
function compared(
  shape: string,
  { base, own }: { base: string; own: Summary },
  { peer, other }: { peer: string; other: Summary },
) {
  const apart = Math.abs(own.loss - other.loss) / Math.max(1e-3, Math.abs(other.loss));
  const isExact = base === "float32" && peer === "float32";
  if (isExact && !(apart < 1e-2)) throw new Error(`${shape}: the losses are ${apart} apart`);
  const ratios = {
    peak: own.peakBytes / other.peakBytes,
    min: own.min / other.min,
    median: own.median / other.median,
    processorMin: own.processorMin / other.processorMin,
    processorMedian: own.processorMedian / other.processorMedian,
  };
  console.log(
    `  to PyTorch ${peer}: peak ${ratios.peak.toFixed(2)} (bar ${memoryBar}), ` +
      `CPU ${ratios.processorMin.toFixed(2)}, time ${ratios.min.toFixed(2)}${peer === "float32" ? ` (bar ${timeBar})` : ""}`,
  );
  return { shape, base, peer, ours: own, theirs: other, ratios };
}
