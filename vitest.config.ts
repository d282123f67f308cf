import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // On busy cores the same test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // For two cores, since what starts servers and kills them waits much of its time: three keep them busy (96 %).
    maxWorkers: 3,
  },
});
