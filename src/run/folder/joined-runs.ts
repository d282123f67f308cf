import { sharedPromises } from "../../base/async/shared-promises.ts";
import { heedMark } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import { writeAs } from "../../base/files/write-as.ts";
import { checkHome } from "./home.ts";
import { type OpenRun, openRuns } from "./open-runs.ts";
import { runFolder } from "./run-folder.ts";
import { joinRuns } from "./store-runs.ts";

/**
 * Opens the runs that a pool's worker serves, like a worker of each run: runs of the folder's store join the folder,
 * and a folder without its mark is not the run's. Throws RUN_COPIED and the errors of `openRuns`.
 */
export function joinedRuns(runs: string): (run: string) => Promise<OpenRun> {
  const openRun = openRuns(runs);
  const joined = sharedPromises<void>();
  return async (run) => {
    await joined.get(run, async () => {
      await joinRuns(runs, run);
      const { root } = runFolder(runs, run);
      await patiently(async () => checkHome(root, run));
      await patiently(async () => heedMark(root));
      writeAs(root);
    });
    return openRun(run);
  };
}
