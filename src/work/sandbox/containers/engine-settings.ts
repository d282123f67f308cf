import { randomBytes } from "node:crypto";
import { onPath } from "../interpreters.ts";
import type { Language } from "../sandbox.ts";
import { type ClientEnd, runClient } from "./run-client.ts";

/** How containers of an image start on this machine. */
export interface EngineSettings {
  /** Options of `run`. */
  settings: string[];
  /** The languages that the image has. */
  languages: Language[];
  /** What the engine warns of. */
  warnings: string;
}

/** The programs that a session needs in addition to `sh`. */
const needed = ["cat", "mkdir", "chmod", "rm", "base64", "find", "stat", "head", "sed"];
const interpreters: Record<Language, string> = { python: "python3", javascript: "node", shell: "sh" };

/** A script that prints which programs an image has, for `languagesIn`. */
export const probeScript = `for name in ${[...needed, ...Object.values(interpreters)].join(" ")}; do command -v $name >/dev/null && echo "has $name"; done; true`;

/** The languages of an image, or the programs that it lacks with a remedy. */
export function languagesIn(image: string, printed: string): { languages: Language[] } | { missing: string } {
  const has = new Set([...printed.matchAll(/^has (.*)$/gm)].map(([, name]) => name));
  const absent = needed.filter((name) => !has.has(name));
  if (absent.length > 0)
    return { missing: `${image} lacks the programs ${absent.join(", ")}; add coreutils or busybox` };
  const languages: Language[] = ["python", "javascript", "shell"];
  return { languages: languages.filter((language) => has.has(interpreters[language])) };
}

/** Options for limits that every process may grant. An engine's own may exceed them. */
export const modest = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"];

/** Finds the options with which containers of the image start here. If none does, returns the reason with a remedy. */
export async function engineSettings({
  kind,
  program,
  image,
  runtime,
}: {
  kind: string;
  program: string;
  image: string;
  runtime?: string | undefined;
}): Promise<EngineSettings | { missing: string }> {
  const other = kind === "podman" && runtime === undefined ? onPath("runc") : undefined;
  const runtimes = [runtime, ...(other === undefined ? [] : [other])].map((one) =>
    one === undefined ? [] : [`--runtime=${one}`],
  );
  const complaints = new Set<string>();
  for (const settings of runtimes.flatMap((one) => [one, [...one, ...modest]])) {
    const { exitCode, stdout, stderr } = await trial(program, image, settings);
    if (exitCode !== 0) {
      complaints.add(lastLine(stderr));
      continue;
    }
    const found = languagesIn(`the image ${image}`, stdout.toString());
    return "missing" in found ? found : { ...found, settings, warnings: stderr.toString() };
  }
  const remedy =
    kind === "podman" && other === undefined ? "; install the package runc, or set `runtime`" : "";
  return { missing: `no container of ${image} starts (${[...complaints].join("; ")})${remedy}` };
}

async function trial(program: string, image: string, settings: readonly string[]): Promise<ClientEnd> {
  const container = `everturn-trial-${randomBytes(8).toString("hex")}`;
  const ended = await toEngine([
    program,
    "run",
    `--name=${container}`,
    "--rm",
    "--pull=never",
    "--network=none",
    "--memory=64m",
    "--memory-swap=64m",
    ...settings,
    "--entrypoint=sh",
    image,
    "-c",
    probeScript,
  ]);
  if (ended.exitCode !== 0) await toEngine([program, "rm", "--force", container]); // some engines keep it
  return ended;
}

/** Runs a command of an engine. */
export function toEngine(command: readonly string[]): Promise<ClientEnd> {
  return runClient(command, { time: 120, output: 65_536 });
}

/** The last line of what a program printed. */
export function lastLine(printed: Buffer): string {
  return printed.toString().trim().split("\n").at(-1) ?? "";
}
