// npm run postgresql:temporal -- [--kills N] [--seed S] [--json]: chaos runs (tests/chaos) on Temporal's own server and PostgreSQL, which
// are killed too. The server is built with Go the first time. Each run must equal one that was left alone on a dev server.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { seededRandom } from "../chaos/random.ts";
import { chaos } from "../chaos/run-chaos.ts";
import { scenarios } from "../chaos/scenarios.ts";
import { startPostgresql } from "./postgresql-server.ts";
import { startTemporal } from "./temporal-server.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const out = values.json ? process.stderr : process.stdout;
const note = (text: string) => void out.write(`${text}\n`);

/** Between two crashes of the server or its database, in ms. */
const pause = { shortest: 20_000, longest: 60_000 };

/** Every third crash is the database's. */
const databaseShare = 1 / 3;

const work = mkdtempSync(join(tmpdir(), "everturn-temporal-"));
note(`working in ${work}`);
const postgresql = await startPostgresql(["log_min_messages=panic", "max_connections=200"]);
const crashes = { temporal: 0, postgresql: 0 };
let isClean = false;
try {
  const temporal = await startTemporal(postgresql, work, note);
  const random = seededRandom(seed);
  const over = new AbortController();

  async function crashNowAndThen(): Promise<void> {
    while (!over.signal.aborted) {
      const wait = pause.shortest + random() * (pause.longest - pause.shortest);
      await sleep(wait, undefined, { signal: over.signal }).catch(() => {});
      if (over.signal.aborted) return;
      const isDatabase = random() < databaseShare;
      note(isDatabase ? "PostgreSQL crashes" : "Temporal crashes");
      await (isDatabase ? postgresql : temporal).crash();
      crashes[isDatabase ? "postgresql" : "temporal"]++;
    }
  }

  const crashing = crashNowAndThen();
  try {
    const report = await chaos({
      work,
      mark: randomUUID(),
      strikes: Number(values.kills),
      scenarios: scenarios.filter(({ name }) =>
        ["separate", "default layout", "asynchronous"].includes(name),
      ),
      seed,
      store: "folder",
      temporal: temporal.address,
      note,
    });
    note(report.text);
    note(`crashes of Temporal: ${crashes.temporal}, of PostgreSQL: ${crashes.postgresql}`);
    isClean = report.isClean;
    const { kills, stops, ...rest } = report.counts;
    if (values.json) process.stdout.write(`${JSON.stringify({ kills, stops, crashes, ...rest })}\n`);
  } finally {
    over.abort();
    await crashing;
    await temporal.stop();
  }
} finally {
  await postgresql.stop();
}
if (isClean) rmSync(work, { recursive: true, force: true });
else process.exitCode = 1;
