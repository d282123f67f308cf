import { Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { isSystemError } from "../../base/errors/system-error.ts";
import { isStorageError, storageError } from "../../base/files/storage-errors.ts";
import { guardTerminal } from "../../base/processes/terminal.ts";
import { commands } from "./command-table.ts";
import { addStoreOptions, useStore } from "./terminal/store-option.ts";
import { endWith } from "./terminal/tell-error.ts";

const program = new Command("everturn")
  .description(
    "Trains language-model agents that use tools, by reinforcement learning, and never loses a turn.",
  )
  .version(packageJson.version)
  .showSuggestionAfterError()
  .showHelpAfterError(
    "`npx everturn --help` lists the commands, and `npx everturn COMMAND --help` shows how to use one.",
  )
  .exitOverride();

// A reader that closes early, such as `head`, is not an error. Neither is a full or failing disk under a worker's
// log.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (process.connected && isStorageError(storageError(error, "its log"))) return;
    if (isSystemError(error, "EIO")) return; // the terminal was closed: SIGHUP ends the processes
    if (!isSystemError(error, "EPIPE")) throw error;
    process.exit();
  });
}

guardTerminal();

try {
  const all = Object.entries(commands);
  const asked = all.filter(([name]) => name === process.argv[2]);
  const onlyVersion = ["--version", "-V"].includes(process.argv[2] ?? "");
  const needed = asked.length > 0 || onlyVersion ? asked : all; // all of them for help and for a misspelled command
  for (const register of await Promise.all(needed.map(([, load]) => load()))) register(program);
  addStoreOptions(program);
  program.hook("preAction", (_, command) => useStore(command));
  await program.parseAsync();
} catch (error) {
  endWith(error);
}
