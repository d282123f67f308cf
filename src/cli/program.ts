import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { isSystemError } from "../errors/system-error.ts";
import { isStorageError, storageError } from "../files/storage-errors.ts";
import { guardTerminal } from "../processes/terminal.ts";
import { endWith } from "./tell-error.ts";

/** Each command's file, loaded when that command is asked for: all of them together take a second. */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  init: async () => (await import("./init.ts")).registerInit,
  run: async () => (await import("./run.ts")).registerRun,
  resume: async () => (await import("./resume.ts")).registerResume,
  study: async () => (await import("./study.ts")).registerStudy,
  evaluate: async () => (await import("./evaluate.ts")).registerEvaluate,
  results: async () => (await import("./results.ts")).registerResults,
  compare: async () => (await import("./compare.ts")).registerCompare,
  schema: async () => (await import("./schema.ts")).registerSchema,
  validate: async () => (await import("./validate.ts")).registerValidate,
  explain: async () => (await import("./explain.ts")).registerExplain,
  data: async () => (await import("./data.ts")).registerData,
  trajectories: async () => (await import("./trajectories.ts")).registerTrajectories,
  track: async () => (await import("./track.ts")).registerTrack,
  show: async () => (await import("./show.ts")).registerShow,
  rescore: async () => (await import("./rescore.ts")).registerRescore,
  trajectory: async () => (await import("./trajectory.ts")).registerTrajectory,
  approvals: async () => (await import("./approvals.ts")).registerApprovals,
  ledger: async () => (await import("./ledger.ts")).registerLedger,
  fork: async () => (await import("./fork.ts")).registerFork,
  replay: async () => (await import("./replay.ts")).registerReplay,
  report: async () => (await import("./report.ts")).registerReport,
  ui: async () => (await import("./ui.ts")).registerUi,
  versions: async () => (await import("./versions.ts")).registerVersions,
  prune: async () => (await import("./prune.ts")).registerPrune,
  import: async () => (await import("./import.ts")).registerImport,
  export: async () => (await import("./export.ts")).registerExport,
  serve: async () => (await import("./serve.ts")).registerServe,
  dev: async () => (await import("./dev.ts")).registerDev,
  template: async () => (await import("./template.ts")).registerTemplate,
  devices: async () => (await import("./devices.ts")).registerDevices,
  plugin: async () => (await import("./plugin.ts")).registerPlugin,
  tools: async () => (await import("./tools.ts")).registerTools,
  worker: async () => (await import("./worker.ts")).registerWorker,
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
