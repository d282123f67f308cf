import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatCompletion } from "openai/resources/chat/completions";
import type { Response } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import type { GivenTurn } from "../../../../src/chat/openai/given-turn.ts";
import { matchTurn } from "../../../../src/chat/openai/match-turn.ts";
import type { ModelRequest } from "../../../../src/chat/openai/model-request.ts";
import { readChatRequest } from "../../../../src/chat/openai/read-chat.ts";
import { readResponsesRequest } from "../../../../src/chat/openai/read-responses.ts";
import { eventText } from "../../../../src/chat/openai/server-event.ts";
import { chatBody, chatEvents } from "../../../../src/chat/openai/write-chat.ts";
import { responsesBody, responsesEvents } from "../../../../src/chat/openai/write-responses.ts";
import { capturedSessions } from "../../../support/captured-requests.ts";

const read = { chat: readChatRequest, responses: readResponsesRequest };

/** Of each request of a session: the turn that it goes on after (– : a new row), and the roles of what comes after it. */
const expected: Record<string, string> = {
  "agents-chat-run": "– su, 0 tt, 1 u, 2 t",
  "agents-responses-run-session": "– su, 0 tt, 1 u, 2 t",
  "ai-compat-generate": "– su, 0 tt, 1 u, 2 t",
  "ai-object-compat": "– u, – u, – u",
  "ai-openai-stream": "– su, 0 tt, 1 u, 2 t",
  "compact-lc": "– su, 0 t, – u, – suat, – u, – suat, – u, – suat",
  "lc-createAgent-invoke-null": "– su, 0 t, 1 u, 2 t",
  "lc-createAgent-invoke-responses": "– su, 0 tt, 1 u, 2 t",
  "lc-createAgent-invoke": "– su, 0 tt, 1 u, 2 t",
  "lc-structured-bare": "– u",
  "mastra-url-generate-memory": "– su, 0 tt, 1 u, 2 t",
  "mcp-agents-resp": "– su, 0 tt",
  "mcp-lc": "– u, 0 tt",
  "model-gpt5-ai-openai-chat": "– su, 0 tt",
  "model-gpt5-lc": "– su, 0 tt",
  "openai-chat-stream": "– su, 0 tt, 1 u, 2 t",
  "openai-responses-plain-prev": "– su, 0 tt, 1 u, 2 t",
  "sub-agents-handoff-chat": "– su, – suat",
  "sub-ai": "– su, – su, – su, 0 tt",
  "sub-mastra": "– ssu, – ssssuu, 0 t, – su",
};

test("what real clients sent is read, and each request goes on after the turn that it returned", () => {
  const found = capturedSessions().map(({ name, requests }) => {
    const turns: GivenTurn[] = [];
    const rows = requests.map(({ path, body, answer }, number) => {
      const request = read[path](body);
      const { continues, extendsLeaf, messages } = matchTurn(turns, request);
      turns.push({ number, parent: continues, messages, tools: request.tools, answer });
      expect(extendsLeaf).toBe(continues !== null);
      return `${continues ?? "–"} ${messages.map(({ role }) => role[0]).join("")}`;
    });
    return [name, rows.join(", ")];
  });
  expect(Object.fromEntries(found)).toEqual(expected);
});

const given: ModelRequest = {
  path: "responses",
  stream: true,
  includeUsage: true,
  model: "policy",
  messages: [{ role: "user", content: "17*3 and 1+3?" }],
  tools: [],
  toolChoice: "auto",
};

const givenAnswer = {
  id: "9",
  text: "Let me see.",
  reasoning: "hmm",
  calls: [
    { id: "c1", name: "calculator", arguments: '{"op":"mul","a":17,"b":3}' },
    { id: "c2", name: "calculator", arguments: '{"op":"add","a":1,"b":3}' },
  ],
  finishReason: "tool_calls" as const,
  usage: { prompt: 1, completion: 1 },
  created: 1_700_000_000,
};

test("a stream of responses has the events that every client needs, in their order, and the fields of each", () => {
  const path = join(
    import.meta.dirname,
    "..",
    "..",
    "..",
    "fixtures",
    "agents",
    "responses-minimal-events.json",
  );
  const wanted: Record<string, unknown>[] = JSON.parse(readFileSync(path, "utf8")).slice(0, 16);
  const sent = responsesEvents(givenAnswer, given).map(({ data }) => JSON.parse(data));
  const needed = sent.filter(({ type }) => wanted.some((one) => one.type === type));
  expect(needed.map(({ type }) => type)).toEqual(wanted.map(({ type }) => type));
  const ids = new Map([
    ["resp_9", "resp_9"],
    ["rs_10", "rs_9"],
    ["msg_11", "msg_9"],
    ["fc_12", "fc_9_0"],
    ["fc_13", "fc_9_1"],
  ]);
  for (const [index, { sequence_number: _, ...one }] of wanted.entries()) {
    const renamed = JSON.stringify(one, (_key, value) => ids.get(value) ?? value);
    expect(needed[index]).toMatchObject(JSON.parse(renamed));
  }
  expect(sent.map(({ sequence_number }) => sequence_number)).toEqual(sent.map((_, index) => index));
});

test("answers have the fields that OpenAI's own types want, and a content that is never null", () => {
  const { text: _, ...silent } = givenAnswer;
  const response: Response = { ...responsesBody(givenAnswer, given), output_text: givenAnswer.text };
  expect(response.output.map(({ type }) => type)).toEqual([
    "reasoning",
    "message",
    "function_call",
    "function_call",
  ]);
  const chat: ChatCompletion = chatBody({ ...silent, text: "" }, given);
  expect(chat.choices[0]?.message).toEqual({
    role: "assistant",
    content: "",
    refusal: null,
    reasoning_content: "hmm",
    tool_calls: givenAnswer.calls.map(({ id, ...called }) => ({ id, type: "function", function: called })),
  });
  const nothing = {
    ...givenAnswer,
    text: "",
    calls: [],
    reasoning: undefined,
    finishReason: "length" as const,
  };
  expect(responsesBody(nothing, given)).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [{ type: "message", content: [{ text: "" }] }],
  });
});

test("a stream of chat completions says the role first, each call with its place and type, the reason of the end, and the usage", () => {
  const chunks = chatEvents(givenAnswer, given).map((event) => eventText(event));
  expect(chunks.at(-1)).toBe("data: [DONE]\n\n");
  const sent = chunks.slice(0, -1).map((text) => JSON.parse(text.slice("data: ".length)));
  expect(sent.map(({ choices: [choice] }) => choice?.delta)).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "hmm" },
    { content: "Let me see." },
    ...givenAnswer.calls.map(({ id, ...called }, index) => ({
      tool_calls: [{ index, id, type: "function", function: called }],
    })),
    {},
    undefined,
  ]);
  expect(sent.at(-2).choices[0].finish_reason).toBe("tool_calls");
  expect(sent.at(-1).usage).toEqual({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
  const silent = chatEvents(givenAnswer, { ...given, includeUsage: false });
  expect(silent).toHaveLength(chunks.length - 1);
});
