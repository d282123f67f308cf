import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { killProcess, processHandle, type ToolCreation, type ToolPlugin } from "everturn/plugin";

interface Session {
  child: ChildProcess;
  /** Adds to its number, and answers it. */
  add(number: number): Promise<number>;
}

/** A number in a child process, one for each trajectory, which survives its worker unless somebody ends it. */
const plugin: ToolPlugin<Session> = {
  create: (creation) => open(creation, 0),
  execute: async ({ variable, add }, { key, config, isReplay }, session) => {
    log(config.log, isReplay ? "replay" : "live", key);
    return { text: `${variable} = ${await session.add(Number(add))}` };
  },
  release: ({ child }) => void child.kill("SIGKILL"),
  snapshot: async (session) => Buffer.from(String(await session.add(0))),
  restore: (snapshot, creation) => open(creation, Number(Buffer.from(snapshot))),
  reap: (handle) => killProcess(handle),
};

export default plugin;

function open({ config, hold, instance, environment }: ToolCreation, number: number): Session {
  log(config.log, "open", instance);
  const file = join(import.meta.dirname, "session.sh");
  const child = spawn("sh", [file, instance, String(number)], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  hold(processHandle(child.pid));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const add = async (summand: number) => {
    child.stdin.write(`${summand}\n`);
    const { value, done } = await answers.next();
    if (done === true) throw new Error("the session has ended");
    return Number(value);
  };
  return { child, add };
}

/** A line of what a worker did: with what, and which worker, whose plugin host this is. */
function log(file: unknown, what: string, name: string): void {
  appendFileSync(String(file), `${what} ${name} ${process.ppid}\n`);
}
