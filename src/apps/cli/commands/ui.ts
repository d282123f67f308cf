import type { Command } from "commander";
import { untilAborted } from "../../../base/async/abort-signals.ts";
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
    try {
      process.stdout.write(
        `${secret === undefined ? pages.url : withToken(`${pages.url}/`, secret)}\nCtrl-C ends it\n`,
      );
      await untilAborted(signal);
    } finally {
      await pages.close();
    }
  });
}
