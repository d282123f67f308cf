import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { deepFreeze } from "../../../plan/pipeline/read/deep-freeze.ts";
import { loadTrainer } from "../../../plugin/registry/registry.ts";
import { Broken } from "../promise.ts";
import { surroundings, trajectories, writeSmallPolicy } from "./small-policy.ts";

/**
 * Takes `steps` steps with a trainer on a small policy in `folder`, beginning with the state saved after step `from`
 * (0: none), and saves after each. Returns each step's metrics.
 */
export async function probe(
  plugin: ResolvedPlugin,
  { folder, from = 0, steps = 1 }: JsonObject,
): Promise<JsonValue> {
  const at = (name: string) => join(String(folder), name);
  const initial = at("initial");
  if (!existsSync(initial)) await writeSmallPolicy(initial);
  const trainer = await loadTrainer(plugin);
  const given = structuredClone(plugin.config);
  const config = trainer.resolve?.(given, surroundings).config ?? given;
  for (const { key, reason, help } of (await trainer.check?.(structuredClone(config), surroundings)) ?? [])
    throw new Broken(`its check refuses its configuration: ${key} ${reason}`, help);
  const saved =
    from === 0 ? { policy: initial } : { policy: at(`policy-${from}`), state: at(`state-${from}`) };
  const opened = await trainer.open({ initial, reference: initial, ...saved }, deepFreeze(config), 1);
  const measured: JsonValue[] = [];
  for (let step = Number(from) + 1; step <= Number(from) + Number(steps); step++) {
    const metrics = await opened.policyGradientStep(trajectories, { temperature: 1 });
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value === "number" && !Number.isFinite(value))
        throw new Broken(
          `step ${step} measured ${name}: ${value}`,
          "A step that has become no number fails: throw there, so that it is not saved.",
        );
    }
    measured.push(JSON.stringify(metrics));
    const [policy, state] = [at(`policy-${step}`), at(`state-${step}`)];
    await opened.save(policy, state);
    if (!existsSync(join(policy, "config.json")))
      throw new Broken(
        `save() wrote ${existsSync(policy) ? readdirSync(policy).join(", ") || "nothing" : "no folder"} for the policy`,
        "Write config.json, the weights and the tokenizer, as Hugging Face has them.",
      );
  }
  await opened.close();
  return measured;
}
