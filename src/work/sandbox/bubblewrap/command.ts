import type { ControlGroup } from "../control-group.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { Machine } from "./machine.ts";

/**
 * The user and group of sandboxes that root starts. No account of the machine has this id. Inside the sandbox
 * it is 1000.
 */
export const sandboxUser = 65_533;

/**
 * Returns the command that starts a sandbox with the driver as its first process. It reads its seccomp filter
 * from file descriptor 3.
 */
export function sandboxCommand(
  machine: Machine,
  limits: SandboxLimits,
  texts: { driver: string; javascript: string },
  filtered: boolean,
  group: ControlGroup | undefined,
): string[] {
  return [...inGroup(group), ...asUser(machine.setpriv), ...sandbox(machine, limits, texts, filtered)];
}

/** Enters a control group before the rest of the command. */
export function inGroup(group: ControlGroup | undefined): string[] {
  if (group === undefined) return [];
  const enter =
    'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 1; shift; n=$((n-1)); done; exec "$@"';
  return ["/bin/sh", "-c", enter, "sh", String(group.processFiles.length), ...group.processFiles];
}

/** Runs the rest of the command as a user, by default that of sandboxes, if `setpriv` names the program that does. */
export function asUser(setpriv: string | undefined, user = sandboxUser): string[] {
  if (setpriv === undefined) return [];
  return [setpriv, `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--no-new-privs", "--"];
}

function sandbox(
  machine: Machine,
  { disk }: SandboxLimits,
  texts: { driver: string; javascript: string },
  filtered: boolean,
): string[] {
  const size = String(disk * 1024 * 1024);
  return [
    machine.bwrap,
    "--unshare-all",
    "--unshare-user",
    ...(machine.canDisableNamespaces ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--ro-bind",
    "/usr",
    "/usr",
    "--hostname",
    "sandbox",
    ...["bin", "sbin", "lib", "lib32", "lib64", "libx32"].flatMap((name) => [
      "--symlink",
      `usr/${name}`,
      `/${name}`,
    ]),
    ...["/etc/ld.so.cache", "/etc/alternatives"].flatMap((path) => ["--ro-bind-try", path, path]),
    ...(machine.node === undefined ? [] : ["--ro-bind", machine.node, "/opt/node"]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    size,
    "--tmpfs",
    "/tmp",
    "--size",
    size,
    "--tmpfs",
    "/work",
    "--size",
    String(4 * 1024 * 1024),
    "--tmpfs",
    "/dev/shm",
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/",
    "--chdir",
    "/work",
    "--clearenv",
    ...Object.entries(environment(texts.javascript)).flatMap(([name, value]) => ["--setenv", name, value]),
    ...(filtered ? ["--seccomp", "3"] : []),
    "--",
    machine.python,
    "-s",
    "-B",
    "-c",
    texts.driver,
  ];
}

/** The environment variables of programs. */
export function environment(javascript: string): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/work",
    TMPDIR: "/tmp",
    LANG: "C.UTF-8",
    TZ: "UTC",
    PYTHONHASHSEED: "0", // makes a repeated program behave the same
    EVERTURN_JAVASCRIPT: javascript,
  };
}
