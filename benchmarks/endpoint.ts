// node benchmarks/endpoint.ts: what the endpoint adds to a turn, ms: from a client's request to its answer, without generation.
import { createServer } from "node:http";
import { type Endpoint, startEndpoint } from "../src/chat/openai/endpoint-server.ts";
import type { GivenTurn } from "../src/chat/openai/given-turn.ts";
import { listen } from "../src/chat/openai/listen.ts";
import { matchTurn } from "../src/chat/openai/match-turn.ts";
import { readChatRequest } from "../src/chat/openai/read-chat.ts";

const requests = 400;
const tools = Array.from({ length: 5 }, (_, index) => ({
  type: "function",
  function: {
    name: `tool${index}`,
    description: "What it does. ".repeat(10),
    parameters: { type: "object", properties: { query: { type: "string", description: "what for" } } },
  },
}));
const call = (turn: number) => ({ id: `call${turn}`, name: "tool0", arguments: '{"query":"x"}' });
const answered = (turn: number) => ({
  id: `t${turn}`,
  text: "",
  calls: [call(turn)],
  finishReason: "tool_calls" as const,
  usage: { prompt: 1, completion: 1 },
  created: 0,
});

/** The request of a turn: a system message, a question, and of each turn before it a call and 2 kB of what the tool said. */
function bodyOf(turn: number) {
  const messages: object[] = [
    { role: "system", content: "S".repeat(1000) },
    { role: "user", content: "U" },
  ];
  for (let before = 0; before < turn; before++) {
    const { id, ...named } = call(before);
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: named }],
    });
    messages.push({ role: "tool", tool_call_id: id, content: "r".repeat(2000) });
  }
  return { model: "m", messages, tools };
}

/** A session whose last turn before `turn` is recorded. */
function recorded(turn: number): GivenTurn[] {
  const turns: GivenTurn[] = [];
  for (let number = 0; number < turn; number++) {
    const request = readChatRequest(bodyOf(number));
    const { continues, messages } = matchTurn(turns, request);
    turns.push({ number, parent: continues, messages, tools: request.tools, answer: answered(number) });
  }
  return turns;
}

async function measured(url: string, body: object): Promise<{ p50: number; p99: number }> {
  const text = JSON.stringify(body);
  const times: number[] = [];
  for (let index = 0; index < requests + 50; index++) {
    const began = performance.now();
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: "Bearer key" },
      body: text,
    });
    await response.text();
    if (index >= 50) times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  return { p50: times[Math.floor(requests / 2)] ?? 0, p99: times[Math.floor(requests * 0.99)] ?? 0 };
}

const bare = createServer(async (request, response) => {
  for await (const _ of request);
  response.end("{}");
});
const bareUrl = await listen(bare, "127.0.0.1", 0);
console.log("turn  kB     bare p50 p99     endpoint p50 p99     added p50");
for (const turn of [0, 8, 32, 128]) {
  const turns = recorded(turn);
  const endpoint: Endpoint = await startEndpoint({
    answer: async (_, request) => {
      const { continues } = matchTurn(turns, request);
      if (continues !== (turn === 0 ? null : turn - 1)) throw new Error(`goes on after ${continues}`);
      return answered(turn);
    },
    authenticate: (key) => key,
    models: [],
    log: console.error,
  });
  const body = bodyOf(turn);
  const none = await measured(bareUrl, body);
  const own = await measured(`${endpoint.url}/chat/completions`, body);
  const shown = (value: number) => value.toFixed(2).padStart(7);
  const size = (JSON.stringify(body).length / 1000).toFixed(0).padStart(4);
  console.log(
    `${String(turn).padStart(4)} ${size}  ${shown(none.p50)}${shown(none.p99)}      ${shown(own.p50)}${shown(own.p99)}      ${shown(own.p50 - none.p50)}`,
  );
  await endpoint.close();
}
bare.close();
bare.closeAllConnections();
