import { type Command, Option } from "commander";
import { folderOfStore, joinRuns, runAtAddress } from "../../../run/folder/store-runs.ts";
import { isS3Address } from "../../../run/store/s3/place.ts";

/** Commands that find or create the run in the store themselves. */
const findsItself = ["run", "resume"];

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
 * then contains the store's runs. Throws STORE_ADDRESS_INVALID, STORE_REFUSED and STORE_NOT_READABLE.
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
    if (!findsItself.includes(command.name())) await joinRuns(runs, run);
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
