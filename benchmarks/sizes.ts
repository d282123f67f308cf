// A LoRA step of 8 × 512 tokens at the shapes and vocabularies of real models, side by side with PyTorch and PEFT with
// gradient checkpointing: peak of the process and time, each side in a process of its own, in turns.
// node benchmarks/sizes.ts --python venv/bin/python [--shapes qwen-0.5b,llama-1b,qwen-1.5b] [--peers float32,bfloat16]
//   [--rounds 1] [--updates 1] [--warm 0] [--threads 2] [--json]
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { trainingEnvironment } from "../src/onnx/allocator.ts";
import { median, realShapes } from "./shapes.ts";
import { writeWorkload } from "./train/workload.ts";

/** Bars: MB of our process, with a base in int8; of PyTorch's peak; of its time in float32. */
const peakBars = { "qwen-0.5b": 3000, "llama-1b": 6000, "qwen-1.5b": 8000 } as const;
const [memoryBar, timeBar] = [0.5, 0.8];

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
  const { stdout } = await runFile(command, args, { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

function everturn(folder: string): Promise<Measurement> {
  const file = join(import.meta.dirname, "train", "everturn.ts");
  const args = [file, folder, options.updates, options.threads, "cpu", "float32", options.warm, "again"];
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
    ...{ min: Math.min(...times), median: median(times), processorMin: Math.min(...processor) },
    ...{ processorMedian: median(processor), peakBytes: median(measured.map((one) => one.peakBytes)) },
    ...{ loss, gradientNorm },
  };
}

const shown = ({ peakBytes, processorMin, processorMedian, min }: ReturnType<typeof summary>) =>
  `${(peakBytes / 1e6).toFixed(0)} MB, ${processorMin.toFixed(1)} s of CPU at least, ` +
  `${processorMedian.toFixed(1)} median, ${(min / 1e3).toFixed(1)} s at least`;

const rows = [];
for (const shape of realShapes.filter((name) => options.shapes.split(",").includes(name))) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-sizes-"));
  await writeWorkload(folder, shape, true, true);
  const peers = options.peers.split(",").filter(Boolean);
  const ours: Measurement[] = [];
  const theirs = new Map<string, Measurement[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    ours.push(await everturn(folder));
    for (const peer of peers) theirs.get(peer)?.push(await torch(folder, peer));
  }
  await rm(folder, { recursive: true });
  const own = summary(ours);
  console.log(`${shape}, Everturn: ${shown(own)} (bar ${peakBars[shape]} MB)`);
  for (const [peer, measured] of theirs) {
    const other = summary(measured);
    const ratios = {
      peak: own.peakBytes / other.peakBytes,
      ...{ min: own.min / other.min, median: own.median / other.median },
      processorMin: own.processorMin / other.processorMin,
      processorMedian: own.processorMedian / other.processorMedian,
    };
    const apart = Math.abs(own.loss - other.loss) / Math.max(1e-3, Math.abs(other.loss));
    if (peer === "float32" && !(apart < 1e-2)) throw new Error(`${shape}: the losses are ${apart} apart`);
    console.log(
      `${shape}, PyTorch ${peer}: ${shown(other)}; ratios: peak ${ratios.peak.toFixed(2)} (bar ${memoryBar}), ` +
        `CPU ${ratios.processorMin.toFixed(2)}, time ${ratios.min.toFixed(2)} (bar ${timeBar} of float32's)`,
    );
    rows.push({ shape, peer, ours: own, theirs: other, ratios });
  }
  if (peers.length === 0) rows.push({ shape, ours: own });
}
if (options.json)
  console.log(JSON.stringify({ benchmark: "sizes", rows, bars: { peakBars, memoryBar, timeBar } }));
