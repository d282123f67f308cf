import { onPath } from "../interpreters.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { Containers, ContainerWish } from "./container.ts";
import { type Engine, startContainer } from "./engine.ts";
import { engineSettings, lastLine, toEngine } from "./engine-settings.ts";
import { keepReaping, reap } from "./leases.ts";
import { openContainersOf } from "./open-containers.ts";

const engines: Record<string, { install: string; load: string }> = {
  podman: { install: "install the package podman", load: "podman pull" },
  docker: { install: "install Docker (docs.docker.com/engine/install)", load: "docker pull" },
};

/**
 * Opens an engine's containers after a program has run in one of them. If this machine can't run them, returns the
 * reason with a remedy as part of a sentence.
 */
export async function openEngine(
  wish: ContainerWish,
  limits: Partial<SandboxLimits> | undefined,
): Promise<Containers | { missing: string }> {
  const { kind, image } = wish;
  const known = engines[kind];
  const program = onPath(kind);
  if (known === undefined || program === undefined)
    return { missing: `${kind} is not on PATH; ${known?.install ?? "use another kind"}` };
  const found = await toEngine([program, "image", "inspect", "--format", "user={{.Config.User}}", image]);
  if (found.exitCode !== 0) return { missing: absence(known.load, image, found.stderr) };
  const user = /^user=(.*)$/m.exec(found.stdout.toString())?.[1] ?? "";
  const settings = await engineSettings({ ...wish, program });
  if ("missing" in settings) return settings;
  const engine: Engine = {
    kind,
    program,
    image,
    user,
    settings: settings.settings,
    network: wish.network ?? "none",
  };
  const stopReaping = await keepReaping(program, () => reap(program));
  return openContainersOf({
    kind,
    languages: settings.languages,
    boundary: boundary(engine, settings.warnings),
    limits,
    start: (some, options) => startContainer(engine, some, options),
    close: stopReaping,
  });
}

function absence(load: string, image: string, printed: Buffer): string {
  const said = printed.toString();
  const reason = lastLine(printed);
  if (/no such image|not known|not found/i.test(said))
    return `the image ${image} is not on this machine; load it with \`${load} ${image}\``;
  if (/daemon|connect|permission denied/i.test(said)) return `the engine does not answer (${reason})`;
  return `it can't read the image ${image} (${reason})`;
}

function boundary({ kind, network }: Engine, warnings: string): string {
  const isUnlimited = /resource limits are not supported|ignored/i.test(warnings);
  return [
    `${kind}'s containers on its machine's own kernel, with the image's files and ${network === "none" ? "no network" : `the network ${network}`};`,
    isUnlimited
      ? "memory and processes are NOT limited, because a rootless engine can't do so with control groups of version 1: start the machine with version 2, or run the engine as root."
      : "control groups bound memory and processes.",
    "Files are not limited. A hole in the kernel is one in this sandbox.",
  ].join(" ");
}
