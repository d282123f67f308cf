import { expect, test } from "vitest";
import { calmName } from "../../chaos/calm-run.ts";
import { type Scenario, scenarios } from "../../chaos/scenarios.ts";

function named(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  return scenario;
}

test("a scenario is compared with an undisturbed run of its own pipeline", () => {
  expect(named("sandboxes").settings).toEqual(named("separate").settings);
  expect(calmName(named("sandboxes"), 1, 2)).not.toBe(calmName(named("separate"), 1, 2));
});

test("scenarios share an undisturbed run if only settings differ that no result depends on", () => {
  const shared = ["separate", "two workers", "default layout", "approvals", "upgrade"];
  expect(new Set(shared.map((name) => calmName(named(name), 1, 2))).size).toBe(1);
});

test("seed, steps and settings each need an undisturbed run of their own", () => {
  const names = [
    calmName(named("separate"), 1, 2),
    calmName(named("separate"), 2, 2),
    calmName(named("separate"), 1, 3),
    calmName(named("limits"), 1, 2),
    calmName(named("large step"), 1, 2),
  ];
  expect(new Set(names).size).toBe(names.length);
});
