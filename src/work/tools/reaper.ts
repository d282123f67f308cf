import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../base/errors/message-of.ts";
import { killMarked, markVariable } from "../../base/processes/marked-processes.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { FiledLease, Lease, Leases } from "./leases.ts";
import type { OpenTool } from "./open-tool.ts";

/** Frees resources of instances whose workers are gone. */
export interface Reaper {
  /** Frees the resources of a lease. Returns whether that worked. */
  free(tool: OpenTool, lease: Lease): Promise<boolean>;
  /** Frees the resources that dead workers held for all instances. `spares` excepts leases. */
  reap(spares?: (filed: FiledLease, tool: OpenTool) => boolean): Promise<void>;
  /** Does the same for one instance. A lease with the handle `kept` is removed, but nothing is freed. */
  reapOne(key: string, kept?: JsonValue): Promise<void>;
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

  async function reapAll(
    filed: readonly FiledLease[],
    { kept, spares }: { kept?: JsonValue | undefined; spares?: Parameters<Reaper["reap"]>[0] },
  ): Promise<void> {
    for (const one of filed) {
      if (!leases.isAbandoned(one)) continue;
      const { tool: name, trajectory, handle } = one.lease;
      const tool = await open(name);
      if (spares?.(one, tool)) continue;
      const isKept = kept !== undefined && isDeepStrictEqual(handle, kept);
      if (!isKept && !(await free(tool, one.lease))) continue;
      leases.remove(one.file);
      if (!isKept) log(`${name}: freed resources that a lost worker held for ${trajectory}`);
    }
  }

  return {
    free,
    reap: async (spares) => reapAll(await leases.list(), { spares }),
    reapOne: async (key, kept) => reapAll(await leases.list(key), { kept }),
  };
}
