import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { processHandle } from "../../../base/processes/process-handle.ts";
import type { ControlGroup, ControlGroups } from "../control-group.ts";
import type { SandboxLimits, SessionOptions } from "../sandbox.ts";
import { type Channel, openChannel } from "./channel.ts";

/** What all sandboxes of a machine share. */
export interface SandboxSurroundings {
  kind: string;
  groups: ControlGroups | undefined;
  filter: Buffer | undefined;
  /** The kernel does not limit the number of processes, so the driver counts them. */
  countsProcesses?: boolean;
  command(limits: SandboxLimits, group: ControlGroup | undefined): string[];
}

/** A sandbox whose driver waits for a request: its process and its limits. */
export interface RunningSandbox {
  channel: Channel;
  group: ControlGroup | undefined;
  end(): Promise<void>;
}

/**
 * The maximum characters of an answer without a program's output: a part of a file, or the paths of all
 * files.
 */
const longestAnswer = 16 * 2 ** 20;

/** Starts a sandbox. Throws SANDBOX_FAILED, or the signal's reason. */
export async function startSandbox(
  { kind, groups, filter, countsProcesses = false, command }: SandboxSurroundings,
  limits: SandboxLimits,
  { environment, hold, signal }: Omit<SessionOptions, "limits"> = {},
): Promise<RunningSandbox> {
  signal?.throwIfAborted();
  const group = groups?.make(limits);
  const channel = openChannel(command(limits, group), {
    env: { PATH: process.env.PATH, ...environment },
    filter,
    mostAnswered: 32 * limits.output + longestAnswer,
  });
  const end = async () => {
    await channel.end();
    await group?.remove();
  };
  hold?.(processHandle(channel.child.pid));
  const kill = () => void channel.child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  const begun = await channel.ask({ do: "start", limits: { ...limits }, counts: countsProcesses });
  signal?.removeEventListener("abort", kill);
  if (begun !== undefined && signal?.aborted !== true) return { channel, group, end };
  await end();
  signal?.throwIfAborted();
  throw new EverturnError("SANDBOX_FAILED", {
    kind,
    reason: channel.complaint() || "it ended",
  });
}
