import type { RewardPlugin } from "everturn/plugin";
import { sharedSandbox } from "everturn/sandbox";
import { codeOf } from "./code-of.ts";
import { judgeFunctions } from "./judge-functions.ts";
import { judgePrograms } from "./judge-programs.ts";
import { testsOf } from "./task-tests.ts";

/**
 * Rewards the share of the task's tests that the answer's code passes. If the tests can't be run, the score
 * is missing.
 */
const codeTests: RewardPlugin = {
  async score({ answer, task, config, signal }) {
    const tests = testsOf(task.reward_model.ground_truth);
    if ("missing" in tests) return tests;
    const code = codeOf(answer, config.extract, tests.kind === "programs" ? tests.language : "python");
    if (code.trim() === "") return { reward: 0, success: false, metrics: { passed: 0 } };
    const sandbox = await sharedSandbox(config.sandbox, { modules: import.meta.url });
    const limits = {
      time: Number(config.time),
      total: Number(config.total),
      memory: Number(config.memory),
    };
    const verdict = await (tests.kind === "functions"
      ? judgeFunctions(sandbox, code, tests, limits, signal)
      : judgePrograms(sandbox, code, tests, limits, signal));
    if ("missing" in verdict) return verdict;
    const passed = verdict.passed / verdict.tests;
    const success = verdict.passed === verdict.tests;
    return { reward: config.credit === "all" ? Number(success) : passed, success, metrics: { passed } };
  },
};

export default codeTests;
