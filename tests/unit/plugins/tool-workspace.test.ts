import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { JsonObject, Task } from "everturn/plugin";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../../plugins/tool-workspace/command.ts";
import { difference } from "../../../plugins/tool-workspace/difference.ts";
import { create, insert, replace, view } from "../../../plugins/tool-workspace/edits.ts";
import workspace from "../../../plugins/tool-workspace/index.ts";
import { find, search } from "../../../plugins/tool-workspace/search.ts";
import { taskTree } from "../../../plugins/tool-workspace/source.ts";
import { Tree } from "../../../plugins/tool-workspace/tree.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

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
      "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n-x = 1\n+$& = 3\n y = 2\n+w = 4\n--- /dev/null\n+++ b/lib/b.py\n@@ -0,0 +1,1 @@\n+z\n\\ No newline at end of file",
    );
  });

  test("a difference has a hunk for each place", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`);
    const [before, tree] = [treeOf({ a: lines.join(""), b: "gone\n" }), treeOf({ a: lines.join("") })];
    replace(tree, "a", "3\n4\n", "3\nfour\n");
    replace(tree, "a", "17\n", "");
    expect(difference(before, tree)).toBe(
      "--- a/a\n+++ b/a\n@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n@@ -14,7 +14,6 @@\n 14\n 15\n 16\n-17\n 18\n 19\n 20\n--- a/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone",
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

const folder = temporaryFolder();
const config: JsonObject = { folder, files: 5, bytes: 10_000, memory: 256, sandbox: "bubblewrap" };
const taskOf = (create_kwargs: JsonObject): Task => ({
  data_source: "test",
  prompt: [{ role: "user", content: "?" }],
  reward_model: { ground_truth: "" },
  extra_info: { tools_kwargs: { workspace: { create_kwargs } } },
});
async function taken(kwargs: JsonObject, more: JsonObject = {}): Promise<Record<string, string>> {
  const tree = await taskTree(taskOf(kwargs), { ...config, ...more });
  return Object.fromEntries(tree.entries().map(([path, content]) => [path, Buffer.from(content).toString()]));
}

/** A tar archive of these entries: their paths, contents, types as tar numbers them (0: a file), and what their headers say of their size. */
function tarOf(...entries: [path: string, content: string, type?: string, size?: number][]): Buffer {
  const blocks = entries.flatMap(([path, content, type = "0", size = content.length]) => {
    const header = Buffer.alloc(512);
    const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
    header.write(path);
    header.write(
      `${octal(0o644, 7)}${octal(0, 7)}${octal(0, 7)}${octal(size, 11)}${octal(0, 11)}        ${type}${"12".includes(type) ? "/etc" : ""}`,
      100,
    );
    header.write("ustar\x0000", 257);
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte),
        6,
      ),
      148,
    );
    return [header, Buffer.from(content.padEnd(Math.ceil(content.length / 512) * 512, "\0"))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

describe("a task's files", () => {
  test("are its own, laid over those of a folder or a tarball", async () => {
    mkdirSync(join(folder, "app", ".git"), { recursive: true });
    mkdirSync(join(folder, "app", "src"));
    writeFileSync(join(folder, "app", ".git", "config"), "");
    writeFileSync(join(folder, "app", "src", "a.py"), "a");
    expect(await taken({ source: "app", files: { b: "b" } })).toEqual({ "src/a.py": "a", b: "b" });
    expect(await taken({}, { source: "app" })).toEqual({ "src/a.py": "a" });
    expect(await taken({})).toEqual({});
    const archive = tarOf(["./src/", "", "5"], ["./src/a.py", "a".repeat(600)], ["e", ""]);
    writeFileSync(join(folder, "a.tar"), archive);
    writeFileSync(join(folder, "a.tar.gz"), gzipSync(archive));
    const files = { "src/a.py": "over", e: "" };
    expect(await taken({ source: "a.tar", files: { "src/a.py": "over" } })).toEqual(files);
    expect((await taken({ source: "a.tar.gz" }))["src/a.py"]).toBe("a".repeat(600));
  });

  test("keep names that are not UTF-8", async () => {
    mkdirSync(join(folder, "bytes"));
    const place = Buffer.from(join(folder, "bytes", "caf\xe9.txt"), "latin1");
    writeFileSync(place, "a");
    expect(await taken({ source: "bytes" })).toEqual({ "caf\udce9.txt": "a" });
  });

  test.each<[string, Buffer, string]>([
    ["..", tarOf(["a/../../x", ""]), "a/../../x is no path"],
    ["an absolute name", tarOf(["/etc/passwd", ""]), "/etc/passwd is no path"],
    ["a symbolic link", tarOf(["l", "", "2"]), "l is a SymbolicLink"],
    ["a hard link", tarOf(["a", "a"], ["l", "", "1"]), "l is a Link"],
    ["a device", tarOf(["null", "", "3"]), "null is a CharacterDevice"],
    ["a pipe", tarOf(["p", "", "6"]), "p is a FIFO"],
    ["a file twice", tarOf(["a", "1"], ["./a", "2"]), "a is in it twice"],
    ["a folder that is a file", tarOf(["a", "1"], ["a/b", "2"]), "a is a file"],
    ["too many files", tarOf(...[..."123456"].map((name): [string, string] => [name, ""])), "5 files"],
    ["too many bytes", tarOf(["a", "x".repeat(10_001)]), "10000 bytes"],
    ["more than there is", tarOf(["a", "", "0", 8 ** 11 - 1]), "not a complete tar archive"],
    ["a header that is cut", tarOf(["a", "1"]).subarray(0, 700), "not a complete tar archive"],
    ["no end", tarOf(["a", "1"]).subarray(0, 1024), "not a complete tar archive"],
    ["noise", Buffer.from("noise"), "not a complete tar archive"],
    ["nothing", Buffer.alloc(0), "not a complete tar archive"],
    ["a bomb", gzipSync(Buffer.alloc(50_000_000)), "it holds more than"],
    ["half of a gzip file", gzipSync(tarOf(["a", "1"])).subarray(0, 40), "unexpected end"],
  ])("are not an archive's with %s", async (name, archive, reason) => {
    const isPacked = archive[0] === 0x1f;
    const file = `${name.replaceAll(/\W/g, "-")}.${isPacked ? "tgz" : "tar"}`;
    writeFileSync(join(folder, file), archive);
    await expect(taken({ source: file })).rejects.toThrow(reason);
  });

  test("are refused before a run: too many, too large, no texts, nowhere, or out of their folder", async () => {
    const refusal = async (kwargs: JsonObject, more = {}) =>
      await workspace.refusal?.(taskOf(kwargs), { ...config, ...more });
    symlinkSync("/etc", join(folder, "out"));
    mkdirSync(join(folder, "linked"));
    symlinkSync("/etc/passwd", join(folder, "linked", "passwd"));
    writeFileSync(join(folder, "a.zip"), "");
    expect(await refusal({ files: { a: "1" } })).toBeUndefined();
    expect(await refusal({ files: { a: "x".repeat(10_001) } })).toContain("10000 bytes");
    expect(await refusal({ files: { "../a": "" } })).toContain("../a is no path");
    expect(await refusal({ files: { a: 1 } })).toContain("a is not text");
    expect(await refusal({ source: "nowhere" })).toContain("is not in");
    expect(await refusal({ source: "../x" })).toContain("../x is no path");
    expect(await refusal({ source: "/etc" })).toContain("/etc is no path");
    expect(await refusal({ source: "out" })).toContain("leads out of");
    expect(await refusal({ source: "a.zip" })).toContain("nor a .tar");
    expect(await refusal({ source: "a" }, { folder: undefined })).toContain("`folder`");
    await expect(taken({ source: "linked" })).rejects.toThrow("passwd is not a file");
  });
});

describe.runIf(here !== undefined)("tool-workspace in bubblewrap", async () => {
  const execution = {
    config: { sandbox: "bubblewrap", time: 5, memory: 256 },
    instance: "one",
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

  test("files stay whose names are not UTF-8, or that nobody may open, with their bytes; they are shown and restored", async () => {
    const command =
      "printf x > \"$(printf 'caf\\351.txt')\"; printf y > \"$(printf 'a\\nb')\"; printf z > closed; chmod 0 closed; mkdir d; printf w > d/w; chmod 444 d";
    const { tree } = await run(treeOf({ a: "1" }), command);
    const names = ["a", "a\nb", "caf\udce9.txt", "closed", "d/w"];
    expect(tree.entries().map(([path]) => path)).toEqual(names);
    expect(String(tree.get("caf\udce9.txt"))).toBe("x");
    const state = { before: tree, tree };
    const called = { key: "k", attempt: 1, isReplay: false, function: "find", ...execution };
    const shown = await workspace.execute({ pattern: "caf" }, called, state);
    expect(shown).toEqual({ text: "caf\\xe9.txt (1 bytes)" });
    const snapshot = await workspace.snapshot?.(state);
    const created = { instance: "i", task: taskOf({}), config: limits, environment: {}, hold: () => {} };
    const { signal } = execution;
    const restored = await workspace.restore?.(snapshot ?? Buffer.of(), { ...created, signal });
    expect(restored?.tree.entries()).toEqual(tree.entries());
    const next = await run(tree, "ls caf* | od -An -tx1; cat closed");
    expect(next.response.text?.replaceAll(/\s+/g, " ")).toContain("63 61 66 e9 2e 74 78 74 0a");
    expect(next.tree.entries()).toEqual(tree.entries());
  });

  test("what can't be kept is told, and nothing of it happens: files too deep, or behind paths that are too long", async () => {
    const tree = treeOf({ a: "1" });
    const deep =
      "python3 -c \"import os\nfor _ in range(150): os.mkdir('d'); os.chdir('d')\nopen('x', 'w')\"";
    await expect(run(tree, deep)).rejects.toThrow("than can be listed. The workspace is as it was");
    const long =
      "python3 -c \"import os\nfor _ in range(30): os.mkdir('d' * 180); os.chdir('d' * 180)\nopen('x', 'w')\"";
    await expect(run(tree, long)).rejects.toThrow("20 parts of 200 bytes");
    expect((await run(tree, "rm *")).tree.entries()).toEqual([]);
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

  test("a git bundle's files are those of a commit, as they were committed; nothing that it says is done", async () => {
    const repository = join(folder, "repository");
    const git = (...parameters: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "-C", repository, ...parameters], {
        encoding: "utf8",
        env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      }).trim();
    mkdirSync(repository);
    git("init", "--quiet", "--initial-branch=main");
    writeFileSync(join(repository, "a.txt"), "first\n");
    writeFileSync(
      join(repository, ".gitattributes"),
      "kept export-ignore\na.txt export-subst eol=crlf ident\n",
    );
    writeFileSync(join(repository, "kept"), "$Format:%H$ $Id$\n");
    git("add", "--all");
    git("commit", "--quiet", "--message=one");
    const first = git("rev-parse", "HEAD");
    writeFileSync(join(repository, "a.txt"), "second $Format:%H$ $Id$\n");
    git("commit", "--quiet", "--all", "--message=two");
    git("bundle", "create", "--quiet", join(folder, "r.bundle"), "--all");
    const source = "r.bundle";
    expect(await taken({ source, commit: first })).toMatchObject({
      "a.txt": "first\n",
      kept: "$Format:%H$ $Id$\n",
    });
    expect((await taken({ source, commit: "main" }))["a.txt"]).toBe("second $Format:%H$ $Id$\n");
    expect((await taken({ source }))["a.txt"]).toContain("second");
    await expect(taken({ source, commit: "nowhere" })).rejects.toThrow("git can't read it");
    await expect(taken({ source, commit: "--output=/x" })).rejects.toThrow("not the name of a commit");
    await expect(taken({ source }, { files: 1 })).rejects.toThrow("1 files");
    symlinkSync("a.txt", join(repository, "link"));
    git("add", "--all");
    git("commit", "--quiet", "--message=three");
    git("bundle", "create", "--quiet", join(folder, "s.bundle"), "--all");
    await expect(taken({ source: "s.bundle" })).rejects.toThrow("link is a SymbolicLink");
    writeFileSync(join(folder, "t.bundle"), "# v2 git bundle\n-0000 x\n\nPACK");
    await expect(taken({ source: "t.bundle" })).rejects.toThrow("git can't read it");
  });
});
