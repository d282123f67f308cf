import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openContainers } from "everturn/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { onPath } from "../../../../src/work/sandbox/interpreters.ts";
import { containerClaims, groupClaims } from "../../../support/container-claims.ts";
import { smallRoot } from "../../../support/small-image.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const kind = "apptainer";
const folder = temporaryFolder();
const image = join(folder, "image.sif");
const root = onPath(kind) === undefined ? undefined : smallRoot(join(folder, "root"));
if (root !== undefined) execFileSync(kind, ["--silent", "build", image, root]);

describe.runIf(root !== undefined)(kind, async () => {
  const containers = await openContainers({ kind, image });
  afterAll(() => containers.close());

  containerClaims(containers, false);
  groupClaims(containers);

  test("memory is limited, and commands see neither capabilities nor the machine's processes", async () => {
    const session = await containers.open({ limits: { memory: 64 } });
    const bomb = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
    expect(await session.exec({ command: bomb })).toMatchObject({ outcome: "memory-limit" });
    const status = "grep -E '^(CapEff|CapBnd|NoNewPrivs):' /proc/self/status | tr -d '\\t\\n'";
    expect((await session.exec({ command: status })).stdout).toBe(
      "CapEff:0000000000000000CapBnd:0000000000000000NoNewPrivs:1",
    );
    const pids = await session.exec({ command: "ls -d /proc/[0-9]* | wc -l" });
    expect(Number(pids.stdout)).toBeLessThan(8);
    await session.close();
  });

  test("a container ends with the process that opened it", async () => {
    const script = join(import.meta.dirname, "..", "..", "..", "support", "container-holder.ts");
    const holder = spawn(process.execPath, [script, kind, image, "1"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface({ input: holder.stdout }), "line");
    const command = `everturn-image-${holder.pid}-`;
    await expect.poll(() => commandsWith(command), { timeout: 30_000 }).toBeGreaterThan(0);
    holder.kill("SIGKILL");
    await expect.poll(() => commandsWith(command), { timeout: 30_000 }).toBe(0);
  });

  test("a file that is no image is named with its remedy", async () => {
    await expect(openContainers({ kind, image: import.meta.filename })).rejects.toThrow(
      /is not an image \([\s\S]*\); name a file that `apptainer build`/,
    );
  });
});

/** The number of processes whose command line contains a text. */
function commandsWith(text: string): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(text)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended
  }
}
