import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts", "templates/*/tests/*.test.ts"],
    globalSetup: "tests/support/usual-ports.ts",
    // What a machine keeps of runs is not to be found among the user's own.
    env: { XDG_STATE_HOME: join(tmpdir(), "everturn-tests-state") },
    // On busy cores the same test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // For two cores, since what starts servers and kills them waits much of its time: three keep them busy (96 %).
    maxWorkers: 3,
  },
});
