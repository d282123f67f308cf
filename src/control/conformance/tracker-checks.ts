import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { elsewhere } from "./elsewhere.ts";
import { type PluginCheck, pluginCheck } from "./promise.ts";

/** The promises of a tracker. */
export function trackerChecks(plugin: ResolvedPlugin): PluginCheck[] {
  return [
    pluginCheck(
      plugin.name,
      "saving",
      "it opens a run, takes the results of two steps, and closes it",
      async () => void (await elsewhere(plugin)),
      true,
    ),
    pluginCheck(
      plugin.name,
      "retry",
      "reopened after a kill, it takes the last entry again and all later ones",
      async () => void (await elsewhere(plugin, { killed: true })),
    ),
  ];
}
