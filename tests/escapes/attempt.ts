import type { Ran, Sandbox, SandboxSession } from "everturn/sandbox";
import { isEverturnError } from "../../src/base/errors/everturn-error.ts";
import type { Escape, Surroundings } from "./escape.ts";
import { judgesFiles } from "./programs/judged.ts";

/** What escapes are given: enough for an honest program, and little for a machine. */
export const limits = { time: 2, memory: 128, processes: 16, output: 8192, disk: 8 };
/** The time of programs that end by themselves: a busy machine takes longer to begin them. */
const patient = { limits: { time: 30 } };
/** What poisoned programs leave, and what nobody's output may have. */
const words = ["ESCAPED", "POISONED"];

/** Runs an escape in a session of its own, and then an honest program in the same one. What did not hold, in words. */
export async function attempt(sandbox: Sandbox, program: Escape, around: Surroundings): Promise<string[]> {
  const { language = "python", keep = false, afterwards = [] } = program;
  const usual = program.told ?? ["finished", "failed"];
  const told = sandbox.kind === "wasm" ? (program.toldInWasm ?? usual) : usual;
  // Pyodide takes seconds to import what some programs begin with, on a busy machine.
  const time = sandbox.kind === "wasm" ? 3 * limits.time : limits.time;
  const session = await sandbox.open({
    limits: { ...limits, time },
    environment: { EVERTURN_ESCAPE: around.secret },
  });
  const problems: string[] = [];
  const look = ({ stdout, stderr, value = "" }: Ran) => {
    const text = stdout + stderr + value;
    for (const word of [...words, around.secret])
      if (text.includes(word)) problems.push(`its output has ${word}: ${text.slice(0, 300)}`);
    if (Buffer.byteLength(stdout) > limits.output + 8 || Buffer.byteLength(stderr) > limits.output + 8)
      problems.push("too much output");
  };
  try {
    await session.write(judgesFiles);
    const code = program.code(around);
    const ran = await session.run({ language, code, keep }, told.includes("time-limit") ? {} : patient);
    look(ran);
    if (!told.some((outcome) => outcome === ran.outcome))
      problems.push(`told as ${ran.outcome}: ${ran.stderr.slice(-300)}`);
    if (ran.stdout.includes("FORGED") && !ran.stdout.includes('"FORGED"'))
      problems.push("it answered in the driver's place");
    for (const { code: next, value } of afterwards) {
      const after = await session.run({ language: "python", code: next }, patient);
      if (after.value !== value)
        problems.push(`then ${next} is ${after.value}, not ${value}: ${after.stderr.slice(-300)}`);
    }
    problems.push(...(await isUsable(session, keep)), ...(await isJudged(session, program)));
  } finally {
    await session.close();
  }
  return problems;
}

/** Whether the session answers the next program as ever: the first may be told what the last one has broken. */
async function isUsable(session: SandboxSession, keep: boolean): Promise<string[]> {
  const honest = { language: "python", code: "import random, json\nsum(range(4))" } as const;
  let after = await session.run(honest, patient);
  if (keep && after.value !== "6") after = await session.run(honest, patient);
  return after.value === "6" && after.outcome === "finished"
    ? []
    : [`the next program: ${after.outcome}, ${after.value}, ${after.stderr.slice(-300)}`];
}

/** Whether a judge can ask and hear as ever: files are written over what the program left, read and listed. */
async function isJudged(session: SandboxSession, { fillsDisk, mayLoseFiles }: Escape): Promise<string[]> {
  await session.list();
  for (const path of Object.keys(judgesFiles)) await session.read(path);
  try {
    await session.write(judgesFiles);
  } catch (error) {
    const isFull = isEverturnError(error) && error.code === "SANDBOX_DISK_FULL";
    if (!isFull || fillsDisk !== true) throw error;
    await session.run({ language: "python", code: clear }, patient);
    await session.write(judgesFiles);
  }
  const paths = Object.keys(judgesFiles);
  const code = `[open(path).read() for path in ${JSON.stringify(paths)}]`;
  const heard = await session.run({ language: "python", code }, patient);
  const listed = (await session.list()).map(({ path }) => path);
  const read = await Promise.all(paths.map(async (path) => String(await session.read(path))));
  const isHeard =
    heard.value === "['asked', 'asked']" &&
    read.every((text) => text === "asked") &&
    (paths.every((path) => listed.includes(path)) || listed.includes("./"));
  return isHeard || mayLoseFiles === true
    ? []
    : [
        `a judge then hears ${heard.outcome}, ${heard.value}, ${heard.stderr.slice(-300)}; ${read}; ${String(listed).slice(0, 300)}`,
      ];
}

const clear =
  "import os, shutil\nfor folder in ('/work', '/tmp'):\n    for name in os.listdir(folder):\n        path = os.path.join(folder, name)\n        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)";
