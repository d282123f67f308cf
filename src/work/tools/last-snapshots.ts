import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ResolvedTool } from "../../contracts/plan.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { toolFunctions, toolName } from "../../plugin/registry/tool-functions.ts";
import type { Store } from "../../run/store/store.ts";

/**
 * The final states of a trajectory's tools: by tool name, the snapshot of its last call that has one. Throws
 * RECORD_CORRUPT if the store no longer has it.
 */
export async function lastSnapshots(
  tools: readonly ResolvedTool[],
  calls: readonly RecordedCall[],
  store: Pick<Store, "readBytes">,
): Promise<Record<string, Uint8Array>> {
  const owners = new Map(
    tools.flatMap((tool) => toolFunctions(tool).map(({ name }) => [name, toolName(tool)] as const)),
  );
  const last = new Map<string, string>();
  for (const { tool, snapshot } of calls) {
    const owner = owners.get(tool);
    if (owner !== undefined && snapshot !== undefined) last.set(owner, snapshot);
  }
  const read = [...last].map(async ([tool, sha256]): Promise<[string, Uint8Array]> => {
    const bytes = await store.readBytes(sha256);
    if (bytes !== undefined) return [tool, new Uint8Array(bytes)];
    const file = `bytes ${sha256}, the state of ${tool}`;
    throw new EverturnError("RECORD_CORRUPT", { file, reason: "they are gone, or changed" });
  });
  return Object.fromEntries(await Promise.all(read));
}
