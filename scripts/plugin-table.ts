// npm run plugin-table [-- PACKAGE…]: fills the rows of docs/plugins.md by running the packages; all of them if none is named.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { defined } from "../src/base/records/defined.ts";
import { outcomesOf } from "../src/control/conformance/outcomes.ts";
import { bubblewrapHere } from "../tests/support/bubblewrap.ts";
import { denoHere } from "../tests/support/deno.ts";
import { countedPackages, examplesOf, page, rowsOf, withRows } from "./plugin-table/rows.ts";
import { toolServer } from "./plugin-table/tool-server.ts";
import { trajectoriesWith } from "./plugin-table/trajectories.ts";
import { rewardServer, type Trial, trials } from "./plugin-table/trials.ts";

const plugins = join(import.meta.dirname, "..", "plugins");
const packages = countedPackages();
const named = process.argv.slice(2);
const unknown = named.filter((name) => !packages.includes(name));
if (unknown.length > 0) throw new Error(`no tool and no reward in plugins/: ${unknown.join(", ")}`);

await (await bubblewrapHere())?.close();
await denoHere();
const folder = mkdtempSync(join(tmpdir(), "everturn-plugin-table-"));
const server = await rewardServer();
const tools = await toolServer();
try {
  const known = trials(folder, server.url, tools.url);
  const wanted = named.length > 0 ? named : packages;
  const tried = new Map(wanted.flatMap((name) => (known[name] ? [[name, known[name]] as const] : [])));
  const counts = tried.size > 0 ? await trajectoriesWith(tried, folder) : new Map<string, number>();
  for (const name of wanted) {
    const row = rowOf(name, await conformance(name, known[name]), counts.get(name) ?? 0);
    process.stdout.write(row);
    const text = readFileSync(page, "utf8");
    writeFileSync(page, withRows(text, rowsOf(text).set(name, row)));
  }
} finally {
  server.close();
  await tools.close();
  await rm(folder, { recursive: true, force: true });
}

/** How many promises the package keeps, and which it doesn't. */
async function conformance(name: string, trial: Trial | undefined): Promise<string> {
  if (trial === undefined) return "not tried";
  const { config, cases, task } = trial;
  const checks = await pluginChecks(join(plugins, name), defined({ config, cases, task }));
  const others: string[] = [];
  for await (const { promise, outcome, seen } of outcomesOf(checks)) {
    if (outcome === "kept") continue;
    others.push(`${promise} ${outcome}`);
    process.stderr.write(`${name}, ${promise}: ${outcome}. ${seen ?? ""}\n`);
  }
  const kept = `${checks.length - others.length} of ${checks.length}`;
  return others.length === 0 ? kept : `${kept} (${others.join(", ")})`;
}

function rowOf(name: string, kept: string, trajectories: number): string {
  const { version } = JSON.parse(readFileSync(join(plugins, name, "package.json"), "utf8"));
  const day = new Date().toISOString().slice(0, 10);
  const link = `[\`${name}\`](../plugins/${name})`;
  return `| ${[link, kept, examplesOf(name) || "none", trajectories, version, day].join(" | ")} |\n`;
}
