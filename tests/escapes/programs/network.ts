import { type Escape, refused } from "../escape.ts";

const connect = (address: string, family = "AF_INET") =>
  refused(
    `import socket\none = socket.socket(socket.${family}, socket.SOCK_STREAM)\none.settimeout(2)\none.connect(${address})`,
  );

/** Installers take longer to begin than they are given. */
const slow = ["finished", "failed", "time-limit"] as const;

/** The network, the machine's own services, and packages from elsewhere. */
export const network: readonly Escape[] = [
  { name: "connects to a service on loopback", code: ({ port }) => connect(`('127.0.0.1', ${port})`) },
  { name: "connects to it by IPv6", code: ({ port }) => connect(`('::1', ${port})`, "AF_INET6") },
  { name: "connects to it by any address", code: ({ port }) => connect(`('0.0.0.0', ${port})`) },
  {
    name: "asks it by HTTP",
    code: ({ port }) =>
      refused(`import urllib.request\nurllib.request.urlopen('http://127.0.0.1:${port}', timeout=2)`),
  },
  { name: "connects to a Temporal server", code: () => connect("('127.0.0.1', 7233)") },
  { name: "connects to another machine", code: () => connect("('192.0.2.1', 80)") },
  { name: "asks for a cloud's secrets", code: () => connect("('169.254.169.254', 80)") },
  {
    name: "sends a datagram",
    code: () =>
      refused(
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
      ),
  },
  {
    name: "asks for a name",
    meansNothingInWasm: "Emscripten makes up an address for any name, and asks nobody",
    code: () => refused("import socket\nsocket.getaddrinfo('example.com', 80)"),
  },
  {
    name: "opens a raw socket",
    code: () => refused("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
  },
  {
    name: "opens a socket to the kernel",
    code: () => refused("import socket\nsocket.socket(16, socket.SOCK_RAW, 0)"),
  },
  {
    name: "opens a socket for packets",
    code: () => refused("import socket\nsocket.socket(17, socket.SOCK_RAW, 0)"),
  },
  {
    name: "opens a socket to the hypervisor",
    code: () => refused("import socket\nsocket.socket(40, socket.SOCK_STREAM)"),
  },
  {
    name: "opens a socket to the kernel's ciphers",
    code: () => refused("import socket\nsocket.socket(38, socket.SOCK_SEQPACKET, 0)"),
  },
  {
    name: "connects to a socket in the file system",
    code: ({ socketFile }) => connect(JSON.stringify(socketFile), "AF_UNIX"),
  },
  {
    name: "connects to an abstract socket",
    code: ({ socketName }) => connect(`'\\0${socketName}'`, "AF_UNIX"),
  },
  { name: "connects to Docker", code: () => connect("'/var/run/docker.sock'", "AF_UNIX") },
  {
    name: "finds network cards",
    code: () =>
      "import os\npath = '/proc/net/dev'\nlines = open(path).read().splitlines()[2:] if os.path.exists(path) else []\nfor line in lines:\n    if line.split(':')[0].strip() != 'lo': print('ESCAPED', line)",
  },
  {
    name: "fetches in JavaScript",
    language: "javascript",
    code: ({ port }) =>
      `(async () => { try { await fetch("http://127.0.0.1:${port}"); console.log("ESCAPED") } catch (error) { console.log(error.name) } })()`,
  },
  {
    name: "connects in JavaScript",
    language: "javascript",
    code: ({ port }) =>
      `try { require("net").connect(${port}, "127.0.0.1").on("connect", () => console.log("ESCAPED")).on("error", (error) => console.log(error.code)) } catch (error) { console.log(error.name) }`,
  },
  {
    name: "connects in a shell",
    language: "shell",
    code: ({ port }) => `bash -c "exec 3<>/dev/tcp/127.0.0.1/${port}" 2>/dev/null && echo ESCAPED; true`,
  },
  {
    name: "installs a package of Python's",
    told: slow,
    code: () =>
      refused(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', '--retries', '0', '--timeout', '1', '--target', '/tmp/p', 'idna'], check=True, capture_output=True)",
      ),
  },
  {
    name: "installs a package of npm's",
    language: "shell",
    told: slow,
    code: () => "timeout 3 npm install --fetch-retries 0 left-pad >/dev/null 2>&1 && echo ESCAPED; true",
  },
  {
    name: "installs a package of the system's",
    language: "shell",
    told: slow,
    code: () => "timeout 3 apt-get install -y hello >/dev/null 2>&1 && echo ESCAPED; true",
  },
];
