import { answerIds } from "./answer-ids.ts";
import type { ModelAnswer, ModelRequest } from "./model-request.ts";
import type { ServerEvent } from "./server-event.ts";

type Asked = Pick<
  ModelRequest,
  "model" | "messages" | "tools" | "toolChoice" | "responseFormat" | "previousResponseId"
>;

/** The body of the answer to a request for responses. */
export function responsesBody(answer: ModelAnswer, asked: Asked) {
  return {
    ...begun(answer, asked),
    ...ended(answer),
    output: outputOf(answer),
    usage: shownUsage(answer.usage),
  };
}

/** The same answer as a stream: the shortest sequence of events that every client reads. */
export function responsesEvents(answer: ModelAnswer, asked: Asked): ServerEvent[] {
  const events: ServerEvent[] = [];
  const send = (type: string, fields: object) => {
    const data = JSON.stringify({ type, sequence_number: events.length, ...fields });
    events.push({ event: type, data });
  };
  send("response.created", { response: begun(answer, asked) });
  for (const [output_index, item] of outputOf(answer).entries()) {
    const at = { output_index, item_id: item.id };
    switch (item.type) {
      case "reasoning": {
        const [part] = item.summary;
        const text = part?.text ?? "";
        const inSummary = { ...at, summary_index: 0 };
        send("response.output_item.added", { output_index, item: { ...item, summary: [] } });
        send("response.reasoning_summary_part.added", { ...inSummary, part: { ...part, text: "" } });
        send("response.reasoning_summary_text.delta", { ...inSummary, delta: text });
        send("response.reasoning_summary_text.done", { ...inSummary, text });
        send("response.reasoning_summary_part.done", { ...inSummary, part });
        break;
      }
      case "message": {
        const [part] = item.content;
        const text = part?.text ?? "";
        const inContent = { ...at, content_index: 0 };
        const added = { ...item, status: "in_progress", content: [] };
        send("response.output_item.added", { output_index, item: added });
        send("response.content_part.added", { ...inContent, part: { ...part, text: "" } });
        if (text !== "") send("response.output_text.delta", { ...inContent, delta: text, logprobs: [] });
        send("response.output_text.done", { ...inContent, text, logprobs: [] });
        send("response.content_part.done", { ...inContent, part });
        break;
      }
      case "function_call": {
        const { name, arguments: given } = item;
        const added = { ...item, status: "in_progress", arguments: "" };
        send("response.output_item.added", { output_index, item: added });
        send("response.function_call_arguments.delta", { ...at, delta: given });
        send("response.function_call_arguments.done", { ...at, name, arguments: given });
        break;
      }
    }
    send("response.output_item.done", { output_index, item });
  }
  const isCut = answer.finishReason === "length";
  send(isCut ? "response.incomplete" : "response.completed", { response: responsesBody(answer, asked) });
  return events;
}

/** Items in the order in which they were written. A turn without text and calls has an empty message. */
function outputOf(answer: ModelAnswer) {
  const { text, reasoning, calls } = answer;
  const ids = answerIds(answer);
  const status = answer.finishReason === "length" ? ("incomplete" as const) : ("completed" as const);
  const thought =
    reasoning === undefined
      ? []
      : [
          {
            id: ids.reasoning,
            type: "reasoning" as const,
            summary: [{ type: "summary_text" as const, text: reasoning }],
          },
        ];
  const said =
    text === "" && calls.length > 0
      ? []
      : [
          {
            id: ids.message,
            type: "message" as const,
            role: "assistant" as const,
            status,
            content: [{ type: "output_text" as const, text, annotations: [], logprobs: [] }],
          },
        ];
  const called = calls.map(({ id, name, arguments: given }, index) => ({
    id: ids.calls[index] ?? "",
    type: "function_call" as const,
    call_id: id,
    name,
    arguments: given,
    status,
  }));
  return [...thought, ...said, ...called];
}

/** The fields that are known before the answer. Clients' types require every field. */
function begun(answer: ModelAnswer, asked: Asked) {
  const { model, tools, toolChoice, responseFormat = { type: "text" }, previousResponseId = null } = asked;
  const [first] = asked.messages;
  return {
    id: answerIds(answer).response,
    access_programs: null,
    object: "response" as const,
    created_at: answer.created,
    status: "in_progress" as "in_progress" | "completed" | "incomplete",
    background: false,
    error: null,
    incomplete_details: null as { reason: "max_output_tokens" } | null,
    instructions: first?.isInstructions ? first.content : null,
    max_output_tokens: null,
    metadata: {},
    model,
    output: [] as ReturnType<typeof outputOf>,
    parallel_tool_calls: true,
    previous_response_id: previousResponseId,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: null,
    text: { format: responseFormat },
    tool_choice: typeof toolChoice === "string" ? toolChoice : { type: "function" as const, ...toolChoice },
    tools: tools.map((tool) => ({ type: "function" as const, ...tool, strict: null })),
    top_p: null,
    truncation: "disabled" as const,
    usage: null as ReturnType<typeof shownUsage> | null,
  };
}

function ended({ finishReason }: ModelAnswer) {
  const isCut = finishReason === "length";
  return {
    status: isCut ? ("incomplete" as const) : ("completed" as const),
    incomplete_details: isCut ? { reason: "max_output_tokens" as const } : null,
  };
}

function shownUsage({ prompt, completion }: ModelAnswer["usage"]) {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + completion,
  };
}
