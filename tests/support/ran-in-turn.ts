import type { Program, Ran, Sandbox } from "everturn/sandbox";

/** Results of programs that keep their state, run one after the other in one session. */
export async function ranInTurn(
  sandbox: Sandbox,
  codes: readonly string[],
  options: Partial<Program> = {},
): Promise<Ran[]> {
  const session = await sandbox.open({ limits: { time: 10, disk: 4, memory: 256 } });
  const all = [];
  for (const code of codes) {
    const limits = code.includes("while True") ? { time: 1 } : {};
    all.push(await session.run({ language: "python", code, keep: true, ...options }, { limits }));
  }
  await session.close();
  return all;
}
