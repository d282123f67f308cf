import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  type JsonObject,
  killProcess,
  processHandle,
  type ToolCreation,
  type ToolPlugin,
} from "everturn/plugin";

interface Session {
  child: ChildProcess;
  ask(line: JsonObject): Promise<Record<string, number>>;
}

/** Variables in a child process, one for each trajectory, which survives its worker unless somebody ends it. */
const plugin: ToolPlugin<Session> = {
  create: open,
  execute: async (parameters, { key, config, isReplay }, session) => {
    appendFileSync(String(config.log), `${key} ${isReplay ? "replay" : "live"}\n`);
    const variables = await session.ask(parameters);
    return { text: `${parameters.variable} = ${variables[String(parameters.variable)]}` };
  },
  release: ({ child }) => void child.kill("SIGKILL"),
  snapshot: async (session) => Buffer.from(JSON.stringify(await session.ask({}))),
  restore: async (snapshot, creation) => {
    const session = open(creation);
    await session.ask({ load: JSON.parse(Buffer.from(snapshot).toString()) });
    return session;
  },
  reap: (handle) => killProcess(handle),
};

export default plugin;

function open({ hold, instance, environment }: ToolCreation): Session {
  const file = join(import.meta.dirname, "session.ts");
  const child = spawn(process.execPath, [file, instance], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  hold(processHandle(child.pid));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask: Session["ask"] = async (line) => {
    child.stdin.write(`${JSON.stringify(line)}\n`);
    const { value, done } = await answers.next();
    if (done === true) throw new Error("the session has ended");
    return JSON.parse(value);
  };
  return { child, ask };
}
