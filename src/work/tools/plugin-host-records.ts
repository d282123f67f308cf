import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../base/files/make-folder.ts";
import { namesInSync } from "../../base/files/names-in.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { storageError } from "../../base/files/storage-errors.ts";
import { temporaryName } from "../../base/files/temporary-name.ts";
import { machineName } from "../../base/processes/machine-folder.ts";
import { killProcess, processHandle } from "../../base/processes/process-handle.ts";
import { isRunning, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import { readMachineRecord } from "./machine-record.ts";

/** A plugin host and its worker. */
interface HostRecord {
  owner: ProcessIdentity;
  handle: ReturnType<typeof processHandle>;
}

/**
 * The plugin hosts of this machine's workers, recorded in the machine's `folder` of a run. A host ends with
 * its worker. A stopped host does not notice the worker's end, so another worker kills it.
 */
export function pluginHostRecords(
  folder: string,
  owner: ProcessIdentity,
): PluginHostObserver & { reap(): Promise<void> } {
  const pathOf = (pid: number) => join(folder, `host-${machineName}-${pid}.json`);
  return {
    started: (pid) => {
      const record: HostRecord = { owner, handle: processHandle(pid) };
      const temporary = temporaryName(pathOf(pid));
      try {
        makeFolder(folder);
        writeFileSync(temporary, JSON.stringify(record));
        renameSync(temporary, pathOf(pid));
      } catch (error) {
        throw storageError(error, pathOf(pid));
      }
    },
    ended: (pid) => removeFile(pathOf(pid)),
    reap: async () => {
      for (const file of namesInSync(folder).filter((name) => name.startsWith(`host-${machineName}-`))) {
        const record = await readMachineRecord<HostRecord>(join(folder, file));
        if (record !== undefined && isRunning(record.owner) !== false) continue;
        if (record !== undefined) killProcess(record.handle);
        removeFile(join(folder, file));
      }
    },
  };
}
