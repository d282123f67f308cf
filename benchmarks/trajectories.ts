// How long a large run takes to open for conditions, to filter and to sort, and how long its pages take and keep their server
// from other work: a run of finished trajectories, a step's in one file.
// node benchmarks/trajectories.ts [--trajectories 100000] [--steps 500] [--rounds 5] [--runs FOLDER] [--json]
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openTrajectoryTable } from "../src/results/table/open-query.ts";
import { recordedStepKey } from "../src/run/store/keys.ts";
import { openRunStore } from "../src/run/store/open-run-store.ts";
import { median } from "./shapes.ts";
import { browse, type OpenedPage } from "./trajectories/browse-pages.ts";
import { writeRun } from "./trajectories/write-run.ts";

const { values } = parseArgs({
  options: {
    trajectories: { type: "string", default: "100000" },
    steps: { type: "string", default: "500" },
    rounds: { type: "string", default: "5" },
    runs: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const trajectories = Number(values.trajectories);
const steps = Number(values.steps);
const rounds = Number(values.rounds);
const runs = values.runs ?? (await mkdtemp(join(tmpdir(), "everturn-trajectories-")));
const store = openRunStore(join(runs, "large"));
if (!(await store.has(recordedStepKey(steps)))) await writeRun(store, steps, trajectories / steps);

/** What a person asks of a run. */
const asked = {
  filter: { where: "reward < 0 and tool = 'python'" },
  sort: { sort: "reward desc, turns" },
  both: { where: "list_has(tools, 'calculator') and metrics['format'] = 1", sort: "seconds desc" },
};
const times: Record<"open" | keyof typeof asked, number[]> = { open: [], filter: [], sort: [], both: [] };
const milliseconds = async <Result>(action: () => Promise<Result>): Promise<[number, Result]> => {
  const start = performance.now();
  const result = await action();
  return [performance.now() - start, result];
};
for (let round = 0; round < rounds; round++) {
  const [opened, table] = await milliseconds(() => openTrajectoryTable({ store }));
  times.open.push(opened);
  for (const name of ["filter", "sort", "both"] as const) {
    const query = { ...asked[name], limit: 100, skip: 0 };
    const [taken, { total }] = await milliseconds(() => table.ask(query, ["trajectory", "reward", "tool"]));
    times[name].push(taken);
    if (round === 0 && !values.json) console.log(`${name}: ${total} of ${trajectories}`);
  }
  table.close();
}
const opened = new Map<string, OpenedPage[]>();
for (let round = 0; round < rounds; round++) {
  for (const [name, page] of await browse(runs, steps)) opened.set(name, [...(opened.get(name) ?? []), page]);
}
if (values.runs === undefined) await rm(runs, { recursive: true });

const queries = Object.entries(times).map(([name, taken]) => ({
  name,
  least: Math.round(Math.min(...taken)),
  median: Math.round(median(taken)),
  limit: name === "open" ? 2000 : 300, // the ms within which the answer should be there
}));
const pages = [...opened].map(([name, all]) => ({
  name,
  median: Math.round(median(all.map(({ latency }) => latency))),
  pause: Math.round(Math.max(...all.map(({ pause }) => pause))),
  work: Math.round(Math.max(...all.map(({ work }) => work))),
  wait: Math.round(Math.max(...all.map(({ wait }) => wait))),
}));
const load = loadavg()[0];
if (values.json) console.log(JSON.stringify({ trajectories, steps, queries, pages, load }));
else {
  for (const { name, least, median: middle, limit } of queries)
    console.log(
      `${name.padEnd(8)} ${least} ms at least, ${middle} the median: ${(middle / limit).toFixed(2)} of ${limit} ms`,
    );
  for (const { name, median: middle, pause, work, wait } of pages)
    console.log(
      `${name.padEnd(32)} ${middle} ms the median; longest pause of the server ${pause} ms (CPU ${work} ms), longest wait of others ${wait} ms`,
    );
  console.log(`load ${load?.toFixed(1)}`);
}
