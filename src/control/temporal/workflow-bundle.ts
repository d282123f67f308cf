import { createHash } from "node:crypto";
import { join } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { keepBundle, keptBundle } from "./bundle-cache.ts";
import { areUnchangedSince } from "./bundle-inputs.ts";
import type { BundledLoop } from "./bundle-workflows.ts";

/**
 * Everturn's workflows with agent loops, as code for a worker. Of loops with the same name, the first counts.
 * Bundling takes a second or two, so the result is kept in the user's cache and reused while all its inputs are
 * unchanged (decision 0026). `encrypts`: messages of failures become payloads. Throws WORKFLOWS_NOT_BUNDLED.
 */
export async function workflowBundle(
  named: readonly BundledLoop[],
  telemetry: boolean,
  encrypts = false,
): Promise<string> {
  const loops = named.filter(({ name }, at) => named.findIndex((one) => one.name === name) === at);
  const file = join(cacheFolder(), "workflows", nameOf(loops, telemetry, encrypts));
  const kept = keptBundle(file);
  if (kept !== undefined) return kept;
  const began = Date.now();
  const { bundleWorkflows } = await import("./bundle-workflows.ts"); // it is slow to load
  const bundle = await bundleWorkflows(loops, telemetry, encrypts);
  if (areUnchangedSince(began, bundle.inputs)) keepBundle(file, bundle);
  return bundle.code;
}

/** A digest of the request and of the bundler. The input files are only known after bundling. */
function nameOf(loops: readonly BundledLoop[], ...options: boolean[]): string {
  const maker = [packageJson.version, import.meta.dirname, process.version, process.platform, process.arch];
  const asked = JSON.stringify([...maker, loops.map(({ name, workflow }) => [name, workflow]), ...options]);
  return createHash("sha256").update(asked).digest("hex").slice(0, 32);
}
