// npm run chaos -- [--kills N] [--seed S] [--scenario NAME …] [--store folder|object] [--json]: kills the
// processes of real runs, and stops them for a while, and checks that nothing is lost. N counts kills and stops together.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chaos, stores } from "./run-chaos.ts";
import { scenarios } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    scenario: { type: "string", multiple: true, default: scenarios.map(({ name }) => name) },
    store: { type: "string", default: "folder" },
    json: { type: "boolean", default: false },
  },
});
const unknown = values.scenario.filter((name) => !scenarios.some((one) => one.name === name));
if (unknown.length > 0) {
  const names = scenarios.map(({ name }) => `"${name}"`).join(", ");
  process.stderr.write(`There is no scenario ${unknown.join(", ")}. There are ${names}.\n`);
  process.exit(2);
}
const store = stores.find((one) => one === values.store);
if (store === undefined) {
  process.stderr.write(`There is no store ${values.store}. There are ${stores.join(", ")}.\n`);
  process.exit(2);
}
const work = mkdtempSync(join(tmpdir(), "everturn-chaos-"));
const out = values.json ? process.stderr : process.stdout;
const note = (text: string) => void out.write(`${text}\n`);
note(`working in ${work}`);
const report = await chaos({
  work,
  mark: randomUUID(),
  strikes: Number(values.kills),
  scenarios: scenarios.filter(({ name }) => values.scenario.includes(name)),
  seed: Number(values.seed),
  store,
  note,
});
note(report.text);
if (values.json) process.stdout.write(`${JSON.stringify(report.counts)}\n`);
if (report.isClean) rmSync(work, { recursive: true, force: true });
else process.exitCode = 1;
