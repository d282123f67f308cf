// Opens a sandbox in which a program runs for ever, and prints the id of a process of that program as the machine sees it.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { openSandbox } from "everturn/sandbox";

const name = `sandboxed-${process.pid}`;
const sandbox = await openSandbox("bubblewrap", { modules: import.meta.url });
const session = await sandbox.open({ limits: { time: 600 } });
const code = `import signal, subprocess
for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(one, signal.SIG_IGN)
subprocess.Popen(["/bin/sh", "-c", "while :; do sleep 1; done", "${name}"], start_new_session=True)
while True: pass`;
void session.run({ language: "python", code });
for (;;) {
  const found = readdirSync("/proc").find((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(name));
  if (found !== undefined) {
    process.stdout.write(`${found}\n`);
    break;
  }
  await setTimeout(50);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
