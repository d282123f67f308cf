import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelAnswer } from "../../src/chat/openai/model-request.ts";
import type { JsonObject } from "../../src/contracts/json.ts";

const folder = join(import.meta.dirname, "..", "fixtures", "agents");

/** What a real client sent in one session, and what it was answered. */
export interface CapturedSession {
  name: string;
  requests: { path: "chat" | "responses"; body: JsonObject; answer: ModelAnswer }[];
}

interface Captured {
  name: string;
  requests: {
    path: string;
    body: JsonObject;
    reply: {
      content: string | null;
      reasoning?: string;
      tool_calls?: { id: string; name: string; arguments: string }[];
    };
    replyIds?: string[];
  }[];
}

/** The sessions of real clients (tests/fixtures/agents), with items' ids as the endpoint makes them. */
export function capturedSessions(): CapturedSession[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json") && name !== "responses-minimal-events.json")
    .sort()
    .map((name) => sessionOf(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

function sessionOf({ name, requests }: Captured): CapturedSession {
  const ids = new Map<string, string>();
  for (const [turn, { replyIds }] of requests.entries()) {
    const calls = (replyIds ?? []).filter((id) => id.startsWith("fc_"));
    for (const id of replyIds ?? []) {
      const [kind = ""] = id.split("_", 1);
      ids.set(id, kind === "fc" ? `fc_turn${turn}_${calls.indexOf(id)}` : `${kind}_turn${turn}`);
    }
  }
  const renamed = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "string" ? (ids.get(one) ?? one) : one)));
  return {
    name,
    requests: requests.map(({ path, body, reply }, turn) => ({
      path: path.endsWith("/responses") ? "responses" : "chat",
      body: renamed(body),
      answer: {
        id: `turn${turn}`,
        text: reply.content ?? "",
        reasoning: reply.reasoning,
        calls: reply.tool_calls ?? [],
        finishReason: reply.tool_calls?.length ? "tool_calls" : "stop",
        usage: { prompt: 10, completion: 5 },
        created: 1_700_000_000,
      },
    })),
  };
}
