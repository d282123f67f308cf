import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { isThere } from "../../../../src/base/files/is-there.ts";
import { putLines, wholeLines } from "../../../../src/base/files/line-file.ts";
import { makeFolder } from "../../../../src/base/files/make-folder.ts";
import { heedMark, markFile, markFolder, readMark } from "../../../../src/base/files/marked-folder.ts";
import { namesIn } from "../../../../src/base/files/names-in.ts";
import { readPatiently } from "../../../../src/base/files/read-patiently.ts";
import { readRecord, writeOnce, writeWhole } from "../../../../src/base/files/whole-files.ts";
import { writeNextPolicyFolder } from "../../../../src/engine/models/weights/policy-folder.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { folderBackend } from "../../../../src/run/store/folder-backend.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { mayMount, mount } from "../../../support/mount.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const previous = mkdtempSync(join(folder, "previous-"));
const small = { steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 };

/** A folder that is marked, and whose mark this process heeds until the test ends. */
function marked(root = mkdtempSync(join(folder, "run-"))): string {
  markFolder(root);
  onTestFinished(heedMark(root));
  return root;
}

test("a new run has a mark with an identity of its own, which stays, and which a copy shares", async () => {
  const runs = await Promise.all(
    ["a", "b"].map((name) =>
      createRunFolder(samplePlan(small), { runs: folder, workers: "shared", id: name }),
    ),
  );
  const [one = "", other = ""] = runs.map((run) => join(folder, run));
  const identity = readMark(one);
  expect(identity).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(readMark(other)).not.toBe(identity);
  expect(markFolder(one)).toBe(identity);
  cpSync(one, join(folder, "copy"), { recursive: true });
  expect(readMark(join(folder, "copy"))).toBe(identity);
});

test("a folder without a mark, or with one that was cut, gets one", () => {
  const root = mkdtempSync(join(folder, "old-"));
  expect(readMark(root)).toBeUndefined();
  const first = markFolder(root);
  writeFileSync(join(root, markFile), '{"identity":');
  expect(readMark(root)).toBeUndefined();
  const second = markFolder(root);
  expect(second).not.toBe(first);
  expect(readMark(root)).toBe(second);
  expect(readdirSync(root)).toEqual([markFile]);
});

const notThere = /the run's folder .* is not there/;

/** Whatever is written below a folder, or looked for in it and not found. */
const writes: [string, (root: string) => unknown][] = [
  ["writeWhole", (root) => writeWhole(join(root, "session.json"), "{}")],
  ["writeOnce", (root) => writeOnce(join(root, "session.json"), "{}")],
  ["putLines", (root) => putLines(join(root, "metrics.jsonl"), ["{}"], 0)],
  ["makeFolder", async (root) => makeFolder(join(root, "logs", "a"))],
  [
    "a trained policy's folder",
    (root) => writeNextPolicyFolder(join(root, "steps", "1", "policy"), previous, new Map()),
  ],
  ["put", (root) => folderBackend(root).put("a/b.json", Buffer.of(1), { flush: false })],
  ["remove", (root) => folderBackend(root).remove("a/b.json")],
  ["fill", (root) => folderBackend(root).fill("v1/a.b/", async () => {})],
];
const reads: [string, (root: string) => unknown][] = [
  ["isThere", async (root) => isThere(join(root, "run.json"))],
  ["readRecord", (root) => readRecord(join(root, "session.json"))],
  ["wholeLines", (root) => wholeLines(join(root, "metrics.jsonl"))],
  ["namesIn", (root) => namesIn(join(root, "steps"))],
  ["get", (root) => folderBackend(root).get("a/b.json")],
  ["get what is listed", (root) => folderBackend(root).get("a/b.json", { isListed: true })],
  ["size", (root) => folderBackend(root).size("a/b.json")],
  ["digest", (root) => folderBackend(root).digest("a/b.json")],
  ["page", (root) => folderBackend(root).page("a/")],
];

test.each([...writes, ...reads])(
  "%s: a folder that is gone, empty or another run's is the disk's failure, and nothing is made in its place",
  async (name, act) => {
    const root = marked();
    const away = `${root}-away`;
    const code = writes.some(([write]) => write === name) ? "STORE_NOT_WRITABLE" : "STORE_NOT_READABLE";
    const failure = { code, message: expect.stringMatching(notThere) };
    renameSync(root, away);
    await expect(act(root)).rejects.toMatchObject(failure);
    expect(existsSync(root)).toBe(false);
    mkdirSync(root);
    await expect(act(root)).rejects.toMatchObject(failure);
    expect(readdirSync(root)).toEqual([]);
    markFolder(root);
    await expect(act(root)).rejects.toMatchObject(failure);
    expect(readdirSync(root)).toEqual([markFile]);
    rmSync(root, { recursive: true });
    cpSync(away, root, { recursive: true }); // mounted again, with another device and inode
    await act(root);
  },
);

test("code with words of its own for a missing file waits for the folder, and keeps its words if the folder is there", async () => {
  const root = marked();
  const away = `${root}-away`;
  const own = new EverturnError("SAFETENSORS_INVALID", {
    path: join(root, "m"),
    reason: "it can't be opened",
  });
  let attempts = 0;
  const opened = () =>
    readPatiently(root, async () => {
      attempts++;
      if (!existsSync(join(root, "m"))) throw own;
      return "the model";
    });
  await expect(opened()).rejects.toBe(own);
  writeFileSync(join(root, "m"), "");
  renameSync(root, away);
  attempts = 0;
  const opening = opened();
  await vi.waitUntil(() => attempts > 2, { timeout: 100_000 });
  renameSync(away, root);
  expect(await opening).toBe("the model");
});

test("in a folder whose mark nobody heeds absence is what it was", async () => {
  const root = join(folder, "unmarked", "run");
  heedMark(root)();
  expect(isThere(join(root, "run.json"))).toBe(false);
  expect(await folderBackend(root).put("a.json", Buffer.of(1), { flush: false })).toBe(true);
});

test.skipIf(!mayMount)(
  "below an unmounted disk nothing is written; mounted again, the run goes on",
  async () => {
    const disk = mkdtempSync(join(folder, "disk-"));
    const image = mkdtempSync(join(folder, "image-"));
    mount("mount", "--bind", image, disk);
    onTestFinished(() => void (existsSync(join(disk, "run")) && mount("umount", "--lazy", disk)));
    mkdirSync(join(disk, "run"));
    const root = marked(join(disk, "run"));
    const backend = folderBackend(root);
    await backend.put("turns/1.json", Buffer.from("one"), { flush: false });
    mount("umount", "--lazy", disk);
    await expect(backend.put("turns/2.json", Buffer.of(1), { flush: false })).rejects.toThrow(notThere);
    await expect(backend.get("turns/1.json")).rejects.toThrow(notThere);
    expect(readdirSync(disk)).toEqual([]);
    mount("mount", "--bind", image, disk);
    expect(String(await backend.get("turns/1.json"))).toBe("one");
    expect(await backend.put("turns/2.json", Buffer.of(1), { flush: false })).toBe(true);
    expect(readFileSync(join(image, "run", "turns", "2.json"))).toEqual(Buffer.of(1));
  },
);

test("a folder gets its mark although the temporary file can't be removed now", () => {
  const root = mkdtempSync(join(folder, "run-"));
  failOnce("rmSync", "EAGAIN", ([path]) => String(path).endsWith(".tmp"));
  const identity = markFolder(root);
  expect(readMark(root)).toBe(identity);
});

test("a mark that can't be read is not one that is missing", () => {
  const root = mkdtempSync(join(folder, "run-"));
  const identity = markFolder(root);
  failOnce("readFileSync", "EIO", ([path]) => path === join(root, markFile));
  expect(() => markFolder(root)).toThrow("the disk reports an input/output error");
  expect(readMark(root)).toBe(identity);
});
