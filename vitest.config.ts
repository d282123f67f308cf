import { defineConfig } from "vitest/config";

/** A test file's name decides its project: CONTRIBUTING.md, "Tests". */
const all = ["tests/**/*.test.ts", "templates/*/tests/*.test.ts"];
const apart = ["tests/**/*.apart.test.ts"];
const slow = ["tests/**/*.slow.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: all,
          exclude: [...apart, ...slow, "tests/agents/**"], // `npm run agents` runs those
          isolate: false,
          setupFiles: ["tests/support/own-environment.ts"],
        },
      },
      { extends: true, test: { name: "apart", include: apart } },
      {
        extends: true,
        test: {
          name: "slow",
          include: slow,
          testTimeout: 480_000,
          hookTimeout: 480_000,
        },
      },
    ],
    globalSetup: [
      "tests/support/own-folders.ts",
      "tests/support/usual-ports.ts",
      "tests/support/few-threads.ts",
    ],
    // Several times what any test of the quick tier takes: on a busy machine with two cores, tests take up to ten times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Suits two cores, because tests that start and kill servers mostly wait: four workers leave a seventh of the cores idle, six
    // a tenth, seven a fiftieth. `npm run test:slow` has three: its tests train, and wait less.
    maxWorkers: 7,
  },
});
