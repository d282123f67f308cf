import { flushCompileCache } from "node:module";
import { placeOfMistake } from "../../base/errors/programming-error.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import type { Question, Said } from "./elsewhere.ts";
import { keptAlive } from "./kept-alive.ts";
import { Broken, brokenBy } from "./promise.ts";

// A process that runs a probe of a plugin, sends the result, and is killed.

type Probe = (plugin: ResolvedPlugin, asked: JsonObject) => Promise<JsonValue>;

const probes: Partial<Record<PluginManifest["kind"], () => Promise<{ probe: Probe }>>> = {
  dataset: () => import("./probes/dataset.ts"),
  loop: () => import("./probes/loop.ts"),
  loss: () => import("./probes/loss.ts"),
  policy: () => import("./probes/policy.ts"),
  trainer: () => import("./probes/trainer.ts"),
  tracker: () => import("./probes/tracker.ts"),
};

// Saved before a plugin removes the globals that workflow code does not have.
const send = process.send?.bind(process);

async function answer({ plugin, asked }: Question): Promise<Said> {
  try {
    const load = probes[plugin.manifest.kind];
    if (load === undefined) throw new Error(`${plugin.manifest.kind} has no probe`);
    const { probe } = await keptAlive(load());
    return { answer: await probe(plugin, asked) };
  } catch (error) {
    const place = error instanceof Broken ? undefined : placeOfMistake(error, plugin.folder);
    const broken = brokenBy(place === undefined ? "it failed" : `it has a mistake at ${place}`, error);
    return { broken: { seen: broken.message, advice: broken.advice } };
  }
}

process.once("message", async (question: Question) => {
  const said = await answer(question);
  flushCompileCache(); // a killed process can't write it later
  await keptAlive(new Promise<void>((resolve) => send?.(said, undefined, undefined, () => resolve())));
});
