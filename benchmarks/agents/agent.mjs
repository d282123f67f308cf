import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";

/** A tiny agent of the AI SDK with a tool of its own. */
export default async ({ task, baseURL, apiKey, signal }) => {
  const provider = createOpenAICompatible({ name: "everturn", baseURL, apiKey });
  const { text } = await generateText({
    model: provider("policy"),
    prompt: task.prompt.at(-1)?.content ?? "",
    stopWhen: isStepCount(10),
    abortSignal: signal,
    tools: {
      calculator: tool({
        description: "Evaluates an arithmetic expression exactly.",
        inputSchema: z.object({ expression: z.string() }),
        execute: () => "182",
      }),
    },
  });
  return text;
};
