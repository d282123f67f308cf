/** System call numbers of an architecture. Node's name of the architecture is the key. */
interface Syscalls {
  /** The kernel's constant for the architecture (AUDIT_ARCH_…). */
  audit: number;
  socket: number;
  clone: number;
  clone3: number;
  ioctl: number;
  /**
   * Calls that set limits or the scheduling of a process that they name, where 0 is the caller: prlimit64,
   * sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr.
   */
  ofProcesses: readonly number[];
  /** Calls that set the priority of processes, named by a kind and a number. */
  setpriority: number;
  ioprioSet: number;
  /**
   * Calls that no program of a sandbox needs: debugging other processes, mounting, namespaces, keys, modules,
   * clocks, memory that no limit counts.
   */
  refused: readonly number[];
}

/**
 * Calls with the same number on every architecture: new ways to mount, io_uring, pidfd_getfd,
 * process_madvise, quotactl_fd, memfd_secret.
 */
const everywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 447];

const tables: Partial<Record<NodeJS.Architecture, Syscalls>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    clone: 56,
    clone3: 435,
    ioctl: 16,
    ofProcesses: [302, 142, 144, 203, 314],
    setpriority: 141,
    ioprioSet: 251,
    refused: [
      101,
      310,
      311,
      312, // ptrace, process_vm_readv, process_vm_writev, kcmp
      165,
      166,
      155,
      161,
      272,
      308,
      303,
      304, // mount, umount2, pivot_root, chroot, unshare, setns, file handles
      248,
      249,
      250,
      321,
      298,
      323,
      300, // keys, bpf, perf_event_open, userfaultfd, fanotify_init
      246,
      320,
      175,
      313,
      176,
      167,
      168,
      169,
      163,
      179,
      103,
      135,
      154,
      172,
      173, // the whole machine: kexec, modules, swap, reboot, accounting, quotas, I/O ports
      164,
      227,
      159,
      305,
      170,
      171, // clocks and names
      319,
      29,
      30,
      68,
      64,
      278,
      279,
      256,
      237,
      238, // memfd_create, System V's memory, queues and semaphores, pages
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    clone: 220,
    clone3: 435,
    ioctl: 29,
    ofProcesses: [261, 118, 119, 122, 274],
    setpriority: 140,
    ioprioSet: 30,
    refused: [
      117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 264, 265, 217, 218, 219, 280, 241, 282, 262, 104, 294, 105,
      273, 106, 224, 225, 142, 89, 60, 116, 92, 170, 112, 171, 266, 161, 162, 279, 194, 196, 186, 190, 75,
      239, 238, 235, 237,
    ],
  },
};

const [load, equal, anyBit, result] = [0x20, 0x15, 0x45, 0x06];
const [allow, kill, refuse] = [0x7fff0000, 0x80000000, 0x00050000];
const [notPermitted, notSupported, unknownFamily] = [1, 38, 97];
/** The flags of clone for new namespaces. */
const namespaces = 0x7e020000;
/**
 * UNIX, IPv4 and IPv6, within the sandbox's own network. Other families (netlink, packets, vsock) reach the
 * kernel or the host.
 */
const families = [1, 2, 10];
/** The requests that insert characters into a terminal: TIOCSTI, TIOCLINUX. */
const terminal = [0x5412, 0x541c];

/**
 * The kinds that name a process in setpriority and ioprio_set (PRIO_PROCESS, IOPRIO_WHO_PROCESS), as opposed
 * to a group or a user.
 */
const [priorityOfProcess, ioPriorityOfProcess] = [0, 1];

type Instruction = readonly [code: number, k: number, ifTrue?: number, ifFalse?: number];

/**
 * Returns the seccomp filter for a sandbox's programs, as BPF. Undefined on an architecture without a table
 * of numbers. It rejects calls that no program needs, and calls that set limits or scheduling of processes
 * other than the caller. Namespaces take care of the rest.
 */
export function seccompFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const calls = tables[architecture];
  if (calls === undefined) return undefined;
  const refuseCall = (call: number, error: number): Instruction[] => [
    [equal, call, 0, 1],
    [result, refuse | error],
  ];
  const refuseUnless = (call: number, ...parameters: number[]): Instruction[] => [
    [equal, call, 0, 2 * parameters.length + 2],
    ...parameters.flatMap((value, index): Instruction[] => [
      [load, 16 + 8 * index],
      [equal, value, 0, 2 * (parameters.length - index) - 1],
    ]),
    [result, allow],
    [result, refuse | notPermitted],
  ];
  const program: Instruction[] = [
    [load, 4],
    [equal, calls.audit, 1, 0],
    [result, kill],
    [load, 0],
    ...(architecture === "x64"
      ? ([
          [0x35, 0x40000000, 0, 1],
          [result, kill],
        ] satisfies Instruction[])
      : []), // x32's calls
    ...[...calls.refused, ...everywhere].flatMap((call) => refuseCall(call, notPermitted)),
    ...refuseCall(calls.clone3, notSupported), // its flags are in memory that a filter can't read, and libc falls back to clone
    ...calls.ofProcesses.flatMap((call) => refuseUnless(call, 0)),
    ...refuseUnless(calls.setpriority, priorityOfProcess, 0),
    ...refuseUnless(calls.ioprioSet, ioPriorityOfProcess, 0),
    [equal, calls.clone, 0, 4],
    [load, 16],
    [anyBit, namespaces, 0, 1],
    [result, refuse | notPermitted],
    [result, allow],
    [equal, calls.socket, 0, 3 + families.length],
    [load, 16],
    ...families.map((family, index): Instruction => [equal, family, families.length - index, 0]),
    [result, refuse | unknownFamily],
    [result, allow],
    [equal, calls.ioctl, 0, 1 + terminal.length],
    [load, 24],
    ...terminal.map((request, index): Instruction => [equal, request, terminal.length - index, 0]),
    [result, allow],
    [result, refuse | notPermitted],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, k, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  }
  return bytes;
}
