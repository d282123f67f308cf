import { heedMark } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import { runFolder } from "./run-folder.ts";
import type { RunReference } from "./run-reference.ts";

/**
 * From now on this process works on a run: it waits as long for the run's store as the run's workers do, and does not
 * take a file system that is not mounted for the run's folder (`heedMark`). Throws STORE_NOT_READABLE.
 */
export async function heedRun({ runs, run }: RunReference): Promise<void> {
  await patiently(async () => heedMark(runFolder(runs, run).root));
}
