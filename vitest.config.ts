import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const include = ["tests/**/*.test.ts", "templates/*/tests/*.test.ts"];

/**
 * Tests that have a part of Temporal's SDK or a device in their process, measure its memory, or leave there what others would find: each
 * file has one of its own. All others follow each other in a few, which spares each a second to start and to load what it tests.
 */
const apart = [
  "tests/unit/engine/sampling/key-value-cache.test.ts",
  ...["packaging", "replay", "unit/engine/devices", "unit/base/telemetry"].map(
    (folder) => `tests/${folder}/**/*.test.ts`,
  ),
  ...[
    ...["busy-holder", "chaos", "continue-as-new", "deployments", "dynamic-sampling", "end-shards"],
    ...["failing-disk", "failure-policy", "long-trajectory", "loops", "orders", "outage", "rebuilt", "run"],
    ...["search-attributes", "smollm2-greedy", "telemetry", "trajectory", "two-tool-workers"],
    ...["upgrade", "worker-process"],
  ].map((name) => `tests/integration/${name}.test.ts`),
];

/** What takes longest, half a minute and more, begins first: else one of them would be under way when all others are done. */
const longest = [
  ...["packaging/packages", "integration/chaos", "integration/outage"],
  ...["integration/long-trajectory", "integration/run", "integration/failure-policy"],
  "integration/failing-disk",
  ...["unit/engine/devices/webgpu-models", "integration/telemetry", "integration/continue-as-new"],
  ...["integration/two-tool-workers", "unit/engine/devices/gpu-benchmark", "integration/orders"],
  ...["integration/upgrade", "integration/trajectory", "integration/busy-holder"],
  ...["integration/shapes", "integration/study", "unit/docs/snippets"],
  ...["integration/stuck-loop", "unit/engine/models/gguf/vocabularies", "integration/ui"],
  ...["integration/interruption", "unit/apps/cli/plugin-package", "integration/library"],
  ...["integration/extend", "unit/control/temporal/kept-bundle", "unit/engine/inference-servers/engines"],
  ...["integration/bad-machine", "integration/ledger", "unit/control/conformance/other-kinds"],
  ...["integration/standstill", "unit/plugins/tool-workspace", "unit/plugins/reward-tests-pass"],
  ...["unit/run/store/conformance", "integration/other-server", "unit/plugins/reward-code-tests"],
  ...["integration/agent", "integration/tool-host", "integration/asynchronous"],
  ...["unit/plugins/tool-browser", "unit/engine/sampling/reproducible", "integration/one-file"],
  ...["integration/tool-recordings", "integration/unruly-plugins", "unit/control/conformance/tool-mcp"],
  ...["unit/plugins/tool-code", "unit/base/databases/given-up", "unit/control/conformance/sql-plugins"],
  ...["integration/examples", "integration/rebuilt", "unit/plugins/reward-math-sandbox"],
].map((name) => `/tests/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "apart", include: apart } },
      {
        extends: true,
        test: {
          ...{ name: "together", include, exclude: apart, isolate: false },
          setupFiles: ["tests/support/own-environment.ts"],
        },
      },
    ],
    globalSetup: [
      "tests/support/own-folders.ts",
      "tests/support/usual-ports.ts",
      "tests/support/few-threads.ts",
    ],
    // On busy cores the same test takes ten times as long: 180 s were too little for some at a load of 22.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // For two cores, since what starts servers and kills them waits much of its time: four left a seventh of them idle, six a tenth,
    // seven a fiftieth.
    maxWorkers: 7,
  },
});
