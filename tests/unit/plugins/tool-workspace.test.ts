import { pluginChecks } from "everturn/testing";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../../plugins/tool-workspace/command.ts";
import { difference } from "../../../plugins/tool-workspace/difference.ts";
import { create, insert, replace, view } from "../../../plugins/tool-workspace/edits.ts";
import { find, search } from "../../../plugins/tool-workspace/search.ts";
import { Tree } from "../../../plugins/tool-workspace/tree.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();
await here?.close();

const limits = { files: 5, bytes: 10_000 };
const treeOf = (files: Record<string, string | Uint8Array>): Tree =>
  new Tree(
    Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]),
    limits,
  );

describe("a workspace's files", () => {
  test("are viewed, created, edited and told apart", () => {
    const [before, tree] = [treeOf({ "a.py": "x = 1\ny = 2\n" }), treeOf({ "a.py": "x = 1\ny = 2\n" })];
    expect(view(tree, "./a.py", 2)).toBe("2\ty = 2");
    expect(() => view(tree, "a.py", 3)).toThrow("lines 1 to 2");
    expect(() => create(tree, "a.py", "")).toThrow("already");
    create(tree, "lib/b.py", "z");
    expect(() => replace(tree, "a.py", " = ", "=")).toThrow("more than once");
    expect(() => replace(tree, "a.py", "x=1", "")).toThrow("does not have");
    replace(tree, "a.py", "x = 1", "$& = 3");
    insert(tree, "a.py", 2, "w = 4");
    expect(tree.text("a.py")).toBe("$& = 3\ny = 2\nw = 4\n");
    expect(difference(before, tree)).toBe(
      "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n-x = 1\n-y = 2\n+$& = 3\n+y = 2\n+w = 4\n--- /dev/null\n+++ b/lib/b.py\n@@ -0,0 +1,1 @@\n+z\n\\ No newline at end of file",
    );
  });

  test("an overlapping text occurs twice", () => {
    expect(() => replace(treeOf({ a: "aaa" }), "a", "aa", "b")).toThrow("more than once");
  });

  test("are found by name and content, in time in proportion to them", () => {
    const tree = treeOf({ "a.py": "def f():\n", "b.txt": `${"a".repeat(9000)}!`, c: Uint8Array.of(0xff, 0) });
    expect(find(tree, "\\.py$")).toBe("a.py (9 bytes)");
    expect(search(tree, "def \\w")).toBe("a.py:1:def f():");
    expect(search(tree, "(a+)+$")).toBe("(found nothing)");
    expect(() => search(tree, "(a)\\1")).toThrow("RE2");
    expect(() => tree.text("c")).toThrow("no text (2 bytes)");
  });

  test.each([
    "../a",
    "/etc/passwd",
    "a/../../b",
    ".",
    "",
    "a/",
    "a\0b",
    `${"x".repeat(201)}`,
    "\ud800",
    "a/".repeat(30),
  ])("are not at %j", (path) => {
    const tree = treeOf({});
    expect(() => tree.write(path, "")).toThrow(/path/);
    expect(() => tree.text(path)).toThrow(/path/);
  });

  test("are as many and as large as they may be, and no folders", () => {
    const tree = treeOf({ "a/b": "", c: "" });
    expect(() => tree.write("a", "")).toThrow("a is a folder");
    expect(() => tree.write("c/d/e", "")).toThrow("c is a file");
    expect(() => tree.write("d", "x".repeat(10_001))).toThrow("10000 bytes");
    for (const path of ["1", "2", "3"]) tree.write(path, "");
    expect(() => tree.write("4", "")).toThrow("5 files");
  });
});

describe.runIf(here !== undefined)("tool-workspace in bubblewrap", async () => {
  const execution = {
    config: { sandbox: "bubblewrap", time: 5, memory: 256 },
    signal: AbortSignal.timeout(120_000),
  };
  const run = (tree: Tree, command: string) => runCommand(tree, command, limits, execution);

  test("a command's files stay; links, pipes and caches don't, nor is anything outside read through them", async () => {
    const hostile =
      "ln -s /etc/passwd p; ln -s / root; mkfifo q; mkdir -p empty __pycache__; echo x > __pycache__/y; echo new > n; rm a; sleep 100 &";
    const { tree, response } = await run(treeOf({ a: "1", b: "2" }), hostile);
    expect(response.error).toBe(false);
    expect(tree.entries().map(([path]) => path)).toEqual(["b", "n"]);
  });

  test("what a command leaves beyond the limits is refused, and what it did wrong is told", async () => {
    const tree = treeOf({ a: "1" });
    await expect(run(tree, "head -c 20000 /dev/zero > big")).rejects.toThrow("as it was before");
    await expect(run(tree, "touch 1 2 3 4 5 6")).rejects.toThrow("as it was before");
    const failed = await run(tree, "echo no >&2; exit 3");
    expect(failed.response).toMatchObject({ error: true, text: "no\n(failed, exit code 3)" });
    const killed = await run(tree, "kill -9 -1; kill -9 $PPID; kill -9 $$");
    expect(killed.response.error).toBe(true);
    expect((await run(tree, "cat a")).response.text).toBe("1");
  });

  test("keeps its promises", async () => {
    const checks = await pluginChecks("tool-workspace", {
      config: { sandbox: "bubblewrap", time: 5 },
      cases: [
        {
          function: "create",
          arguments: { path: "a.txt", text: "one\n" },
          text: "wrote a.txt",
          error: false,
        },
        { function: "run", arguments: { command: "echo two >> a.txt" }, error: false },
        { function: "view", arguments: { path: "a.txt" }, text: "1\tone\n2\ttwo", error: false },
        { function: "view", arguments: { path: "../a.txt" }, error: true },
      ],
    });
    for (const check of checks) await check.run();
    expect(checks.map(({ promise }) => promise)).toContain("snapshot");
  });
});
