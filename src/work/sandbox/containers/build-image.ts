import { sharedPromises } from "../../../base/async/shared-promises.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { folderDigest } from "../../../base/files/folder-digest.ts";
import { onPath } from "../interpreters.ts";
import { modest, toEngine } from "./engine-settings.ts";
import { runClient } from "./run-client.ts";

/** Seconds in which an image must be built. */
const patience = 3600;

const built = sharedPromises<string>();

/**
 * Builds the image of a folder with a Dockerfile, unless the engine has it, and returns its name. The engine pulls the
 * base image. Throws SANDBOX_MISSING without the engine, SANDBOX_FAILED with the build's last lines.
 */
export async function buildImage(kind: string, folder: string): Promise<string> {
  const program = onPath(kind);
  if (program === undefined)
    throw new EverturnError("SANDBOX_MISSING", { wish: kind, reasons: `${kind} is not on PATH` });
  const image = `localhost/everturn-build:${await folderDigest(folder)}`;
  return built.get(`${kind} ${image}`, async () => {
    const found = await toEngine([program, "image", "inspect", "--format", "{{.Id}}", image]);
    if (found.exitCode !== 0) await build(kind, program, image, folder);
    return image;
  });
}

async function build(kind: string, program: string, image: string, folder: string): Promise<void> {
  const other = kind === "podman" ? onPath("runc") : undefined;
  const ways = [[], ...(other === undefined ? [] : [[`--runtime=${other}`, ...modest]])];
  let reason = "";
  for (const settings of ways) {
    const command = [program, "build", "--tag", image, ...settings, folder];
    const { exitCode, stderr } = await runClient(command, { time: patience, output: 2 ** 24 });
    if (exitCode === 0) return;
    reason = stderr.toString().trim().split("\n").slice(-5).join("\n");
  }
  throw new EverturnError("SANDBOX_FAILED", { kind, reason: `${folder} can't be built: ${reason}` });
}
