// npm run environments -- [--json] [PROTOCOL …]: runs in environments of published servers, which it installs into the user's
// cache. Per protocol: a run that trains and evaluates; the same run, in whose episodes everything is killed once, the server
// too; and a run in which most episodes can't begin. The last line counts what happened; the command fails if the
// trajectories of the first two runs differ, if a failure of the environment was scored, or if anything is left behind.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { processesWith } from "../support/processes.ts";
import { harbor } from "./harbor.ts";
import { nemoGym } from "./nemo-gym.ts";
import { openenv } from "./openenv.ts";
import type { Counts, Place } from "./protocol.ts";
import { threeRuns } from "./three-runs.ts";
import { verifiers } from "./verifiers.ts";

/** In the order of the last line. */
const protocols: Record<string, (place: Place) => Promise<Counts>> = {
  openenv: (place) => threeRuns(place, openenv(place)),
  nemoGym: async (place) => threeRuns(place, await nemoGym(place)),
  verifiers: async (place) => threeRuns(place, await verifiers(place)),
  harbor: async (place) => threeRuns(place, await harbor(place)),
};

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => protocols[name] === undefined);
if (unknown !== undefined)
  throw new Error(`there is no protocol ${unknown}: ${Object.keys(protocols).join(", ")}`);

const whole = mkdtempSync(join(tmpdir(), "everturn-environments-"));
const trajectories: Record<string, number> = {};
const sums = { kills: 0, different: 0, maskedInfrastructure: 0, scoredZeroInfrastructure: 0, orphans: 0 };
for (const [name, tried] of Object.entries(protocols)) {
  trajectories[name] = 0;
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const folder = join(whole, name);
  mkdirSync(folder);
  const output = values.json ? process.stderr : process.stdout;
  const counts = await tried({ folder, note: (text) => void output.write(`${name}: ${text}\n`) });
  trajectories[name] = counts.trajectories;
  sums.kills += counts.kills;
  sums.different += counts.different;
  sums.maskedInfrastructure += counts.masked;
  sums.scoredZeroInfrastructure += counts.scoredZero;
  sums.orphans += counts.orphans;
}
sums.orphans += processesWith(whole).size;
process.stdout.write(`${JSON.stringify({ ...trajectories, ...sums })}\n`);
const isRight =
  sums.different + sums.scoredZeroInfrastructure + sums.orphans === 0 && sums.maskedInfrastructure > 0;
if (isRight) rmSync(whole, { recursive: true, force: true });
else process.exitCode = 1;
