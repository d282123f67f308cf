import { isRunning, ownIdentity, type ProcessIdentity } from "../../../base/processes/process-identity.ts";
import { isObject } from "../../../contracts/json.ts";
import { runClient } from "./run-client.ts";

/** The label of a container that names the process that holds it. */
const ownerLabel = "everturn.owner";
/** The label with the time, in seconds since 1970, after which nobody needs it. */
const untilLabel = "everturn.until";
/** Seconds of a lease. A trajectory takes less. */
export const leaseTime = 24 * 3600;

/** The labels of a new container of this process. */
export function leaseLabels(): Record<string, string> {
  return {
    [ownerLabel]: JSON.stringify(ownIdentity()),
    [untilLabel]: String(Math.ceil(Date.now() / 1000) + leaseTime),
  };
}

/**
 * Removes the engine's containers whose lease has ended: those of processes of this machine that are gone, and those
 * of other machines after a day. Returns how many it removed.
 */
export async function reap(engine: string): Promise<number> {
  const found = ["ps", "--all", "--quiet", "--no-trunc", "--filter", `label=${ownerLabel}`];
  const ids = await lines([engine, ...found]);
  if (ids.length === 0) return 0;
  const format = ["--format", "{{.Id}} {{json .Config.Labels}}"];
  const ended = (await lines([engine, "container", "inspect", ...format, ...ids])).flatMap((line) => {
    const [id = "", labels = ""] = line.split(/ (.*)/s);
    return isEnded(JSON.parse(labels)) ? [id] : [];
  });
  if (ended.length > 0) await lines([engine, "rm", "--force", "--volumes", ...ended]);
  return ended.length;
}

/** Milliseconds between two looks for containers whose lease has ended. */
const interval = 60_000;
const reapers = new Map<string, { timer: NodeJS.Timeout; users: number }>();

/** Reaps now and every minute, once per engine however many images it runs. Returns how to stop. */
export async function keepReaping(engine: string, once: () => Promise<number>): Promise<() => void> {
  const sweep = () => once().catch(() => 0); // the engine is away: the next look may find it
  const known = reapers.get(engine);
  const reaper = known ?? { timer: setInterval(sweep, interval).unref(), users: 0 };
  reapers.set(engine, reaper);
  reaper.users++;
  if (known === undefined) await sweep();
  return () => {
    if (--reaper.users > 0) return;
    clearInterval(reaper.timer);
    reapers.delete(engine);
  };
}

/** Whether the lease in a container's labels has ended. */
export function isEnded(labels: unknown): boolean {
  if (!isObject(labels) || typeof labels[ownerLabel] !== "string") return false;
  const owner: unknown = JSON.parse(labels[ownerLabel]);
  if (!isObject(owner)) return false;
  const identity: ProcessIdentity = {
    pid: Number(owner.pid),
    started: String(owner.started),
    machine: String(owner.machine),
  };
  return isRunning(identity) === false || Number(labels[untilLabel]) * 1000 < Date.now();
}

/** What an engine prints. Objects that another process has just removed make it fail; the others are printed. */
async function lines(command: readonly string[]): Promise<string[]> {
  const { stdout } = await runClient(command, { time: 120, output: 2 ** 24 });
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}
