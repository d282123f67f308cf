import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { killOnExit } from "../../../base/processes/kill-on-exit.ts";
import { processHandle } from "../../../base/processes/process-handle.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { ContainerOptions } from "./container.ts";
import { leaseLabels } from "./leases.ts";
import { runClient } from "./run-client.ts";
import type { Changes, RunningContainer } from "./running-container.ts";
import { workingFolder } from "./scripts.ts";

/** An engine with docker's command line, and an image that it has. */
export interface Engine {
  kind: string;
  /** The path of its program. */
  program: string;
  image: string;
  /** The image's own user. Empty: root. */
  user: string;
  /** Options of `run` that this machine needs. */
  settings: readonly string[];
  /** The network of containers: `none`, or another one of the engine's. */
  network: string;
}

/**
 * The first process of a container. It ends with its standard input, which its client closes when it dies, and all
 * others end with it. Programs can't signal it, and it is the only one that survives `kill`.
 */
const keeper = `mkdir -p ${workingFolder} && chmod 1777 ${workingFolder} && echo ready; while read -r line; do [ "$line" = kill ] && kill -9 -1; : | :; done`;

/** The rights of root in a container that package managers and changes of the user need. */
const capabilities = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETUID", "SETGID", "KILL"];

/** Starts a container. Throws SANDBOX_FAILED, or the signal's reason. */
export async function startContainer(
  engine: Engine,
  { memory, processes }: SandboxLimits,
  { environment, signal, labels, cpus }: ContainerOptions,
): Promise<RunningContainer> {
  signal?.throwIfAborted();
  const { kind, program, image, user, settings, network } = engine;
  const name = `everturn-${randomBytes(8).toString("hex")}`;
  const own = Object.entries(labels ?? {}).map(([key, value]) => [`everturn.${key}`, value] as const);
  const child = spawn(
    program,
    [
      "run",
      "--interactive",
      "--rm",
      "--pull=never",
      `--name=${name}`,
      `--network=${network}`,
      "--hostname=sandbox",
      `--memory=${memory}m`,
      `--memory-swap=${memory}m`,
      `--pids-limit=${processes}`,
      ...(cpus === undefined ? [] : [`--cpus=${cpus}`]),
      "--security-opt=no-new-privileges",
      "--cap-drop=ALL",
      ...capabilities.map((right) => `--cap-add=${right}`),
      ...[...Object.entries(leaseLabels()), ...own].map(([key, value]) => `--label=${key}=${value}`),
      ...settings,
      "--user=0",
      "--entrypoint=sh",
      image,
      "-c",
      keeper,
    ],
    { cwd: tmpdir(), env: { ...process.env, ...environment }, detached: true },
  );
  killOnExit(child);
  const closed = once(child, "close").catch(() => {}); // an error is in the complaint
  const complaint = readyOrComplaint(child, signal);
  const end = async () => {
    child.stdin.end();
    child.kill("SIGKILL");
    await closed;
    await runClient([program, "rm", "--force", "--volumes", name], { time: 60, output: 65_536 });
  };
  const stop = () => void child.stdin.write("kill\n");
  const reason = await complaint;
  if (reason !== undefined) {
    await end();
    signal?.throwIfAborted();
    throw new EverturnError("SANDBOX_FAILED", { kind, reason });
  }
  return {
    handle: processHandle(child.pid),
    exec: (command, { folder, user: asked, ...options }) =>
      runClient(
        [
          program,
          "exec",
          "--interactive",
          ...(folder === undefined ? [] : [`--workdir=${folder}`]),
          `--user=${asked ?? (user === "" ? "0" : user)}`,
          // The client passes on its own variables, so that other users of this machine don't see their values.
          ...Object.keys(options.environment ?? {}).map((variable) => `--env=${variable}`),
          name,
          "sh",
          "-c",
          command,
        ],
        { ...options, stop },
      ),
    stop,
    tidy: () => void child.stdin.write("\n"),
    over: () =>
      child.exitCode === null && child.signalCode === null
        ? undefined
        : { signal: child.signalCode ?? undefined },
    changes: () => changesOf(engine, name),
    end,
  };
}

/** Reads `diff` of docker's command line: a letter and a path a line. */
async function changesOf({ kind, program }: Engine, name: string): Promise<Changes> {
  const { exitCode, stdout, stderr } = await runClient([program, "diff", name], {
    time: 600,
    output: 2 ** 26,
  });
  if (exitCode !== 0) throw new EverturnError("SANDBOX_FAILED", { kind, reason: stderr.toString().trim() });
  const paths = (letters: string) =>
    [...stdout.toString().matchAll(new RegExp(`^[${letters}] (/.+)$`, "gm"))].map(([, path = ""]) => path);
  return { changed: paths("AC"), removed: paths("D") };
}

/** Seconds in which a container must start. */
const patience = 120;

/** Waits until a container is ready. Returns why it isn't, or undefined. */
function readyOrComplaint(child: ChildProcess, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    let complaint = "";
    const late = setTimeout(() => resolve(`it has not started for ${patience} s`), 1000 * patience);
    const finish = (reason: string | undefined) => {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
      resolve(reason);
    };
    const abort = () => finish("it was aborted");
    signal?.addEventListener("abort", abort);
    child.stdin?.on("error", () => {}); // the container has ended
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("ready")) finish(undefined);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, 4096);
    });
    child.once("error", (error) => finish(error.message));
    child.once("close", () => finish(complaint.trim() || "it ended"));
  });
}
