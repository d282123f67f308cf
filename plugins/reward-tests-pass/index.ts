import type { RewardPlugin } from "everturn/plugin";
import { sharedSandbox } from "everturn/sandbox";
import { filesOf } from "./files.ts";
import { judgeCommands } from "./judge-commands.ts";
import { judgeTests } from "./judge-tests.ts";
import { testsOf } from "./task-tests.ts";

/**
 * Runs the task's tests on the final files of the trajectory's workspace. The reward is the share of tests to
 * fix that now pass, times the share of tests to keep that still pass. If the tests can't be run, the score
 * is missing.
 */
const testsPass: RewardPlugin = {
  async score({ task, config, snapshots = {}, signal }) {
    const tests = testsOf(task.reward_model.ground_truth);
    if ("missing" in tests) return tests;
    const snapshot = snapshots[String(config.tool)];
    if (snapshot === undefined) return { reward: 0, success: false, metrics: { passed: 0, kept: 0 } }; // the tool was never called
    const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
    if (sandbox.kind !== "bubblewrap")
      return { missing: `tests of a workspace need bubblewrap, and the sandbox is ${sandbox.kind}` };
    const files = filesOf(snapshot);
    const limits = {
      time: Number(config.time),
      total: Number(config.total),
      memory: Number(config.memory),
    };
    const began = performance.now();
    const verdict =
      tests.tests.length === 0
        ? { failToPass: [], passToPass: [] }
        : await judgeTests(sandbox, files, tests, limits, signal);
    if ("missing" in verdict) return verdict;
    const left = { ...limits, total: limits.total - (performance.now() - began) / 1000 };
    const commands = await judgeCommands(sandbox, files, tests, left, signal);
    const passed = share([...verdict.failToPass, ...commands]);
    const kept = share(verdict.passToPass);
    const success = passed === 1 && kept === 1;
    return {
      reward: config.credit === "all" ? Number(success) : passed * kept,
      success,
      metrics: { passed, kept },
    };
  },
};

export default testsPass;

/** The share of passed tests. 1 if there are none. */
function share(passed: boolean[]): number {
  return passed.length === 0 ? 1 : passed.filter((one) => one).length / passed.length;
}
