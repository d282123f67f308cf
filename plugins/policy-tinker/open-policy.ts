import { join } from "node:path";
import type { SampledSequence, TinkerSampler } from "@everturn/tinker";
import {
  connect,
  profiles,
  readPointer,
  type ServerAddress,
  type WeightsPointer,
} from "@everturn/trainer-tinker/shared";
import {
  areLogProbabilities,
  beforeStopTexts,
  contextLength,
  createFraming,
  EverturnError,
  type Generation,
  loadTokenizer,
  type Policy,
  readModelConfig,
  type SamplingKey,
  seedOf,
  serverAction,
  stopTexts,
  type TemplateSettings,
} from "everturn/engine";
import { groupRequests } from "./group-requests.ts";
import { openSamplers } from "./samplers.ts";

/** The settings that concern the server. */
export interface PolicyConfig extends ServerAddress {
  /** The server's name of the base model. */
  baseModel: string;
}

/**
 * Opens a policy on a server. Sends nothing before a version is loaded. Actions are sampled at temperature 1 or
 * greedily, because servers return log-probabilities at temperature 1. At others `generate` throws ENGINE_SAMPLING.
 */
export async function openPolicy(
  folder: string,
  config: PolicyConfig,
  template: TemplateSettings,
): Promise<Policy> {
  const { title } = profiles[config.server];
  const tokenizer = await loadTokenizer(folder, undefined, template);
  const { stopTokens } = tokenizer;
  const longest = contextLength(await readModelConfig(join(folder, "config.json")));
  const connection = connect(config, "POLICY_CLOSED");
  const samplers = openSamplers(connection);
  const versions = new Map<number, WeightsPointer>();
  const weightsOf = (version: number) => {
    const weights = versions.get(version);
    if (weights === undefined) throw new EverturnError("POLICY_VERSION_NOT_LOADED", { version });
    return weights;
  };
  const request = groupRequests(async ({ version, index, seed, ...params }, samples, signal) => {
    const sampling = { ...params, samples, seed: seed + index };
    const sample = (sampler: TinkerSampler) =>
      connection.call((options) => sampler.sample(sampling, options), signal);
    return (await samplers.use(version, weightsOf(version), sample, signal)).sequences;
  });

  return {
    ...createFraming(tokenizer),
    isLoaded: (version) => versions.has(version),
    async load(version, path) {
      const weights = await readWeights(version, path, config);
      versions.set(version, weights);
      await samplers.use(version, weights, async () => {});
    },
    async generate({ tokens, version, sampling, key, signal = never, onBegin }) {
      const { temperature, stop = [] } = sampling;
      if (temperature !== 0 && temperature !== 1)
        throw new EverturnError("ENGINE_SAMPLING", { engine: title, temperature });
      weightsOf(version);
      const maxTokens = Math.min(sampling.maxTokens, longest - tokens.length);
      if (maxTokens < 1)
        return { ...serverAction({ tokens: [], logprobs: [], finishReason: "length" }, 1), text: "" };
      const stopAt = [...stopTokens, ...(sampling.stopTokens ?? [])];
      const { seed, index } = placeInGroup(key);
      onBegin?.();
      const sequence = await request(
        { version, prompt: tokens, maxTokens, temperature, stop: stopAt, seed, index },
        signal,
      );
      const sampled = checked(sequence, maxTokens, { engine: title, url: config.url });
      const action = untilEnd(sampled, stopAt, stopTexts(stop, tokenizer.decode), stop.length > 0);
      const text = tokenizer.decode(action.tokens.filter((token) => !stopTokens.includes(token)));
      return { ...serverAction(action, temperature), text: beforeStopTexts(text, stop) };
    },
    async close() {
      connection.close();
      await samplers.close();
    },
  };
}

const never = new AbortController().signal;

/** Seeds stay below 2^31 for all places of a group. */
const seeds = 2 ** 31 - 2 ** 16;

/** The seed of a trajectory's group and its place there. A trajectory's name ends with its place. */
function placeInGroup({ seed, trajectory, turn }: SamplingKey): { seed: number; index: number } {
  const [, group = trajectory, place = "0"] = /^(.*)\/(\d{1,4})$/.exec(trajectory) ?? [];
  return { seed: seedOf({ seed, trajectory: group, turn }) % seeds, index: Number(place) };
}

/** Reads where a version's weights are. Throws TINKER_VERSION_UNUSABLE. */
async function readWeights(version: number, folder: string, config: PolicyConfig): Promise<WeightsPointer> {
  const weights = await readPointer(folder);
  const unusable = (reason: string) =>
    new EverturnError("TINKER_VERSION_UNUSABLE", { version, server: profiles[config.server].title, reason });
  if (weights === undefined) throw unusable("it has no tinker.json, which names its weights on a server");
  if (weights.server !== config.server || weights.baseModel !== config.baseModel)
    throw unusable(`its weights are those of ${weights.baseModel} on the server ${weights.server}`);
  return weights;
}

/** An action's tokens, with log-probabilities at temperature 1. */
type Action = Pick<Generation, "tokens" | "logprobs" | "finishReason">;

/** Returns a sequence as an action. Throws ENGINE_FAILED if it can't be one. */
function checked(
  sequence: SampledSequence | undefined,
  maxTokens: number,
  where: { engine: string; url: string },
): Action {
  const { length = 0 } = sequence?.tokens ?? {};
  const failed = (reason: string) => new EverturnError("ENGINE_FAILED", { ...where, reason });
  if (sequence === undefined || length === 0 || length > maxTokens)
    throw failed(`returned ${length} tokens instead of 1 to ${maxTokens}`);
  const logprobs = [...(sequence.logprobs ?? [])];
  if (!areLogProbabilities(logprobs, length)) throw failed("did not return a log-probability for each token");
  return { tokens: [...sequence.tokens], logprobs, finishReason: sequence.stopReason };
}

/**
 * Cuts an action after its first stop token or stop text. The server gets the stop tokens alone, because some accept
 * either tokens or texts. Whatever follows the end doesn't influence the tokens before it.
 */
function untilEnd(
  action: Action,
  ends: readonly number[],
  completesText: (tokens: readonly number[]) => boolean,
  hasTexts: boolean,
): Action {
  const end = action.tokens.findIndex(
    (token, at) => ends.includes(token) || (hasTexts && completesText(action.tokens.slice(0, at + 1))),
  );
  if (end === -1) return action;
  const { tokens, logprobs } = action;
  return { tokens: tokens.slice(0, end + 1), logprobs: logprobs.slice(0, end + 1), finishReason: "stop" };
}
