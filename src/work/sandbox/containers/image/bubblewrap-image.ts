import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../../base/errors/message-of.ts";
import { asUser, inGroup, sandboxUser } from "../../bubblewrap/command.ts";
import { type Bubblewrap, findBubblewrap } from "../../bubblewrap/machine.ts";
import { seccompFilter } from "../../bubblewrap/seccomp.ts";
import { type ControlGroup, type ControlGroups, controlGroups } from "../../control-group.ts";
import { onPath } from "../../interpreters.ts";
import type { Language, SandboxLimits } from "../../sandbox.ts";
import type { Containers, ContainerWish } from "../container.ts";
import { languagesIn, probeScript } from "../engine-settings.ts";
import { openContainersOf } from "../open-containers.ts";
import { runClient } from "../run-client.ts";
import type { ExecOptions, RunningContainer } from "../running-container.ts";
import { workingFolder } from "../scripts.ts";
import { filesContainer, limitsOf } from "./files-container.ts";
import { sweepFilesFolders } from "./files-folder.ts";
import { copyImage, type ImageCopy, type UnpackedImage, unpackedImage } from "./image-folder.ts";

/** The programs of this machine that run an unpacked image. */
interface Machine extends Bubblewrap {
  /** Undefined unless this process is root's: then programs belong to another user. */
  setpriv: string | undefined;
  groups: ControlGroups | undefined;
  filter: Buffer | undefined;
}

/**
 * Opens containers without an engine: an image that is already on disk is unpacked, and bubblewrap runs each command in
 * a copy of its files. Returns what is missing with a remedy as part of a sentence.
 */
export async function openBubblewrapImage(
  { image: path }: ContainerWish,
  limits: Partial<SandboxLimits> | undefined,
): Promise<Containers | { missing: string }> {
  const machine = await findMachine();
  if ("missing" in machine) return machine;
  const image = await unpackedImage(path).catch((error: unknown) => ({
    missing: `${path} is not an image (${messageOf(error)}); name an OCI layout, or an archive of \`docker save\``,
  }));
  if ("missing" in image) return image;
  await sweepFilesFolders();
  const languages = await languagesOf(machine, image);
  if ("missing" in languages) return languages;
  return openContainersOf({
    kind: "bubblewrap",
    languages: languages.languages,
    boundary: boundary(machine),
    limits,
    start: (some) => startCopy(machine, image, some),
    close: () => {},
  });
}

async function findMachine(): Promise<Machine | { missing: string }> {
  if (process.platform !== "linux") return { missing: `it needs Linux, and this is ${process.platform}` };
  const bubblewrap = await findBubblewrap();
  if ("missing" in bubblewrap) return bubblewrap;
  const setpriv = process.getuid?.() === 0 ? onPath("setpriv") : undefined;
  if (process.getuid?.() === 0 && setpriv === undefined)
    return { missing: "root's processes can't be limited without setpriv; install the package util-linux" };
  return {
    ...bubblewrap,
    setpriv,
    groups: await controlGroups(),
    filter: seccompFilter(process.arch),
  };
}

/** Looks for the programs that sessions need. */
async function languagesOf(
  machine: Machine,
  image: UnpackedImage,
): Promise<{ languages: Language[] } | { missing: string }> {
  const copy = await copyImage(image, machine.setpriv === undefined ? undefined : sandboxUser);
  try {
    await copy.prepare(mounted);
    const command = clientOf(machine, image, copy, undefined, undefined, probeScript, {});
    const { stdout, stderr, exitCode } = await runClient(command, {
      time: 60,
      output: 65_536,
      input: machine.filter,
    });
    if (exitCode === 0) return languagesIn("the image", stdout.toString());
    return { missing: `it does not start here (${stderr.toString().trim()})` };
  } finally {
    await copy.remove();
  }
}

async function startCopy(
  machine: Machine,
  image: UnpackedImage,
  limits: SandboxLimits,
): Promise<RunningContainer> {
  const copy = await copyImage(image, machine.setpriv === undefined ? undefined : sandboxUser);
  const passwd = await readFile(join(image.root, "etc", "passwd"), "utf8").catch(() => "");
  return filesContainer({
    groups: machine.groups,
    limits,
    files: copy,
    run: async (command, options, group) => {
      await copy.prepare(mounted);
      const name = options.user ?? image.user.split(":")[0] ?? "";
      const client = clientOf(machine, image, copy, group, userId(passwd, name), command, options);
      return runClient(client, { ...options, environment: undefined, input: machine.filter });
    },
  });
}

function userId(passwd: string, name: string): string | undefined {
  if (name === "" || name === "root") return undefined;
  if (/^\d+$/.test(name)) return name;
  return passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([known]) => known === name)?.[2];
}

/** The folders that are mounted anew for each command. */
const mounted = ["proc", "dev", workingFolder.slice(1)];

function clientOf(
  { bwrap, setpriv, canDisableNamespaces, filter }: Machine,
  image: UnpackedImage,
  { root }: ImageCopy,
  group: ControlGroup | undefined,
  user: string | undefined,
  command: string,
  options: Pick<ExecOptions, "folder" | "environment">,
): string[] {
  const environment = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/root",
    ...image.environment,
    ...options.environment,
  };
  return [
    ...inGroup(group),
    ...asUser(setpriv),
    bwrap,
    "--unshare-all",
    "--unshare-user",
    ...(canDisableNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--uid",
    user ?? "0",
    "--gid",
    user ?? "0",
    "--hostname",
    "sandbox",
    "--bind",
    root,
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--chdir",
    options.folder ?? image.folder,
    "--clearenv",
    ...Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...(filter === undefined ? [] : ["--seccomp", "3"]),
    "--",
    "/bin/sh",
    "-c",
    command,
  ];
}

function boundary({ groups, filter }: Machine): string {
  return [
    "namespaces of the machine's own kernel without network, and a copy of the image's files;",
    filter === undefined
      ? "no seccomp filter on this architecture;"
      : "a seccomp filter refuses what programs have no need of;",
    ...limitsOf(groups),
  ].join(" ");
}
