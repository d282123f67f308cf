import type { OfferedFunction, ResolvedPlugin } from "../../../contracts/plan.ts";
import { pluginThread } from "../../../plugin/host/plugin-thread.ts";
import { manifestFunctions } from "../../../plugin/registry/tool-functions.ts";

/** Milliseconds in which a tool must list its functions, if it also installs and starts a server (`start`), and if not. */
const [startLimit, usualLimit] = [1_800_000, 60_000];

/**
 * Returns a tool's own functions from its manifest. If the manifest has `dynamic`, the plugin lists them in a
 * thread of its own. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID, PLUGIN_ANSWER_INVALID, and the error
 * that keeps the plugin from listing them.
 */
export async function ownFunctions(plugin: ResolvedPlugin): Promise<OfferedFunction[]> {
  const { name: tool, manifest, config } = plugin;
  if (manifest.tool === undefined) return [];
  if (manifest.tool.dynamic !== true) return manifestFunctions(manifest.tool);
  const limit = config.start === undefined ? usualLimit : startLimit;
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
