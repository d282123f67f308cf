import { pluginChecks } from "everturn/testing";
import { describe, expect, test } from "vitest";
import { createAjv } from "../../../src/base/validation/ajv.ts";
import { checkManifest } from "../../../src/plugin/registry/manifest.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();
await here?.close();

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

describe.runIf(here !== undefined)("tool-code in bubblewrap", async () => {
  const counting = "n = globals().get('n', 0) + 1\nn";
  const cases = [
    { arguments: { code: "print('six'); 6 * 7" }, text: "six\n42", error: false },
    { arguments: { code: counting } },
    { arguments: { code: "import os; os._exit(3)" }, error: true },
    { arguments: { code: counting } },
  ];
  const checks = await pluginChecks("tool-code", { cases, config: { sandbox: "bubblewrap", time: 5 } });
  test.each(checks)("$name", ({ run }) => run());
});
