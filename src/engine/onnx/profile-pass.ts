import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined } from "../../base/records/defined.ts";
import type { Device } from "../devices/device.ts";
import { loadRuntime } from "../devices/runtime.ts";
import type { Tensor } from "./model-session.ts";
import { runtimeOptions, runtimeTensor } from "./node-session.ts";

/** A node that ran. Copies between memories are also nodes: MemcpyToHost and MemcpyFromHost. */
export interface ProfiledNode {
  readonly name: string;
  readonly op: string;
  readonly provider: string;
  /** Of the node alone. On a card, only the time to launch the work. */
  readonly microseconds: number;
}

interface ProfileEvent {
  readonly cat: string;
  readonly name: string;
  readonly dur: number;
  readonly args?: { readonly op_name?: string; readonly provider?: string };
}

/** A profiled pass of a model. */
export interface ProfiledPass {
  /** Each node and the device that ran it. */
  readonly nodes: readonly ProfiledNode[];
  /** Its float32 outputs. */
  readonly floats: ReadonlyMap<string, Float32Array>;
}

/**
 * Runs a model once on a device. Returns where each of its nodes ran, and the outputs. `weightsFolder` contains the
 * files that its graph names.
 */
export async function profilePass(
  model: Uint8Array,
  feeds: Readonly<Record<string, Tensor>>,
  device: Device,
  weightsFolder?: string,
): Promise<ProfiledPass> {
  const { InferenceSession, Tensor: make } = await loadRuntime();
  const folder = await mkdtemp(join(tmpdir(), "everturn-profile-"));
  try {
    const session = await InferenceSession.create(model, {
      ...runtimeOptions(defined({ device, weightsFolder })),
      enableProfiling: true,
      profileFilePrefix: join(folder, "run"),
    });
    const given = Object.entries(feeds).map(([name, tensor]) => [name, runtimeTensor(make, name, tensor)]);
    const outputs = Object.entries(await session.run(Object.fromEntries(given)));
    session.endProfiling();
    await session.release();
    const [file] = await readdir(folder);
    const events: ProfileEvent[] = JSON.parse(await readFile(join(folder, file!), "utf8"));
    const floats = outputs.flatMap(([name, { data }]) =>
      data instanceof Float32Array ? [[name, data] as const] : [],
    );
    return { nodes: events.flatMap(profiledNodes), floats: new Map(floats) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function profiledNodes({ cat, name, dur, args }: ProfileEvent): ProfiledNode[] {
  if (cat !== "Node" || !name.endsWith("_kernel_time") || args?.op_name === undefined) return [];
  const { op_name: op, provider = "" } = args;
  return [{ name: name.slice(0, -"_kernel_time".length), op, provider, microseconds: dur }];
}

/** Returns how often each operator ran off the device, including copies between the two, most frequent first. */
export function fallbacks(nodes: readonly ProfiledNode[]): [op: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { op, provider } of nodes) {
    if (provider === "CPUExecutionProvider" || op.startsWith("Memcpy"))
      counts.set(op, (counts.get(op) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}
