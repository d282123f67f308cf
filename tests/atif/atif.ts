// npm run atif -- [--python PATH] [--json]: makes runs with parallel, failed and unreadable calls, images, loops with
// sub-agents, an agent and forks, exports their trajectories as ATIF, validates every document with Harbor's own
// validator, and reads the documents again. The last line counts them; the command fails unless Harbor accepts all and
// all tokens and log-probabilities are equal.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { JsonObject } from "../../src/contracts/json.ts";
import { everturn, lastLine } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { compare, noCounts } from "./compare.ts";

const { values } = parseArgs({
  options: { python: { type: "string", default: "python3" }, json: { type: "boolean", default: false } },
});
const note = (text: string) => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);
const work = mkdtempSync(join(tmpdir(), "everturn-atif-"));
const tests = join(import.meta.dirname, "..");
const call = (name: string, given: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
const length = call("length", { value: 1, unit: "km" });

/** A run of one step with groups of two. */
async function makeRun(name: string, conversations: string[][], more: JsonObject & { tools: JsonObject[] }) {
  const folder = join(work, name);
  mkdirSync(folder);
  const rollout = { batchSize: 4, groupSize: 2, maxActionTokens: 200 };
  const pipeline = writeScriptedPipeline(folder, conversations, { name, rollout, ...more });
  const ended = await everturn("run", pipeline, "--runs", work, "--json");
  if (ended.code !== 0) throw new Error(`the run ${name} failed: ${ended.stderr}`);
  return lastLine<{ run: string }>(ended.stdout).run;
}

const file = (name: string) => join(tests, "one-file", `${name}.ts`);
const tasks = join(work, "tasks.jsonl");
const rows = [undefined, "careful", "reviewed"].map((agent_name, index) => ({
  data_source: "atif",
  prompt: [
    { role: "system", content: "You help." },
    { role: "user", content: `How many metres are ${index} km?` },
  ],
  reward_model: { ground_truth: "1000" },
  agent_name, // JSON leaves it out if it is undefined
}));
writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
const calls = [
  `I look. ${length}${call("picture", {})}${call("length", { value: "far" })}`,
  `${length.slice(0, 20)}</tool_call>${call("diary", {})}${length}`,
  "1000",
];
const runs = [
  await makeRun("tools", [calls, ["About 900."]], {
    dataset: { train: dataset, validation: dataset },
    tools: [
      { plugin: file("length") },
      { plugin: file("picture") },
      { plugin: "tool-ask", approvalTimeout: "200ms" },
      { plugin: file("board"), functions: ["pin"] },
    ],
    loop: { plugin: "loop-tool-agent", tools: ["length", "picture"] },
    loops: {
      careful: { plugin: file("careful"), tools: ["length"], config: { wait: 1 } },
      reviewed: { plugin: file("reviewed"), tools: ["length"], config: { drafts: 1 } },
    },
    rollout: { batchSize: 6, groupSize: 2, maxActionTokens: 200 },
  }),
  await makeRun("agent", [[call("double", { number: 1 }), call("double", { number: 2 }), "yes", "no", "1"]], {
    tools: [],
    loop: { plugin: "loop-agent", config: { module: join(tests, "agents", "two-checks.ts") } },
  }),
];
note(`made the runs ${runs.join(" and ")} in ${work}`);

const exported = async (run: string) => {
  const { code, stdout, stderr } = await everturn("trajectories", run, "--runs", work, "--as", "atif");
  if (code !== 0) throw new Error(stderr);
  return stdout.trim().split("\n");
};
const [first = ""] = (await exported(runs[0] ?? "")).map((line): string => JSON.parse(line).trajectory_id);
const forked = await everturn("fork", first, "--turn", "1", "--count", "2", "--runs", work, "--json");
if (forked.code !== 0) throw new Error(`the fork failed: ${forked.stderr}`);

const total = noCounts();
for (const run of runs) {
  const { counts, problems } = await compare(work, run, await exported(run), values.python);
  for (const key of keysOf(total)) total[key] += counts[key];
  for (const problem of problems) note(problem);
}
const isGood = total.accepted === total.documents && total.different === 0;
if (isGood) rmSync(work, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(total)}\n`);
process.exitCode = isGood ? 0 : 1;

function keysOf<Key extends string>(record: Record<Key, number>): Key[] {
  return Object.keys(record).filter((key): key is Key => key in record);
}
