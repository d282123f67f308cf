import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { idempotencyKey, recorded } from "../../src/api/agent.ts";
import { defineAgent } from "../../src/api/plugin.ts";

interface Said {
  role: string;
  content: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

const { EFFECTS = "/dev/null" } = process.env;
const effect = (line: string) => appendFileSync(EFFECTS, `${line}\n`);
const trajectory = () => process.env.EVERTURN_TRAJECTORY; // a thread has several

const double = recorded("double", async ({ number }: { number: number }) => {
  effect(`made ${idempotencyKey()} ${trajectory()} double ${number}`);
  await sleep(100);
  return number * 2;
});

const now = recorded("now", () => {
  effect(`made ${idempotencyKey()} ${trajectory()} now`);
  return Date.now();
});

/**
 * Doubles numbers as long as the policy asks for it; after the second time two sub-agents, of whom nothing differs, are asked at
 * once. Each process of it that is not the last is killed, so it takes its time. What its functions give is kept: each writes down that it
 * was made, and the agent what it was told.
 */
export default defineAgent(async ({ task, baseURL, fetch }) => {
  const ask = async (chat: object[], tools: object[] = []): Promise<Said> => {
    const body = JSON.stringify({ model: "policy", messages: chat, tools });
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
    const { number } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: String(await double({ number })) });
    effect(`told ${trajectory()} double ${number}`);
    if (turn !== 2) continue;
    const time = await now();
    effect(`told ${trajectory()} now`);
    const check = [
      { role: "system", content: "You check." },
      { role: "user", content: `Is it so at ${time}?` },
    ];
    const [one, other] = await Promise.all([ask(check), ask(check)]);
    messages.push({ role: "user", content: `The checks say ${[one.content, other.content].sort()}.` });
  }
});
