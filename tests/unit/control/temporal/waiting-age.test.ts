import { expect, test } from "vitest";
import { waitingAge } from "../../../../src/control/temporal/waiting-age.ts";

const wanted = { least: 24, most: 1000 };

/** The age that is found of workflows of these ages, how many have reached it, and how many questions it took. */
async function found(ages: number[]): Promise<{ age: number; listed: number; asked: number }> {
  let asked = 0;
  const older = (age: number) => ages.filter((one) => one > age).length;
  const count = async (age: number) => {
    asked += 1;
    return older(age);
  };
  const foundAge = await waitingAge(count, wanted, 2000);
  return { age: foundAge, listed: older(foundAge), asked };
}

test("few are listed at once", async () => {
  const ages = Array.from({ length: 900 }, (_, index) => 10 * index);
  expect(await found(ages)).toMatchObject({ age: 2000, asked: 1 });
});

test("of 10,000 that have begun one after the other the oldest are listed, and only these", async () => {
  const { listed, asked } = await found(Array.from({ length: 10_000 }, (_, index) => 30 * index));
  expect(listed).toBeGreaterThanOrEqual(24);
  expect(listed).toBeLessThanOrEqual(1000);
  expect(asked).toBeLessThan(25);
});

test("of 10,000 that have begun within a minute of an hour, too", async () => {
  const { listed, asked } = await found(Array.from({ length: 10_000 }, (_, index) => 3_600_000 + 6 * index));
  expect(listed).toBeGreaterThanOrEqual(24);
  expect(listed).toBeLessThanOrEqual(1000);
  expect(asked).toBeLessThan(30);
});

test("of 10,000 that have begun at once any may be listed", async () => {
  const { age, asked } = await found(Array.from({ length: 10_000 }, () => 5000));
  expect(age).toBeLessThan(5000);
  expect(asked).toBeLessThan(20);
});
