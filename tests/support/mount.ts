import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this user may mount file systems here: bad disks can't be made otherwise. */
export const mayMount: boolean = (() => {
  const probe = mkdtempSync(join(tmpdir(), "everturn-mount-"));
  try {
    if (spawnSync("mount", ["-t", "tmpfs", "tmpfs", probe]).status !== 0) return false;
    return spawnSync("umount", [probe]).status === 0;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
})();

/** Makes a small disk at `folder`, has `work` find it read-only, and takes it away. */
export async function onReadOnlyDisk(folder: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(folder);
  mount("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder);
  try {
    mount("mount", "-o", "remount,ro", folder);
    await work();
  } finally {
    mount("umount", "--lazy", folder);
  }
}

/** Runs `mount` or `umount`; throws what it says if it fails. */
export function mount(command: "mount" | "umount", ...parameters: string[]): void {
  const { status, stderr } = spawnSync(command, parameters, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${parameters.join(" ")}: ${stderr}`);
}
