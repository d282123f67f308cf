import { expect, test } from "vitest";
import { createAjv } from "../../../src/base/validation/ajv.ts";
import { checkManifest } from "../../../src/plugin/registry/manifest.ts";

test("its options have defaults that fit together", () => {
  const { problems } = checkManifest(new URL("../../../plugins/tool-code", import.meta.url).pathname);
  expect(problems).toEqual([]);
});

test("a server keeps no variables, which the plan says", () => {
  const { manifest } = checkManifest(new URL("../../../plugins/tool-code", import.meta.url).pathname);
  const validate = createAjv().compile(manifest?.config ?? {});
  const sandbox = { kind: "sandbox-fusion", url: "http://127.0.0.1:8080" };
  expect(validate({ sandbox, keep: false })).toBe(true);
  for (const wrong of [{}, { keep: true }, { keep: false, sandbox: { kind: "sandbox-fusion" } }])
    expect(validate({ sandbox, ...wrong })).toBe(false);
});
