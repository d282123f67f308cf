import { parse, type Template, tokenize } from "@huggingface/jinja";
import { strftime } from "./strftime.ts";

/** What templates are told that it is now, so that a chat is rendered alike whenever it is rendered. */
const now = new Date("2026-01-01T12:00:00Z");

/**
 * Makes a parsed template do what Python's Jinja does where @huggingface/jinja 0.5 does not: the filters `string` (of objects, as Python's `str`) and `min`, the methods
 * `append`, `pop` and `format`, whole numbers as keys, sorted by `dictsort`, and tuples in a list to loop over. What it adds are functions, which `render` is to be given.
 */
export function asPythonDoes(template: Template): void {
  rewritten(template.parsed);
}

/** The functions that rewritten templates call. */
export const pythonFunctions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
  python_string: (value) => (typeof value === "string" ? value : written(plain(value))),
  python_strftime_now: (form) => strftime(now, String(form)),
  python_min: (values) => smallest(plain(values)),
  python_dictsort: (entries) => unwrapped(sorted(plain(entries))),
  python_append: (to, values) => appended(to, values),
  python_pop: (from, at) => unwrapped(popped(from, at)),
  python_format: (form, ...values) => {
    let next = 0;
    return String(form).replaceAll("{}", () => String(values[next++] ?? ""));
  },
};

const filters = ["string", "min", "dictsort"];
const methods = ["append", "pop", "format"];
/** Stands before a key that is a whole number. */
const numbered = "\0";

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** The node that stands for `node`, whose children are rewritten in place. */
function rewritten(node: unknown): unknown {
  if (Array.isArray(node)) {
    for (const [at, child] of node.entries()) node[at] = rewritten(child);
    return node;
  }
  if (node instanceof Map) {
    const entries = [...node].map(([key, value]) => [rewritten(asText(key)), rewritten(value)] as const);
    node.clear();
    for (const [key, value] of entries) node.set(key, value);
    return node;
  }
  if (!isNode(node)) return node;
  for (const [key, child] of Object.entries(node)) node[key] = rewritten(child);
  const { type, operand, filter, callee, args, value } = node;
  if (type === "Identifier" && value === "strftime_now") node.value = "python_strftime_now";
  if (type === "ArrayLiteral" && Array.isArray(value))
    for (const item of value) if (isNode(item) && item.type === "TupleLiteral") item.type = "ArrayLiteral";
  if (type === "FilterExpression" && isNode(filter) && filters.includes(String(filter.value)))
    return call(String(filter.value), [operand]);
  if (type === "CallExpression" && isNode(callee) && callee.type === "MemberExpression") {
    const { object, property, computed } = callee;
    const name = isNode(property) ? String(property.value) : "";
    if (computed !== true && methods.includes(name) && Array.isArray(args))
      return call(name, [object, ...(name === "append" ? [listOf(args)] : args)]);
  }
  return node;
}

function asText(key: unknown): unknown {
  return isNode(key) && key.type === "IntegerLiteral" ? expression(`"${numbered}${key.value}"`) : key;
}

/** What is appended stays as the interpreter has it when it comes inside a list. */
function listOf(values: unknown[]): unknown {
  const node = expression("[]");
  if (isNode(node)) node.value = values;
  return node;
}

function call(name: string, args: unknown[]): unknown {
  const node = expression(`python_${name}()`);
  if (isNode(node)) node.args = args;
  return node;
}

function expression(source: string): unknown {
  return parse(tokenize(`{{ ${source} }}`)).body[0];
}

/** What a function of `render` is given, without the interpreter's wrapping of what is inside. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(inside(one)));
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, plain(inside(one))]));
  return value;
}

function inside(wrapped: unknown): unknown {
  return isNode(wrapped) && "value" in wrapped ? wrapped.value : wrapped;
}

/** As functions of `render` may return it. */
function unwrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, one]) => [key, unwrapped(one)]));
}

function appended(to: unknown, values: unknown): null {
  if (!Array.isArray(to) || !Array.isArray(values)) throw new Error("append() to what is no list");
  to.push(...values);
  return null;
}

function sorted(entries: unknown): unknown {
  if (!(entries instanceof Map)) throw new Error("dictsort of what is no object");
  const known = [...entries].map(([key, value]) =>
    key.startsWith(numbered) ? [Number(key.slice(1)), value] : [key, value],
  );
  return known.sort(([one], [other]) => (one < other ? -1 : 1));
}

function popped(from: unknown, at: unknown): unknown {
  if (Array.isArray(from)) return plain(inside(from.splice(typeof at === "number" ? at : -1, 1)[0]));
  if (!(from instanceof Map)) throw new Error("pop() of what is no list and no object");
  const value = plain(inside(from.get(at)));
  from.delete(at);
  return value;
}

function smallest(values: unknown): unknown {
  if (!Array.isArray(values)) throw new Error("min of what is no list");
  return values.reduce((least, value) => (value < least ? value : least));
}

/** A value as Python's `str` writes it. */
function written(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (!(value instanceof Map)) return String(value);
  return `{${[...value].map(([key, one]) => `${quoted(String(key))}: ${written(one)}`).join(", ")}}`;
}

const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(/[\\'"]|\p{Cc}/gu, (character) => {
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    return named[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return quote + escaped + quote;
}
