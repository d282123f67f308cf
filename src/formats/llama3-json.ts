import type { ReadAction } from "../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { callOf } from "./json-calls.ts";
import { jsonText, jsonValues } from "./json-text.ts";
import { pythonCalls } from "./python-text.ts";
import { scan } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const tag = "<|python_tag|>";
const example = '{"name": "…", "parameters": {…}}';

/** JSON alone, `;` between several calls, after a token or after what is said; or a built-in function's `name.call(…)`. */
export const llama3Json = modelFormat({
  name: "llama3-json",
  models: "Llama 3.1, 3.2 and 3.3",
  example,
  read: readLlama,
  render: (calls) =>
    calls.map(({ name, arguments: given }) => jsonText({ name, parameters: given })).join("; "),
});

function readLlama(text: string): ReadAction {
  const { reasoning, rest: whole } = scan(text, []);
  const tagged = whole.indexOf(tag);
  const start = tagged < 0 ? whole.search(/^\{[ \t\r\n]*"/m) : tagged + tag.length;
  if (start < 0) return { reasoning, answer: whole, calls: [] };
  const said = whole.slice(0, tagged < 0 ? start : tagged);
  const body = whole.slice(start).replaceAll(tag, " ").trim();
  if (tagged >= 0 && !body.startsWith("{")) {
    const { calls, end } = pythonCalls(body);
    const named = calls.map((call) =>
      "name" in call ? { ...call, name: call.name.replace(/\.call$/, "") } : call,
    );
    if (named.length > 0 && named.every((call) => "name" in call))
      return { reasoning, answer: said + body.slice(end), calls: named };
    return { reasoning, answer: said, calls: [unreadable(body, "the tool call is not JSON", example)] };
  }
  const { values, end } = jsonValues(body);
  const calls = values.map((value) => callOf(value, JSON.stringify(value), example));
  const left = body.slice(end);
  if (calls.length === 0 || left.startsWith("{"))
    calls.push(unreadable(left, "the tool call is not JSON", example));
  return { reasoning, answer: said + (left.startsWith("{") ? "" : left), calls };
}
