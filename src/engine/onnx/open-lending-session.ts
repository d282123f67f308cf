import { defined } from "../../base/records/defined.ts";
import { createModelSession } from "./create-model-session.ts";
import type { Graph } from "./graph.ts";
import { createLendingSession, type LendingSession } from "./lending-session.ts";
import type { ModelSession, ModelSessionOptions } from "./model-session.ts";
import { runtimeFunctions } from "./runtime-functions.ts";
import type { RuntimeSessionOptions } from "./runtime-session.ts";

/**
 * Opens a session on the CPU that lends its outputs. Where the runtime's C API can't be called, it copies them instead,
 * and writes none to a destination.
 */
export async function openLendingSession(
  graph: Graph,
  bytes: Uint8Array,
  { threads, weightsFolder }: Pick<RuntimeSessionOptions, "threads"> & { weightsFolder?: string | undefined },
): Promise<LendingSession> {
  const settings = defined<Pick<ModelSessionOptions, "weightsFolder"> & { threads: number }>({
    threads,
    weightsFolder,
  });
  const runtime = await runtimeFunctions();
  return runtime
    ? createLendingSession(runtime, graph, bytes, { ...settings, takesTurns: true })
    : lendsNothing(await createModelSession(bytes, settings));
}

/** Returns a session that ignores the destinations of outputs. */
export function lendsNothing({ run, close }: ModelSession): LendingSession {
  return { run: (feeds) => run(feeds), close };
}
