import { join } from "node:path";
import { namesInSync } from "../../base/files/names-in.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { writeOnce } from "../../base/files/whole-files.ts";
import { machineName } from "../../base/processes/machine-folder.ts";
import { isRunning, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import { readMachineRecord } from "./machine-record.ts";

interface Taken {
  number: number;
  /** How often the number was taken. */
  round: number;
  file: string;
}

/**
 * Takes the lowest number that no living process of this machine has, in the machine's `folder` of a run. A
 * worker that replaces a dead one thus gets the same number, and with it the same queue.
 */
export async function takeWorkerNumber(folder: string, owner: ProcessIdentity): Promise<number> {
  for (let number = 1; ; number++) {
    const before = takenIn(folder).filter((taken) => taken.number === number);
    const [newest] = before;
    const holder = newest && (await readMachineRecord<ProcessIdentity>(join(folder, newest.file)));
    if (holder !== undefined && isRunning(holder) !== false) continue;
    const file = `worker-${machineName}-${number}~${(newest?.round ?? 0) + 1}.json`;
    if (!(await writeOnce(join(folder, file), JSON.stringify(owner)))) continue; // another worker was first
    for (const old of before) removeFile(join(folder, old.file));
    return number;
  }
}

/** The numbers taken by workers of this machine, the newest round first. */
function takenIn(folder: string): Taken[] {
  const taken: Taken[] = [];
  for (const file of namesInSync(folder)) {
    const [, where, number, round] = /^worker-(\w+)-(\d+)~(\d+)\.json$/.exec(file) ?? [];
    if (where === machineName) taken.push({ number: Number(number), round: Number(round), file });
  }
  return taken.sort((a, b) => b.round - a.round);
}

/** Frees the numbers of processes that have ended. */
export async function freeWorkerNumbers(folder: string): Promise<void> {
  for (const { file } of takenIn(folder)) {
    const holder = await readMachineRecord<ProcessIdentity>(join(folder, file));
    if (holder === undefined || isRunning(holder) === false) removeFile(join(folder, file));
  }
}
