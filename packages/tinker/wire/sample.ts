import type { Answer } from "../http/answer.ts";
import { badAnswer, fieldsOf, listOf, optionalNumber } from "../http/json.ts";
import type { SampledSequence, SampleParams, SampleResult, TopTokens } from "../types.ts";
import { chunksOf, inputJson } from "./input.ts";
import { MessageReader } from "./protobuf.ts";
import { floatsOf, integersOf, numbersFromJson } from "./tensors.ts";

/** The log-probability by which servers mark cells without a token. */
const noToken = -99999;

/** The request's body, without what it samples from. */
export function sampleBody(params: SampleParams): Record<string, unknown> {
  const { prompt, maxTokens, samples = 1, temperature = 1, topK = -1, topP = 1, seed, stop } = params;
  const { promptLogprobs = false, promptTopTokens = 0, topTokens = 0 } = params;
  return {
    num_samples: samples,
    prompt: inputJson(chunksOf(prompt, "the prompt")),
    sampling_params: {
      max_tokens: maxTokens,
      temperature,
      top_k: topK,
      top_p: topP,
      seed,
      stop: typeof stop === "string" ? [stop] : stop,
    },
    prompt_logprobs: promptLogprobs,
    topk_prompt_logprobs: promptTopTokens === 0 ? undefined : promptTopTokens,
    topk_sample_logprobs: topTokens === 0 ? undefined : topTokens,
    type: "sample",
  };
}

/** The result of sampling, in either form. `promptLength` is the number of the prompt's tokens, if it is known. */
export function sampleResult(answer: Answer, promptLength: number | undefined): SampleResult {
  const result = answer.isProtobuf ? fromProtobuf(answer.bytes) : fromJson(answer.json());
  return {
    ...result,
    promptLogprobs: wholePrompt(result.promptLogprobs, promptLength),
    promptTopTokens: wholePromptTop(result.promptTopTokens, promptLength),
  };
}

/** SkyRL leaves out the first token, which nothing precedes; others send null or NaN for it. */
function wholePrompt(
  logprobs: Float32Array | undefined,
  promptLength: number | undefined,
): Float32Array | undefined {
  if (logprobs === undefined || logprobs.length !== (promptLength ?? 0) - 1) return logprobs;
  const whole = new Float32Array(logprobs.length + 1).fill(Number.NaN, 0, 1);
  whole.set(logprobs, 1);
  return whole;
}

function wholePromptTop(
  positions: readonly TopTokens[] | undefined,
  promptLength: number | undefined,
): readonly TopTokens[] | undefined {
  if (positions === undefined || positions.length !== (promptLength ?? 0) - 1) return positions;
  return [undefined, ...positions];
}

function fromProtobuf(bytes: Uint8Array): SampleResult {
  const message = new MessageReader(bytes);
  return {
    sequences: message.messages(1).map(sequenceMessage),
    promptLogprobs: message.has(2) ? floatsOf(message.bytes(2)) : undefined,
    promptTopTokens: message.has(3) ? topTokensMessage(message.message(3)) : undefined,
    promptCacheHitTokens: message.integer(4),
  };
}

function sequenceMessage(message: MessageReader): SampledSequence {
  const stopReason = (["stop", "length"] as const)[message.integer(1)];
  if (stopReason === undefined) throw badAnswer(`a sequence has the stop reason ${message.integer(1)}`);
  const [tokens, logprobs] = [integersOf(message.bytes(2)), floatsOf(message.bytes(3))];
  return sequence(
    tokens,
    message.has(3) ? logprobs : undefined,
    stopReason,
    message.has(4) ? topTokensMessage(message.message(4)) : undefined,
  );
}

function sequence(
  tokens: Int32Array,
  logprobs: Float32Array | undefined,
  stopReason: "stop" | "length",
  topTokens: readonly TopTokens[] | undefined,
): SampledSequence {
  if (logprobs !== undefined && logprobs.length !== tokens.length)
    throw badAnswer(`a sequence has ${tokens.length} tokens and ${logprobs.length} log-probabilities`);
  return { tokens, logprobs, stopReason, topTokens };
}

/** Matrices of `length` rows with `k` cells each. */
function topTokensMessage(message: MessageReader): TopTokens[] {
  const [tokens, logprobs] = [integersOf(message.bytes(1)), floatsOf(message.bytes(2))];
  const [k, length] = [message.integer(3), message.integer(4)];
  if (tokens.length !== k * length || logprobs.length !== k * length)
    throw badAnswer(`${length} × ${k} top tokens have ${tokens.length} ids`);
  return Array.from({ length }, (_, row) => {
    const cells = Array.from({ length: k }, (__, column) => ({
      token: tokens[row * k + column]!,
      logprob: logprobs[row * k + column]!,
    }));
    return known(cells);
  });
}

function known(cells: readonly { token: number; logprob: number }[]): TopTokens {
  const given = cells.filter(({ logprob }) => logprob !== noToken);
  return given.length > 0 ? given : undefined;
}

function fromJson(value: unknown): SampleResult {
  const answer = fieldsOf(value, "the answer");
  return {
    sequences: listOf(answer, "sequences").map(sequenceFromJson),
    promptLogprobs: floatsFromJson(answer.prompt_logprobs),
    promptTopTokens: topTokensFromJson(answer.topk_prompt_logprobs),
    promptCacheHitTokens: optionalNumber(answer, "prompt_cache_hit_tokens") ?? 0,
  };
}

function sequenceFromJson(value: unknown): SampledSequence {
  const fields = fieldsOf(value, "a sequence");
  const { stop_reason: stopReason, logprobs, topk_logprobs: topTokens } = fields;
  if (stopReason !== "stop" && stopReason !== "length")
    throw badAnswer(`a sequence has the stop reason ${JSON.stringify(stopReason)}`);
  const tokens = Int32Array.from(numbersFromJson(listOf(fields, "tokens")));
  return sequence(tokens, floatsFromJson(logprobs), stopReason, topTokensFromJson(topTokens));
}

function floatsFromJson(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value)) return undefined;
  return Float32Array.from(numbersFromJson(value));
}

/** A list with one entry per position: null, or a list of pairs of a token id and its log-probability. */
function topTokensFromJson(value: unknown): readonly TopTokens[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((position: unknown) => (Array.isArray(position) ? position.map(pairFromJson) : undefined));
}

function pairFromJson(pair: unknown): { token: number; logprob: number } {
  const [token, logprob]: unknown[] = Array.isArray(pair) ? pair : [];
  if (typeof token === "number" && typeof logprob === "number") return { token, logprob };
  throw badAnswer(`${JSON.stringify(pair)} is not a pair of a token and a log-probability`);
}
