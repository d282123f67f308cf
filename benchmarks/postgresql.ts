// Turns and events a second on Temporal's own server with PostgreSQL, next to the dev server with SQLite that a run
// starts by default. Both sides alternate. The server is built with Go the first time; PostgreSQL is Debian's package.
// node benchmarks/postgresql.ts [--rounds 5] [--trajectories 64] [--turns 4] [--json]
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { defined } from "../src/base/records/defined.ts";
import { startPostgresql } from "../tests/postgresql/postgresql-server.ts";
import { startTemporal } from "../tests/postgresql/temporal-server.ts";
import { openDurableRun } from "./durability/durable-run.ts";
import { median } from "./shapes.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    trajectories: { type: "string", default: "64" },
    turns: { type: "string", default: "4" },
    json: { type: "boolean", default: false },
  },
});
const trajectories = Number(values.trajectories);
const turns = Number(values.turns);

/** Milliseconds after which the list of workflows contains everything. */
const listing = 3000;

/** One step on a server. */
interface Round {
  turnsPerSecond: number;
  eventsPerSecond: number;
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): both sides will be slower`);
const folder = await mkdtemp(join(tmpdir(), "everturn-postgresql-bench-"));
const closing = [() => rm(folder, { recursive: true, force: true })];
try {
  const postgresql = await startPostgresql(["log_min_messages=panic", "max_connections=200"]);
  closing.push(postgresql.stop);
  const temporal = await startTemporal(postgresql, folder, (text) => console.warn(text));
  closing.push(temporal.stop);
  const shape = { turns: [turns], seconds: 0, batchSize: trajectories };
  const places = { sqlite: join(folder, "sqlite"), postgresql: join(folder, "postgresql") };
  for (const place of Object.values(places)) await mkdir(place);
  const names = ["sqlite", "postgresql"] as const;
  const opened = async (name: keyof typeof places, address?: string) => {
    const side = await openDurableRun(places[name], defined({ ...shape, address }));
    closing.push(side.close);
    return side;
  };
  const sides = {
    sqlite: await opened("sqlite"),
    postgresql: await opened("postgresql", temporal.address),
  };
  const rounds: Record<keyof typeof sides, Round[]> = { sqlite: [], postgresql: [] };
  for (const name of names) await sides[name].step(); // loads the code
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of names) {
      await sleep(listing);
      const before = await sides[name].events();
      const seconds = await sides[name].step();
      await sleep(listing);
      const events = (await sides[name].events()) - before;
      rounds[name].push({
        turnsPerSecond: (trajectories * turns) / seconds,
        eventsPerSecond: events / seconds,
      });
    }
  }
  const usual = (name: keyof typeof sides, of: (round: Round) => number) => median(rounds[name].map(of));
  const ratios = rounds.sqlite.map(
    (one, index) => rounds.postgresql[index]!.turnsPerSecond / one.turnsPerSecond,
  );
  const summary = Object.fromEntries(
    names.map((name) => [
      name,
      {
        turnsPerSecond: usual(name, (one) => one.turnsPerSecond),
        eventsPerSecond: usual(name, (one) => one.eventsPerSecond),
      },
    ]),
  );
  if (values.json) console.log(JSON.stringify({ ...summary, rounds, ratio: median(ratios) }));
  else {
    for (const [name, { turnsPerSecond, eventsPerSecond }] of Object.entries(summary))
      console.log(
        `${name}: ${turnsPerSecond.toFixed(0)} turns and ${eventsPerSecond.toFixed(0)} events a second`,
      );
    const [least = 0] = ratios.toSorted((one, other) => one - other);
    console.log(`PostgreSQL / SQLite: ${median(ratios).toFixed(2)} (at least ${least.toFixed(2)})`);
  }
} finally {
  for (const close of closing.reverse()) await close();
}
