import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readText } from "../../../../src/base/validation/read-text.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
mkdirSync(join(folder, "folder"));
symlinkSync("nowhere", join(folder, "link"));
symlinkSync("circle", join(folder, "circle"));
writeFileSync(join(folder, "latin"), Buffer.from("one\ntwo\ncaf\xe9\n", "latin1"));
writeFileSync(join(folder, "utf16"), Buffer.from("\ufeffone", "utf16le"));
writeFileSync(join(folder, "gzip"), gzipSync("one"));
writeFileSync(join(folder, "text"), "café");

test("reads UTF-8", () => {
  expect(readText(join(folder, "text"))).toBe("café");
});

test.each([
  ["nothing", "PATH_UNUSABLE", "nothing can't be used: it doesn't exist."],
  ["folder", "PATH_UNUSABLE", "it is a folder, and a file is wanted."],
  ["text/file", "PATH_UNUSABLE", "it is a file, or goes through one"],
  ["link", "PATH_UNUSABLE", "link can't be used: it is a link to nowhere, which leads nowhere."],
  ["circle", "PATH_UNUSABLE", "it is a link to circle, which leads nowhere."],
  ["n".repeat(300), "PATH_UNUSABLE", "its name is too long for this file system."],
  ["latin", "TEXT_ENCODING_WRONG", "latin:3: not UTF-8 text. Save it as UTF-8 text."],
  ["utf16", "TEXT_ENCODING_WRONG", "utf16:1: not UTF-8 text. It is UTF-16. Save it as UTF-8 text."],
  ["gzip", "TEXT_ENCODING_WRONG", "gzip:1: not UTF-8 text. It is compressed by gzip: unpack it first."],
])("refuses %s", (name, code, message) => {
  const read = () => readText(join(folder, name));
  expect(read).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});
