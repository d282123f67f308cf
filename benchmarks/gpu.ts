// Everything about cards, in one command: what works here, outputs compared with the CPU's, what falls back to the
// CPU, and throughput side by side with PyTorch and vLLM on the same card. Without a card it says so and compares what it can.
// node benchmarks/gpu.ts --python venv/bin/python [--shapes smol-135m,qwen-0.5b] [--devices cuda,webgpu] [--updates 10]
// [--json]
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { isEverturnError } from "../src/base/errors/everturn-error.ts";
import { fetchCuda } from "../src/engine/devices/cuda.ts";
import type { Device } from "../src/engine/devices/device.ts";
import { loadLibrary } from "../src/engine/devices/native-library.ts";
import { gpuShapes, median, type ShapeName } from "./shapes.ts";
import { writeWorkload } from "./train/workload.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    shapes: { type: "string", default: gpuShapes.join() },
    devices: { type: "string", default: "cuda,webgpu" },
    updates: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const here = import.meta.dirname;
const runFile = promisify(execFile);

interface Contest {
  readonly device: Device;
  readonly precision: string;
  readonly peer: string;
}

interface Times {
  readonly milliseconds: readonly number[];
  readonly card?: string;
  readonly loss?: number;
}

/** What each device computes in, and PyTorch's counterpart. */
const contests: readonly Contest[] = [
  { device: "cuda", precision: "float32", peer: "tf32" },
  { device: "cuda", precision: "bfloat16", peer: "bfloat16" },
  { device: "webgpu", precision: "float32", peer: "float32" },
  { device: "webgpu", precision: "float16", peer: "bfloat16" },
];

/** The same for generation alone: compiled with a static cache, and vLLM where it is installed. */
const generating: readonly Contest[] = [
  { device: "cuda", precision: "bfloat16", peer: "bfloat16 --compile" },
  { device: "cuda", precision: "bfloat16", peer: "vllm" },
];

/** Sequences and their tokens, of a step's update and of a batch that is generated. */
const sizes: Readonly<Record<(typeof gpuShapes)[number], readonly [count: number, length: number]>> = {
  "smol-135m": [32, 512],
  "qwen-0.5b": [16, 512],
};

interface Compared {
  readonly difference: number;
  readonly fallbacks: readonly (readonly [op: string, count: number])[];
}

/** A process's last line, which is JSON; or the error that it named when it failed. */
async function child<Result>(command: string, args: string[], env = {}): Promise<Result | string> {
  try {
    const { stdout } = await runFile(command, args, { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    return (
      said
        .trim()
        .split("\n")
        .findLast((line) => /^[\w.]*Error\b/.test(line)) ?? said.trim()
    );
  }
}

/** Whether a card seems to be there; fetches what CUDA needs if so. */
async function findCards(): Promise<Device[]> {
  const driver = loadLibrary("libcuda.so.1");
  if (driver === undefined) {
    console.log("NVIDIA driver: found");
    await fetchCuda({ libraries: true }, console.log).catch((error: unknown) => {
      if (!isEverturnError(error)) throw error;
      console.log(error.message);
    });
  } else console.log(`NVIDIA driver: ${driver}`);
  const found: Device[] = [];
  for (const device of ["cuda", "webgpu"] as const) {
    if (!options.devices.split(",").includes(device)) continue;
    const obstacle = await child<{ reason: string } | null>(process.execPath, [
      join(here, "gpu", "probe.ts"),
      device,
    ]);
    console.log(
      `${device}: ${obstacle === null ? "works" : typeof obstacle === "string" ? obstacle : obstacle.reason}`,
    );
    if (obstacle === null) found.push(device);
  }
  return found;
}

/** For comparisons with the CPU, in float32 proper: TF32 is switched off. */
const exactly = { NVIDIA_TF32_OVERRIDE: "0" };

/** Outputs against the CPU's. */
async function compare(device: Device, shape: ShapeName, software: boolean) {
  const args = [join(here, "gpu", "compare.ts"), device, shape, ...(software ? ["swiftshader"] : [])];
  type Result = Record<"train" | "decoding", Compared> & { decoders?: Record<string, number[]> };
  const result = await child<Result>(process.execPath, args, exactly);
  if (typeof result === "string") {
    console.log(`${device} ${shape}: ${result}`);
    return { device, shape, software, error: result };
  }
  for (const what of ["train", "decoding"] as const) {
    const { difference, fallbacks } = result[what];
    const list = fallbacks.map(([op, count]) => `${op} ${count}`).join(", ");
    console.log(
      `${device}${software ? " (SwiftShader)" : ""} ${shape}, ${what}: ${difference.toExponential(1)} from the CPU; off the device: ${list || "nothing"}`,
    );
  }
  for (const [precision, differences] of Object.entries(result.decoders ?? {})) {
    const all = differences.map((difference) => difference.toExponential(1)).join(", ");
    console.log(`${device} ${shape}, the decoder of ${precision}: ${all} from the CPU's`);
  }
  return { device, shape, software, ...result };
}

/** A base of few bits, sampled from and trained under an adapter, against the CPU. */
async function compareFewBits(device: Device, shape: ShapeName, kind: "int8" | "int4") {
  type Trained = { updates: readonly { loss: number; gradientNorm: number }[]; gap: number };
  type Result = {
    decoders: Record<string, number[]>;
    cpu: Trained["updates"];
    updates: Record<string, Trained>;
  };
  const args = [join(here, "gpu", "few-bits.ts"), device, shape, kind];
  const result = await child<Result>(process.execPath, args, exactly);
  if (typeof result === "string") {
    console.log(`${device} ${shape} ${kind}: ${result}`);
    return { device, shape, kind, error: result };
  }
  for (const [precision, { updates, gap }] of Object.entries(result.updates)) {
    const logits = result.decoders[precision]?.map((difference) => difference.toExponential(1)).join(", ");
    const [ours, cpu] = [updates, result.cpu].map((all) =>
      all.map(({ loss, gradientNorm }) => `${loss.toFixed(5)} (${gradientNorm.toFixed(5)})`).join(", "),
    );
    console.log(
      `${device} ${shape} ${kind}, ${precision}: logits ${logits} from the CPU's; losses (gradients' norms) of an adapter ${ours}, ` +
        `the CPU's ${cpu}; log-probabilities after it within ${gap.toExponential(1)}`,
    );
  }
  return { device, shape, kind, ...result };
}

/** Both sides' programs, and what they are given beside a folder and a count. */
const works = {
  train: { file: join(here, "train", "everturn.ts"), threads: ["2"] },
  generate: { file: join(here, "gpu", "generate.ts"), threads: [] },
} as const;

/** Time of a training update, and of 64 tokens for every sequence, on a card: ours and PyTorch's in turns. */
async function contest(shape: (typeof gpuShapes)[number], devices: readonly Device[]) {
  const folder = await mkdtemp(join(tmpdir(), "everturn-gpu-"));
  await writeWorkload(folder, shape, false, { real: true, size: sizes[shape] });
  const rows = [];
  const peers = new Map<string, Promise<Times | string>>();
  for (const what of ["train", "generate"] as const) {
    const all = what === "generate" ? [...contests, ...generating] : contests;
    for (const one of all.filter(({ device }) => devices.includes(device)))
      rows.push(await measure(what, shape, folder, one, peers));
  }
  await rm(folder, { recursive: true });
  return rows;
}

/** Each of PyTorch's sides is run once. */
async function measure(
  what: keyof typeof works,
  shape: ShapeName,
  folder: string,
  one: Contest,
  peers: Map<string, Promise<Times | string>>,
) {
  const { device, precision, peer } = one;
  const { file, threads } = works[what];
  const count = options.updates;
  const ours = await child<Times>(process.execPath, [file, folder, count, ...threads, device, precision]);
  const peerArguments =
    peer === "vllm"
      ? [join(here, "peers", "gpu_vllm.py"), what, folder, count]
      : [join(here, "peers", "gpu.py"), what, folder, count, ...peer.split(" ")];
  const running = peers.get(what + peer) ?? child<Times>(options.python, peerArguments);
  peers.set(what + peer, running);
  const theirs = await running;
  const title = `${shape} ${what}, ${device} ${precision}`;
  if (typeof ours === "string" || typeof theirs === "string") {
    const error = `ours: ${outcome(ours)}; theirs: ${outcome(theirs)}`;
    console.log(`${title}: ${error}`);
    return { what, shape, device, precision, error };
  }
  const least = [Math.min(...ours.milliseconds), Math.min(...theirs.milliseconds)] as const;
  const middle = [median(ours.milliseconds), median(theirs.milliseconds)] as const;
  const ratios = { min: least[0] / least[1], median: middle[0] / middle[1] };
  console.log(
    `${title}, ${peer === "vllm" ? peer : `PyTorch ${peer}`} on ${theirs.card}: ${middle[0].toFixed(1)} / ${middle[1].toFixed(1)} ms; ` +
      `ratios ${ratios.min.toFixed(2)}, ${ratios.median.toFixed(2)} (bar 1)` +
      (ours.loss === undefined ? "" : `; loss ${ours.loss.toFixed(5)} / ${theirs.loss?.toFixed(5)}`),
  );
  const card = theirs.card ?? "";
  return { what, shape, device, precision, peer, card, ours: middle[0], theirs: middle[1], ratios };
}

const outcome = (side: Times | string) => (typeof side === "string" ? side : "ran");

const cards = await findCards();
const comparisons = [];
const rows = [];
if (cards.length === 0) {
  console.log("No card can be used here: nothing is timed. WebGPU runs on the processor, by SwiftShader.");
  comparisons.push(await compare("webgpu", "tiny", true));
}
for (const shape of gpuShapes.filter((name) => options.shapes.split(",").includes(name))) {
  for (const device of cards) {
    comparisons.push(await compare(device, shape, false));
    for (const kind of ["int8", "int4"] as const) comparisons.push(await compareFewBits(device, shape, kind));
  }
  if (cards.length > 0) rows.push(...(await contest(shape, cards)));
}
if (options.json) console.log(JSON.stringify({ benchmark: "gpu", cards, comparisons, rows }));
