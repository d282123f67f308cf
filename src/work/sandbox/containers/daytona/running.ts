import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import type { SandboxLimits } from "../../sandbox.ts";
import type { ContainerOptions } from "../container.ts";
import { leaseLabels, leaseTime } from "../leases.ts";
import type { ClientEnd } from "../run-client.ts";
import type { Changes, ExecOptions, StartContainer } from "../running-container.ts";
import { workingFolder } from "../scripts.ts";
import { type DaytonaApi, type DaytonaSandbox, kind } from "./api.ts";
import { commandScript, endOf, sweepScript } from "./command-script.ts";
import { mark } from "./reap.ts";

/** Minutes without a request after which Daytona stops and deletes a sandbox. */
const idle = 60;
/** Seconds in which a sandbox must start, its image included. */
const patience = 900;
/** Milliseconds between two questions whether it has started. */
const pause = 500;
/** Seconds that Daytona gives a command in addition to its own time. */
const margin = 30;

/** How the adapter's own commands run. */
const request = { time: 120, output: 65_536, begins: "" };

/** Prints when each file was changed, and its path. */
const files =
  "find / -xdev -exec stat -c '%Z %n//' {} + 2>/dev/null | grep -v '^[0-9]* /tmp/everturn-'; true";

/** Starts sandboxes of an image. */
export function startSandbox(
  api: DaytonaApi,
  { image, hasNetwork }: { image: string; hasNetwork: boolean },
): StartContainer {
  /** The paths in the image: the same for all of its sandboxes. */
  let baseline: Promise<Set<string>> | undefined;

  return async (limits, options) => {
    const sandbox = await started(api, image, hasNetwork, limits, options);
    try {
      const exec = execIn(api, sandbox);
      const ready = await exec(
        `mkdir -p ${workingFolder} && chmod 1777 ${workingFolder} && date +%s`,
        request,
      );
      const began = Number(ready.stdout.toString());
      if (!(began > 0)) throw failed(`it has no shell: ${ready.stderr.toString().trim()}`);
      const listed = async () =>
        filesOf((await exec(files, { ...request, output: 2 ** 26 })).stdout.toString());
      baseline ??= listed().then((all) => new Set(all.keys()));
      const before = await baseline;
      let isOver = false;
      return {
        handle: null, // nothing of it runs on this machine
        exec: async (command, asked) => {
          const end = await exec(command, asked);
          isOver = end.isStuck;
          return end;
        },
        stop: () =>
          void api
            .execute(sandbox, { command: sweepScript, timeout: margin }, 2 ** 16, undefined)
            .catch(() => {}),
        tidy: () => {},
        over: () => (isOver ? { signal: undefined } : undefined),
        changes: async () => changesOf(before, await listed(), began),
        end: () => api.remove(sandbox.id),
      };
    } catch (error) {
      baseline = undefined;
      await api.remove(sandbox.id);
      throw error;
    }
  };
}

type Exec = (command: string, options: ExecOptions) => Promise<ClientEnd>;

function execIn(api: DaytonaApi, sandbox: DaytonaSandbox): Exec {
  return async (command, options) => {
    const { stdin = "", user = "root", environment, time, output, begins, signal } = options;
    if (user !== "root" && user !== "0") throw new EverturnError("SANDBOX_USER_FIXED", { kind, user });
    const place = `/tmp/everturn-${randomBytes(8).toString("hex")}`;
    const began = performance.now();
    await api.upload(sandbox, {
      [`${place}/command`]: command,
      [`${place}/in`]: stdin,
      [`${place}/run`]: commandScript(place, options),
    });
    const asked = { command: `sh ${place}/run`, envs: environment, timeout: Math.ceil(time) + margin };
    const longest = 2 ** 16 + 4 * (2 * output + begins.length);
    try {
      const printed = await api.execute(sandbox, asked, longest, signal);
      const seconds = (performance.now() - began) / 1000;
      return endOf(printed, seconds) ?? { ...nothing, stoppedBy: "abort", seconds, isStuck: true };
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      await api.execute(sandbox, { command: sweepScript, timeout: margin }, 2 ** 16, undefined);
      return { ...nothing, stoppedBy: "abort", seconds: (performance.now() - began) / 1000, isStuck: false };
    }
  };
}

const nothing = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

async function started(
  api: DaytonaApi,
  image: string,
  hasNetwork: boolean,
  { memory }: SandboxLimits,
  { labels = {}, signal, cpus = 1 }: ContainerOptions,
): Promise<DaytonaSandbox> {
  const own = Object.fromEntries(Object.entries(labels).map(([name, value]) => [`everturn.${name}`, value]));
  const asked = {
    user: "root",
    env: {},
    labels: { ...mark, ...leaseLabels(), ...own },
    public: false,
    memory: Math.ceil(memory / 1024),
    cpu: Math.ceil(cpus),
    networkBlockAll: !hasNetwork,
    autoStopInterval: idle,
    autoDeleteInterval: 0, // as soon as it stops
    ttlMinutes: leaseTime / 60,
    buildInfo: { dockerfileContent: `FROM ${image}\n` },
  };
  let sandbox = await api.create(asked, signal);
  try {
    for (const end = Date.now() + 1000 * patience; sandbox.state !== "started"; ) {
      if (["error", "build_failed", "destroyed", "stopped"].includes(sandbox.state))
        throw failed(`a sandbox of ${image} ended in the state ${sandbox.state}: ${sandbox.reason}`);
      if (Date.now() > end) throw failed(`a sandbox of ${image} has not started for ${patience} s`);
      await sleep(pause, undefined, { signal });
      sandbox = await api.get(sandbox.id, signal);
    }
    return sandbox;
  } catch (error) {
    await api.remove(sandbox.id);
    signal?.throwIfAborted();
    throw error;
  }
}

function failed(reason: string): EverturnError {
  return new EverturnError("SANDBOX_FAILED", { kind, reason });
}

/** When each file was changed, in seconds since 1970, by its path. */
function filesOf(printed: string): Map<string, number> {
  const lines = [...printed.matchAll(/^(\d+) (\/.*)\/\/$/gm)];
  return new Map(lines.map(([, changed, path = ""]) => [path, Number(changed)]));
}

function changesOf(before: ReadonlySet<string>, now: ReadonlyMap<string, number>, began: number): Changes {
  const isGone = (path: string) => !now.has(path);
  return {
    changed: [...now].flatMap(([path, changed]) =>
      path !== "/" && (changed >= began || !before.has(path)) ? [path] : [],
    ),
    // A folder that is gone stands for what was in it.
    removed: [...before].filter((path) => isGone(path) && !isGone(path.replace(/\/[^/]*$/, "") || "/")),
  };
}
