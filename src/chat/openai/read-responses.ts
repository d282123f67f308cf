import type { JsonObject } from "../../contracts/json.ts";
import { itemKind } from "./answer-ids.ts";
import { callArgumentsIn } from "./call-arguments.ts";
import { invalid } from "./endpoint-problem.ts";
import {
  bodyOf,
  type Field,
  fieldOf,
  flagIn,
  isAbsent,
  kindOf,
  listIn,
  nameIn,
  objectIn,
  textIn,
  wordIn,
} from "./fields.ts";
import type { EndpointMessage, ModelRequest } from "./model-request.ts";
import { contentIn, contentWithImages, optionalContent } from "./read-content.ts";
import { responseFormatIn, toolChoiceIn, toolsIn } from "./read-tools.ts";

/**
 * Reads the body of a request for responses. It ignores settings for drawing tokens, because the run's or the
 * server's sampling decides. Throws EndpointProblem.
 */
export function readResponsesRequest(value: unknown): ModelRequest {
  const body = bodyOf(value);
  refuse(body);
  const instructions = fieldOf(body, "instructions");
  const previous = fieldOf(body, "previous_response_id");
  const text = fieldOf(body, "text");
  const input = inputIn(fieldOf(body, "input"));
  if (input.length === 0 && isAbsent(previous))
    throw invalid("input", "is an empty list: send a text, or one item or more");
  const system: EndpointMessage[] = isAbsent(instructions)
    ? []
    : [{ role: "system", content: textIn(instructions), isInstructions: true }];
  return {
    path: "responses",
    stream: flagIn(fieldOf(body, "stream")),
    includeUsage: true,
    model: nameIn(fieldOf(body, "model")),
    messages: [...system, ...input],
    tools: toolsIn(fieldOf(body, "tools"), "in the tool"),
    toolChoice: toolChoiceIn(fieldOf(body, "tool_choice"), "in the tool"),
    responseFormat: isAbsent(text)
      ? undefined
      : responseFormatIn(fieldOf(objectIn(text), "format", "text"), false),
    previousResponseId: isAbsent(previous) ? undefined : nameIn(previous),
  };
}

/** Rejects requests that would get something other than they ask for. */
function refuse(body: JsonObject): void {
  if (flagIn(fieldOf(body, "background")))
    throw invalid("background", "is not done: wait for the answer, or leave it out", "unsupported_parameter");
  for (const name of ["conversation", "prompt"])
    if (!isAbsent(fieldOf(body, name)))
      throw invalid(
        name,
        "is not kept here: send `input`, or `previous_response_id`",
        "unsupported_parameter",
      );
}

function inputIn(field: Field): EndpointMessage[] {
  if (typeof field.value === "string") return [{ role: "user", content: field.value }];
  if (!Array.isArray(field.value))
    throw invalid(field.at, `is ${kindOf(field.value)}: send a text, or a list of items`);
  const messages: EndpointMessage[] = [];
  for (const item of listIn(field)) {
    const message = itemIn(item);
    const last = messages.at(-1);
    const joined = last && joinedTurn(last, message);
    if (joined === undefined) messages.push(message);
    else messages[messages.length - 1] = joined;
  }
  return messages;
}

/** Joins the items that an assistant's turn is sent as, in this order: its reasoning, its text, its calls. */
function joinedTurn(turn: EndpointMessage, item: EndpointMessage): EndpointMessage | undefined {
  if (turn.role !== "assistant" || item.role !== "assistant") return undefined;
  const isCall = item.calls !== undefined || kindsOf(item.referredIds).includes("call");
  const saysAlready = turn.calls !== undefined || kindsOf(turn.itemIds).some((kind) => kind !== "reasoning");
  const isBegun = saysAlready || turn.content !== "";
  if (isBegun && !isCall) return undefined;
  return {
    role: "assistant",
    content: turn.content + item.content,
    reasoning: joinedTexts(turn.reasoning, item.reasoning),
    calls: joinedLists(turn.calls, item.calls),
    itemIds: joinedLists(turn.itemIds, item.itemIds),
    referredIds: joinedLists(turn.referredIds, item.referredIds),
  };
}

function kindsOf(ids: readonly string[] | undefined) {
  return (ids ?? []).map(itemKind);
}

function joinedTexts(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined ? other : other === undefined ? one : `${one}\n${other}`;
}

function joinedLists<Item>(one: Item[] | undefined, other: Item[] | undefined): Item[] | undefined {
  return one === undefined ? other : other === undefined ? one : [...one, ...other];
}

function itemIn(field: Field): EndpointMessage {
  const item = objectIn(field);
  const { at } = field;
  const of = (name: string) => fieldOf(item, name, at);
  const ownId = of("id");
  const itemIds = typeof ownId.value === "string" ? [ownId.value] : undefined;
  const type = of("type");
  switch (isAbsent(type) ? "message" : type.value) {
    case "message":
      return messageIn(item, at, itemIds);
    case "reasoning":
      return { role: "assistant", content: "", reasoning: reasoningOf(item, at), itemIds };
    case "function_call": {
      const call = {
        id: nameIn(of("call_id")),
        name: nameIn(of("name")),
        arguments: callArgumentsIn(of("arguments")),
      };
      return { role: "assistant", content: "", calls: [call], itemIds };
    }
    case "function_call_output": {
      const answer = { role: "tool" as const, callId: nameIn(of("call_id")) };
      const output = of("output");
      return isAbsent(output) ? { ...answer, content: "" } : { ...answer, ...contentWithImages(output) };
    }
    case "item_reference": {
      const id = nameIn(ownId);
      return { role: "assistant", content: "", itemIds: [id], referredIds: [id] };
    }
    default:
      throw invalid(
        at,
        `is of type ${kindOf(type.value)}: there are message, reasoning, function_call, function_call_output and item_reference`,
        "unsupported_item",
      );
  }
}

function messageIn(item: JsonObject, at: string, itemIds: string[] | undefined): EndpointMessage {
  const role = wordIn(fieldOf(item, "role", at), ["system", "developer", "user", "assistant"]);
  const content = fieldOf(item, "content", at);
  if (role === "assistant") return { role, content: optionalContent(content), itemIds };
  if (role === "user") return { role, ...contentWithImages(content) };
  return { role: "system", content: contentIn(content) };
}

function reasoningOf(item: JsonObject, at: string): string {
  const [summary, content] = [fieldOf(item, "summary", at), fieldOf(item, "content", at)];
  return isAbsent(content) ? optionalContent(summary) : contentIn(content);
}
