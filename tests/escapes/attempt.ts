import type { Ran, Sandbox, SandboxSession } from "everturn/sandbox";
import type { Escape, Surroundings } from "./escape.ts";

/** What escapes are given: enough for an honest program, and little for a machine. */
export const limits = { time: 2, memory: 128, processes: 16, output: 8192, disk: 8 };
/** What poisoned programs leave, and what nobody's output may have. */
const words = ["ESCAPED", "POISONED"];

/** Runs an escape in a session of its own, and then an honest program in the same one. What did not hold, in words. */
export async function attempt(sandbox: Sandbox, program: Escape, around: Surroundings): Promise<string[]> {
  const { language = "python", keep = false, afterwards = [] } = program;
  const usual = program.told ?? ["finished", "failed"];
  const told = sandbox.kind === "wasm" ? (program.toldInWasm ?? usual) : usual;
  const session = await sandbox.open({ limits, environment: { EVERTURN_ESCAPE: around.secret } });
  const problems: string[] = [];
  const look = ({ stdout, stderr, value = "" }: Ran) => {
    const text = stdout + stderr + value;
    for (const word of [...words, around.secret])
      if (text.includes(word)) problems.push(`its output has ${word}: ${text.slice(0, 300)}`);
    if (Buffer.byteLength(stdout) > limits.output + 8 || Buffer.byteLength(stderr) > limits.output + 8)
      problems.push("too much output");
  };
  try {
    const ran = await session.run({ language, code: program.code(around), keep });
    look(ran);
    if (!told.some((outcome) => outcome === ran.outcome))
      problems.push(`told as ${ran.outcome}: ${ran.stderr.slice(-300)}`);
    if (ran.stdout.includes("FORGED") && !ran.stdout.includes('"FORGED"'))
      problems.push("it answered in the driver's place");
    for (const { code, value } of afterwards) {
      const after = await session.run({ language: "python", code });
      if (after.value !== value)
        problems.push(`then ${code} is ${after.value}, not ${value}: ${after.stderr.slice(-300)}`);
    }
    problems.push(...(await isUsable(session, keep)));
    await session.list();
  } finally {
    await session.close();
  }
  return problems;
}

/** Whether the session answers the next program as ever: the first may be told what the last one has broken. */
async function isUsable(session: SandboxSession, keep: boolean): Promise<string[]> {
  const honest = { language: "python", code: "import random, json\nsum(range(4))" } as const;
  let after = await session.run(honest);
  if (keep && after.value !== "6") after = await session.run(honest);
  return after.value === "6" && after.outcome === "finished"
    ? []
    : [`the next program: ${after.outcome}, ${after.value}, ${after.stderr.slice(-300)}`];
}
