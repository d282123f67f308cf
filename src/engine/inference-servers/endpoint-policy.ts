import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { parseKeepingDigits } from "../../base/json/kept-digits.ts";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Generation, GenerationRequest, Policy, PolicyPlugin } from "../../contracts/policy.ts";
import { chatRequest, completionOf } from "./chat-completion.ts";
import { exceedsContext } from "./context-limit.ts";
import {
  answerTokens,
  conversationFraming,
  conversationOf,
  type TextMessage,
} from "./conversation-tokens.ts";
import { keyProblems } from "./key-problems.ts";
import { seedOf } from "./sampling-seed.ts";
import { askServer, NoReply, type ServerReply } from "./server-request.ts";

/**
 * Milliseconds before a failed request is repeated. The pause doubles each time, from the first value to the second.
 */
const pauses = [500, 20_000] as const;

/** The most bytes of a conversation: more than any model reads. The endpoint reports its model's own limit. */
const contextLength = 2 ** 24;

/**
 * A policy behind an endpoint that implements OpenAI's chat completions: text in, text out. Its model's tokens are
 * unknown, so it can be evaluated but not trained. Its tokens are the bytes of the conversation, with log-probability
 * 0.
 * Configuration: `url` (with its /v1), `model`, `apiKeyVariable`, `request` (fields of each request), `patience`
 * (seconds).
 */
export const endpointPolicy: PolicyPlugin = {
  async initialize(folder, { url, model }) {
    makeFolder(folder);
    await writeFile(join(folder, "config.json"), JSON.stringify({ url, model }));
  },
  check: keyProblems,
  traits: () => ({
    pretrained: true,
    readsImages: true,
    restrictions: [],
    untrainable: "an endpoint says the text of an action, and not the tokens and their probabilities",
  }),
  framing: async () => ({ ...conversationFraming, contextLength, format: "hermes" }),
  open: async (_folder, config) => openEndpoint(config),
};

function openEndpoint(config: JsonObject): Policy {
  const { url, model, apiKeyVariable, patience } = config;
  const place = {
    method: "POST" as const,
    url: `${String(url).replace(/\/+$/, "")}/chat/completions`,
    key: apiKeyVariable === undefined ? undefined : process.env[String(apiKeyVariable)],
  };
  const request: JsonObject = { model: String(model), ...Object(config.request) };
  const closing = new AbortController();

  /** Repeats a request while another attempt may succeed. Throws ENGINE_FAILED once `patience` is over. */
  const reply = async (body: JsonObject, signal: AbortSignal): Promise<ServerReply> => {
    const until = performance.now() + Number(patience) * 1000;
    for (let pause: number = pauses[0]; ; pause = Math.min(2 * pause, pauses[1])) {
      const found = await askServer({ ...place, body, signal, parse: parseKeepingDigits }).catch((error) => {
        if (error instanceof NoReply) return error;
        throw error;
      });
      const reason = found instanceof NoReply ? `gave no answer: ${found.message}` : passing(found);
      if (!(found instanceof NoReply) && reason === undefined) return found;
      if (performance.now() + pause > until) throw failed("ENGINE_FAILED", String(reason));
      await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };
  const failed = (code: "ENGINE_FAILED" | "ENGINE_REFUSED", reason: string) =>
    new EverturnError(code, { engine: "The endpoint", url: place.url, reason });

  return {
    ...conversationFraming,
    readsImages: true,
    isLoaded: () => true,
    load: async () => {},
    async generate({ tokens, sampling, key, readImage, signal, onBegin }) {
      const either = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      const conversation = conversationOf(tokens);
      const images = await imageUrls(conversation.messages, readImage);
      onBegin?.();
      const { status, body } = await reply(
        chatRequest(conversation, { sampling, seed: seedOf(key), request, images }),
        either,
      );
      const completion = status === 200 ? completionOf(body, conversation.tools) : undefined;
      if (completion === undefined && exceedsContext({ status, body })) return action([], "", "length");
      if (completion === undefined)
        throw failed("ENGINE_REFUSED", `answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
      const { message, text, finishReason, read } = completion;
      return defined({ ...action(answerTokens(message), text, finishReason), read });
    },
    close: async () => closing.abort(new EverturnError("POLICY_CLOSED", {})),
  };
}

/** Returns the images of messages as `data:` URLs, by their SHA-256. */
async function imageUrls(
  messages: readonly TextMessage[],
  read: GenerationRequest["readImage"],
): Promise<ReadonlyMap<string, string>> {
  const images = messages.flatMap((message) => message.images ?? []);
  if (images.length === 0 || read === undefined) return new Map();
  const urls = images.map(async ({ sha256, mediaType }): Promise<[string, string]> => {
    const bytes = await read(sha256);
    return [sha256, `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`];
  });
  return new Map(await Promise.all(urls));
}

/** Returns why another attempt may succeed. Undefined if it can't. */
function passing({ status, body }: ServerReply): string | undefined {
  if (exceedsContext({ status, body })) return undefined;
  const passes = status === 408 || status === 409 || status === 429 || status >= 500;
  return passes ? `answered ${status}: ${JSON.stringify(body).slice(0, 500)}` : undefined;
}

function action(tokens: number[], text: string, finishReason: Generation["finishReason"]): Generation {
  const none = tokens.map(() => 0);
  return {
    tokens,
    text,
    finishReason,
    logprobs: none,
    temperedLogprobs: none,
    samplingLogprobs: none,
  };
}
