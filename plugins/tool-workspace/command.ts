import type { ToolExecution, ToolResponse } from "everturn/plugin";
import { type SandboxSession, sharedSandbox } from "everturn/sandbox";
import { Mistake } from "./mistake.ts";
import { Tree, type TreeLimits } from "./tree.ts";

/** The minimum bytes that a file takes. */
const block = 4096;
const asBefore = "The workspace is as it was before the command";

/**
 * Runs a command in its own sandbox over a copy of the tree, and returns the tree that it left: its files,
 * without empty folders, symbolic links and `__pycache__`. Processes that it started end with it.
 */
export async function runCommand(
  tree: Tree,
  command: string,
  limits: TreeLimits,
  { config, instance, signal }: Pick<ToolExecution, "config" | "instance" | "signal">,
): Promise<{ tree: Tree; response: ToolResponse }> {
  const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
  if (!sandbox.languages.includes("shell"))
    throw new Mistake(`commands can't be run here: the sandbox ${sandbox.kind} has no shell`);
  const [time, memory] = [Number(config.time), Number(config.memory)];
  const disk = Math.ceil((2 * limits.bytes + block * limits.files) / 2 ** 20) + 8;
  const session = await sandbox.open({
    limits: { time, memory, disk },
    labels: { trajectory: instance },
    signal,
  });
  try {
    await session.write(Object.fromEntries(tree.entries()));
    const ran = await session.run({ language: "shell", code: command }, { signal });
    const isFinished = ran.outcome === "finished";
    const how = isFinished ? "" : `(${ran.outcome}${ran.exitCode ? `, exit code ${ran.exitCode}` : ""})`;
    const said = [ran.stdout, ran.stderr, how].map((part) => part.trimEnd()).filter((part) => part !== "");
    const left = ran.lost === "everything" ? tree : new Tree(await filesOf(session, limits, signal), limits);
    const text = said.length === 0 ? "(It printed nothing.)" : said.join("\n");
    return { tree: left, response: { text, error: !isFinished, metrics: { failed: isFinished ? 0 : 1 } } };
  } finally {
    await session.close();
  }
}

/** Reads all files. Throws Mistake if it can't, so that none is left out silently. */
async function filesOf(
  session: SandboxSession,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<[string, Uint8Array][]> {
  const listed = (await session.list()).filter(({ path }) => !path.split("/").includes("__pycache__"));
  const deep = listed.find(({ path }) => path.endsWith("/"));
  if (deep !== undefined)
    throw new Mistake(`the command left more in ${deep.path.slice(0, 100)} than can be listed. ${asBefore}`);
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  if (listed.length > limits.files || bytes > limits.bytes)
    throw new Mistake(
      `the command left ${listed.length} files of ${bytes} bytes; ${limits.files} and ${limits.bytes} may be. ${asBefore}`,
    );
  const files: [string, Uint8Array][] = [];
  for (const { path } of listed) {
    const content = await session.read(path);
    if (content === undefined) throw new Mistake(`${path} can't be read. ${asBefore}`);
    files.push([path, content]);
  }
  // An empty sandbox replaces one that was brought down, and a run reports this.
  const isLost =
    files.length === 0 &&
    (await session.run({ language: "shell", code: ":" }, { signal })).lost !== undefined;
  if (isLost) throw new Mistake(`the command brought its sandbox down. ${asBefore}`);
  return files;
}
