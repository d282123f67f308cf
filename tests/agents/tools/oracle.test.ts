import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Endpoint, startEndpoint } from "../../../src/chat/openai/endpoint-server.ts";
import type { ModelAnswer } from "../../../src/chat/openai/model-request.ts";
import { isObject } from "../../../src/contracts/json.ts";
import { capturedSessions } from "../../support/captured-requests.ts";

let endpoint: Endpoint;
let answer: ModelAnswer;
const mock = new LLMock({ port: 0, chunkSize: 100_000 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, () => {
    const { text: content, reasoning = "", calls } = answer;
    const thought = reasoning === "" ? {} : { reasoning };
    if (calls.length === 0) return { content, ...thought };
    return { ...(content === "" ? {} : { content }), ...thought, toolCalls: calls };
  });
  await mock.start();
  endpoint = await startEndpoint({
    answer: async () => answer,
    authenticate: () => "one",
    models: [],
    log: () => {},
  });
});

afterAll(async () => {
  await Promise.all([endpoint.close(), mock.stop()]);
});

/** Ids, times and counts of tokens are each server's own. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const { id: _, item_id: _item, created: _created, created_at: _at, usage: _usage, ...rest } = value;
  const entries = Object.entries(rest).map(([key, one]) => [key, plain(one)]);
  // What is nothing beside calls is "" here: clients make one of the other, and back.
  return Object.fromEntries(entries.map(([key, one]) => [key, key === "content" && one === null ? "" : one]));
}

async function said(url: string, path: string, body: object): Promise<unknown[]> {
  const headers = { "content-type": "application/json", authorization: "Bearer key" };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  if (!text.startsWith("data: ") && !text.startsWith("event: ")) return [plain(JSON.parse(text))];
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => plain(JSON.parse(line.slice("data: ".length))));
}

/** What the chunks of a chat completion say together. */
function together(chunks: unknown[]) {
  const choices = chunks.flatMap((chunk) => Object(chunk).choices);
  const deltas = choices.map(({ delta }) => delta);
  const calls = deltas.flatMap(({ tool_calls: parts = [] }) => parts);
  const joined = (texts: (string | undefined)[]) => texts.join("");
  return {
    role: deltas.find(({ role }) => role).role,
    content: joined(deltas.map(({ content }) => content)),
    reasoning: joined(deltas.map(({ reasoning_content: text }) => text)),
    calls: [...new Set(calls.map(({ index }) => index))].map((own) => {
      const parts = calls.filter(({ index }) => index === own);
      return [parts[0].type, parts[0].function.name, joined(parts.map((part) => part.function.arguments))];
    }),
    ended: choices.at(-1).finish_reason,
  };
}

test("an independent mock of OpenAI answers what clients sent with nothing that the endpoint lacks", async () => {
  let count = 0;
  for (const { requests } of capturedSessions()) {
    for (const { path, body, answer: given } of requests) {
      if (body.previous_response_id !== undefined) continue; // the mock would have had to answer that one
      answer = given;
      const route = path === "chat" ? "/chat/completions" : "/responses";
      for (const stream of [false, true]) {
        const asked = { ...body, stream };
        const [ours, theirs] = await Promise.all([
          said(endpoint.url, route, asked),
          said(`${mock.url}/v1`, route, asked),
        ]);
        count++;
        if (path === "chat" && stream) expect(together(ours)).toEqual(together(theirs));
        else expect(ours).toMatchObject(theirs.filter((one) => Object(one).type !== "response.in_progress"));
      }
    }
  }
  expect(count).toBe(134);
});
