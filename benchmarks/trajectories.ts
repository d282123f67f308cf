// How long a large run takes to browse, to open for conditions, to filter and to sort: a store of finished trajectories, a step's
// in one file.
// node benchmarks/trajectories.ts [--trajectories 100000] [--steps 500] [--rounds 5] [--store FOLDER] [--json]
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { queryIndex } from "../src/apps/ui/query-index.ts";
import { openTrajectoryTable } from "../src/results/table/open-query.ts";
import { runIndex } from "../src/results/table/run-index.ts";
import { sortTerms } from "../src/results/table/sort-terms.ts";
import { recordedStepKey } from "../src/run/store/keys.ts";
import { openRunStore } from "../src/run/store/open-run-store.ts";
import { median } from "./shapes.ts";
import { writeRun } from "./trajectories/write-run.ts";

const { values } = parseArgs({
  options: {
    trajectories: { type: "string", default: "100000" },
    steps: { type: "string", default: "500" },
    rounds: { type: "string", default: "5" },
    store: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const steps = Number(values.steps);
const folder = values.store ?? (await mkdtemp(join(tmpdir(), "everturn-trajectories-")));
const store = openRunStore(folder);
if (!(await store.has(recordedStepKey(steps))))
  await writeRun(store, steps, Number(values.trajectories) / steps);

/** What a person asks of a run, and within how many ms it should be there. */
const asked = {
  filter: { where: "reward < 0 and tool = 'python'" },
  sort: { sort: "reward desc, turns" },
  both: { where: "list_has(tools, 'calculator') and metrics['format'] = 1", sort: "seconds desc" },
};
/** The same of the Trajectories page, whose index needs no DuckDB. */
const browsed = {
  browse: { filter: {}, sort: [] },
  "browse one tool": { filter: { tool: "python" }, sort: [] },
  "browse by reward": { filter: {}, sort: sortTerms("reward desc, turns") },
};
/** How often the benchmark looks whether the process can do other work while it reads an index, in ms. */
const watchEvery = 5;
const firstPage = { skip: 0, limit: 50 };
type Measured = "open" | "index" | "longest pause" | keyof typeof asked | keyof typeof browsed;
const times: Record<Measured, number[]> = {
  open: [],
  filter: [],
  sort: [],
  both: [],
  index: [],
  "longest pause": [],
  browse: [],
  "browse one tool": [],
  "browse by reward": [],
};
const milliseconds = async <Result>(action: () => Promise<Result>): Promise<[number, Result]> => {
  const start = performance.now();
  const result = await action();
  return [performance.now() - start, result];
};
for (let round = 0; round < Number(values.rounds); round++) {
  const [opened, table] = await milliseconds(() => openTrajectoryTable({ store }));
  times.open.push(opened);
  for (const name of ["filter", "sort", "both"] as const) {
    const query = { ...asked[name], limit: 100, skip: 0 };
    const [taken, { total }] = await milliseconds(() => table.ask(query, ["trajectory", "reward", "tool"]));
    times[name].push(taken);
    if (round === 0 && !values.json) console.log(`${name}: ${total} of ${values.trajectories}`);
  }
  table.close();
}
for (let round = 0; round < Number(values.rounds); round++) {
  let [longest, last] = [0, performance.now()];
  const watch = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - watchEvery);
    last = now;
  }, watchEvery);
  const index = runIndex();
  const [read] = await milliseconds(() => index.read({ id: "large", store }));
  clearInterval(watch);
  times.index.push(read);
  times["longest pause"].push(longest);
  for (const name of ["browse", "browse one tool", "browse by reward"] as const) {
    const { filter, sort } = browsed[name];
    const [taken] = await milliseconds(async () => queryIndex(index.rows, filter, sort, firstPage));
    times[name].push(taken);
  }
}
if (values.store === undefined) await rm(folder, { recursive: true });
const measured = Object.fromEntries(
  Object.entries(times).map(([name, taken]) => [
    name,
    { least: Math.round(Math.min(...taken)), median: Math.round(median(taken)) },
  ]),
);
const load = loadavg()[0];
if (values.json)
  console.log(JSON.stringify({ trajectories: Number(values.trajectories), steps, measured, load }));
else {
  for (const [name, { least, median: middle }] of Object.entries(measured)) {
    const limit = name === "open" || name === "index" ? 2000 : 300;
    console.log(
      `${name.padEnd(16)} ${least} ms at least, ${middle} the median: ${(middle / limit).toFixed(2)} of ${limit} ms`,
    );
  }
  console.log(`load ${load?.toFixed(1)}`);
}
