import { expect, test } from "vitest";
import {
  pooled,
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

test("a pool generates and trains; the other roles keep their workers", () => {
  const queues = pooled(prefixed("run/", sharedQueues), "gpu");
  expect(queues).toEqual({
    orchestration: "run/rollout",
    policy: "pool:gpu/policy",
    tools: "run/rollout",
    trainer: "pool:gpu/trainer",
  });
  expect(rolesBeside("orchestration", queues)).toEqual(["orchestration", "tools"]);
  expect(rolesToStart(queues, "gpu")).toEqual(["orchestration"]);
  expect(rolesToStart(pooled(separateQueues, "gpu"), "gpu")).toEqual(["orchestration", "tools"]);
});

test("a prefix keeps shared queues shared", () => {
  expect(prefixed("run/", sharedQueues)).toEqual({
    orchestration: "run/rollout",
    policy: "run/rollout",
    tools: "run/rollout",
    trainer: "run/trainer",
  });
});
