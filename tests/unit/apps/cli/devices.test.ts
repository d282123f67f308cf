import { afterEach, expect, test, vi } from "vitest";
import { registerDevices } from "../../../../src/apps/cli/commands/devices.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const cache = temporaryFolder();

afterEach(() => vi.unstubAllEnvs());

test("lists every device: what works, and what is missing with the command that gets it", async () => {
  vi.stubEnv("XDG_CACHE_HOME", cache);
  const lines = (await runCommand(registerDevices, "devices")).split("\n");
  expect(lines[0]).toBe("cpu     yes");
  expect(lines[1]).toBe(
    "cuda    no: ONNX Runtime's CUDA provider was not fetched yet. Run `npx everturn devices fetch cuda`.",
  );
  expect(lines[2]).toMatch(/^webgpu {2}(yes|no: .+)$/);
});
