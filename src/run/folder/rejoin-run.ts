import { heedMark } from "../../base/files/marked-folder.ts";
import { patiently, readingPatience } from "../../base/files/patiently.ts";
import { runFileKey } from "../store/keys.ts";
import { checkStore } from "../store/named-backend.ts";
import { openFolderStore } from "../store/open-run-store.ts";
import { runFolder } from "./run-folder.ts";
import type { RunReference } from "./run-reference.ts";

/**
 * Prepares to continue a run that this machine has worked on. From now on this process waits as long for the run's
 * store as the run's workers do, and does not take a file system that is not mounted for the run's folder (`heedMark`).
 * Returns false if the folder does not contain the run. Throws the errors of `checkStore`.
 */
export async function rejoinRun({ runs, run }: RunReference): Promise<boolean> {
  const { root } = runFolder(runs, run);
  await patiently(async () => heedMark(root));
  const file = await openFolderStore(root).read(runFileKey);
  if (file === undefined) return false;
  const { store } = file;
  if (store !== undefined) await patiently(() => checkStore(store), readingPatience);
  return true;
}
