import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // On busy cores the same test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // For two cores: what starts servers and kills them waits half of its time.
    maxWorkers: 3,
  },
});
