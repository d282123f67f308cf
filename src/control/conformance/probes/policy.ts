import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import type { Generation, Policy } from "../../../contracts/policy.ts";
import { deepFreeze } from "../../../plan/pipeline/read/deep-freeze.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { Broken } from "../promise.ts";
import { begun, grace, isDoneWithin } from "../tool-subject.ts";

const prompt = [{ role: "user" as const, content: "What is 6 times 7?" }];
const maxTokens = 8;

/** Tokens of an action to be aborted: more than a model could generate by then. */
const longest = 100_000;

/**
 * Builds a policy in `folder` unless it exists, and generates `count` actions, concurrently or one after the other,
 * optionally after an aborted one. Returns their tokens.
 */
export async function probe(
  plugin: ResolvedPlugin,
  { folder, count = 3, together = false, aborted = false }: JsonObject,
): Promise<JsonValue> {
  const policy = await loadPolicy(plugin);
  const config = deepFreeze(structuredClone(plugin.config));
  for (const { key, reason, help } of (await policy.check?.(structuredClone(config))) ?? [])
    throw new Broken(`its check refuses its configuration: ${key} ${reason}`, help);
  const home = String(folder);
  if (!existsSync(join(home, "config.json"))) await policy.initialize(home, config, 1);
  const opened = await policy.open(home, config);
  await opened.load(0, home);
  const { tokens } = opened.framePrompt(prompt, []);
  const shown = opened.frameDemonstration([...prompt, { role: "assistant", content: "42" }], []);
  if (shown.tokens.length !== shown.mask.length || !shown.mask.includes(1))
    throw new Broken(
      "frameDemonstration() masks no token of the assistant's, or not one mask a token",
      "Give each token a mask: 1 where the policy writes it.",
    );
  const one = async (sample: number): Promise<number[]> => {
    const key = { seed: 1, trajectory: `check/${sample}`, turn: 1 };
    const sampling = { temperature: 1, maxTokens };
    const generation = await opened.generate({ tokens, version: 0, sampling, key });
    whole(generation);
    return generation.tokens;
  };
  if (aborted === true) await heedsSignal(opened, tokens);
  const samples = Array.from({ length: Number(count) }, (_, sample) => sample);
  const drawn: number[][] = together ? await Promise.all(samples.map(one)) : [];
  if (!together) for (const sample of samples) drawn.push(await one(sample));
  await opened.close();
  return drawn;
}

/** Aborts an action as soon as it has begun. */
async function heedsSignal(opened: Policy, tokens: number[]): Promise<void> {
  const controller = new AbortController();
  const key = { seed: 1, trajectory: "check/aborted", turn: 1 };
  const sampling = { temperature: 1, maxTokens: longest };
  const generating = opened.generate({ tokens, version: 0, sampling, key, signal: controller.signal });
  const over = generating.catch(() => {}); // the abort itself
  await begun();
  controller.abort(new Error("nobody waits for it any more"));
  if (await isDoneWithin(over, grace)) return;
  throw new Broken(
    `an action continued for more than ${grace / 1000} s after its signal was aborted`,
    "Listen to `signal`: reject with its reason, and let go of what the action holds.",
  );
}

function whole({ tokens, logprobs, temperedLogprobs, samplingLogprobs, routerTies = [] }: Generation): void {
  if (tokens.length === 0 || tokens.length > maxTokens)
    throw new Broken(
      `an action of ${tokens.length} tokens came of maxTokens: ${maxTokens}`,
      "Generate one token at least, and no more than it says.",
    );
  for (const [name, values] of Object.entries({ logprobs, temperedLogprobs, samplingLogprobs })) {
    if (values.length === tokens.length && values.every((value) => Number.isFinite(value) && value <= 1e-6))
      continue;
    throw new Broken(
      `${name} of an action is not one logarithm of a probability for each of its tokens`,
      "Record what each token was drawn with: training compares with it.",
    );
  }
  if (routerTies.length % 3 !== 0 || !routerTies.every((value) => Number.isInteger(value) && value >= 0))
    throw new Broken(
      "routerTies of an action are not a position, a layer and an expert each",
      "Give three whole numbers a tie, or leave them out: trainers choose experts by them.",
    );
}
