import type { OfferedFunction, ResolvedPlugin } from "../../../contracts/plan.ts";
import { pluginThread } from "../../../plugin/host/plugin-thread.ts";
import { manifestFunctions } from "../../../plugin/registry/tool-functions.ts";

/** How long a tool may take to tell its functions, ms: a server may have to be started. */
const limit = 60_000;

/**
 * The functions that a tool has of its own: those of its manifest, or what the plugin tells in a thread of its own where the
 * manifest says that it does. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID, PLUGIN_ANSWER_INVALID, and what keeps it from telling them.
 */
export async function ownFunctions(plugin: ResolvedPlugin): Promise<OfferedFunction[]> {
  const { name: tool, manifest, config } = plugin;
  if (manifest.tool === undefined) return [];
  if (manifest.tool.dynamic !== true) return manifestFunctions(manifest.tool);
  const failed = (reason: string, cause?: unknown) =>
    new Error(`${tool} does not list its functions: ${reason}`, { cause });
  const timedOut = () => failed(`no answer within ${limit / 1000} s`);
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  const thread = pluginThread({ kind: "tool", plugin, limit, errors: { timedOut, failed }, log });
  try {
    return await thread.ask("functions", { config });
  } finally {
    await thread.close();
  }
}
