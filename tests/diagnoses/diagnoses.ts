// npm run diagnoses -- [--json] [--only NAME …] [--model FOLDER]: runs with a cause of not learning, each of which must be named within
// three steps, and healthy runs, which must have no diagnosis. Ends with 1 if one was not named or falsely named.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Outcome, runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    model: { type: "string" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "everturn-diagnoses-"));
const outcomes = await runSuite({ folder, only: values.only, model: values.model, tell });
await rm(folder, { recursive: true, force: true });
const prepared = outcomes.filter(({ kind }) => kind === "prepared");
const healthy = outcomes.filter(({ kind }) => kind === "healthy");
const numbers = {
  prepared: prepared.length,
  named: prepared.filter(isRight).length,
  healthy: healthy.length,
  falseAlarms: healthy.filter((outcome) => !isRight(outcome)).length,
};
process.stdout.write(`${values.json ? JSON.stringify(numbers) : summary()}\n`);
if (!outcomes.every(isRight)) process.exitCode = 1;

function isRight({ problems }: Outcome): boolean {
  return problems.length === 0;
}

function summary(): string {
  return `${numbers.named} of ${numbers.prepared} prepared runs named, ${numbers.falseAlarms} false alarms in ${numbers.healthy} healthy runs`;
}

/** A line for each case, and what the command printed if the case failed. */
function tell({ name, kind, codes, conditions, problems, seconds, log }: Outcome): void {
  const found = [...codes, ...conditions].join(", ") || "no diagnosis";
  const mark = problems.length === 0 ? "✓" : "✗";
  const lines = [`${mark} ${kind} ${name}: ${found}  ${Math.round(seconds)} s`];
  if (problems.length > 0) lines.push(`  ${problems.join("; ")}`, log.replace(/^/gm, "    ").trimEnd());
  process.stderr.write(`${lines.join("\n")}\n`);
}
