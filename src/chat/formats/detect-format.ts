import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import type { ModelFormat } from "./action-format.ts";
import { formats } from "./formats.ts";

/** Renders a chat like a chat template. Throws if the template refuses it. */
export type Render = (messages: readonly JsonObject[], tools: ToolDefinition[], generate: boolean) => string;

const city = { type: "string", description: "Where to" };
const others = {
  days: { type: "integer", description: "How long" },
  direct: { type: "boolean", description: "Without a stop" },
};
const probeCall = { name: "find_flights", arguments: { city: "Zürich", days: 3, direct: true } };

interface Probe {
  tools: ToolDefinition[];
  calls: ToolCall[];
}

/**
 * Chats to render until a template accepts one. Some templates refuse several calls at once, or parameters of some
 * types.
 */
const probes: readonly Probe[] = [
  {
    tools: [toolOf({ city, ...others }), { ...toolOf({}), name: "clock" }],
    calls: [probeCall, { name: "clock", arguments: {} }],
  },
  { tools: [toolOf({ city, ...others })], calls: [probeCall] },
  { tools: [toolOf({ city })], calls: [{ name: probeCall.name, arguments: { city: "Zürich" } }] },
];

function toolOf(properties: JsonObject): ToolDefinition {
  const parameters = { type: "object", required: Object.keys(properties), properties };
  return { name: probeCall.name, description: "Finds flights", parameters };
}

const user = { role: "user", content: "Where to?" };

/**
 * Finds the format in which a chat template writes calls by rendering some. Of the formats that read the same calls
 * back, it returns the one whose own rendering is most similar. Undefined if the template writes none, or in a way
 * that no format reads.
 */
export function detectFormat(render: Render): ModelFormat | undefined {
  for (const probe of probes) {
    for (const isText of [false, true]) {
      const written = writtenCalls(render, probe, isText);
      const found = written === undefined ? undefined : formatOf(written, probe);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/**
 * A template's text for an action with some calls; undefined if it refuses them. Some templates want arguments as
 * JSON text.
 */
function writtenCalls(render: Render, { tools, calls }: Probe, isText: boolean): string | undefined {
  const told = calls.map(({ name, arguments: given }, index) => ({
    id: `abcdefgh${index}`,
    type: "function",
    function: { name, arguments: isText ? JSON.stringify(given) : given },
  }));
  const action: JsonObject = { role: "assistant", content: "", tool_calls: told };
  try {
    const before = render([user], tools, false);
    const whole = render([user, action], tools, false);
    let same = 0;
    while (same < before.length && before[same] === whole[same]) same++;
    return whole.slice(same);
  } catch {
    return undefined;
  }
}

function formatOf(written: string, { tools, calls: made }: Probe): ModelFormat | undefined {
  const readable = formats.flatMap((format) => {
    const { answer, calls: read } = format.parse(written, { tools });
    const again = read.map((call) => (call.problem === undefined ? [call.name, call.arguments] : []));
    const isSame = isDeepEqual(
      again,
      made.map((call) => [call.name, call.arguments]),
    );
    if (!isSame) return [];
    return [{ format, left: answer.length, alike: alikeness(written, format.render(made, tools)) }];
  });
  const likest = readable.sort((one, other) => other.alike - one.alike || one.left - other.left);
  return likest[0]?.format;
}

/** The share of a rendering, from its beginning, that appears in a text, ignoring spaces: 0 to 1. */
function alikeness(text: string, rendered: string): number {
  const [whole, part] = [text, rendered].map((one) => one.replaceAll(/\s/g, ""));
  if (whole === undefined || part === undefined || part === "") return 0;
  let most = 0;
  while (most < part.length && whole.includes(part.slice(0, most + 1))) most++;
  return most / part.length;
}

function isDeepEqual(one: JsonValue, other: JsonValue): boolean {
  const sorted = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(sorted);
    if (!isObject(value)) return value;
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]);
  };
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}
