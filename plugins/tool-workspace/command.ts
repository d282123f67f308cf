import type { ToolExecution, ToolResponse } from "everturn/plugin";
import { type SandboxSession, sharedSandbox } from "everturn/sandbox";
import { Mistake } from "./mistake.ts";
import { Tree, type TreeLimits } from "./tree.ts";

/**
 * Runs a command in a sandbox of its own, over a copy of the tree, and answers the tree that it left: its files, without folders that are empty,
 * symbolic links, and `__pycache__`. What it started ends with it.
 */
export async function runCommand(
  tree: Tree,
  command: string,
  limits: TreeLimits,
  { config, signal }: Pick<ToolExecution, "config" | "signal">,
): Promise<{ tree: Tree; response: ToolResponse }> {
  const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
  if (!sandbox.languages.includes("shell"))
    throw new Mistake(`commands can't be run here: the sandbox ${sandbox.kind} has no shell`);
  const [time, memory] = [Number(config.time), Number(config.memory)];
  const disk = Math.ceil(limits.bytes / 2 ** 20) * 2 + 8;
  const session = await sandbox.open({ limits: { time, memory, disk }, signal });
  try {
    await session.write(Object.fromEntries(tree.entries()));
    const ran = await session.run({ language: "shell", code: command }, { signal });
    const isFinished = ran.outcome === "finished";
    const how = isFinished ? "" : `(${ran.outcome}${ran.exitCode ? `, exit code ${ran.exitCode}` : ""})`;
    const said = [ran.stdout, ran.stderr, how].map((text) => text.trimEnd()).filter((text) => text !== "");
    const left = ran.lost === "everything" ? tree : new Tree(await filesOf(session, limits), limits);
    const text = said.length === 0 ? "(It printed nothing.)" : said.join("\n");
    return { tree: left, response: { text, error: !isFinished, metrics: { failed: isFinished ? 0 : 1 } } };
  } finally {
    await session.close();
  }
}

async function filesOf(session: SandboxSession, limits: TreeLimits): Promise<[string, Uint8Array][]> {
  const listed = (await session.list()).filter(({ path }) => !path.split("/").includes("__pycache__"));
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  if (listed.length > limits.files || bytes > limits.bytes)
    throw new Mistake(
      `the command left ${listed.length} files of ${bytes} bytes; ${limits.files} and ${limits.bytes} may be. The workspace is as it was before it`,
    );
  const files: [string, Uint8Array][] = [];
  for (const { path } of listed) {
    const content = await session.read(path);
    if (content !== undefined) files.push([path, content]);
  }
  return files;
}
