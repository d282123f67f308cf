import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { defineAgent } from "../../src/api/plugin.ts";

const client = new OpenAI();

/**
 * Takes four turns. After the second, two of a step's agents end their thread or process, each in a different way.
 */
export default defineAgent(async ({ task }) => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: String(task.prompt[0]?.content) },
  ];
  for (let turn = 1; ; turn++) {
    const { choices } = await client.chat.completions.create({ model: "policy", messages });
    const content = choices[0]?.message.content ?? "";
    if (turn === 4) return `${content} to ${messages[0]?.content}`;
    messages.push({ role: "assistant", content }, { role: "user", content: `Turn ${turn}.` });
    const [step] = /step-\d+/.exec(process.env.EVERTURN_TRAJECTORY ?? "") ?? [];
    if (turn !== 2 || step === undefined) continue;
    if (isFirst(`${step} ended`)) process.exit(1);
    if (!isFirst(`${step} killed`)) continue;
    if (process.env.MODE === "pool") process.kill(process.pid, "SIGKILL");
    process.abort(); // throws in a thread
  }
});

function isFirst(what: string): boolean {
  const file = join(process.env.MARKERS ?? "", what);
  if (existsSync(file)) return false;
  writeFileSync(file, "");
  return true;
}
