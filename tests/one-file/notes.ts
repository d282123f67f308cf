import { type ChildProcess, spawn } from "node:child_process";
import { defineTool, killProcess, processHandle } from "everturn/plugin";

interface Notes {
  lines: string[];
  child: ChildProcess;
}

type Hold = (handle: ReturnType<typeof processHandle>) => void;

/** Notes in memory, beside a process that has to be ended. */
function begin(hold: Hold, environment: Record<string, string>, lines: string[] = []): Notes {
  const env = { ...process.env, ...environment };
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore", env });
  hold(processHandle(child.pid));
  return { lines, child };
}

const notes = {
  description: "Writes a line, and shows all of them.",
  capabilities: { processes: true },
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["line"],
    properties: { line: { type: "string" } },
    examples: [{ line: "first" }, { line: "second" }],
  },
  create: ({ hold, environment }: { hold: Hold; environment: Record<string, string> }) =>
    begin(hold, environment),
  execute: ({ line }: { line: string }, _: unknown, { lines }: Notes) => {
    lines.push(line);
    return lines.join(", ");
  },
  release: ({ child }: Notes) => void child.kill("SIGKILL"),
  reap: killProcess,
} as const;

export const restored = defineTool({
  ...notes,
  name: "restored",
  recovery: "snapshot",
  snapshot: ({ lines }: Notes) => Buffer.from(JSON.stringify(lines)),
  restore: (bytes, { hold, environment }) =>
    begin(hold, environment, JSON.parse(Buffer.from(bytes).toString())),
});

export const replayed = defineTool({ ...notes, name: "replayed", recovery: "replay" });
