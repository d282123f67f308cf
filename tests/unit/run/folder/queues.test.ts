import { expect, test } from "vitest";
import {
  prefixed,
  rolesBeside,
  rolesToStart,
  separateQueues,
  sharedQueues,
} from "../../../../src/run/folder/queues.ts";

test("roles that share a queue share a worker; each queue has one", () => {
  expect(rolesToStart(sharedQueues)).toEqual(["orchestration", "trainer"]);
  expect(rolesBeside("policy", sharedQueues)).toEqual(["orchestration", "policy", "tools"]);
  expect(rolesToStart(separateQueues)).toEqual(["orchestration", "policy", "tools", "trainer"]);
  expect(rolesBeside("policy", separateQueues)).toEqual(["policy"]);
});

test("a prefix keeps shared queues shared", () => {
  expect(prefixed("run/", sharedQueues)).toEqual({
    orchestration: "run/rollout",
    policy: "run/rollout",
    tools: "run/rollout",
    trainer: "run/trainer",
  });
});
