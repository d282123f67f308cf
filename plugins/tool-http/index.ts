import {
  type JsonObject,
  type JsonValue,
  parseKeepingDigits,
  type ToolPlugin,
  type ToolResponse,
} from "everturn/plugin";
import { addressOf, type Declared, declaredFunctions, filled, textOf, valueAt } from "./declared.ts";
import { answerText, request } from "./request.ts";

/**
 * Calls endpoints as declared in the configuration. The model sees a rejection (a 4xx status). No answer and
 * the statuses 5xx, 408 and 429 count as infrastructure failures.
 */
const http: ToolPlugin = {
  functions: (config) =>
    Object.fromEntries(
      [...declaredFunctions(config)].map(([name, { description, parameters }]) => [
        name,
        { description, parameters },
      ]),
    ),
  async execute(given, { function: called, config, key, signal }) {
    const declared = declaredFunctions(config).get(called);
    if (declared === undefined) throw new Error(`the configuration has no function ${called}`);
    const body = declared.body === undefined ? undefined : filled(declared.body, given);
    const address = addressOf(declared, given);
    if (!(address instanceof URL)) return address;
    const response = await request(address, {
      method: declared.method,
      body,
      signal,
      key,
      headers: headersOf(config),
    });
    const longest = Number(config.bytes);
    const text = await answerText(response, longest);
    if (text === undefined) return { text: `error: the answer is longer than ${longest} bytes`, error: true };
    if ([408, 429].includes(response.status) || response.status >= 500)
      throw new Error(`${declared.url} answered ${response.status}: ${text.slice(0, 200)}`);
    if (!response.ok) return { text: `error: ${response.status} ${text}`.trim(), error: true };
    return observed(declared, text);
  },
};

export default http;

function observed({ observation, error }: Declared, text: string): ToolResponse {
  let value: JsonValue;
  try {
    value = parseKeepingDigits(text); // keeps each number as the server wrote it
  } catch {
    if (observation === undefined && error === undefined) return { text };
    throw new Error(`the answer is not JSON: ${text.slice(0, 200)}`);
  }
  const wrong = error === undefined ? undefined : valueAt(value, error);
  if (wrong === true) return { text: "error: the server says that it failed", error: true };
  if (wrong !== undefined && wrong !== null && wrong !== false && wrong !== "")
    return { text: `error: ${textOf(wrong)}`, error: true };
  const part = observation === undefined ? value : valueAt(value, observation);
  if (part === undefined) return { text: `error: the answer has no ${observation}`, error: true };
  return { text: textOf(part) };
}

/** Fills environment variables into headers. Throws if one is not set. */
function headersOf({ headers }: JsonObject): Record<string, string> {
  const entries = Object.entries(typeof headers === "object" && headers !== null ? headers : {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      String(value).replace(/\$\{([^}]*)\}/g, (_, variable: string) => {
        const found = process.env[variable];
        if (found === undefined || found === "")
          throw new Error(`the worker has no environment variable ${variable}`);
        return found;
      }),
    ]),
  );
}
