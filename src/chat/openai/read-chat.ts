import type { JsonObject } from "../../contracts/json.ts";
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
import type { EndpointCall, EndpointMessage, ModelRequest } from "./model-request.ts";
import { contentIn, contentWithImages, optionalContent } from "./read-content.ts";
import { responseFormatIn, toolChoiceIn, toolsIn } from "./read-tools.ts";

/**
 * Reads the body of a request for chat completions. It ignores settings for drawing tokens (temperature, max_tokens,
 * stop, seed and similar), because the run's or the server's sampling decides. Throws EndpointProblem.
 */
export function readChatRequest(value: unknown): ModelRequest {
  const body = bodyOf(value);
  refuse(body);
  const messages = listIn(fieldOf(body, "messages"));
  if (messages.length === 0) throw invalid("messages", "is an empty list: send one message or more");
  const options = fieldOf(body, "stream_options");
  return {
    path: "chat",
    stream: flagIn(fieldOf(body, "stream")),
    includeUsage: !isAbsent(options) && flagIn(fieldOf(objectIn(options), "include_usage", "stream_options")),
    model: nameIn(fieldOf(body, "model")),
    messages: messages.map(messageIn),
    tools: toolsIn(fieldOf(body, "tools"), "in function"),
    toolChoice: toolChoiceIn(fieldOf(body, "tool_choice"), "in function"),
    responseFormat: responseFormatIn(fieldOf(body, "response_format"), true),
  };
}

/** Rejects requests that would get something other than they ask for. */
function refuse(body: JsonObject): void {
  for (const name of ["functions", "function_call"])
    if (!isAbsent(fieldOf(body, name)))
      throw invalid(
        name,
        "is the old form of tools: send `tools` and `tool_choice`",
        "unsupported_parameter",
      );
  const n = fieldOf(body, "n");
  if (!isAbsent(n) && n.value !== 1)
    throw invalid("n", `is ${kindOf(n.value)}, and there is one answer: send the request again for another`);
  if (flagIn(fieldOf(body, "logprobs")))
    throw invalid("logprobs", "are not told: leave it out", "unsupported_parameter");
  const modalities = fieldOf(body, "modalities");
  if (!isAbsent(modalities) && listIn(modalities).some(({ value }) => value !== "text"))
    throw invalid(
      "modalities",
      'has others than "text", and this model writes text',
      "unsupported_parameter",
    );
}

function messageIn(field: Field): EndpointMessage {
  const message = objectIn(field);
  const { at } = field;
  const content = fieldOf(message, "content", at);
  const named = fieldOf(message, "name", at);
  const roleField = fieldOf(message, "role", at);
  if (roleField.value === "function")
    throw invalid(at, 'has the role "function" of the old form: send "tool" with a tool_call_id');
  const role = wordIn(roleField, ["system", "developer", "user", "assistant", "tool"]);
  switch (role) {
    case "system":
    case "developer":
      return { role: "system", content: contentIn(content) };
    case "user":
      return { role, ...contentWithImages(content) };
    case "tool":
      return {
        role,
        ...contentWithImages(content),
        name: isAbsent(named) ? undefined : textIn(named),
        callId: nameIn(fieldOf(message, "tool_call_id", at)),
      };
    case "assistant": {
      const calls = fieldOf(message, "tool_calls", at);
      if (!isAbsent(fieldOf(message, "function_call", at)))
        throw invalid(`${at}.function_call`, "is the old form of calls: send `tool_calls`");
      return {
        role,
        content: optionalContent(content),
        calls: isAbsent(calls) ? undefined : listIn(calls).map(callIn),
        reasoning: reasoningOf(message),
      };
    }
  }
}

/**
 * The reasoning, which clients send under one of two names, shorten, or drop. A value that is not text counts as
 * absent.
 */
function reasoningOf({ reasoning_content: content, reasoning }: JsonObject): string | undefined {
  return [content, reasoning].find((one) => typeof one === "string");
}

function callIn(field: Field): EndpointCall {
  const call = objectIn(field);
  const type = fieldOf(call, "type", field.at);
  if (!isAbsent(type)) wordIn(type, ["function"]);
  const own = fieldOf(call, "function", field.at);
  const called = objectIn(own);
  return {
    id: nameIn(fieldOf(call, "id", field.at)),
    name: nameIn(fieldOf(called, "name", own.at)),
    arguments: callArgumentsIn(fieldOf(called, "arguments", own.at)),
  };
}
