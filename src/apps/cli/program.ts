import { Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { isSystemError } from "../../base/errors/system-error.ts";
import { isStorageError, storageError } from "../../base/files/storage-errors.ts";
import { guardTerminal } from "../../base/processes/terminal.ts";
import { endWith } from "./terminal/tell-error.ts";

/** Each command's file, loaded when that command is asked for: all of them together take a second. */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  init: async () => (await import("./commands/init.ts")).registerInit,
  run: async () => (await import("./commands/run.ts")).registerRun,
  resume: async () => (await import("./commands/resume.ts")).registerResume,
  study: async () => (await import("./commands/study.ts")).registerStudy,
  evaluate: async () => (await import("./commands/evaluate.ts")).registerEvaluate,
  results: async () => (await import("./commands/results.ts")).registerResults,
  compare: async () => (await import("./commands/compare.ts")).registerCompare,
  schema: async () => (await import("./commands/schema.ts")).registerSchema,
  validate: async () => (await import("./commands/validate.ts")).registerValidate,
  explain: async () => (await import("./commands/explain.ts")).registerExplain,
  data: async () => (await import("./commands/data.ts")).registerData,
  trajectories: async () => (await import("./commands/trajectories.ts")).registerTrajectories,
  track: async () => (await import("./commands/track.ts")).registerTrack,
  show: async () => (await import("./commands/show.ts")).registerShow,
  rescore: async () => (await import("./commands/rescore.ts")).registerRescore,
  trajectory: async () => (await import("./commands/trajectory.ts")).registerTrajectory,
  approvals: async () => (await import("./commands/approvals.ts")).registerApprovals,
  ledger: async () => (await import("./commands/ledger.ts")).registerLedger,
  fork: async () => (await import("./commands/fork.ts")).registerFork,
  replay: async () => (await import("./commands/replay.ts")).registerReplay,
  report: async () => (await import("./commands/report.ts")).registerReport,
  ui: async () => (await import("./commands/ui.ts")).registerUi,
  versions: async () => (await import("./commands/versions.ts")).registerVersions,
  prune: async () => (await import("./commands/prune.ts")).registerPrune,
  import: async () => (await import("./commands/import.ts")).registerImport,
  export: async () => (await import("./commands/export.ts")).registerExport,
  serve: async () => (await import("./commands/serve.ts")).registerServe,
  dev: async () => (await import("./commands/dev.ts")).registerDev,
  template: async () => (await import("./commands/template.ts")).registerTemplate,
  devices: async () => (await import("./commands/devices.ts")).registerDevices,
  plugin: async () => (await import("./commands/plugin.ts")).registerPlugin,
  tools: async () => (await import("./commands/tools.ts")).registerTools,
  worker: async () => (await import("./commands/worker.ts")).registerWorker,
};

const program = new Command("everturn")
  .description(
    "Trains language-model agents that use tools, by reinforcement learning, and never loses a turn.",
  )
  .version(packageJson.version)
  .showSuggestionAfterError()
  .showHelpAfterError(
    "`npx everturn --help` lists the commands, and `npx everturn COMMAND --help` what one takes.",
  )
  .exitOverride();

// A reader that has enough, such as `head`, is no failure; nor is a worker's log on a disk that is full, or fails.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (process.connected && isStorageError(storageError(error, "its log"))) return;
    if (isSystemError(error, "EIO")) return; // the terminal was closed: SIGHUP ends what has to be ended
    if (!isSystemError(error, "EPIPE")) throw error;
    process.exit();
  });
}

guardTerminal();

try {
  const all = Object.entries(commands);
  const asked = all.filter(([name]) => name === process.argv[2]);
  const onlyVersion = ["--version", "-V"].includes(process.argv[2] ?? "");
  const needed = asked.length > 0 || onlyVersion ? asked : all; // all of them for help, and for a typing error
  for (const register of await Promise.all(needed.map(([, load]) => load()))) register(program);
  await program.parseAsync();
} catch (error) {
  endWith(error);
}
