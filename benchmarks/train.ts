// One PPO update, side by side with PyTorch: time and peak memory, each side in a process of its own, in turns; and how
// much of what this machine's products of large matrices come to our update's products come to, all else counted as lost.
// node benchmarks/train.ts --python venv/bin/python [--shapes tiny,small,smol-135m] [--modes full,lora]
//   [--rounds 3] [--updates 5] [--threads 2] [--peers eager,loss-head,compile] [--allocators default,same] [--json]
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { trainingEnvironment } from "../src/engine/onnx/allocator.ts";
import { median, type ShapeName, shapes } from "./shapes.ts";
import { writeWorkload } from "./train/workload.ts";

/** What each kind of peer passes to peers/train.py. */
const peerArguments: Readonly<Record<string, readonly string[]>> = {
  eager: [],
  "loss-head": ["--head", "loss"],
  compile: ["--compile"],
};

/** Bars: ours over PyTorch's; of memory, beyond what bare imports take. */
const memoryBar = 0.8;
/** Of the machine's peak, at small and above. */
const peakBar = 0.7;
const timeBar = (shape: ShapeName, mode: string) => (shape === "smol-135m" && mode === "full" ? 1 : 0.85);

interface Measurement {
  milliseconds: number[];
  peakBytes: number;
  /** Of the process when it had imported what it needs, and nothing else. */
  importedBytes: number;
  loss: number;
  gradientNorm: number;
  /** Floating-point operations of the matrix products of an update; ours alone. */
  operations?: number;
}

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    shapes: { type: "string", default: shapes.join() },
    modes: { type: "string", default: "full,lora" },
    peers: { type: "string", default: "eager,loss-head" },
    allocators: { type: "string", default: "default,same" },
    rounds: { type: "string", default: "3" },
    updates: { type: "string", default: "5" },
    threads: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const allocators = options.allocators.split(",");
const peers = options.peers
  .split(",")
  .flatMap((name) =>
    allocators.map((allocator) => ({ name, allocator, title: `${name}, ${allocator} allocator` })),
  );
const here = import.meta.dirname;
const runFile = promisify(execFile);

async function measure(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<Measurement> {
  const { stdout } = await runFile(command, args, { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

function everturn(folder: string): Promise<Measurement> {
  const args = [join(here, "train", "everturn.ts"), folder, options.updates, options.threads];
  return measure(process.execPath, args, trainingEnvironment(process.env));
}

/** `same`: the allocator has the settings of a trainer's worker; `default`: its own, by which PyTorch is faster and takes more. */
function torch(folder: string, { name, allocator }: (typeof peers)[number]): Promise<Measurement> {
  const counts = ["--updates", options.updates, "--threads", options.threads];
  const args = [join(here, "peers", "train.py"), folder, ...counts, ...(peerArguments[name] ?? [])];
  return measure(options.python, args, allocator === "same" ? trainingEnvironment(process.env) : process.env);
}

/** Operations a second of a product of large matrices. */
async function machinePeak(): Promise<number> {
  const args = [join(here, "train", "matrix-peak.ts"), options.threads];
  const { stdout } = await runFile(process.execPath, args, { env: trainingEnvironment(process.env) });
  return JSON.parse(stdout).operationsPerSecond;
}

async function compare(shape: ShapeName, mode: string) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-train-"));
  await writeWorkload(folder, shape, mode === "lora");
  const ours: Measurement[] = [];
  const peaks: number[] = [];
  const theirs = new Map<string, Measurement[]>(peers.map(({ title }) => [title, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    ours.push(await everturn(folder));
    peaks.push(await machinePeak());
    for (const peer of peers) theirs.get(peer.title)?.push(await torch(folder, peer));
  }
  await rm(folder, { recursive: true });
  const share = shareOfPeak(shape, mode, ours, Math.max(...peaks));
  return [...theirs].map(([peer, measured]) => ({
    ...row(shape, mode, peer, summary(ours), summary(measured)),
    share,
  }));
}

/** The products of the fastest update, over what the machine would have come to in its time. */
function shareOfPeak(shape: ShapeName, mode: string, ours: readonly Measurement[], peak: number): number {
  const { operations = Number.NaN } = ours[0] ?? {};
  const share = operations / (summary(ours).min / 1000) / peak;
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  const bar = shape === "tiny" ? "no bar" : `bar ${percent(peakBar)}`;
  console.log(
    `${shape} ${mode}: ${(operations / 1e9).toFixed(1)} billion operations in matrix products, ` +
      `${percent(share)} of this machine's ${(peak / 1e9).toFixed(0)} billion a second (${bar})`,
  );
  return share;
}

function summary(measured: readonly Measurement[]) {
  const times = measured.flatMap(({ milliseconds }) => milliseconds);
  const { loss = Number.NaN, gradientNorm = Number.NaN } = measured[0] ?? {};
  const peakBytes = median(measured.map((one) => one.peakBytes));
  const netBytes = median(measured.map((one) => one.peakBytes - one.importedBytes));
  return { min: Math.min(...times), median: median(times), peakBytes, netBytes, loss, gradientNorm };
}

type Summary = ReturnType<typeof summary>;

function row(shape: ShapeName, mode: string, peer: string, ours: Summary, theirs: Summary) {
  const ratios = {
    min: ours.min / theirs.min,
    median: ours.median / theirs.median,
    memory: ours.netBytes / theirs.netBytes,
    wholeMemory: ours.peakBytes / theirs.peakBytes,
  };
  const apart = Math.max(
    Math.abs(ours.loss - theirs.loss) / Math.max(1e-3, Math.abs(theirs.loss)),
    Math.abs(ours.gradientNorm / theirs.gradientNorm - 1),
  );
  if (!(apart < 1e-3)) throw new Error(`${shape}, ${mode}: the two sides don't compute the same: ${apart}`);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  console.log(
    `${shape} ${mode}, PyTorch ${peer}: ${ours.min.toFixed(1)} / ${theirs.min.toFixed(1)} ms at least, ` +
      `${ours.median.toFixed(1)} / ${theirs.median.toFixed(1)} ms median, ` +
      `${megabytes(ours.netBytes)} / ${megabytes(theirs.netBytes)} MB beyond imports ` +
      `(${megabytes(ours.peakBytes)} / ${megabytes(theirs.peakBytes)} with them); ` +
      `ratios ${ratios.min.toFixed(2)}, ${ratios.median.toFixed(2)}, memory ${ratios.memory.toFixed(2)} ` +
      `(bars ${timeBar(shape, mode)}, ${memoryBar})`,
  );
  return { shape, mode, peer, ours, theirs, ratios, bars: { time: timeBar(shape, mode), memory: memoryBar } };
}

const rows = [];
for (const shape of shapes.filter((name) => options.shapes.split(",").includes(name))) {
  for (const mode of options.modes.split(",")) rows.push(...(await compare(shape, mode)));
}
if (options.json) console.log(JSON.stringify({ benchmark: "train", rows }));
