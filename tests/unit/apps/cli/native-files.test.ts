import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startWith } from "../../../support/command.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const pipeline = join(import.meta.dirname, "../../../pipelines/small.yaml");
const without = join(folder, "without-runtime.mjs");
// Node looks for the package where there is none, in every process and thread of the command.
writeFileSync(
  without,
  `import { registerHooks } from "node:module";
  const parentURL = "file:///nowhere/index.js";
  registerHooks({
    resolve: (name, context, next) => next(name, name === "onnxruntime-node" ? { ...context, parentURL } : context),
  });`,
);

test.each([
  ["validate", pipeline],
  ["run", pipeline, "--runs", join(folder, "runs")],
])(
  "without ONNX Runtime's files, everturn %s ends before anything starts, and says what to do",
  async (...command) => {
    const env = { NODE_OPTIONS: `--import ${without}` };
    const { code, stdout, stderr } = await startWith(env, ...command).end();
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(
      /^NATIVE_FILES_MISSING: ONNX Runtime .*Cannot find package.*onnxruntime-node-install=skip into the project's \.npmrc and run `npm install` again\.\n$/,
    );
  },
);
