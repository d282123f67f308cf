import { readFile, stat } from "node:fs/promises";
import type { JsonObject } from "everturn/plugin";
import { sharedSandbox } from "everturn/sandbox";
import { Mistake } from "./mistake.ts";
import { unpacked } from "./tarball.ts";
import type { TreeLimits } from "./tree.ts";

/** The maximum MiB of a bundle. */
const largest = 64;
/** Seconds for git. */
const time = 50;

/**
 * Returns the files of a commit in a git bundle. git runs in a sandbox without hooks, configuration and
 * filters, so that malicious content can only act there. Throws Mistake for an unreadable bundle or an
 * unknown commit.
 */
export async function readBundle(
  file: string,
  commit: string | undefined,
  limits: TreeLimits,
  config: JsonObject,
): Promise<[string, Uint8Array][]> {
  if (commit !== undefined && !/^\w[\w./-]{0,200}$/.test(commit))
    throw new Mistake(`${commit} is not the name of a commit, branch or tag`);
  const size = (await stat(file)).size / 2 ** 20;
  if (size > largest) throw new Mistake(`a bundle may have ${largest} MiB`);
  const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
  if (!sandbox.languages.includes("shell"))
    throw new Error(`a git bundle is read in bubblewrap, and the sandbox is ${sandbox.kind}`);
  const disk = Math.ceil(4 * size + (3 * limits.bytes) / 2 ** 20) + 64;
  const session = await sandbox.open({ limits: { time, memory: Number(config.memory), disk } });
  try {
    await session.write({ "source.bundle": await readFile(file) });
    const { outcome, exitCode, stderr } = await session.run({ language: "shell", code: script(commit) });
    if (exitCode === 127) throw new Error("there is no git in /usr/bin: install the package git");
    if (outcome !== "finished")
      throw new Mistake(`git can't read it: ${stderr.trim().slice(-500) || outcome}`);
    const archive = await session.read("tree.tar");
    return unpacked(Buffer.from(archive ?? []));
  } finally {
    await session.close();
  }
}

/**
 * `git archive` follows the commit's own attributes, which may omit or change files. The repository's
 * attributes override them.
 */
function script(commit: string | undefined): string {
  return `set -e
export HOME=/tmp GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
command -v git >/dev/null || exit 127
git init --quiet --bare repository
mkdir -p repository/info
echo '* -text -ident -filter -working-tree-encoding -export-subst -export-ignore' >repository/info/attributes
cd repository
git fetch --quiet ../source.bundle '+refs/*:refs/*'
${commit === undefined ? "git fetch --quiet ../source.bundle HEAD" : ""}
git archive --format=tar --output=../tree.tar ${commit ?? "FETCH_HEAD"}
`;
}
