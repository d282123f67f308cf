#!/usr/bin/env node
import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { isSystemError } from "../runs/files.ts";
import { registerApprovals } from "./approvals.ts";
import { registerDev } from "./dev.ts";
import { registerDevices } from "./devices.ts";
import { registerEvaluate } from "./evaluate.ts";
import { registerExport } from "./export.ts";
import { registerFork } from "./fork.ts";
import { registerImport } from "./import.ts";
import { registerLedger } from "./ledger.ts";
import { registerReplay } from "./replay.ts";
import { registerReport } from "./report.ts";
import { registerResume } from "./resume.ts";
import { registerRun } from "./run.ts";
import { registerShow } from "./show.ts";
import { endWith } from "./tell-error.ts";
import { registerTrajectories } from "./trajectories.ts";
import { registerTrajectory } from "./trajectory.ts";
import { registerValidate } from "./validate.ts";
import { registerWorker } from "./worker.ts";

const program = new Command("everturn")
  .description(
    "Trains language-model agents that use tools, by reinforcement learning, and never loses a turn.",
  )
  .version(packageJson.version)
  .showSuggestionAfterError()
  .exitOverride();
for (const register of [
  registerRun,
  registerResume,
  registerEvaluate,
  registerValidate,
  registerTrajectories,
  registerShow,
  registerTrajectory,
  registerApprovals,
  registerLedger,
  registerFork,
  registerReplay,
  registerReport,
  registerImport,
  registerExport,
  registerDev,
  registerDevices,
  registerWorker,
]) {
  register(program);
}

// A reader that has enough, such as `head`, is no failure; nor is a worker's log on a full disk.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (process.connected && isSystemError(error, "ENOSPC")) return;
    if (isSystemError(error, "EIO")) return; // the terminal was closed: SIGHUP ends what has to be ended
    if (!isSystemError(error, "EPIPE")) throw error;
    process.exit();
  });
}

try {
  await program.parseAsync();
} catch (error) {
  endWith(error);
}
