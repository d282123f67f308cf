import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../../base/errors/message-of.ts";
import { asUser, inGroup } from "../../bubblewrap/command.ts";
import { type ControlGroup, type ControlGroups, controlGroups } from "../../control-group.ts";
import { onPath } from "../../interpreters.ts";
import type { SandboxLimits } from "../../sandbox.ts";
import type { ContainerOptions, Containers, ContainerWish } from "../container.ts";
import { languagesIn, lastLine, probeScript } from "../engine-settings.ts";
import { filesContainer, limitsOf } from "../image/files-container.ts";
import { type FilesCopy, sweepFilesFolders } from "../image/files-folder.ts";
import { openContainersOf } from "../open-containers.ts";
import { type ClientEnd, runClient } from "../run-client.ts";
import type { ExecOptions, RunningContainer } from "../running-container.ts";
import { workingFolder } from "../scripts.ts";
import { makeOverlay, type Overlay } from "./overlay.ts";
import { account, accountId } from "./owner.ts";
import { unpackFile } from "./unpack-file.ts";

const kind = "apptainer";

/** Apptainer on this machine, and an image whose files are unpacked. */
interface Machine {
  program: string;
  /** Undefined unless this process is root's: then programs belong to the user `owner`. */
  setpriv: string | undefined;
  owner: number | undefined;
  groups: ControlGroups | undefined;
  image: FilesCopy;
}

/**
 * Opens containers of Apptainer, which needs neither a daemon nor root: each command has namespaces of its own, over
 * the image's files and the session's changes. Returns what is missing with a remedy as part of a sentence.
 */
export async function openApptainer(
  { image: path }: ContainerWish,
  limits: Partial<SandboxLimits> | undefined,
): Promise<Containers | { missing: string }> {
  const program = onPath(kind);
  if (program === undefined)
    return { missing: "apptainer is not on PATH; install Apptainer (apptainer.org/docs)" };
  const isRoot = process.getuid?.() === 0;
  const setpriv = isRoot ? onPath("setpriv") : undefined;
  const owner = isRoot ? accountId() : undefined;
  if (isRoot && (setpriv === undefined || owner === undefined))
    return {
      missing: `root's programs need another user: install the package util-linux, and add the user ${account}`,
    };
  await sweepFilesFolders();
  const image = await unpackFile(program, path, owner).catch((error: unknown) => ({
    missing: `${path} is not an image (${messageOf(error)}); name a file that \`apptainer build\` or \`apptainer pull\` made, or a folder of \`apptainer build --sandbox\``,
  }));
  if ("missing" in image) return image;
  const machine: Machine = {
    program,
    setpriv,
    owner,
    groups: await controlGroups(),
    image,
  };
  const languages = await probed(machine, path);
  if ("missing" in languages) {
    await image.remove();
    return languages;
  }
  return openContainersOf({
    kind,
    languages: languages.languages,
    boundary: boundary(machine),
    limits,
    start: (some, options) => startOverlay(machine, some, options),
    close: () => void image.remove(),
  });
}

async function probed(machine: Machine, path: string) {
  const overlay = await makeOverlay(machine.owner);
  try {
    const { exitCode, stdout, stderr } = await ran(machine, overlay, undefined, probeScript, {
      time: 60,
      output: 65_536,
    });
    if (exitCode === 0) return languagesIn(`the image ${path}`, stdout.toString());
    return { missing: `no container of ${path} starts (${lastLine(stderr)})` };
  } finally {
    await overlay.remove();
  }
}

async function startOverlay(
  machine: Machine,
  limits: SandboxLimits,
  { environment }: ContainerOptions,
): Promise<RunningContainer> {
  const overlay = await makeOverlay(machine.owner);
  return filesContainer({
    groups: machine.groups,
    limits: { ...limits, memory: limits.memory + own },
    files: overlay,
    run: async (command, options, group) => {
      if (options.user !== undefined && !["0", "root"].includes(options.user))
        throw new EverturnError("SANDBOX_USER_FIXED", { kind, user: options.user });
      await overlay.prepare(workingFolder.slice(1));
      return ran(machine, overlay, group, command, options, environment);
    },
  });
}

/** The MiB of Apptainer's own processes. */
const own = 32;

/** Ends all processes of the container when descriptor 3 closes, which the worker holds open. */
const guarded = '{ read -r end <&3; kill -9 -1; } >/dev/null 2>&1 & exec 3<&-; exec sh -c "$0"';

function ran(
  { program, setpriv, owner, image }: Machine,
  overlay: Overlay,
  group: ControlGroup | undefined,
  command: string,
  { folder, environment = {}, ...options }: Pick<ExecOptions, "folder" | "environment" | "time" | "output">,
  ofTool: Record<string, string> = {},
): Promise<ClientEnd> {
  const variables = Object.entries(environment).map(([name, value]) => [`APPTAINERENV_${name}`, value]);
  return runClient(
    [
      ...inGroup(group),
      ...asUser(setpriv, owner),
      program,
      "--silent",
      "exec",
      "--containall",
      "--cleanenv",
      "--no-eval",
      "--no-home",
      "--no-mount=tmp,home,cwd,sys,hostfs,bind-paths",
      "--fakeroot",
      "--ignore-subuid",
      "--ignore-fakeroot-command",
      "--drop-caps=all",
      "--net",
      "--network=none",
      "--hostname=sandbox",
      `--overlay=${overlay.path}`,
      `--cwd=${folder ?? "/"}`,
      image.root,
      "sh",
      "-c",
      guarded,
      command,
    ],
    {
      ...options,
      environment: { ...ofTool, HOME: "/", ...Object.fromEntries(variables) },
      isHeld: true,
    },
  );
}

function boundary({ groups }: Machine): string {
  return [
    "Apptainer's namespaces of the machine's own kernel without network or capabilities, and the image's files;",
    "no seccomp filter, because with Apptainer's own its processes can't start;",
    ...limitsOf(groups),
  ].join(" ");
}
