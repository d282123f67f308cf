import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isThere } from "../../base/files/is-there.ts";
import type { GenerationRequest, Policy } from "../../contracts/policy.ts";
import { contextLength } from "../models/config/model-config.ts";
import { readModelConfig } from "../models/config/model-config-file.ts";
import { adapterConfigFile } from "../models/weights/adapter-folder.ts";
import { beforeStopTexts } from "../sampling/stop-texts.ts";
import type { TemplateSettings } from "../tokens/fixed-template.ts";
import { createFraming } from "../tokens/framing.ts";
import { loadTokenizer } from "../tokens/tokenizer.ts";
import { openFleet } from "./fleet.ts";
import { openReplica, type ServedWeights } from "./replica.ts";
import { seedOf } from "./sampling-seed.ts";
import { serverAction } from "./server-actions.ts";
import type { EngineProtocol } from "./server-protocol.ts";

/** The inference servers to use, and how to talk to them. */
export interface ServerPolicyOptions {
  protocol: EngineProtocol;
  /** The URL of each replica. */
  urls: readonly string[];
  /** Sent as a bearer token. */
  key?: string | undefined;
  /** Milliseconds that an action waits for a healthy replica. Default: 600,000. */
  patience?: number | undefined;
  /** Milliseconds between two health checks of a replica that is generating. Default: 10,000. */
  healthEvery?: number | undefined;
  /** Settings of the chat template in addition to messages and tools. */
  template?: TemplateSettings | undefined;
}

/**
 * Opens a policy that generates on inference servers. Everturn frames text, encodes tokens and manages versions. The
 * servers read each version's weights from its folder. Actions are sampled at temperature 1 or greedily, because a
 * server returns log-probabilities for only one temperature. At other temperatures `generate` throws ENGINE_SAMPLING.
 */
export async function openServerPolicy(folder: string, options: ServerPolicyOptions): Promise<Policy> {
  const { protocol, urls, key, patience = 600_000, healthEvery } = options;
  const tokenizer = await loadTokenizer(folder, undefined, options.template);
  const { stopTokens } = tokenizer;
  const longest = contextLength(await readModelConfig(join(folder, "config.json")));
  const replicas = urls.map((url) => openReplica({ url, protocol, key, healthEvery }));
  const fleet = openFleet(replicas, patience);
  const base = { folder, label: labelOf(folder) };
  const folders = new Map<number, string>();

  const weightsOf = (version: number): ServedWeights => {
    const own = folders.get(version);
    if (own === undefined || !isThere(join(own, "config.json"))) {
      folders.delete(version);
      throw new EverturnError("POLICY_VERSION_NOT_LOADED", { version });
    }
    if (!isThere(join(own, adapterConfigFile))) return { base: { folder: own, label: labelOf(own) } };
    return { base, adapter: { folder: own, name: labelOf(own) } };
  };

  return {
    ...createFraming(tokenizer),
    isLoaded: (version) => isThere(join(folders.get(version) ?? "", "config.json")) && folders.has(version),
    async load(version, path) {
      folders.set(version, path);
      await fleet.load(weightsOf(version));
    },
    async generate({ tokens, version, sampling, key: draw, signal = never, onBegin }: GenerationRequest) {
      const { temperature } = sampling;
      if (temperature !== 0 && temperature !== 1)
        throw new EverturnError("ENGINE_SAMPLING", { engine: protocol.name, temperature });
      const maxTokens = Math.min(sampling.maxTokens, longest - tokens.length);
      if (maxTokens < 1)
        return { ...serverAction({ tokens: [], logprobs: [], finishReason: "length" }, 1), text: "" };
      const ends = [...stopTokens, ...(sampling.stopTokens ?? [])];
      const action = {
        tokens,
        sampling: { ...sampling, maxTokens },
        stopTokens: ends,
        id: randomUUID(),
        seed: seedOf(draw),
      };
      const answer = await fleet.generate(draw.trajectory, weightsOf(version), action, signal, onBegin);
      const text = tokenizer.decode(answer.tokens.filter((token) => !stopTokens.includes(token)));
      const finishReason = answer.finish === "length" ? "length" : "stop";
      return {
        ...serverAction({ ...answer, finishReason }, temperature),
        text: beforeStopTexts(text, sampling.stop ?? []),
      };
    },
    close: async () => fleet.close(),
  };
}

const never = new AbortController().signal;

/** Returns the label of the weights in a folder. Other weights have another folder. */
function labelOf(folder: string): string {
  return `everturn-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}
