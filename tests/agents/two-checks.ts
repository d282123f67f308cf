import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent } from "../../src/api/plugin.ts";

interface Said {
  role: string;
  content: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/**
 * Doubles numbers as long as the policy asks for it; after the second time two sub-agents, of whom nothing differs, are asked at
 * once. Each process of it that is not the last is killed, so it takes its time.
 */
export default defineAgent(async ({ task, baseURL, fetch }) => {
  const ask = async (messages: object[], tools: object[] = []): Promise<Said> => {
    const body = JSON.stringify({ model: "policy", messages, tools });
    const response = await fetch(`${baseURL}/chat/completions`, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    const { choices }: { choices: { message: Said }[] } = JSON.parse(await response.text());
    return choices[0]!.message;
  };
  const messages: object[] = [{ role: "user", content: task.prompt[0]?.content }];
  for (let turn = 1; ; turn++) {
    const said = await ask(messages, [{ type: "function", function: { name: "double", parameters: {} } }]);
    messages.push(said);
    const [call] = said.tool_calls ?? [];
    if (call === undefined) return `${said.content}!`;
    await sleep(100);
    messages.push({
      role: "tool",
      tool_call_id: call.id,
      content: String(JSON.parse(call.function.arguments).number * 2),
    });
    if (turn !== 2) continue;
    const check = [
      { role: "system", content: "You check." },
      { role: "user", content: "Is it so?" },
    ];
    const [one, other] = await Promise.all([ask(check), ask(check)]);
    messages.push({ role: "user", content: `The checks say ${[one.content, other.content].sort()}.` });
  }
});
