import { messageOf } from "../../base/errors/message-of.ts";
import { killMarked, markVariable } from "../../base/processes/marked-processes.ts";
import type { Lease, Leases } from "./leases.ts";
import type { OpenTool } from "./open-tool.ts";

/** Frees resources of instances whose workers are gone. */
export interface Reaper {
  /** Frees the resources of a lease. Returns whether that worked. */
  free(tool: OpenTool, lease: Lease): Promise<boolean>;
  /** Frees the resources that dead workers held for one instance, or for all. */
  reap(key?: string): Promise<void>;
}

/** A reaper of this machine's leases. `open` opens the tool of a lease that was found. */
export function createReaper(
  leases: Leases,
  open: (tool: string) => Promise<OpenTool>,
  log: (text: string) => void,
): Reaper {
  async function free(tool: OpenTool, { trajectory, handle, mark }: Lease): Promise<boolean> {
    try {
      killMarked(markVariable, mark);
      if (handle !== undefined) await tool.plugin.reap?.(handle, tool.config);
      return true;
    } catch (error) {
      log(`${tool.name}: its resources for ${trajectory} were not freed: ${messageOf(error)}`);
      return false;
    }
  }

  async function reap(key?: string): Promise<void> {
    for (const filed of await leases.list(key)) {
      if (!leases.isAbandoned(filed)) continue;
      const { tool, trajectory } = filed.lease;
      if (!(await free(await open(tool), filed.lease))) continue;
      leases.remove(filed.file);
      log(`${tool}: freed resources that a lost worker held for ${trajectory}`);
    }
  }

  return { free, reap };
}
