import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "everturn/plugin";
import { expect, test } from "vitest";
import { serverVariable } from "../../../../src/control/servers/kept-process.ts";
import { serverAddress } from "../../../../src/control/servers/server-address.ts";
import { serverKey, serverStart } from "../../../../src/control/servers/server-start.ts";
import { endChild } from "../../../support/end-child.ts";
import { firstOutput } from "../../../support/first-output.ts";
import { processesMarked, processesWith } from "../../../support/processes.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const user = join(import.meta.dirname, "..", "..", "..", "support", "server-user.ts");

/** Writes a package whose module \`small\` serves what it is given. */
const writeWheel = `
import sys, zipfile
server = open(sys.argv[2]).read()
with zipfile.ZipFile(sys.argv[1] + "/small-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("small.py", server)
    wheel.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\nRequires-Python: " + sys.argv[3] + "\\n")
    wheel.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("small-1.0.dist-info/RECORD", "small.py,,\\n")
`;
const program = join(import.meta.dirname, "..", "..", "..", "fixtures", "small-server.py");
const wheelFor = (pythons: string) => execFileSync("python3", ["-c", writeWheel, folder, program, pythons]);
const start: JsonObject = {
  command: ["python", "-m", "small", "{port}"],
  requirements: ["./small-1.0-py3-none-any.whl"],
  folder,
};

test("a package in an environment of its own, whose server ends some seconds after its last user", async () => {
  wheelFor(">=3.8");
  const other = spawn(process.execPath, [user, JSON.stringify(start)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const key = serverKey(serverStart(start, "/"));
  try {
    const url = (await firstOutput(other)).trim();
    expect((await fetch(url)).status).toBe(200);
    expect(processesMarked(serverVariable, key)).not.toEqual([]);
  } finally {
    await endChild(other, "SIGKILL");
  }
  const left = () => [
    ...processesMarked(serverVariable, key),
    ...processesWith(`keeper-main.ts ${key}`).keys(),
  ];
  await expect.poll(left, { timeout: 30_000, interval: 500 }).toEqual([]);
});

test.each([
  ["a Python that is too old", start, ">=3.99", /requires a different Python|does not satisfy Python>=3\.99/],
  ["a folder without a package", { ...start, requirements: ["./empty"] }, ">=3.8", /empty/],
])("%s is reported with what the installer said", async (_, given, pythons, reason) => {
  wheelFor(pythons);
  execFileSync("mkdir", ["-p", join(folder, "empty")]);
  writeFileSync(join(folder, "empty", "notes.txt"), "no package");
  const failing = { ...given, environment: { PYTHONS: pythons } };
  const message = await serverAddress({ start: failing }).catch(({ message: said }) => said);
  expect(message).toContain("can't be installed");
  expect(message).toMatch(reason);
});
