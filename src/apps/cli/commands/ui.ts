import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { untilAborted } from "../../../base/async/abort-signals.ts";
import { isStorageError } from "../../../base/files/storage-errors.ts";
import { storeOf } from "../../../run/folder/store-of.ts";
import { joinRuns } from "../../../run/folder/store-runs.ts";
import { startUi } from "../../ui/start-ui.ts";
import { accessToken, withToken } from "../terminal/access-token.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { count } from "../terminal/option-values.ts";

/** `everturn ui`: serves the pages of a folder of runs on this machine, until Ctrl-C. */
export function registerUi(program: Command): void {
  program
    .command("ui")
    .description("serve web pages of runs, trajectories and evaluations on this machine until Ctrl-C")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--port <number>", "port to listen on; 0 selects a free port", count, 4100)
    .option("--no-token", "let all users and programs of this machine open the pages")
    .action(ui);
}

async function ui({ runs, port, token }: { runs: string; port: number; token: boolean }): Promise<void> {
  const secret = accessToken(token);
  await interruptible(async (signal) => {
    const pages = await startUi(runs, port, secret);
    const joining = joinNewRuns(runs, signal);
    try {
      process.stdout.write(
        `${secret === undefined ? pages.url : withToken(`${pages.url}/`, secret)}\nCtrl-C ends it\n`,
      );
      await Promise.race([untilAborted(signal), joining]);
    } finally {
      await pages.close();
    }
  });
}

/** Ms between two looks for new runs in a store. */
const joinInterval = 10_000;

/** Adds the runs that other machines create in a store. Does nothing for a folder. Never resolves. */
async function joinNewRuns(runs: string, signal: AbortSignal): Promise<never> {
  if ((await storeOf(runs)) === undefined) return new Promise(() => {});
  for (;;) {
    await sleep(joinInterval, undefined, { signal });
    try {
      await joinRuns(runs);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}
