import { call, type Escape, refused } from "../escape.ts";

/** The machine's files, devices and mounts. */
export const files: readonly Escape[] = [
  {
    name: "reads a file of the machine",
    code: ({ secretFile }) => refused(`print(open(${q(secretFile)}).read())`),
  },
  {
    name: "reads it by a path upwards",
    code: ({ secretFile }) => refused(`print(open('../../../../..' + ${q(secretFile)}).read())`),
  },
  {
    name: "reads it by a symbolic link",
    code: ({ secretFile }) =>
      refused(`import os\nos.symlink(${q(secretFile)}, 'link')\nprint(open('link').read())`),
  },
  {
    name: "reads it by a link to the root",
    code: ({ secretFile }) =>
      refused(`import os\nos.symlink('/', 'root')\nprint(open('root' + ${q(secretFile)}).read())`),
  },
  {
    name: "makes a hard link to it",
    code: ({ secretFile }) => refused(`import os\nos.link(${q(secretFile)}, 'link')`),
  },
  {
    name: "reads it by the first process's root",
    code: ({ secretFile }) => refused(`print(open('/proc/1/root' + ${q(secretFile)}).read())`),
  },
  {
    name: "reads it by its parent's root",
    code: ({ secretFile }) =>
      refused(`import os\nprint(open(f'/proc/{os.getppid()}/root' + ${q(secretFile)}).read())`),
  },
  {
    name: "reads it by its parent's folder",
    code: ({ secretFile }) =>
      refused(`import os\nprint(open(f'/proc/{os.getppid()}/cwd/../../../..' + ${q(secretFile)}).read())`),
  },
  { name: "overwrites it", code: ({ secretFile }) => refused(`open(${q(secretFile)}, 'w').write('other')`) },
  {
    name: "looks for it everywhere",
    code: ({ secretFile }) =>
      `import os\nname = os.path.basename(${q(secretFile)})\nfor folder, folders, names in os.walk('/'):\n    if folder.startswith(('/proc', '/sys', '/usr')): folders.clear()\n    elif name in names: print('ESCAPED', folder)`,
  },
  {
    name: "reads it in JavaScript",
    language: "javascript",
    code: ({ secretFile }) =>
      `try { console.log(require("fs").readFileSync(${q(secretFile)}, "utf8")) } catch (error) { console.log(error.code ?? error.name) }`,
  },
  {
    name: "reads it in a shell",
    language: "shell",
    code: ({ secretFile }) => `cat ${secretFile} && echo ESCAPED; true`,
  },
  { name: "reads the users' passwords", code: () => refused("assert 'root:' in open('/etc/shadow').read()") },
  { name: "reads the users' names", code: () => refused("assert 'root:' in open('/etc/passwd').read()") },
  {
    name: "reads keys at home",
    code: () =>
      "import os\nfor home in ('/root', os.path.expanduser('~')):\n    for name in ('.ssh', '.npmrc', '.aws', '.netrc', '.gitconfig', '.config'):\n        if os.path.exists(os.path.join(home, name)): print('ESCAPED', home, name)",
  },
  { name: "reads the kernel's memory", code: () => refused("open('/proc/kcore', 'rb').read(4096)") },
  { name: "reads the machine's memory", code: () => refused("open('/dev/mem', 'rb').read(16)") },
  { name: "reads the kernel's messages", code: () => refused("open('/dev/kmsg').readline()") },
  {
    name: "finds disks",
    code: () =>
      "import os, stat\nfor name in os.listdir('/dev'):\n    if stat.S_ISBLK(os.lstat('/dev/' + name).st_mode): print('ESCAPED', name)",
  },
  {
    name: "makes a device",
    code: () =>
      refused(
        "import os, stat\nos.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0))\nopen('disk', 'rb').read(1)",
      ),
  },
  {
    name: "writes beside the system's programs",
    code: () => refused("open('/usr/bin/escaped', 'w').write('x')"),
  },
  {
    name: "writes into Python's library",
    code: () =>
      refused(
        "import os, json\nopen(os.path.join(os.path.dirname(json.__file__), 'escaped.py'), 'w').write('x')\nassert os.path.exists('/usr')",
      ),
  },
  {
    name: "writes into the root folder",
    language: "shell",
    code: () => "touch /escaped && echo ESCAPED; true",
  },
  {
    name: "writes kernel settings",
    code: () => refused("open('/proc/sys/kernel/core_pattern', 'w').write('|/work/x')"),
  },
  {
    name: "triggers the kernel",
    meansNothingInWasm: "its /proc is files in memory",
    code: () => refused("open('/proc/sysrq-trigger', 'w').write('h')"),
  },
  {
    name: "reaches control groups",
    code: () =>
      "import os\nif os.path.isdir('/sys/fs/cgroup') and os.listdir('/sys/fs/cgroup'): print('ESCAPED')",
  },
  { name: "mounts a file system", code: () => call("mount", "b'none'", "b'/tmp'", "b'tmpfs'", "0", "None") },
  {
    name: "makes the root writable",
    language: "shell",
    code: () => "mount -o remount,rw / 2>&1 && echo ESCAPED; true",
  },
  { name: "takes a mount away", code: () => call("umount2", "b'/usr'", "2") },
  { name: "changes its root", code: () => refused("import os\nos.chroot('/tmp')") },
  { name: "opens a file by a handle", code: () => call("syscall", "304", "-100", "bytes(64)", "0") },
];

function q(text: string): string {
  return JSON.stringify(text);
}
