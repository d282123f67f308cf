import { defineConfig } from "vitest/config";

const include = ["tests/**/*.test.ts", "templates/*/tests/*.test.ts"];

/**
 * Tests that compute, and leave their process as it was: their files follow each other in one, which spares each a quarter of a
 * second to start and to load what it tests.
 */
const computing = [
  ...["errors", "ledger", "models", "pipeline", "plugins", "promises", "random", "report", "rollout", "runs"],
  ...["text", "tokens", "trajectory", "validation", "versions", "workflows"],
].map((folder) => `tests/unit/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "apart", include, exclude: computing } },
      { extends: true, test: { name: "together", include: computing, isolate: false } },
    ],
    globalSetup: ["tests/support/own-folders.ts", "tests/support/usual-ports.ts"],
    // On busy cores the same test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // For two cores, since what starts servers and kills them waits much of its time: three keep them busy (96 %).
    maxWorkers: 3,
  },
});
