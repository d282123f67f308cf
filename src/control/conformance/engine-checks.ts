import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { elsewhere } from "./elsewhere.ts";
import { Broken, type PluginCheck, pluginCheck } from "./promise.ts";

/** The promises of a loss. */
export function lossChecks(plugin: ResolvedPlugin): PluginCheck[] {
  const step = () =>
    inFolder(async (folder) => Object(await elsewhere(plugin, { initial: join(folder, "initial") })));
  return [
    pluginCheck(
      plugin.name,
      "gradient",
      "a step with it has a finite loss, and a gradient",
      async () => {
        const { policyLoss, gradientNorm } = await step();
        if (
          Number.isFinite(Number(policyLoss)) &&
          Number(gradientNorm) > 0 &&
          Number.isFinite(Number(gradientNorm))
        )
          return;
        throw new Broken(
          `a step had the loss ${policyLoss} and a gradient of norm ${gradientNorm}`,
          "Compute with `logProbabilities`, through which gradients flow, and keep logarithms and quotients away from 0.",
        );
      },
      true,
    ),
    pluginCheck(plugin.name, "retry", "the same step has the same loss in another process", async () => {
      differ([await step()], [await step()], "Compute only from the tensors and the configuration.");
    }),
  ];
}

/** The promises of a trainer. */
export function trainerChecks(plugin: ResolvedPlugin): PluginCheck[] {
  const advice = "Save everything that the next step depends on: moments, counters, the random state.";
  return [
    pluginCheck(
      plugin.name,
      "saving",
      "it takes steps on a small policy, returns metrics, and saves the new version",
      () => inFolder(async (folder) => void (await elsewhere(plugin, { folder }))),
      true,
    ),
    pluginCheck(plugin.name, "retry", "the same step from the same state returns the same metrics", () =>
      inFolder(async (folder) =>
        differ(
          listOf(await elsewhere(plugin, { folder })),
          listOf(await elsewhere(plugin, { folder })),
          "Draw random numbers from the seed, and keep nothing in the module.",
        ),
      ),
    ),
    pluginCheck(
      plugin.name,
      "death of a worker",
      "killed between two steps, it continues from its saved state as if nothing had happened",
      () =>
        inFolder(async (folder) => {
          const whole = listOf(await elsewhere(plugin, { folder, steps: 2 }));
          differ(whole.slice(1), listOf(await elsewhere(plugin, { folder, from: 1 })), advice);
        }),
    ),
  ];
}

/** The promises of a policy. */
export function policyChecks(plugin: ResolvedPlugin): PluginCheck[] {
  const drawn = async (folder: string, asked: Record<string, JsonValue> = {}) =>
    listOf(await elsewhere(plugin, { folder, ...asked }));
  const advice = "Draw from the sampling key alone: seed, trajectory and turn, whatever else is generated.";
  return [
    pluginCheck(
      plugin.name,
      "tokens",
      "it builds version 0, frames a chat, and generates tokens with their probabilities",
      () => inFolder(async (folder) => void (await drawn(folder))),
      true,
    ),
    pluginCheck(plugin.name, "retry", "it builds the same version 0 from the same seed", async () => {
      differ(
        await inFolder((folder) => drawn(folder)),
        await inFolder((folder) => drawn(folder)),
        "Generate weights only from the seed.",
      );
    }),
    pluginCheck(
      plugin.name,
      "concurrency",
      "the same key samples the same tokens, whatever else is in the batch",
      () =>
        inFolder(async (folder) =>
          differ(await drawn(folder), await drawn(folder, { together: true }), advice),
        ),
    ),
    pluginCheck(
      plugin.name,
      "signal",
      "an action ends soon after its signal is aborted, and later ones still work",
      () => inFolder(async (folder) => void (await drawn(folder, { aborted: true }))),
    ),
    pluginCheck(
      plugin.name,
      "death of a worker",
      "another process samples the same tokens with the same keys",
      () => inFolder(async (folder) => differ(await drawn(folder), await drawn(folder), advice)),
    ),
  ];
}

function listOf(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

function differ(before: JsonValue[], after: JsonValue[], advice: string): void {
  for (const [index, one] of before.entries()) {
    const [said, again] = [JSON.stringify(one), JSON.stringify(after[index])];
    if (said !== again) throw new Broken(`it returned ${again} instead of ${said}`, advice);
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-check-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
