// npm run chaos -- [--kills N] [--seed S] [--json]: kills the processes of a real run and checks that nothing is lost.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chaos } from "./run-chaos.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const work = mkdtempSync(join(tmpdir(), "everturn-chaos-"));
const out = values.json ? process.stderr : process.stdout;
const note = (text: string) => void out.write(`${text}\n`);
note(`working in ${work}`);
const report = await chaos({
  work,
  mark: randomUUID(),
  kills: Number(values.kills),
  seed: Number(values.seed),
  note,
});
note(report.text);
if (values.json) process.stdout.write(`${JSON.stringify(report.counts)}\n`);
if (report.isClean) rmSync(work, { recursive: true, force: true });
else process.exitCode = 1;
