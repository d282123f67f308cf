// biome-ignore lint/style/noRestrictedImports: an agent's answer to its worker
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { Task } from "../../contracts/generated/task.ts";
import { agentContext, answerOf, loadAgent } from "./load-agent.ts";

/** The process of an agent that a module defines, for one trajectory: `agent-main MODULE EXPORT SETTINGS`. */
const [module = "", name = "default", settings = "{}"] = process.argv.slice(2);
const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = process.env;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort(new Error("The trajectory has ended.")));

const agent = await loadAgent(module, name);
const task: Task = JSON.parse(await text(process.stdin));
const given = { task, settings: JSON.parse(settings), baseURL, apiKey, signal: ending.signal };
const answer = answerOf(await agent(agentContext(given)));
if (answer !== "") writeFileSync(3, answer);
process.exit(0); // clients keep connections open
