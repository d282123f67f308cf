import type { JsonObject } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ShownMessage } from "./chat-template.ts";
import type { ToolStyle } from "./ways-of-calling.ts";

/** The tools of the conversations that test a template. */
export const probeTools: ToolDefinition[] = [
  {
    name: "weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "The city's name." },
        days: { type: "integer", description: "How many days." },
      },
      required: ["city"],
    },
  },
  {
    name: "search",
    description: 'Finds pages that hold "words".',
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "What to look for." } },
      required: ["query"],
    },
  },
];

/** A turn of a conversation: an action's text and calls, and the tools' answers. */
interface Exchange {
  text: string;
  calls?: { name: string; arguments: JsonObject; answer: string }[];
}

const conversations: { system: boolean; turns: (Exchange | string)[] }[] = [
  {
    system: true,
    turns: [
      "How warm is it in Zürich?",
      { text: "", calls: [{ name: "weather", arguments: { city: "Zürich" }, answer: "12 °C, rain" }] },
      { text: "It is 12 °C and it rains." },
      "And in Paris, the next three days?",
      { text: "", calls: [{ name: "weather", arguments: { city: "Paris", days: 3 }, answer: "15, 17, 14" }] },
      { text: "Between 14 and 17 °C." },
    ],
  },
  {
    system: false,
    turns: [
      "Compare Oslo and Rome.",
      {
        text: "",
        calls: [
          { name: "weather", arguments: { city: "Oslo" }, answer: "3" },
          { name: "weather", arguments: { city: "Rome" }, answer: "21" },
        ],
      },
      { text: "Rome is 18 degrees warmer." },
    ],
  },
  {
    system: true,
    turns: [
      "Who wrote “Faust”?\nSay it briefly.",
      {
        text: "I'll look it up.",
        calls: [{ name: "search", arguments: { query: "Faust\n author" }, answer: "  nothing found\n" }],
      },
      { text: "", calls: [{ name: "search", arguments: { query: "Goethe 📚" }, answer: "Goethe, 1808" }] },
      { text: "<think>\nThat is the one.\n</think>\n\nGoethe." },
      "Thanks. And when?",
      { text: "In 1808." },
    ],
  },
];

/**
 * Returns conversations with calls, parallel calls, thoughts and several questions, in the style of calls that a
 * template needs.
 */
export function probeConversations(calling: (calls: number) => ToolStyle, system: boolean): ShownMessage[][] {
  return conversations.map((conversation) => {
    let number = 0;
    const opening: ShownMessage[] =
      conversation.system && system ? [{ role: "system", content: "You look things up." }] : [];
    const messages = conversation.turns.flatMap((turn): ShownMessage[] => {
      if (typeof turn === "string") return [{ role: "user", content: turn }];
      const { text, calls = [] } = turn;
      if (calls.length === 0) return [{ role: "assistant", content: text }];
      const way = calling(calls.length);
      const ids = calls.map(() => `call${String(number++).padStart(5, "0")}`);
      return [action(text, calls, ids, way), ...answers(calls, ids, way)];
    });
    return [...opening, ...messages];
  });
}

type Asked = NonNullable<Exchange["calls"]>[number];

function action(text: string, calls: Asked[], ids: string[], way: ToolStyle): ShownMessage {
  if (way === "text" || way === "user") {
    const written = calls.map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given }));
    return { role: "assistant", content: [text, ...written].filter((part) => part !== "").join("\n") };
  }
  const shown = calls.map(({ name, arguments: given }, at) => ({
    type: "function" as const,
    id: ids[at] ?? "",
    function: { name, arguments: way === "calls" ? given : JSON.stringify(given) },
  }));
  return { role: "assistant", content: text, tool_calls: shown };
}

function answers(calls: Asked[], ids: string[], way: ToolStyle): ShownMessage[] {
  if (way === "user") return [{ role: "user", content: calls.map(({ answer }) => answer).join("\n") }];
  return calls.map(({ name, answer }, at) => ({
    role: "tool" as const,
    name,
    content: answer,
    tool_call_id: ids[at] ?? "",
  }));
}
