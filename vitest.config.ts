import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // On busy cores the same test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores: each file's ONNX sessions and servers want both.
    maxWorkers: 2,
  },
});
