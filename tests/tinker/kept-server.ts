// node tests/tinker/kept-server.ts COMMAND PARAMETER …: keeps a server alive until standard input ends, as a container does. The
// server's processes form a group. When its first one ends, the others are killed, and it starts again a second later.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const [command = "", ...parameters] = process.argv.slice(2);
let server: ChildProcess | undefined;

function killGroup(): void {
  if (server?.pid === undefined) return;
  try {
    process.kill(-server.pid, "SIGKILL");
  } catch {
    // all of it has ended
  }
}

function end(): void {
  killGroup();
  process.exit();
}

process.stdin.on("end", end).resume();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
for (;;) {
  server = spawn(command, parameters, { stdio: ["ignore", "inherit", "inherit"], detached: true });
  process.stderr.write(`kept server: process group ${server.pid}\n`);
  await once(server, "exit");
  killGroup();
  await sleep(1000);
}
