import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { makeRun } from "../../tests/support/made-run.ts";

const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");
const commands = ["trajectories", "ledger", "report"] as const;

/** What a command took. */
export interface CommandCost {
  seconds: number;
  cpuSeconds: number;
  peakMiB: number;
}

/** A run in one of its two forms. */
export interface FormCost {
  /** Of a trajectory: files, bytes in them, CPU milliseconds to write them. */
  files: number;
  bytes: number;
  cpuMs: number;
  commands: Record<(typeof commands)[number], CommandCost>;
}

/** What a run of so many trajectories costs, while they are single records and when they are in files of steps. */
export interface MadeCosts {
  trajectories: number;
  hot: FormCost;
  folded: FormCost;
  /** That makes the one of the other. */
  prune: CommandCost;
}

/** Of a step. */
const together = 100;

/** Makes a run of `trajectories` of four turns, in steps of a hundred, and has commands read it, in both forms. */
export async function madeCosts(trajectories: number): Promise<MadeCosts> {
  const runs = await mkdtemp(join(tmpdir(), "everturn-made-"));
  try {
    const before = process.cpuUsage();
    const steps = Math.ceil(trajectories / together);
    const { folder } = await makeRun(runs, {
      steps,
      trajectories: Math.min(trajectories, together),
      turns: 4,
      tokens: 16,
      singleRecords: 0,
    });
    const { user, system } = process.cpuUsage(before);
    const form = async (cpuSeconds: number): Promise<FormCost> => {
      const { files, bytes } = sizeOf(folder.root);
      const read = {
        trajectories: await costOf("trajectories", runs),
        ledger: await costOf("ledger", runs),
        report: await costOf("report", runs),
      };
      const of = (total: number) => total / trajectories;
      return { files: of(files), bytes: of(bytes), cpuMs: of(1000 * cpuSeconds), commands: read };
    };
    const hot = await form((user + system) / 1e6);
    const prune = await costOf("prune", runs);
    return { trajectories, hot, folded: await form(prune.cpuSeconds), prune };
  } finally {
    await rm(runs, { recursive: true, force: true });
  }
}

/** Files of the run and their bytes. */
function sizeOf(root: string): { files: number; bytes: number } {
  const total = { files: 0, bytes: 0 };
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    const { files, bytes } = entry.isDirectory() ? sizeOf(path) : { files: 1, bytes: statSync(path).size };
    total.files += files;
    total.bytes += bytes;
  }
  return total;
}

/** Has the process tell at its end what it used, on a pipe of its own. */
const telling = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(3, JSON.stringify(process.resourceUsage())))',
)}`;

async function costOf(command: string, runs: string): Promise<CommandCost> {
  const started = performance.now();
  const child = spawn(process.execPath, ["--import", telling, main, command, "made", "--runs", runs], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  const [, , , usage] = child.stdio;
  if (usage === null || usage === undefined || !("read" in usage)) throw new Error("it has a pipe");
  const [told, [code]] = await Promise.all([text(usage), once(child, "close")]);
  if (code !== 0) throw new Error(`everturn ${command} ended with ${code}`);
  const { userCPUTime, systemCPUTime, maxRSS }: NodeJS.ResourceUsage = JSON.parse(told);
  return {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMiB: maxRSS / 1024,
  };
}

/** The lines that are printed of runs of several sizes, each command with its ratio to the smallest. */
export function madeLines(all: readonly MadeCosts[]): string[] {
  const [least] = all;
  return all.flatMap((costs) => [
    `a run of ${costs.trajectories} trajectories:`,
    ...(["hot", "folded"] as const).flatMap((name) => {
      const { files, bytes, cpuMs, commands: read } = costs[name];
      const each = `${files.toFixed(2)} files, ${bytes.toFixed(0)} bytes, ${cpuMs.toFixed(1)} ms CPU`;
      return [
        `  ${name}: a trajectory has ${each}`,
        ...commands.map((command) => {
          const { seconds, cpuSeconds, peakMiB } = read[command];
          const smallest = least?.[name].commands[command].peakMiB ?? peakMiB;
          const ratio = `${(peakMiB / smallest).toFixed(2)} times that of ${least?.trajectories}`;
          return `    ${command}: ${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ${peakMiB.toFixed(0)} MiB, ${ratio}`;
        }),
      ];
    }),
    `  prune: ${costs.prune.seconds.toFixed(1)} s, CPU ${costs.prune.cpuSeconds.toFixed(1)} s, ${costs.prune.peakMiB.toFixed(0)} MiB`,
  ]);
}
