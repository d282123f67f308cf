// Keeps a server for all processes that are connected to this one: starts it, restarts it, and ends it some seconds after
// the last of them has gone. The name of its socket is its lock.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { killMarked } from "../../base/processes/marked-processes.ts";
import { thrownData } from "../../plugin/host/thrown-data.ts";
import { type KeeperLine, keeperSocket, serversFolder } from "./keeper-socket.ts";
import { serverVariable } from "./kept-process.ts";
import { keepServer } from "./kept-server.ts";
import { listensAlone } from "./listens-alone.ts";
import type { ServerStart } from "./server-start.ts";

/** Milliseconds that a server waits for its next user. */
const grace = 15_000;

const [key = ""] = process.argv.slice(2);
const { path, proofOf } = await keeperSocket(key);
const start: ServerStart = JSON.parse(await text(process.stdin));
const users = new Set<Socket>();
const ending = new AbortController();
let state: KeeperLine = { state: "starting" };
let idle = setTimeout(() => ending.abort(), grace);
if (!(await listensAlone(createServer(serve), path))) process.exit(0); // another keeper has the server
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => ending.abort());

const log = join(serversFolder(), `${key}.log`);
rmSync(log, { force: true });
killMarked(serverVariable, key); // what a keeper that was killed has left
try {
  await keepServer(start, { key, log, stopping: ending.signal, tell });
} catch (error) {
  tell({ state: "failed", error: thrownData(error) });
  const isAborted = once(ending.signal, "abort"); // by the last user who knows, or if there is none
  if (!ending.signal.aborted) await isAborted;
}
process.exit(0);

function serve(user: Socket): void {
  const lines = createInterface({ input: user });
  for (const one of [user, lines]) one.on("error", () => {}); // its end follows
  lines.once("line", (challenge) => {
    if (ending.signal.aborted) return void user.destroy(); // the client then starts another keeper
    users.add(user);
    clearTimeout(idle);
    send(user, { state: "keeper", proof: proofOf(challenge) });
    send(user, state);
  });
  user.once("close", () => {
    users.delete(user);
    if (users.size > 0) return;
    clearTimeout(idle);
    idle = setTimeout(() => ending.abort(), state.state === "failed" ? 0 : grace);
  });
}

function tell(line: KeeperLine): void {
  state = line;
  for (const user of users) send(user, line);
}

function send(user: Socket, line: KeeperLine): void {
  user.write(`${JSON.stringify(line)}\n`);
}
