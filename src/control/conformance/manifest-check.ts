import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../../base/validation/problem.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { manifestName } from "../../plugin/registry/discover.ts";
import { Broken, type PluginCheck, pluginCheck } from "./promise.ts";

const says = "its manifest is valid and matches its package";

/** The failed check of a plugin that no pipeline could use. */
export function refusedManifest(plugin: string, problems: readonly Problem[]): PluginCheck {
  return pluginCheck(
    plugin,
    "manifest",
    says,
    async () => {
      const [first] = problems;
      const seen = problems.map(({ error }) =>
        error.message.slice(0, error.message.length - error.help.length).trim(),
      );
      throw new Broken(seen.join(" "), first?.error.help ?? "");
    },
    true,
  );
}

/** Checks that the package around a valid manifest agrees with it. */
export function manifestCheck(plugin: ResolvedPlugin): PluginCheck {
  return pluginCheck(plugin.name, "manifest", says, async () => lookAtPackage(plugin), true);
}

function lookAtPackage({ folder, manifest, source }: ResolvedPlugin): void {
  const path = join(folder, "package.json");
  if (source !== undefined || !existsSync(path)) return; // a file, or a folder of a project
  const description: JsonObject = JSON.parse(readFileSync(path, "utf8"));
  const { version, type, files } = description;
  if (version !== undefined && version !== manifest.version) {
    const advice = "Use the same version in both; `npx everturn plugin build` copies it from package.json.";
    throw new Broken(
      `the manifest has version ${manifest.version}, but package.json has ${text(version)}`,
      advice,
    );
  }
  if (type !== "module" && !/\.m[jt]s$/.test(manifest.entry ?? manifest.workflow ?? ""))
    throw new Broken(
      `package.json lacks "type": "module", but a plugin must be an ES module`,
      `Add "type": "module".`,
    );
  if (has(description.dependencies, "everturn"))
    throw new Broken(
      "everturn is in its dependencies, so a project would install a second copy",
      "Move it to peerDependencies.",
    );
  if (!has(description.peerDependencies, "everturn"))
    throw new Broken(
      "package.json does not name the Everturn version that it supports",
      `Add "peerDependencies": { "everturn": "${manifest.engines.everturn}" }.`,
    );
  if (Array.isArray(files) && !files.includes(manifestName))
    throw new Broken(
      `“files” in package.json omits ${manifestName}, so the published package would lack it`,
      `Add "${manifestName}" to it.`,
    );
}

function has(value: JsonValue | undefined, key: string): boolean {
  return value !== undefined && isObject(value) && key in value;
}

function text(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
