// An agent of the AI SDK: it asks a model, runs its own tool, and returns the answer.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount } from "ai";
import { defineAgent } from "everturn/plugin";
import { price } from "./tools/price.ts";

export default defineAgent(async ({ task, model, baseURL, apiKey, signal }) => {
  const provider = createOpenAICompatible({ name: "everturn", baseURL, apiKey });
  const { text } = await generateText({
    model: provider(model),
    tools: { price },
    prompt: task.prompt[0]?.content ?? "",
    stopWhen: isStepCount(2), // a call, and the answer
    abortSignal: signal,
  });
  return text;
});
