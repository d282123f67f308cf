// Tools of the AI SDK. Those of other frameworks are in tests/agents/tools.
import { jsonSchema, tool } from "ai";
import { wrapTool } from "everturn/plugin";
import { z } from "zod";

const parameters = z.object({
  city: z.string().describe("Its name."),
  unit: z.enum(["C", "F"]).default("C"),
});
const cities = new Map([["Oslo", 3]]);

function degrees(city: string): number {
  const found = cities.get(city);
  if (found === undefined) throw new Error(`there is no city ${city}`);
  return found;
}

export const weather = tool({
  description: "The weather of a city.",
  inputSchema: parameters,
  execute: ({ city, unit }) => ({ degrees: degrees(city), unit }),
});

export const brief = tool({
  description: "The weather of a city, in a word.",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    additionalProperties: false,
    required: ["city"],
    properties: { city: { type: "string" } },
  }),
  async *execute({ city }) {
    yield "wait";
    yield degrees(city) < 10 ? "cold" : "warm";
  },
  toModelOutput: ({ output }) => ({ type: "text", value: `It is ${output}.` }),
});

let asked = 0;

export const wrapped = wrapTool(
  tool({
    description: "Asks a server that is down at first.",
    inputSchema: z.object({}),
    execute: () => {
      if (++asked < 3) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return "up";
    },
  }),
  { name: "server", timeout: "3s", retry: { maximumAttempts: 3, initialInterval: "1ms" } },
);
