import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["tools/*.test.ts"],
    globalSetup: ["../support/own-folders.ts", "../support/usual-ports.ts"],
    setupFiles: ["../support/own-environment.ts"],
  },
});
