import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "everturn/plugin";

const definition = {
  name: "calculator",
  description: "Evaluates an arithmetic expression exactly.",
  parameters: {
    type: "object" as const,
    properties: { expression: { type: "string" as const } },
    required: ["expression"],
  },
  retry: { maximumAttempts: 1 },
};

/** Takes longer than its time limit. */
export const slow = defineTool({
  ...definition,
  timeout: "1s",
  execute: async () => {
    await sleep(60_000);
    return "0";
  },
});

/** Fails at each call. */
export const failing = defineTool({
  ...definition,
  execute: (): string => {
    throw new Error("no license");
  },
});

/** Returns an empty text. */
export const silent = defineTool({
  ...definition,
  execute: () => "",
});

/** Has parameters that the policy has not learned. */
export const strict = defineTool({
  ...definition,
  parameters: {
    type: "object",
    properties: { left: { type: "number" }, right: { type: "number" }, operator: { type: "string" } },
    required: ["left", "right", "operator"],
    additionalProperties: false,
  },
  execute: () => "0",
});

/** Answers with a long page that ends with the result. */
export const wordy = defineTool({
  ...definition,
  execute: ({ expression }) => `${"The calculation takes place. ".repeat(12)}${String(expression)}`,
});

/** Returns the result after other numbers. */
export const detailed = defineTool({
  ...definition,
  execute: ({ expression }) => {
    if (!/^[\d\s+\-*/().]+$/.test(String(expression))) return "error: not an expression";
    const inputs = String(expression).match(/\d+/g)?.map(Number) ?? [];
    const bounds = [Math.min(...inputs), Math.max(...inputs)];
    return JSON.stringify({ id: 4711, inputs, bounds, result: new Function(`return ${expression}`)() });
  },
});

let outageUntil: number | undefined;

/** Fails for 25 seconds after its first call in a step. */
export const outage = defineTool({
  ...definition,
  retry: { maximumAttempts: 20 },
  execute: ({ expression }, { key }) => {
    if (key.includes("/step-")) outageUntil ??= Date.now() + 25_000;
    if (Date.now() < (outageUntil ?? 0)) throw new Error("the service restarts");
    if (!/^[\d\s+\-*/().]+$/.test(String(expression))) return "error: not an expression";
    return String(new Function(`return ${expression}`)());
  },
});
