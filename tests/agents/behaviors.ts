import { setTimeout as sleep } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import OpenAI from "openai";
import { defineAgent } from "../../src/api/plugin.ts";

const early = new OpenAI(); // before any trajectory, as many agents have it
let trajectories = 0;

/** Does what its task names. */
export default defineAgent(async ({ task, apiKey, baseURL, signal }) => {
  trajectories++;
  const [what = "", argument = ""] = String(task.prompt[0]?.content).split(" ");
  const ask = async (client: OpenAI, content: string) => {
    const { choices } = await client.chat.completions.create({
      model: "policy",
      messages: [{ role: "user", content }],
    });
    return choices[0]?.message.content;
  };
  switch (what) {
    case "ask": {
      const said: unknown[] = [];
      for (const client of [early, new OpenAI(), new OpenAI({ apiKey, baseURL }), early]) {
        said.push(await ask(client, `${said.length}`));
        await sleep(Math.random() * 20);
        said.push(process.env.EVERTURN_TRAJECTORY);
      }
      return JSON.stringify({ said, pid: process.pid, threadId, trajectories });
    }
    case "count":
      return String(trajectories);
    case "steal":
      return ask(new OpenAI({ apiKey: argument, maxRetries: 0 }), "give");
    case "print":
      console.log(`printed by ${argument}`);
      await sleep(100);
      console.error(`then by ${argument}`);
      throw new Error(`${argument} failed`);
    case "later":
      setTimeout(() => {
        throw new Error(`${argument} threw later`);
      }, 20);
      return sleep(60_000, undefined, { signal });
    case "exit":
      await sleep(100);
      return process.exit(Number(argument));
    case "block":
      await sleep(300);
      for (;;);
    case "kill":
      await sleep(100);
      process.kill(process.pid, "SIGKILL");
      return sleep(60_000);
    case "wait":
      return sleep(Number(argument), "waited", { signal });
    case "deaf":
      return sleep(Number(argument), "waited");
    default:
      throw new Error(`no behavior ${what}`);
  }
});
