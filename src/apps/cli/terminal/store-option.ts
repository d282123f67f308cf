import { type Command, Option } from "commander";
import { isRun } from "../../../run/folder/run-file.ts";
import { folderOfStore, joinRuns, runAtAddress } from "../../../run/folder/store-runs.ts";
import { isS3Address } from "../../../run/store/s3/place.ts";

/** Lets each command that has `--runs` take `--store` instead. */
export function addStoreOptions(program: Command): void {
  for (const command of [program, ...program.commands.flatMap((one) => [one, ...one.commands])]) {
    if (!command.options.some((one) => one.attributeName() === "runs")) continue;
    const option = new Option(
      "--store <address>",
      "store that contains the runs, instead of a folder: s3://BUCKET/PREFIX (default: EVERTURN_STORE)",
    );
    command.addOption(option.conflicts("runs"));
  }
}

/**
 * Replaces a command's store, and addresses of runs among its arguments, by this machine's folder for the store, which
 * then contains the store's runs. It does not ask the store if this machine knows the run. Throws STORE_ADDRESS_INVALID, STORE_REFUSED and STORE_NOT_READABLE.
 */
export async function useStore(command: Command): Promise<void> {
  if (command.getOptionValue("runs") === undefined) return;
  const { store, run }: { store?: string; run?: string } = command.opts();
  const isNamed = command.getOptionValueSource("runs") !== "default";
  const usual = isNamed ? undefined : process.env.EVERTURN_STORE;
  const address = store ?? (usual !== undefined && isS3Address(usual) ? usual : undefined);
  if (address !== undefined) {
    const runs = await folderOfStore(address);
    command.setOptionValue("runs", runs);
    const isKnown = runsNamed(command).some((name) => isRun(runs, name));
    if (command.name() !== "run" && !isKnown) await joinRuns(runs, run);
  }
  for (const [at, value] of command.processedArgs.entries()) {
    if (typeof value !== "string" || !isS3Address(value)) continue;
    const { runs, named } = await runAtAddress(value);
    command.setOptionValue("runs", runs);
    command.processedArgs[at] = named;
  }
  if (run !== undefined && isS3Address(run)) {
    const { runs, named } = await runAtAddress(run);
    command.setOptionValue("runs", runs);
    command.setOptionValue("run", named);
  }
}

/** The runs that a command's arguments name. */
function runsNamed({ registeredArguments, processedArgs }: Command): string[] {
  return registeredArguments.flatMap((argument, at) => {
    const value: unknown = processedArgs[at];
    return argument.name() === "run" && typeof value === "string" ? [value] : [];
  });
}
