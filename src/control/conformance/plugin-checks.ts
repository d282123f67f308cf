import { fileURLToPath } from "node:url";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { environmentPart } from "../../plugin/registry/environment-part.ts";
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
  return [manifestCheck(resolved), ...checksOf(resolved)];

  function checksOf(one: ResolvedPlugin): PluginCheck[] {
    switch (one.manifest.kind) {
      case "tool":
        return toolChecks(toolSubject(one, options, base));
      case "reward":
        return one.manifest.reward?.group === true
          ? groupRewardChecks(one, options)
          : rewardChecks(one, options);
      case "dataset":
        return datasetChecks(one);
      case "loop":
        return loopChecks(one, options);
      case "loss":
        return lossChecks(one);
      case "policy":
        return policyChecks(one);
      case "trainer":
        return trainerChecks(one);
      case "tracker":
        return trackerChecks(one);
      case "environment":
        return (["dataset", "tool", "reward"] as const).flatMap((kind) => {
          const manifest = environmentPart(one.manifest, kind);
          if (manifest === undefined) return [];
          return checksOf({ ...one, manifest }).map((check) => ({
            ...check,
            name: `${kind}: ${check.name}`,
          }));
        });
    }
  }
}
