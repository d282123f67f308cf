import { expect, test } from "vitest";
import { startedAhead } from "../../../../src/work/sandbox/started-ahead.ts";

interface One {
  kind: string;
  isOver?: true;
}

/** Takes as a sandbox does, and starts its own where none is ready; says which are ready, and which were ended. */
function pool(memory = 1) {
  const [started, ended]: [One[], One[]] = [[], []];
  const ahead = startedAhead<One>({
    memory,
    isOver: (one) => one.isOver === true,
    end: (one) => void ended.push(one),
  });
  const start = async (kind: string) => {
    const one: One = { kind };
    started.push(one);
    return one;
  };
  const taken = new Set<One>();
  return {
    ahead,
    ended,
    started,
    take: async (kind: string) => {
      const one = await ahead.take(kind, () => start(kind));
      if (one === undefined) return "none";
      expect(taken.has(one), "handed out once").toBe(false);
      taken.add(one);
      return one.kind;
    },
    ready: () => started.filter((one) => !taken.has(one) && !ended.includes(one)),
  };
}

test("the second of a kind finds one ready; one that has ended is not handed out", async () => {
  const { take, ready, ended } = pool();
  expect([await take("a"), await take("a"), await take("a")]).toEqual(["none", "a", "a"]);
  const [next] = ready();
  if (next !== undefined) next.isOver = true;
  expect(await take("a")).toBe("none");
  expect(ended).toEqual([next]);
});

test("where there is room for one, another kind takes its place once it is asked for twice in a row", async () => {
  const { take, ready, started, ended } = pool(Number.MAX_SAFE_INTEGER);
  await take("a");
  for (const kind of ["b", "c", "b", "c"]) expect(await take(kind)).toBe("none");
  expect([started.length, ready()]).toEqual([1, [{ kind: "a" }]]);
  await take("c");
  expect(ready()).toEqual([{ kind: "c" }]);
  expect(ended).toEqual([{ kind: "a" }]);
  expect(await take("c")).toBe("c");
});

test("at the end what nobody took is ended, also what is still starting, and nothing is started any more", async () => {
  const { ahead, take, ended, started } = pool();
  await take("a");
  await ahead.close();
  expect(ended).toEqual(started);
  expect([await take("a"), started.length]).toEqual(["none", 1]);
});

test("one that could not be started is told to nobody: who comes next starts one, too", async () => {
  const ahead = startedAhead<One>({ memory: 1, isOver: () => false, end: () => {} });
  const failing = () => Promise.reject(new Error("no room"));
  expect(await ahead.take("a", failing)).toBeUndefined();
  expect(await ahead.take("a", failing)).toBeUndefined();
  await ahead.close();
});
