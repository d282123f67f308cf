// biome-ignore lint/style/noRestrictedImports: an agent's answer to its worker
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Task } from "../../contracts/generated/task.ts";
import type { Agent } from "../../plugin/define/define-agent.ts";
import { recorded } from "../../plugin/define/recorded.ts";

/** The process of an agent that a module defines: `agent-main MODULE EXPORT`. */
const [module = "", name = "default"] = process.argv.slice(2);
const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = process.env;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort(new Error("The trajectory has ended.")));

const loaded: Record<string, unknown> = await import(pathToFileURL(resolve(module)).href);
const agent = loaded[name];
if (!isAgent(agent)) throw new Error(`${module} exports no agent as ${name}: export defineAgent(…)`);
const task: Task = JSON.parse(await input());
const answer = await agent({
  task,
  model: "policy",
  baseURL,
  apiKey,
  recorded,
  signal: ending.signal,
  fetch: (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${apiKey}`);
    return fetch(url, { ...init, headers });
  },
});
if (typeof answer === "string" && answer !== "") writeFileSync(3, answer);
process.exit(0); // clients keep connections open

function isAgent(value: unknown): value is Agent {
  return typeof value === "function";
}

async function input(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  return text;
}
