import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { markVariable } from "../../base/processes/marked-processes.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import { threadVariable } from "../../plugin/host/running-thread.ts";
import { errorOf } from "../../plugin/host/thrown-data.ts";
import { type KeeperLine, type KeeperSocket, keeperSocket } from "./keeper-socket.ts";
import { type ServerStart, serverKey, serverStart } from "./server-start.ts";

/** A connection to the keeper of a server. The server works as long as somebody is connected. */
interface Kept {
  /** The server's port, once it is ready. Throws why it is not. */
  port(signal: AbortSignal | undefined): Promise<number>;
  isOver(): boolean;
}

/** By the key of the server. */
const connections = new Map<string, Promise<Kept>>();

/**
 * The address of the server that a plugin's configuration names: its `url` without a final slash, or that of the server
 * that its `start` describes. All processes of this user on this machine share one server per configuration. It
 * starts with the first that asks, restarts if it ends or answers nothing, and ends with the last. `ready` is the path
 * that it answers once it works; without it, the server must accept connections. Throws SERVER_PYTHON_MISSING,
 * SERVER_NOT_INSTALLED, SERVER_NOT_STARTED, SERVER_ENDED, or the signal's reason.
 */
export async function serverAddress(
  { url, start }: JsonObject,
  { ready, signal }: { ready?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  if ((typeof url === "string") === isObject(start))
    throw new Error("the configuration needs either a server's address or “start”, which starts one");
  if (!isObject(start)) return String(url).replace(/\/+$/, "");
  const wanted = serverStart(start, ready);
  return `http://127.0.0.1:${await portOf(wanted, signal)}`;
}

async function portOf(start: ServerStart, signal: AbortSignal | undefined): Promise<number> {
  const key = serverKey(start);
  for (;;) {
    signal?.throwIfAborted();
    const connecting = connections.get(key) ?? connected(key, start);
    connections.set(key, connecting);
    const kept = await connecting.catch(() => undefined);
    if (kept?.isOver() === false) return kept.port(signal);
    if (connections.get(key) === connecting) connections.delete(key);
    if (kept === undefined) await connecting; // throws why there is none
  }
}

/** Milliseconds in which a keeper must start, and after which another one is tried. */
const [keeperLimit, keeperPause] = [60_000, 5000];

/** Connects to the keeper of a server, and first starts it if there is none. */
async function connected(key: string, start: ServerStart): Promise<Kept> {
  const socket = await keeperSocket(key);
  let started = Number.NEGATIVE_INFINITY;
  let reason = "";
  for (const end = performance.now() + keeperLimit; performance.now() < end; await sleep(50)) {
    try {
      return await keptBy(socket);
    } catch (error) {
      reason = messageOf(error);
    }
    if (performance.now() - started < keeperPause) continue;
    startKeeper(key, start);
    started = performance.now();
  }
  throw new EverturnError("SERVER_KEEPER_MISSING", {
    command: start.command.join(" "),
    seconds: keeperLimit / 1000,
    reason,
  });
}

/** Starts a process that outlives this one, and is not a part of the plugin whose thread this is. */
function startKeeper(key: string, start: ServerStart): void {
  const { [threadVariable]: _, [markVariable]: __, ...env } = process.env;
  const keeper = spawn(process.execPath, [ownModule("src/control/servers/keeper-main"), key], {
    cwd: tmpdir(),
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  keeper.stdin.on("error", () => {}); // another keeper was faster
  keeper.stdin.end(JSON.stringify(start)); // its variables don't belong into a command line
  keeper.unref();
}

async function keptBy({ path, proofOf }: KeeperSocket): Promise<Kept> {
  const challenge = randomBytes(16).toString("hex");
  const socket = connect({ path });
  await once(socket, "connect");
  socket.write(`${challenge}\n`);
  const isOwn = Promise.withResolvers<void>();
  let state: KeeperLine = { state: "starting" };
  const lines = createInterface({ input: socket });
  lines.on("line", (line) => {
    const told: KeeperLine = JSON.parse(line);
    if (told.state !== "keeper") state = told;
    else if (told.proof === proofOf(challenge)) isOwn.resolve();
    else isOwn.reject(new Error("another user's program has the name of this server"));
    if (told.state === "failed") socket.end(); // the keeper waits until its users know
    lines.emit("told");
  });
  const over = () => {
    isOwn.reject(new Error("the keeper of the server ended"));
    lines.emit("told");
  };
  for (const one of [socket, lines]) one.on("error", () => {}); // the end follows
  socket.on("close", over);
  await isOwn.promise;
  socket.unref(); // the connection keeps the server, not this process
  return {
    isOver: () => socket.destroyed || state.state === "failed",
    async port(signal) {
      for (;;) {
        if (state.state === "ready") return state.port;
        if (state.state === "failed") throw errorOf(state.error);
        if (socket.destroyed) throw new Error("the keeper of the server ended");
        await waiting(socket, once(lines, "told", { signal }));
      }
    },
  };
}

/** Keeps this process alive while it waits. */
async function waiting(socket: Socket, told: Promise<unknown>): Promise<void> {
  socket.ref();
  try {
    await told;
  } finally {
    socket.unref();
  }
}
