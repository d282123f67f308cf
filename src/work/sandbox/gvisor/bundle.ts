import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment, sandboxUser } from "../bubblewrap/command.ts";
import { type Interpreters, isForAll } from "../interpreters.ts";
import type { SandboxLimits } from "../sandbox.ts";

/** The input from which an OCI runtime starts a sandbox. */
export interface Bundle {
  /** Contains `config.json`, and `state` for the runtime's own files. */
  folder: string;
  remove(): void;
}

const prefix = "everturn-gvisor-";

/** Returns a function that makes bundles. They share one empty root, which is filled with mounts. */
export function makeBundles(found: Interpreters, texts: { driver: string; javascript: string }) {
  sweep();
  const folder = mkdtempSync(join(folderForAll(), `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755);
  const root = join(folder, "root");
  for (const name of ["usr", "proc", "dev", "tmp", "work", "opt", "etc"])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"])
    symlinkSync(`usr/${name}`, join(root, name));
  if (found.node !== undefined) writeFileSync(join(root, "opt", "node"), "");
  let count = 0;
  return {
    make(limits: SandboxLimits): Bundle {
      const own = join(folder, String(count++));
      const state = join(own, "state");
      mkdirSync(state, { recursive: true });
      writeFileSync(join(own, "config.json"), JSON.stringify(configuration(root, found, texts, limits)));
      if (found.setpriv !== undefined) chownSync(state, sandboxUser, sandboxUser);
      return { folder: own, remove: () => rmSync(own, { recursive: true, force: true }) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const refused = { action: "SCMP_ACT_ERRNO", errnoRet: 1 };
/** CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET */
const namespaces = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];

/** Calls that programs do not need, even though they would reach gVisor's kernel and not the machine's. */
const seccomp = {
  defaultAction: "SCMP_ACT_ALLOW",
  architectures: [process.arch === "arm64" ? "SCMP_ARCH_AARCH64" : "SCMP_ARCH_X86_64"],
  syscalls: [
    {
      names: ["unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "ptrace"],
      ...refused,
    },
    { names: ["process_vm_readv", "process_vm_writev", "setpriority", "ioprio_set"], ...refused },
    {
      names: ["prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"],
      ...refused,
      args: [{ index: 0, value: 0, op: "SCMP_CMP_NE" }], // of another process: 0 is the caller
    },
    { names: ["io_uring_setup", "io_uring_enter", "io_uring_register"], ...refused },
    { names: ["memfd_create", "shmget", "shmat", "msgget", "semget"], ...refused }, // memory that no limit counts
    ...[16, 17, 40].map((family) => ({
      names: ["socket"],
      ...refused, // AF_NETLINK, AF_PACKET, AF_VSOCK
      args: [{ index: 0, value: family, op: "SCMP_CMP_EQ" }],
    })),
    {
      names: ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"],
      ...refused,
      args: [{ index: 0, value: 1, op: "SCMP_CMP_EQ" }], // the driver, which Linux would protect as the first process
    },
    ...namespaces.map((flag) => ({
      names: ["clone"],
      ...refused,
      args: [{ index: 0, value: flag, valueTwo: flag, op: "SCMP_CMP_MASKED_EQ" }],
    })),
  ],
};

function configuration(
  root: string,
  { python, node }: Interpreters,
  { driver, javascript }: { driver: string; javascript: string },
  { disk }: SandboxLimits,
) {
  const memory = (destination: string, mebibytes: number) => ({
    destination,
    type: "tmpfs",
    source: "tmpfs",
    options: ["nosuid", "nodev", "mode=1777", `size=${mebibytes * 2 ** 20}`],
  });
  const shown = (source: string, destination: string) => ({
    destination,
    type: "bind",
    source,
    options: ["ro", "rbind", "nosuid", "nodev"],
  });
  return {
    ociVersion: "1.0.0",
    hostname: "sandbox",
    root: { path: root, readonly: true },
    process: {
      terminal: false,
      user: { uid: 1000, gid: 1000 },
      cwd: "/work",
      noNewPrivileges: true,
      args: [python, "-s", "-B", "-c", driver],
      env: Object.entries(environment(javascript)).map(([name, value]) => `${name}=${value}`),
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    },
    mounts: [
      shown("/usr", "/usr"),
      ...(node === undefined ? [] : [shown(node, "/opt/node")]),
      { destination: "/proc", type: "proc", source: "proc" },
      memory("/tmp", disk),
      memory("/work", disk),
      memory("/dev/shm", 4),
    ],
    linux: {
      namespaces: ["pid", "network", "ipc", "uts", "mount"].map((type) => ({ type })),
      seccomp,
    },
  };
}

/**
 * The folder of bundles. The sandbox's user must be able to read it, and is a different user if this process
 * is root's.
 */
function folderForAll(): string {
  return process.getuid?.() === 0 && !isForAll(tmpdir()) ? "/tmp" : tmpdir();
}

/** Removes bundles that ended processes left behind. */
function sweep(): void {
  for (const name of readdirSync(folderForAll()).filter((one) => one.startsWith(prefix))) {
    const pid = name.slice(prefix.length).split("-")[0] ?? "";
    if (!existsSync(join("/proc", pid))) rmSync(join(folderForAll(), name), { recursive: true, force: true });
  }
}
