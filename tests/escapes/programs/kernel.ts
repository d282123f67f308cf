import { call, type Escape, refused } from "../escape.ts";

/** Other users, namespaces, other processes' memory, and what else a kernel has. The numbers are those of x64's system calls. */
export const kernel: readonly Escape[] = [
  { name: "becomes root", code: () => refused("import os\nos.setuid(0)") },
  {
    name: "becomes root by a program that may",
    language: "shell",
    code: () =>
      'for p in "su -c id" "sudo -n id" "mount"; do $p 2>/dev/null | grep uid=0 && echo ESCAPED; done; true',
  },
  { name: "takes a capability back", code: () => call("prctl", "47", "2", "21", "0", "0") },
  { name: "makes a namespace of users", code: () => call("unshare", "0x10000000") },
  { name: "makes a namespace of mounts", code: () => call("unshare", "0x00020000") },
  { name: "makes a namespace by clone", code: () => call("syscall", "56", "0x10000011", "0", "0", "0", "0") },
  {
    name: "makes a namespace by clone3",
    code: () => call("syscall", "435", "(ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)", "88"),
  },
  {
    name: "enters another namespace",
    code: () => refused("import os\nfd = os.open('/proc/1/ns/net', os.O_RDONLY)\nos.setns(fd, 0)"),
  },
  { name: "debugs the first process", code: () => call("ptrace", "16", "1", "0", "0") },
  { name: "reads the first process's memory", code: () => refused("open('/proc/1/mem', 'rb').read(1)") },
  {
    name: "reads another process's memory",
    code: () => call("syscall", "310", "1", "0", "0", "0", "0", "0"),
  },
  {
    name: "writes another process's memory",
    code: () => call("syscall", "311", "1", "0", "0", "0", "0", "0"),
  },
  { name: "takes another process's files", code: () => call("syscall", "438", "3", "0", "0") },
  { name: "adds a key", code: () => call("syscall", "248", "b'user'", "b'everturn'", "b'x'", "1", "-3") },
  { name: "loads a program into the kernel", code: () => call("syscall", "321", "5", "bytes(128)", "128") },
  {
    name: "counts the kernel's events",
    code: () => call("syscall", "298", "bytes(128)", "0", "-1", "-1", "0"),
  },
  { name: "handles page faults", code: () => call("syscall", "323", "0") },
  { name: "opens an io_uring", code: () => call("syscall", "425", "8", "bytes(256)") },
  { name: "loads a module", code: () => call("syscall", "175", "bytes(8)", "8", "b''") },
  { name: "changes the machine's name", code: () => call("sethostname", "b'escaped'", "7") },
  {
    name: "sets the clock",
    code: () => refused("import time\ntime.clock_settime(time.CLOCK_REALTIME, time.time())"),
  },
  { name: "switches a reboot key", code: () => call("reboot", "0") },
  { name: "counts processes in a file", code: () => call("acct", "b'/tmp/acct'") },
  { name: "types into the terminal", code: () => refused("import fcntl\nfcntl.ioctl(0, 0x5412, b'x')") },
  {
    name: "raises its own limits",
    code: () => refused("import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (100000, 100000))"),
  },
  { name: "raises its priority", code: () => refused("import os\nos.nice(-10)") },
];
