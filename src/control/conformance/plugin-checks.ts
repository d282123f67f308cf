import { fileURLToPath } from "node:url";
import type { PluginCheckOptions } from "./cases.ts";
import { datasetChecks } from "./dataset-checks.ts";
import { lossChecks, policyChecks, trainerChecks } from "./engine-checks.ts";
import { groupRewardChecks } from "./group-reward-checks.ts";
import { loopChecks } from "./loop-checks.ts";
import { manifestCheck, refusedManifest } from "./manifest-check.ts";
import { openSubject } from "./open-subject.ts";
import type { PluginCheck } from "./promise.ts";
import { rewardChecks } from "./reward-checks.ts";
import { toolChecks } from "./tool-checks.ts";
import { toolSubject } from "./tool-subject.ts";
import { trackerChecks } from "./tracker-checks.ts";

/**
 * Returns one check per promise of a plugin: `for (const { name, run } of await pluginChecks("./tools/length.ts"))
 * test(name, run)`. `plugin` is the path or URL of a file (`./tools/math.ts#add`) or of a package's folder, relative to the
 * current folder, or the name of an installed plugin. Throws PLUGIN_NOT_FOUND, PLUGIN_CASE_INVALID.
 */
export async function pluginChecks(
  plugin: string | URL,
  options: PluginCheckOptions = {},
): Promise<PluginCheck[]> {
  const reference = typeof plugin === "string" ? plugin : `${fileURLToPath(plugin)}${plugin.hash}`;
  const base = process.cwd();
  const subject = await openSubject(reference, base, options.config);
  if ("problems" in subject) return [refusedManifest(reference, subject.problems)];
  const { plugin: resolved } = subject;
  return [manifestCheck(resolved), ...checksOf()];

  function checksOf(): PluginCheck[] {
    switch (resolved.manifest.kind) {
      case "tool":
        return toolChecks(toolSubject(resolved, options, base));
      case "reward":
        return resolved.manifest.reward?.group === true
          ? groupRewardChecks(resolved, options)
          : rewardChecks(resolved, options);
      case "dataset":
        return datasetChecks(resolved);
      case "loop":
        return loopChecks(resolved, options);
      case "loss":
        return lossChecks(resolved);
      case "policy":
        return policyChecks(resolved);
      case "trainer":
        return trainerChecks(resolved);
      case "tracker":
        return trackerChecks(resolved);
    }
  }
}
