import { expect, test, vi } from "vitest";
import { keyOf } from "../../../../src/run/store/key.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { recordedOnce } from "../../../../src/run/trajectory/journal.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const store = openRunStore(temporaryFolder());

test("work whose result was recorded is not done again", async () => {
  const key = keyOf<{ number: number }>("step-0001", "task-00000", "0", "turn-1");
  let done = 0;
  const work = async () => ({ number: ++done });
  expect(await recordedOnce(store, key, work)).toEqual({ number: 1 });
  expect(await recordedOnce(store, key, work)).toEqual({ number: 1 });
  expect(done).toBe(1);
});

test("of two attempts that race the first to finish wins, and both return its result", async () => {
  const key = keyOf<string>("race");
  let finishLate = (_: string) => {};
  const late = recordedOnce(store, key, () => new Promise<string>((resolve) => (finishLate = resolve)));
  expect(await recordedOnce(store, key, async () => "early")).toBe("early");
  finishLate("late");
  expect(await late).toBe("early");
});

test("work that fails records nothing, so that it can be tried again", async () => {
  const key = keyOf<string>("failing");
  const failing = recordedOnce(store, key, async () => {
    throw new Error("the host is down");
  });
  await expect(failing).rejects.toThrow("the host is down");
  expect(await store.read(key)).toBeUndefined();
  expect(await recordedOnce(store, key, async () => "now")).toBe("now");
});

test("work that looks again after a wait is not done if another attempt recorded it meanwhile", async () => {
  const key = keyOf<string>("waited");
  let hadToWait = () => {};
  const waiting = new Promise<void>((resolve) => (hadToWait = resolve));
  let done = 0;
  const late = recordedOnce(store, key, async (lookAgain) => {
    await waiting;
    await lookAgain();
    return `late ${++done}`;
  });
  await recordedOnce(store, key, async (lookAgain) => {
    await lookAgain();
    return "early";
  });
  hadToWait();
  expect(await late).toBe("early");
  expect(done).toBe(0);
});

test("work is not done after a slow look if another attempt recorded it before the answer was used", async () => {
  const key = keyOf<string>("stopped");
  const clock = vi.spyOn(performance, "now");
  let looks = 0;
  const stopped: typeof store = Object.create(store, {
    read: {
      value: async (asked: typeof key) => {
        const answer = await store.read(asked);
        if (++looks !== 2) return answer;
        await recordedOnce(store, key, async () => "early");
        clock.mockReturnValue(performance.now() + 15_000); // the process was stopped before it used the answer
        return answer;
      },
    },
  });
  let done = 0;
  const late = await recordedOnce(stopped, key, async (lookAgain) => {
    await lookAgain();
    return `late ${++done}`;
  });
  clock.mockRestore();
  expect(late).toBe("early");
  expect(done).toBe(0);
});
