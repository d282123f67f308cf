// Tools of frameworks, made with their own packages.
import { tool as langchainTool } from "@langchain/core/tools";
import { createTool } from "@mastra/core/tools";
import { tool as openAiTool } from "@openai/agents-core";
import { z } from "zod";

const parameters = z.object({
  city: z.string().describe("Its name."),
  unit: z.enum(["C", "F"]).default("C"),
});

function degrees(city: string): number {
  if (city !== "Oslo") throw new Error(`there is no city ${city}`);
  return 3;
}

export const langchain = langchainTool(({ city, unit }) => `${degrees(city)} ${unit}`, {
  name: "langchain_weather",
  description: "The weather of a city.",
  schema: parameters,
});

export const mastra = createTool({
  id: "mastra_weather",
  description: "The weather of a city.",
  inputSchema: parameters,
  execute: async ({ city, unit }) => ({ degrees: degrees(city), unit }),
});

export const openai = openAiTool({
  name: "openai_weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => String(degrees(city)),
});
