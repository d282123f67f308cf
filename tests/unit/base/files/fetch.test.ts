import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { cachedFolder } from "../../../../src/base/files/cached-folder.ts";
import { download } from "../../../../src/base/files/download.ts";
import { sha256 } from "../../../../src/base/files/sha256.ts";
import { fetchedWheel, fetchWheel } from "../../../../src/base/files/wheel.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

afterEach(() => vi.unstubAllEnvs());

/** A download by `cp`, which stands for a registry's client, of a file with these words. */
function copy(words: string, digest: string) {
  const file = join(folder, "package.whl");
  writeFileSync(file, words);
  return { package: "words 1.0.0", sha256: digest, command: "cp", arguments: (to: string) => [file, to] };
}

test("a file with the fixed digest is used, and taken away afterwards", async () => {
  const wanted = copy("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  let used = "";
  await download(wanted, async (file) => {
    used = file;
    expect(await readFile(file, "utf8")).toBe("abc");
    expect(await sha256(file)).toBe(wanted.sha256);
  });
  expect(existsSync(used)).toBe(false);
});

test("a file with another digest, and a client that fails, are refused by name", async () => {
  const never = () => Promise.reject(new Error("used"));
  await expect(download(copy("abc", "00"), never)).rejects.toMatchObject({ code: "PACKAGE_FETCH_FAILED" });
  await expect(download(copy("abc", "00"), never)).rejects.toThrow(
    "Everturn could not fetch words 1.0.0: its SHA-256 is ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad, not 00",
  );
  const missing = { ...copy("abc", "00"), command: "no-such-client" };
  await expect(download(missing, never)).rejects.toThrow("spawn no-such-client ENOENT");
});

test("a folder of the cache appears whole or not at all, once", async () => {
  const target = join(folder, "cache", "thing-1.0.0");
  const failing = cachedFolder(target, async (unpacked) => {
    await writeFile(join(unpacked, "half"), "");
    throw new Error("the line went dead");
  });
  await expect(failing).rejects.toThrow("the line went dead");
  expect(readdirSync(join(folder, "cache"))).toEqual([]);

  const make = (name: string) => cachedFolder(target, (unpacked) => writeFile(join(unpacked, name), ""));
  await Promise.all([make("one"), make("two")]);
  expect(readdirSync(target)).toHaveLength(1);
  await make("three");
  expect(existsSync(join(target, "three"))).toBe(false);
});

test("a wheel that was fetched before is found without a download", async () => {
  vi.stubEnv("XDG_CACHE_HOME", folder);
  const wheel = { name: "some-wheel", version: "2.0.0", sha256: "00" };
  expect(fetchedWheel(wheel)).toBeUndefined();
  const unpacked = join(folder, "everturn", "wheels", "some-wheel-2.0.0");
  mkdirSync(unpacked, { recursive: true });
  expect(fetchedWheel(wheel)).toBe(unpacked);
  expect(await fetchWheel(wheel)).toBe(unpacked);
});
