import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openContainers } from "everturn/sandbox";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { onPath } from "../../src/work/sandbox/interpreters.ts";
import { smallRoot, tarOfFolder } from "./small-image.ts";

/** Gives an engine a small image, and returns its name. Undefined, with the reason on stderr, if it can't run it. */
export async function engineImage(kind: "podman" | "docker"): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-test-image-"));
  try {
    if (onPath(kind) === undefined) throw new Error(`${kind} is not on PATH`);
    const root = smallRoot(join(folder, "root"));
    if (root === undefined) throw new Error("there is no image for this machine");
    const image = `localhost/everturn-test-${kind}-${process.pid}:1`;
    execFileSync(kind, ["import", "-", image], {
      input: tarOfFolder(root),
      stdio: ["pipe", "ignore", "pipe"],
    });
    const containers = await openContainers({ kind, image });
    await containers.close();
    return image;
  } catch (error) {
    process.stderr.write(`Tests of ${kind} are skipped on this machine: ${messageOf(error)}\n`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
