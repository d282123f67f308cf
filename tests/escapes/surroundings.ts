import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox, SandboxSession } from "everturn/sandbox";
import type { Surroundings } from "./escape.ts";

/** What stands around a sandbox, and whether it is unharmed. */
export interface Watched {
  around: Surroundings;
  /** What of it was reached or harmed, in words. */
  harm(): Promise<string[]>;
  close(): Promise<void>;
}

/** Sets up a file, services, a process and another trajectory's session, which no program of a sandbox may reach. */
export async function surround(sandbox: Sandbox): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-escapes-"));
  const secret = `secret-${randomBytes(12).toString("hex")}`;
  const secretFile = join(folder, `${secret.slice(0, 12)}.txt`);
  writeFileSync(secretFile, secret, { mode: 0o644 });
  process.env.EVERTURN_ESCAPE_SECRET = secret;
  const visits: string[] = [];
  const socketFile = join(folder, "socket");
  const socketName = `everturn-escapes-${randomBytes(6).toString("hex")}`;
  const served = [
    await serve({ host: "127.0.0.1", port: 0 }, "loopback", visits),
    await serve({ path: socketFile }, "a socket's file", visits),
    await serve({ path: `\0${socketName}` }, "an abstract socket", visits),
  ];
  const address = served[0]?.address();
  const victimName = `everturn-victim-${randomBytes(6).toString("hex")}`;
  const victim = spawn("sh", ["-c", "while :; do sleep 5; done", victimName], {
    stdio: "ignore",
    detached: true,
  });
  const bystander = await sandbox.open();
  await bystander.run({ language: "python", code: "x = 41", keep: true });
  const around = {
    secretFile,
    secret,
    socketFile,
    socketName,
    victim: victim.pid ?? 0,
    victimName,
    port: typeof address === "object" && address !== null ? address.port : 0,
  };
  return {
    around,
    harm: () => harmOf(around, victim, bystander, visits),
    async close() {
      await bystander.close();
      if (victim.pid !== undefined) process.kill(-victim.pid, "SIGKILL");
      for (const server of served) server.close();
      delete process.env.EVERTURN_ESCAPE_SECRET;
      rmSync(folder, { recursive: true });
    },
  };
}

async function serve(
  where: { host: string; port: number } | { path: string },
  name: string,
  visits: string[],
): Promise<Server> {
  const server = createServer((socket) => {
    visits.push(name);
    socket.destroy();
  }).listen(where);
  await once(server, "listening");
  return server;
}

async function harmOf(
  { secret, secretFile }: Surroundings,
  victim: ChildProcess,
  bystander: SandboxSession,
  visits: string[],
): Promise<string[]> {
  const after = await bystander.run({ language: "python", code: "x + 1", keep: true });
  const others = await bystander.list();
  return [
    ...visits.map((name) => `somebody has connected to ${name}`),
    ...(readFileSync(secretFile, "utf8") === secret ? [] : ["the machine's file was changed"]),
    ...(victim.exitCode === null && victim.signalCode === null
      ? []
      : ["a process of the machine was killed"]),
    ...(after.value === "42" ? [] : [`the other session lost what it had: ${after.outcome}`]),
    ...(others.length === 0 ? [] : [`the other session has files: ${others.map(({ path }) => path)}`]),
    ...("polluted" in {} ? ["the host's prototypes are polluted"] : []),
  ];
}
