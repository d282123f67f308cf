import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TinkerServer } from "../../support/tinker-server.ts";

const folder = temporaryFolder();
const packageFolder = join(import.meta.dirname, "..", "..", "..", "packages", "tinker");

test("the README's first program runs: ten lines to a gradient and a step", async () => {
  const server = await new TinkerServer({ numbering: "skyrl", baseModel: "Qwen/Qwen3-8B" }).start();
  onTestFinished(() => server.stop());
  const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
  const [, program = ""] = /```ts\n(import .*?)```/s.exec(readme) ?? [];
  const lines = program.split("\n").filter((line) => line !== "");
  expect(lines.indexOf(lines.find((line) => line.includes("forwardBackward"))!)).toBeLessThan(10);
  const file = join(folder, "first.ts");
  const entry = pathToFileURL(join(packageFolder, "index.ts")).href;
  writeFileSync(file, program.replace('"@everturn/tinker"', `"${entry}"`));
  const env = { ...process.env, TINKER_BASE_URL: server.url, TINKER_API_KEY: "tml-key" };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).toMatch(/Float32Array\(3\) \[.*-\d/s);
  expect(server.steps).toHaveLength(1);
});

test("the README lists every error code, and no other", () => {
  const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
  const source = readFileSync(join(packageFolder, "errors.ts"), "utf8");
  const [, union = ""] = /TinkerErrorCode =(.*?);/s.exec(source) ?? [];
  const codes = [...union.matchAll(/"([a-z-]+)"/g)].map(([, code]) => code);
  const [, table = ""] = /\| code \| meaning \|\n(.*?)\n\n/s.exec(readme) ?? [];
  const listed = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code),
  );
  expect(listed.toSorted()).toEqual(codes.toSorted());
});
