import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, start } from "../support/command.ts";
import { groupMemory } from "./group-memory.ts";
import type { PublishedShape } from "./published-shapes.ts";

const pipeline = join(import.meta.dirname, "pipeline.yaml");
const writeModel = join(import.meta.dirname, "write-model.ts");

/** One command of the road: what it took, in seconds and in bytes of memory of all of its processes together. */
export interface RoadStep {
  command: string;
  seconds: number;
  memory: number;
}

/** Where the road has come to. */
export interface Road {
  /** The imported model, the trained version, and the two exports: a folder and a GGUF file. */
  folders: { model: string; trained: string; folder: string; gguf: string };
  /** The last of the run's steps. */
  record: StepRecord;
  steps: RoadStep[];
}

/**
 * Goes a user's whole road with a model of this shape, its whole vocabulary and random weights: `everturn import` of a
 * GGUF file, `everturn run` for a step of GRPO or as `set` says, `everturn export` as a folder and as GGUF. All files are under `work`.
 */
export async function goRoad(
  shape: PublishedShape,
  work: string,
  { seed = 1, set = [] }: { seed?: number; set?: readonly string[] } = {},
): Promise<Road> {
  await mkdir(work, { recursive: true });
  const file = join(work, "random.gguf");
  // in a process of its own, whose memory goes with it
  await promisify(execFile)(process.execPath, [writeModel, JSON.stringify(shape), file, String(seed)]);
  const folders = {
    model: join(work, "model"),
    folder: join(work, "exported"),
    gguf: join(work, "exported.gguf"),
  };
  const steps: RoadStep[] = [];
  const everturn = async (...parameters: string[]) => {
    const begun = performance.now();
    const command = start(...parameters);
    const memory = groupMemory(command.child.pid ?? 0);
    const { code, stdout, stderr } = await command.end();
    const seconds = (performance.now() - begun) / 1000;
    if (code !== 0) throw new Error(`everturn ${parameters.join(" ")}: ${stderr}`);
    steps.push({ command: parameters[0] ?? "", seconds, memory: memory.stop() });
    return stdout;
  };
  await everturn("import", file, folders.model);
  const runs = join(work, "runs");
  const settings = [`policy.config.model=${folders.model}`, ...set].flatMap((one) => ["--set", one]);
  const { run } = lastLine<{ run: string }>(
    await everturn("run", pipeline, ...settings, "--runs", runs, "--json"),
  );
  const folder = runFolder(runs, run);
  const record = (await readLines<StepRecord>(folder.metrics)).at(-1);
  if (record === undefined) throw new Error(`${run} has trained no step`);
  const trained = (await everturn("versions", run, String(record.policyVersion), "--runs", runs)).trim();
  await everturn("export", run, folders.folder, "--runs", runs, "--merge");
  await everturn("export", trained, folders.gguf, "--merge", "--dtype", "float16");
  return { folders: { ...folders, trained }, record, steps };
}
