import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const bin = join(import.meta.dirname, "..", "..", "..", "..", "bin", "everturn.js");

/** The command on a Node that says it is of this version, before anything else is loaded. */
function everturnOn(version: string) {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const preload = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
  return spawnSync(process.execPath, [...preload, bin, "--version"], { encoding: "utf8" });
}

test.each(["20.20.2", "22.17.1"])("Node %s is named as too old in one line", (version) => {
  const { status, stdout, stderr } = everturnOn(version);
  expect(stderr).toBe(`Everturn needs Node 22.18 or newer; this is ${version}.\n`);
  expect([status, stdout]).toEqual([1, ""]);
});

test("Node 22.18 is new enough", () => {
  expect(everturnOn("22.18.0")).toMatchObject({ status: 0, stderr: "" });
});
