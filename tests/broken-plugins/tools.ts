// Tools that break one promise each: `everturn plugin check` has to say which, and what to change.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool, processHandle } from "everturn/plugin";

const textParameters = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: { text: { type: "string" } },
} as const;
const it = { name: "it", description: "It.", parameters: textParameters };
const log = {
  type: "object",
  additionalProperties: false,
  required: ["log"],
  properties: { log: { type: "string" } },
} as const;

export const neverAnswers = defineTool({
  ...it,
  timeout: "200ms",
  execute: () => new Promise<string>(() => {}),
});

export const wrongExample = defineTool({
  ...it,
  parameters: { ...textParameters, examples: [{ texts: "a" }] },
  execute: ({ text }) => text,
});

export const throwsAtTheModel = defineTool({
  ...it,
  execute: ({ text }) => {
    if (text.trim() === "") throw new Error("there is no text");
    return "fine";
  },
});

export const mistake = defineTool({
  ...it,
  execute: ({ text }) => {
    const found = /[a-z]+/.exec(text);
    return String(found!.index);
  },
});

export const answersNothing = defineTool({
  ...it,
  execute: ({ text }) => (text === "" ? { text: null } : "fine"),
});

export const halfACharacter = defineTool({ ...it, execute: ({ text }) => `${text.slice(0, 7)} …` });

export const bytesAsText = defineTool({
  ...it,
  execute: () => Buffer.from([0x89, 0x50, 0x4e, 0x47]).toString(),
});

export const megabytes = defineTool({ ...it, execute: () => "line\n".repeat(2 ** 19) });

let calls = 0;
export const counts = defineTool({ ...it, execute: () => String(++calls) });

/** Adds a line to a file at each call. */
export const twice = defineTool({
  ...it,
  config: log,
  execute: ({ text }, { config }) => {
    appendFileSync(config.log, `${text}\n`);
    return "written";
  },
});

const written = new Set<string>();
export const byArguments = defineTool({
  ...it,
  execute: ({ text }, { key }) => {
    if (written.has(text)) return "it is written already";
    written.add(text);
    return key === "" ? "" : "written";
  },
});

export const ignoresItsSignal = defineTool({ ...it, timeout: "1m", execute: () => sleep(30_000, "late") });

let isTaken = false;
export const keepsALock = defineTool({
  ...it,
  timeout: "3s",
  execute: async (_, { signal }) => {
    while (isTaken) await sleep(10);
    isTaken = true;
    await sleep(300, undefined, { signal });
    isTaken = false;
    return "done";
  },
});

let newest = "";
export const mixesCalls = defineTool({
  ...it,
  execute: async ({ text }) => {
    newest = text.slice(0, 4);
    await sleep(5);
    return newest;
  },
});

let isOpen = false;
export const remembers = defineTool({
  ...it,
  execute: ({ text }) => {
    isOpen ||= text === "open";
    return isOpen ? "it is open" : "it is closed";
  },
});

export const releasesOnce = defineTool({
  ...it,
  create: () => ({ open: "" }),
  execute: async ({ text }, { signal }, state) => {
    state.open = text;
    await sleep(500, undefined, { signal });
    state.open = "";
    return "done";
  },
  release: (state) => {
    if (state.open !== "") throw new Error("a call is under way");
  },
});

/** Starts a process that outlives its worker. */
export const leavesAProcess = defineTool({
  ...it,
  create: ({ hold }) => {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    hold(processHandle(child.pid));
    return child;
  },
  execute: () => "it runs",
  release: (child) => void child.kill("SIGKILL"),
  reap: () => {},
});

export const holdsWithoutReap = defineTool({
  ...it,
  create: ({ hold }) => hold("sandbox-7"),
  execute: () => "it runs",
});

export const snapshotsChange = defineTool({
  ...it,
  recovery: "snapshot",
  create: () => ["begun"],
  execute: ({ text }, _, lines) => {
    lines.push(text);
    return lines.join(" ");
  },
  snapshot: (lines) => Buffer.from(JSON.stringify(lines.splice(0))),
  restore: (bytes): string[] => JSON.parse(Buffer.from(bytes).toString()),
});

/** What a snapshot leaves out stays in the module. */
const rest = { lines: 0 };
export const partOfTheState = defineTool({
  ...it,
  recovery: "snapshot",
  create: () => {
    rest.lines = 0;
    return ["begun"];
  },
  execute: ({ text }, _, lines) => `${++rest.lines} ${lines.push(text)}`,
  snapshot: (lines) => Buffer.from(JSON.stringify(lines)),
  restore: (bytes): string[] => JSON.parse(Buffer.from(bytes).toString()),
});

export const replaysItsEffect = defineTool({
  ...it,
  config: log,
  recovery: "replay",
  create: ({ config }) => ({ ...config, lines: 0 }),
  execute: ({ text }, _, state) => {
    appendFileSync(state.log, `${text}\n`);
    return String(++state.lines);
  },
});
