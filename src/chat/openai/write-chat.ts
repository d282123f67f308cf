import { defined } from "../../base/records/defined.ts";
import { answerIds } from "./answer-ids.ts";
import type { EndpointCall, ModelAnswer, ModelRequest } from "./model-request.ts";
import type { ServerEvent } from "./server-event.ts";

interface Message {
  role: "assistant";
  content: string;
  refusal: null;
  reasoning_content?: string;
  tool_calls?: ReturnType<typeof shownCall>[];
}

type Asked = Pick<ModelRequest, "model" | "includeUsage">;

/**
 * The body of the answer to a request for chat completions. Its content is "" rather than null if there is no text.
 */
export function chatBody(answer: ModelAnswer, { model }: Asked) {
  const { text, reasoning, calls, finishReason, usage, created } = answer;
  const message = defined<Message>({
    role: "assistant",
    content: text,
    refusal: null,
    reasoning_content: reasoning,
    tool_calls: calls.length === 0 ? undefined : calls.map(shownCall),
  });
  return {
    id: answerIds(answer).chat,
    object: "chat.completion" as const,
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: shownUsage(usage),
  };
}

/** The same answer as a stream: reasoning, text, each call, the finish reason, and the usage if requested. */
export function chatEvents(answer: ModelAnswer, { model, includeUsage }: Asked): ServerEvent[] {
  const { text, reasoning, calls, finishReason, usage, created } = answer;
  const common = { id: answerIds(answer).chat, object: "chat.completion.chunk" as const, created, model };
  const chunk = (delta: object, reason: ModelAnswer["finishReason"] | null = null) =>
    defined<object>({
      ...common,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      usage: includeUsage ? null : undefined,
    });
  const chunks: object[] = [chunk({ role: "assistant", content: "" })];
  if (reasoning !== undefined) chunks.push(chunk({ reasoning_content: reasoning }));
  if (text !== "") chunks.push(chunk({ content: text }));
  for (const [index, call] of calls.entries())
    chunks.push(chunk({ tool_calls: [{ index, ...shownCall(call) }] }));
  chunks.push(chunk({}, finishReason));
  if (includeUsage) chunks.push({ ...common, choices: [], usage: shownUsage(usage) });
  return [...chunks.map((one) => ({ data: JSON.stringify(one) })), { data: "[DONE]" }];
}

function shownCall({ id, name, arguments: given }: EndpointCall) {
  return { id, type: "function" as const, function: { name, arguments: given } };
}

function shownUsage({ prompt, completion }: ModelAnswer["usage"]) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
