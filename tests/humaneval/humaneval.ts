// npm run humaneval [sandbox …]: HumanEval's 164 canonical solutions must pass in the reward code-tests, and 164 mutated ones fail, in every
// sandbox that this machine has.
import { parseArgs } from "node:util";
import { openSandbox } from "everturn/sandbox";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { denoHere } from "../support/deno.ts";
import { humanEval, judged } from "../support/humaneval.ts";
import { sandboxWish } from "../support/sandbox-wish.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const kinds = positionals.length > 0 ? positionals : ["bubblewrap", "wasm"];
if (kinds.includes("wasm")) await denoHere();
let found = 0;
for (const kind of kinds) {
  try {
    await (await openSandbox(sandboxWish(kind), { modules: import.meta.url })).close();
  } catch (error) {
    process.stdout.write(`${kind}: ${messageOf(error)}\n`);
    continue;
  }
  found++;
  const began = performance.now();
  const wrong: string[] = [];
  const tasks = humanEval();
  for (const task of tasks) {
    const { canonical, mutated } = await judged(task, sandboxWish(kind));
    if (canonical !== true) wrong.push(`${task.task_id}: the canonical solution: ${canonical}`);
    if (mutated !== false) wrong.push(`${task.task_id}: the mutated solution: ${mutated}`);
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(`${kind}: ${tasks.length} tasks, ${wrong.length} wrong, in ${seconds} s\n`);
  for (const line of wrong) process.stdout.write(`  ${line}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}
if (found === 0) process.exitCode = 1;
process.exit(); // the reward keeps its sandboxes open
