import { randomBytes, randomUUID } from "node:crypto";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { type ActionText, identified } from "../../chat/formats/action-format.ts";
import { answerOfAction } from "../../chat/openai/answer-of-action.ts";
import { chatMessages } from "../../chat/openai/chat-messages.ts";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import type { AnswerContext } from "../../chat/openai/endpoint-server.ts";
import { withKeptImages } from "../../chat/openai/kept-images.ts";
import { type Continuation, matchTurn } from "../../chat/openai/match-turn.ts";
import type { EndpointMessage, ModelAnswer, ModelRequest } from "../../chat/openai/model-request.ts";
import { movedImages, type PlacedImage } from "../../contracts/image-tokens.ts";
import type { Message, ToolDefinition } from "../../contracts/message.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import type { Policy, SamplingParameters, TokenizedText } from "../../contracts/policy.ts";
import { inDemonstratedForm } from "../../plan/pipeline/resolve/demonstrated-tools.ts";
import { toolDefinition } from "../../plan/pipeline/resolve/tool-definitions.ts";
import { imagesOf } from "../../run/projections/images-of.ts";
import { keptImages } from "./kept-images.ts";
import { type Kept, keptTurns, type SessionMemory } from "./kept-turns.ts";

/** An open policy, and how requests use it. */
export interface PolicyInUse {
  policy: Pick<Policy, "framePrompt" | "frameObservation" | "generate" | "readsImages" | "measureImage">;
  version: number;
  /** The most tokens of a conversation, including its prompt. */
  contextLength: number;
  sampling: Pick<SamplingParameters, "temperature" | "maxTokens">;
  /** The same seed draws the same actions for the same requests in the same order. */
  seed: number;
  /** Texts that end an action. */
  stopTexts(tools: readonly ToolDefinition[]): readonly string[];
  read(text: string, tools: readonly ToolDefinition[], callsBefore: number): ParsedAction;
  /** Presents actions as text. */
  format: ActionText;
  /** The tools whose order and form prompts keep. Default: those of the request. */
  demonstratedTools?: readonly ToolDefinition[] | undefined;
  /** The system message of conversations without one. */
  system?: string | undefined;
}

/** Answers requests with a policy. */
export interface ServedPolicy {
  /** Throws EndpointProblem and the signal's reason. */
  answer(session: string, request: ModelRequest, context: AnswerContext): Promise<ModelAnswer>;
}

interface Limits {
  /** The number of sessions whose turns are kept. */
  sessions: number;
  /** The number of turns kept per session. */
  turns: number;
  /** Called when the turns of a session are dropped. */
  onForget(session: string): void;
}

/**
 * Answers with a policy. A conversation that comes back continues after the very tokens that were sampled, as in
 * training, as long as its turns are kept. All other conversations are framed completely.
 */
export function servedPolicy(
  inUse: PolicyInUse,
  { sessions: most, turns: limit, onForget }: Limits,
): ServedPolicy {
  const { policy, version, contextLength, seed } = inUse;
  const sessions = new Map<string, SessionMemory>();
  const images = keptImages();
  let generated = 0;

  function turnsOf(session: string): SessionMemory {
    const turns = sessions.get(session) ?? keptTurns(limit);
    sessions.delete(session);
    sessions.set(session, turns); // moves the latest one to the end
    const [oldest] = sessions.keys();
    if (sessions.size > most && oldest !== undefined) {
      sessions.delete(oldest);
      onForget(oldest);
    }
    return turns;
  }

  return {
    answer: async (session, request, { signal }) => {
      const turns = turnsOf(session);
      const sent = request.toolChoice === "none" ? [] : request.tools.map(toolDefinition);
      const tools = inDemonstratedForm(sent, inUse.demonstratedTools);
      const keep = policy.readsImages === true ? images.keep : undefined;
      const given = await withKeptImages(request.messages, keep, policy.measureImage);
      const messages = withSystem({ messages: given }, inUse.system);
      const match = matchTurn(turns.all(), { ...request, messages, tools });
      const framed = framedAfter(inUse, turns, match) ?? framedWhole(inUse, match, tools);
      const tokens = framed.before.concat(framed.appended.tokens);
      const maxTokens = Math.min(inUse.sampling.maxTokens, contextLength - tokens.length);
      if (maxTokens < 1) throw tooLong(tokens.length, contextLength);
      const stop = [...inUse.stopTexts(tools)];
      const generation = await policy.generate({
        tokens,
        version,
        sampling: defined({ ...inUse.sampling, maxTokens, stop: stop.length === 0 ? undefined : stop }),
        key: { seed, trajectory: "serve", turn: generated++ },
        tools,
        images: framed.imagesBefore.concat(movedImages(framed.appended.images, framed.before.length)),
        readImage: images.read,
        signal,
      });
      const isCut = generation.finishReason === "length";
      const { read } = generation;
      const parsed = read?.calls.length
        ? identified(read, framed.calls)
        : inUse.read(generation.text, tools, framed.calls);
      const takesCalls = tools.length > 0 && !isCut; // an action that was cut makes no calls
      const readable = takesCalls ? parsed.calls.filter((call) => call.problem === undefined) : [];
      const ids = readable.map(newCallId);
      const said = answerOfAction(parsed, {
        written: generation.text,
        format: inUse.format,
        tools,
        takesCalls,
        callId: (index) => ids[index] ?? "",
      });
      const answer: ModelAnswer = {
        ...said,
        id: randomUUID().replaceAll("-", ""),
        finishReason: isCut ? "length" : said.calls.length > 0 ? "tool_calls" : "stop",
        usage: { prompt: tokens.length, completion: generation.tokens.length },
        created: Math.floor(Date.now() / 1000),
      };
      turns.add({
        parent: framed.parent,
        messages: framed.messages,
        tools,
        answer,
        tokens: framed.appended.tokens.concat(generation.tokens),
        images: framed.appended.images ?? [],
        calls: framed.calls + (takesCalls ? parsed.calls.length : 0),
        ownIds: new Map(readable.map(({ id }, index) => [ids[index] ?? "", id])),
        isCut,
      });
      return answer;
    },
  };
}

/** The context of an action. */
interface Framed {
  parent: number | null;
  messages: EndpointMessage[];
  /** Tokens from earlier turns. */
  before: number[];
  imagesBefore: PlacedImage[];
  appended: TokenizedText;
  calls: number;
}

/** The context after a kept turn; undefined if there is no kept turn, or the chat template can't continue it. */
function framedAfter(
  { policy }: PolicyInUse,
  turns: SessionMemory,
  { continues, messages }: Continuation,
): Framed | undefined {
  if (continues === null) return undefined;
  const chain = turns.chain(continues);
  const last = chain.at(-1);
  if (last === undefined || last.isCut) return undefined;
  try {
    return {
      parent: continues,
      messages,
      before: chain.flatMap(({ tokens }) => tokens),
      imagesBefore: imagesOf(chain),
      appended: policy.frameObservation(shown(messages, chain), last.calls),
      calls: last.calls,
    };
  } catch (error) {
    if (isEverturnError(error)) return undefined;
    throw error;
  }
}

function framedWhole({ policy }: PolicyInUse, { whole }: Continuation, tools: ToolDefinition[]): Framed {
  try {
    const appended = policy.framePrompt(chatMessages(whole), tools);
    return { parent: null, messages: whole, before: [], imagesBefore: [], appended, calls: callsIn(whole) };
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    throw new EndpointProblem(400, `The conversation can't be framed. ${error.message}`, {
      param: "messages",
      code: error.code.toLowerCase(),
    });
  }
}

/** Messages after kept turns, with the model's own ids of calls, which its template writes. */
function shown(messages: readonly EndpointMessage[], chain: readonly Kept[]): Message[] {
  const calls = chain.flatMap(({ answer }) => answer.calls);
  const ownIds = new Map(chain.flatMap((turn) => [...turn.ownIds]));
  return chatMessages(messages, calls).map((message) => {
    const own = ownIds.get(message.tool_call_id ?? "");
    return own === undefined ? message : { ...message, tool_call_id: own };
  });
}

function callsIn(messages: readonly EndpointMessage[]): number {
  return messages.reduce((sum, { calls = [] }) => sum + calls.length, 0);
}

function withSystem(
  { messages }: Pick<ModelRequest, "messages">,
  system: string | undefined,
): EndpointMessage[] {
  if (system === undefined || messages.some(({ role }) => role === "system")) return messages;
  return [{ role: "system", content: system, isInstructions: true }, ...messages];
}

/** Nine letters and digits, which strict templates require. */
function newCallId(): string {
  return BigInt(`0x${randomBytes(8).toString("hex")}`)
    .toString(36)
    .padStart(13, "0")
    .slice(-9);
}

function tooLong(tokens: number, contextLength: number): EndpointProblem {
  return new EndpointProblem(
    400,
    `The conversation has ${tokens} tokens, and the model's context of ${contextLength} leaves no room for an answer.`,
    { param: "messages", code: "context_length_exceeded" },
  );
}
