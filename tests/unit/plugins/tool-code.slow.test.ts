import { pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();
await here?.close();

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
