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
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Suits two cores: tests that start and kill servers mostly wait, so four workers leave a seventh of the cores idle. With
    // seven, tests that train took minutes and some ran into their time limits. `npm run test:slow` has three: its tests train, and wait less.
    maxWorkers: 5,
  },
});
