import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { nativeFilesMissing } from "../../../../src/base/errors/native-files.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const place = temporaryFolder();
const packages = join(dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json")), "..");

/** What importing a package throws in a project of which these folders of packages are there. */
async function failure(name: string, imported: string, ...folders: string[]): Promise<Error> {
  const project = join(place, name);
  mkdirSync(project);
  for (const folder of folders)
    cpSync(join(packages, folder), join(project, "node_modules", folder), { recursive: true });
  const text = `import(${JSON.stringify(imported)}).then((found) => found.default.getPrebuiltPath?.()).catch(tell);
    function tell({ name, code, message, stack }) { console.log(JSON.stringify({ name, code, message, stack })); }`;
  writeFileSync(join(project, "index.mjs"), text);
  const { stdout } = await promisify(execFile)(process.execPath, [join(project, "index.mjs")]);
  const { message, ...told } = JSON.parse(stdout);
  return Object.assign(new Error(message), told);
}

const runtime = ["onnxruntime-node/package.json", "onnxruntime-node/dist", "onnxruntime-common"];
const binding = `onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`;

test("a runtime that npm left out, since its install script failed, is named with the line for .npmrc", async () => {
  const told = nativeFilesMissing(await failure("left-out", "onnxruntime-node"));
  expect(told?.code).toBe("NATIVE_FILES_MISSING");
  expect(told?.message).toMatch(/ONNX Runtime .*Cannot find package.*onnxruntime-node-install=skip.*\.npmrc/);
});

test("a platform without a build of the runtime is named", async () => {
  const told = nativeFilesMissing(await failure("no-build", "onnxruntime-node", ...runtime));
  expect(told?.message).toMatch(/ONNX Runtime .* on linux .*onnxruntime_binding\.node.*glibc/);
});

test("a runtime that lacks a library of the system is named, as with musl", async () => {
  const told = nativeFilesMissing(await failure("musl", "onnxruntime-node", ...runtime, binding));
  expect(told?.message).toMatch(/ONNX Runtime .*libonnxruntime\.so\.1.*musl/);
});

test("a platform without a build of Temporal's worker is named", async () => {
  const bridge = ["@temporalio/core-bridge/package.json", "@temporalio/core-bridge/common.js"];
  const thrown = await failure("no-bridge", "@temporalio/core-bridge/common.js", ...bridge);
  expect(nativeFilesMissing(thrown)?.message).toMatch(/Temporal's worker .*No prebuilt module.*Alpine/);
});

test("other mistakes are not taken for missing files", async () => {
  expect(nativeFilesMissing(await failure("other", "no-such-package"))).toBeUndefined();
});
