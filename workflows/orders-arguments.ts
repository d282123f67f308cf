import { isObject } from "../src/contracts/json.ts";
import type { OrderName } from "../src/contracts/orders.ts";

interface Argument {
  type: "a text" | "an object" | '"user" or "system"';
  isRequired?: true;
}

const text: Argument = { type: "a text" };

const known: Record<OrderName, Record<string, Argument>> = {
  pause: { reason: text },
  resume: {},
  cancel: { reason: text },
  approve: { call: text, arguments: { type: "an object" } },
  answer: { call: text, text: { ...text, isRequired: true } },
  deny: { call: text, reason: { ...text, isRequired: true } },
  say: { text: { ...text, isRequired: true }, role: { type: '"user" or "system"' } },
};

const isOfType: Record<Argument["type"], (value: unknown) => boolean> = {
  "a text": (value) => typeof value === "string" && value.trim() !== "",
  "an object": isObject,
  '"user" or "system"': (value) => value === "user" || value === "system",
};

/** Describes the mistake in an order's JSON to the person who sent it. Undefined if it has none. */
export function argumentsProblem(order: OrderName, value: unknown): string | undefined {
  const given = value ?? {};
  if (!isObject(given)) return `its argument must be one JSON object, such as ${example(order)}`;
  const names = Object.keys(known[order]);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    return `it has no argument “${unknown}”; it takes ${names.length > 0 ? names.join(", ") : "none"}`;
  }
  for (const [name, { type, isRequired }] of Object.entries(known[order])) {
    const one = given[name];
    if (one === undefined && isRequired === undefined) continue;
    if (one === undefined) return `it lacks “${name}”, such as ${example(order)}`;
    if (!isOfType[type](one)) return `“${name}” must be ${type}`;
  }
  return undefined;
}

const examples: Partial<Record<OrderName, string>> = {
  approve: '{"call": "1/0"}',
  answer: '{"text": "Wednesday"}',
  deny: '{"reason": "not on this host"}',
  say: '{"text": "Use the calculator."}',
};

function example(order: OrderName): string {
  return examples[order] ?? '{"reason": "…"}';
}
