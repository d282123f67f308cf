import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { collected } from "../../../../src/base/async/collected.ts";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { newAttempt } from "../../../../src/base/files/temporary-name.ts";
import type { Backend } from "../../../../src/run/store/backend.ts";
import { type Key, keyOf, type Prefix, prefixOf, treeKeyOf } from "../../../../src/run/store/key.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import type { Corrupt, Store } from "../../../../src/run/store/store.ts";
import type { Behaviour } from "../../../support/object-server.ts";
import { spoilObject, startObjects } from "../../../support/object-store.ts";
import { type BackendPlace, openBackend } from "../../../support/open-backend.ts";
import { spoilS3 } from "../../../support/s3-server.ts";
import type { WriterOrder } from "../../../support/store-writer.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

/** A store of a test's own. */
interface Fresh {
  place: BackendPlace;
  backend: Backend;
  store: Store;
  /** What the store told of. */
  told: string[];
  /** Another process's view of it. */
  reopened(): Store;
  /** Writes over an object. */
  spoil(path: string, content: string): Promise<void>;
}

const kinds = {
  folder: async (): Promise<BackendPlace> => ({ root: mkdtempSync(join(folder, "store-")) }),
  objects: (behaviour: Partial<Behaviour>): Promise<BackendPlace> => startObjects(folder, behaviour),
  /** On the server in the environment, in its bucket `runs`. */
  s3: async (): Promise<BackendPlace> => ({ address: `s3://runs/${randomUUID()}` }),
};

const writer = join(import.meta.dirname, "..", "..", "..", "support", "store-writer.ts");

/** Has a process of its own do it; undefined if it was killed. */
async function elsewhere<Result>(order: WriterOrder): Promise<Result | undefined> {
  const child = spawn(process.execPath, [writer, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
  const [code, signal] = await once(child, "close");
  if (signal === "SIGKILL") return undefined;
  expect(code).toBe(0);
  return JSON.parse(text);
}

/** What can't be read below a place. */
async function corruptIn(store: Store, prefix: Prefix): Promise<Corrupt[]> {
  return (await collected(store.scan(prefix))).flatMap(({ corrupt }) => corrupt);
}

async function listed(store: Store, ...names: string[]): Promise<string[]> {
  const all: string[] = [];
  for (let after: string | undefined; ; ) {
    const { paths, next } = await store.list(prefixOf(...names), after);
    all.push(...paths);
    if (next === undefined) return all;
    after = next;
  }
}

/** Describes the promises of a store over files of a folder, over objects that a test serves, or on a server. */
export function describeStore(kind: keyof typeof kinds): void {
  describe(`the store over ${kind}`, () => {
    async function fresh(behaviour: Partial<Behaviour> = {}): Promise<Fresh> {
      const place = await kinds[kind](behaviour);
      const backend = openBackend(place);
      const told: string[] = [];
      return {
        place,
        backend,
        told,
        store: openStore(backend, (path) => told.push(path)),
        reopened: () => openStore(openBackend(place), () => {}),
        spoil: async (path, content) => {
          if ("port" in place) return spoilObject(place.port, path, content);
          if ("address" in place) return spoilS3(place.address, path, content);
          mkdirSync(dirname(join(place.root, path)), { recursive: true });
          writeFileSync(join(place.root, path), content);
        },
      };
    }

    const files = (policy: string, state: string) => async (local: string) => {
      mkdirSync(join(local, "policy"));
      writeFileSync(join(local, "policy", "weights"), policy);
      writeFileSync(join(local, "state"), state);
    };
    const weights = (store: Store, key: ReturnType<typeof treeKeyOf<string>>, attempt: Tree) =>
      store.inFolder(key, attempt, "policy", async (local) => readFileSync(join(local, "weights"), "utf8"));
    type Tree = Parameters<Store["inFolder"]>[1];

    test("the first record stands, whoever comes after it, and reads back number by number", async () => {
      const { store, reopened } = await fresh();
      const key = keyOf<{ value: unknown }>("steps", 3);
      expect(await store.read(key)).toBeUndefined();
      const first = { value: [0.1 + 0.2, -1e-300, "é 🙂 \ud800", null, { "": true }] };
      expect(await store.record(key, first)).toBe(first);
      expect(await store.record(key, { value: "late" }, { flush: true })).toEqual(first);
      expect(await reopened().read(key)).toEqual(first);
    });

    test("of many writers in many processes one wins each record, and all return what it wrote", async () => {
      const { place, store } = await fresh({ failures: 0.3 });
      const count = 30;
      const here = Array.from({ length: 5 }, (_, name) =>
        Promise.all(
          Array.from({ length: count }, (_record, number) =>
            store.record(keyOf<string>("race", number), `here ${name} ${number}`),
          ),
        ),
      );
      const there = ["a", "b", "c"].map((name) => elsewhere<string[]>({ place, name, does: "race", count }));
      const results = await Promise.all([...here, ...there]);
      for (let number = 0; number < count; number++) {
        const standing = await store.read(keyOf<string>("race", number));
        expect(standing).toMatch(new RegExp(` ${number}$`));
        expect(new Set(results.map((result) => result?.[number]))).toEqual(new Set([standing]));
      }
    });

    test("names with any characters, and long ones, are places of their own, and stay in the store", async () => {
      const { store, backend } = await fresh({ failures: 0 });
      const odd = [
        "..",
        ".",
        "",
        "a/b",
        "a",
        "A",
        "a.json",
        "é",
        "e\u0301",
        "%2e%2e",
        "~1",
        "a~1",
        "con",
        "\0",
        "\\",
        " ",
      ];
      const names = [...odd, "x".repeat(3000), `${"x".repeat(3000)}y`, "?a=b#c", "*", "tmp", "writing"];
      for (const name of names) await store.record(keyOf<string>("odd", name), name);
      for (const name of names) await store.record(keyOf<string>("odd", name, "below"), `below ${name}`);
      for (const name of names) {
        expect(await store.read(keyOf<string>("odd", name))).toBe(name);
        expect(await store.read(keyOf<string>("odd", name, "below"))).toBe(`below ${name}`);
      }
      await sleep(200);
      const paths = await listed(store, "odd");
      expect(new Set(paths).size).toBe(2 * names.length);
      expect(Math.max(...paths.map((path) => path.length))).toBeLessThan(300);
      expect((await backend.page("")).paths.every((path) => path.startsWith("odd/"))).toBe(true);
    });

    test("what was cut or changed counts as absent, is told, is replaced once, and is listed", async () => {
      const { store, told, reopened, spoil } = await fresh();
      const key = keyOf<string>("turns", 1);
      for (const [index, content] of [
        '{"sha256":"',
        "",
        "\0\0\0\0",
        `{"sha256":"${"0".repeat(64)}","value":"changed"}\n`,
      ].entries()) {
        await store.record(key, `made ${index}`);
        const path = index === 0 ? key.path : key.path.replace(".json", `~${index}.json`);
        await spoil(path, content);
        expect(await reopened().read(key), content).toBeUndefined();
        expect(await store.read(key)).toBeUndefined();
        expect(told.at(-1)).toBe(path);
      }
      const racing = ["a", "b", "c"].map((name) => reopened().record(key, name));
      const standing = new Set(await Promise.all(racing));
      expect(standing.size).toBe(1);
      expect(await store.read(key)).toBe([...standing][0]);
      await sleep(200);
      expect(await listed(store, "turns")).toEqual([key.path]);
      const corrupt = await corruptIn(store, prefixOf("turns"));
      expect(corrupt).toHaveLength(4);
      expect(corrupt.every(({ isReplaced, reason }) => isReplaced && reason !== "")).toBe(true);
      await store.remove(key);
      expect(await store.read(key)).toBeUndefined();
      await sleep(200);
      expect(await listed(store, "turns")).toEqual([]);
    });

    test("a late writer that found the same broken record removes nothing of the one that replaced it", async () => {
      const { store, reopened, spoil, backend } = await fresh({ failures: 0 });
      const key = keyOf<string>("calls", 1);
      await store.record(key, "first");
      await spoil(key.path, "garbage");
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      let puts = 0;
      const slow = openStore(
        {
          ...backend,
          put: async (...put) => {
            if (puts++ > 0) await held; // it has found the broken one by then
            return backend.put(...put);
          },
          remove: async (path) => held.then(() => backend.remove(path)),
        },
        () => {},
      );
      const late = slow.record(key, "late");
      await sleep(100);
      expect(await reopened().record(key, "second")).toBe("second");
      release();
      expect(await late).toBe("second");
      expect(await store.read(key)).toBe("second");
    });

    test("bytes have the name of their content, are checked against it, and are kept again when they broke", async () => {
      const { store, reopened, told, spoil } = await fresh();
      const content = Buffer.alloc(5_000_000, "0123456789");
      const sha256 = await store.bytes(content);
      expect(await reopened().bytes(content)).toBe(sha256);
      expect(Buffer.compare((await store.readBytes(sha256)) ?? Buffer.of(), content)).toBe(0);
      expect(await store.readBytes("0".repeat(64))).toBeUndefined();
      await spoil(`bytes/${sha256.slice(0, 2)}/${sha256}.bin`, "torn");
      expect(await store.readBytes(sha256)).toBeUndefined();
      expect(told).toHaveLength(1);
      expect(await store.bytes(content)).toBe(sha256);
      expect((await reopened().readBytes(sha256))?.length).toBe(content.length);
      await sleep(200);
      expect(await corruptIn(store, prefixOf())).toMatchObject([{ isReplaced: true }]);
    });

    test("a big record comes back whole", async () => {
      const { store, reopened } = await fresh();
      const key = keyOf<number[]>("big");
      const value = Array.from({ length: 300_000 }, (_, index) => index / 7);
      await store.record(key, value);
      expect(await reopened().read(key)).toEqual(value);
    });

    test("a listing has every path once and in order, part by part, and nothing of other places", async () => {
      const { store } = await fresh({ latency: 0, failures: 0.02 });
      const count = { folder: 2300, objects: 120, s3: 1100 }[kind];
      const keys: Key<number>[] = [];
      for (let number = 0; number < count; number++) {
        keys.push(keyOf("stage", `task-${number % 7}`, number), keyOf("stage-2", number));
      }
      for (let at = 0; at < keys.length; at += 40) {
        await Promise.all(keys.slice(at, at + 40).map((key, index) => store.record(key, index)));
      }
      await sleep(200);
      const expected = keys.map(({ path }) => path).filter((path) => path.startsWith("stage/"));
      expect(await listed(store, "stage")).toEqual(expected.sort());
      expect((await store.list(prefixOf("stage"))).paths.length).toBeLessThan(count);
      expect(await listed(store, "nowhere")).toEqual([]);
      const all = await listed(store);
      expect(kind === "s3" ? all.sort() : all).toEqual(keys.map(({ path }) => path).sort()); // SeaweedFS sorts each folder
    });

    test("what was put can be read at once, however late listings are, and what was removed is gone", async () => {
      const { store, reopened } = await fresh({ lag: 60_000 });
      const key = keyOf<string>("fresh", "record");
      await store.record(key, "here");
      expect(await reopened().read(key)).toBe("here");
      await store.remove(key);
      expect(await reopened().read(key)).toBeUndefined();
      await store.remove(key);
      expect(await store.record(key, "again")).toBe("again");
    });

    test("of attempts at a tree one commits, whole; the others return its record and leave no file", async () => {
      const { store, reopened, backend } = await fresh();
      const key = treeKeyOf<string>("steps", 1);
      const attempts = await Promise.all(
        ["a", "b", "c"].map((name) => reopened().tree(key, files(name, name), () => name)),
      );
      expect(new Set(attempts.map(({ attempt }) => attempt)).size).toBe(1);
      const standing = await store.readTree(key);
      expect(standing).toEqual(attempts[0]);
      expect(standing?.files["policy/weights"]).toMatchObject({ size: 1 });
      expect(await weights(store, key, attempts[0]!)).toEqual({ result: standing?.value });
      await sleep(200);
      expect((await backend.page("steps/")).paths).toHaveLength(3);
    });

    test("a put that took effect although it failed is the writer's own, a record's and a tree's", async () => {
      const { store, backend } = await fresh({ failures: 0 });
      const failed = new Set<string>();
      const unlucky: Backend = {
        ...backend,
        put: async (path, ...rest) => {
          const isFirst = await backend.put(path, ...rest);
          if (failed.has(path)) return isFirst;
          failed.add(path);
          throw new EverturnError("STORE_NOT_WRITABLE", { file: path, reason: "the answer was lost" });
        },
      };
      const value = { turn: 1 };
      expect(await openStore(unlucky, () => {}).record(keyOf("turn"), value)).toBe(value);
      const key = treeKeyOf<string>("steps", 1);
      const tree = await openStore(unlucky, () => {}).tree(key, files("weights", "state"), () => "own");
      expect(failed).toEqual(new Set(["turn.json", "steps/1.json"]));
      expect(await store.readTree(key)).toEqual(tree);
      expect(await weights(store, key, tree)).toEqual({ result: "weights" });
    });

    test("a put that lands late, after it was given up or after another's, changes nothing that stands", async () => {
      const { store, backend } = await fresh({ failures: 0, latency: 0 });
      const landed: Promise<boolean>[] = [];
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      const late: Backend = {
        ...backend,
        put: async (path, ...rest) => {
          if (landed.length > 1) return backend.put(path, ...rest);
          landed.push(held.then(() => backend.put(path, ...rest)));
          throw new EverturnError("STORE_NOT_WRITABLE", { file: path, reason: "no answer" });
        },
      };
      const [own, raced] = [keyOf<string>("own"), keyOf<string>("raced")];
      const putting = [own, raced].map((key) => openStore(late, () => {}).record(key, "late"));
      await store.record(raced, "first");
      release();
      expect((await Promise.all(landed))[1]).toBe(false);
      expect(await Promise.all(putting)).toEqual(["late", "first"]);
      expect([await store.read(own), await store.read(raced)]).toEqual(["late", "first"]);
    });

    test("a record whose place is taken waits for the answer to what is there, as for its own", async () => {
      const { store, backend } = await fresh({ failures: 0 });
      const key = keyOf<string>("taken");
      await store.record(key, "first");
      let failures = 2;
      const down: Backend = {
        ...backend,
        get: async (path) => {
          if (failures-- > 0) throw new EverturnError("STORE_NOT_WRITABLE", { file: path, reason: "503" });
          return backend.get(path);
        },
      };
      expect(await openStore(down, () => {}).record(key, "second")).toBe("first");
      failures = Number.POSITIVE_INFINITY;
      const impatient = openStore(down, () => {}).record(key, "second", { waits: false });
      await expect(impatient).rejects.toMatchObject({ code: "STORE_NOT_WRITABLE" });
    });

    test("what has no bytes is kept as such: bytes, and a tree's file", async () => {
      const { store, reopened } = await fresh();
      const sha256 = await store.bytes(new Uint8Array());
      expect((await reopened().readBytes(sha256))?.length).toBe(0);
      const key = treeKeyOf<string>("steps", 1);
      const tree = await store.tree(key, files("", ""), () => "empty");
      expect(await reopened().readTree(key)).toEqual(tree);
      expect(await weights(reopened(), key, tree)).toEqual({ result: "" });
      await sleep(200);
      expect(await corruptIn(store, prefixOf())).toEqual([]);
    });

    test("an attempt that fails leaves nothing, and the next one is not in its way", async () => {
      const { store, backend } = await fresh({ failures: 0 });
      const key = treeKeyOf<string>("steps", 1);
      const failing = store.tree(
        key,
        async (local) => {
          await files("half", "half")(local);
          throw new Error("the loss is not finite");
        },
        () => "half",
      );
      await expect(failing).rejects.toThrow("the loss is not finite");
      await sleep(200);
      expect((await backend.page("")).paths).toEqual([]);
      const tree = await store.tree(key, files("whole", "whole"), () => "whole");
      expect(await weights(store, key, tree)).toEqual({ result: "whole" });
    });

    test("killed before any operation, an attempt left a whole tree or none, and a sweep takes the rest", async () => {
      const { place, store, backend } = await fresh({ failures: 0, latency: 10, lag: 0 });
      let outcome = "";
      for (let first = 1, isDone = false; !isDone; first += 4) {
        const calls = [first, first + 1, first + 2, first + 3];
        const nameOf = (call: number) => `killed-${call}`;
        const done = await Promise.all(
          calls.map((killAt) => elsewhere<object>({ place, name: nameOf(killAt), does: "tree", killAt })),
        );
        isDone = done.some((tree) => tree !== undefined);
        const keys = calls.map((call) => treeKeyOf<string>("trees", nameOf(call)));
        const standing = await Promise.all(keys.map((key) => store.readTree(key)));
        await store.sweep(prefixOf("trees"));
        for (const [index, key] of keys.entries()) {
          outcome += standing[index] === undefined ? "-" : "+";
          const left = (await backend.page(`${key.tree}/`)).paths;
          expect(left).toHaveLength(standing[index] === undefined ? 0 : 2);
          const tree = await store.tree(key, files("again", "again"), () => "again");
          expect(tree.value).toBe(standing[index] === undefined ? "again" : nameOf(calls[index] ?? 0));
          expect(await weights(store, key, tree)).toEqual({ result: tree.value });
        }
      }
      expect(outcome, "was killed before its commit, and after it").toMatch(
        kind === "folder" ? /^-{5,}\++$/ : /^-+\++$/,
      );
      expect((await store.sweep(prefixOf("trees"))).trees).toBe(0);
    });

    test("a sweep leaves an attempt of a living process alone, and all where a record can't be read", async () => {
      const { store, backend, spoil } = await fresh({ failures: 0, lag: 0 });
      const key = treeKeyOf<string>("steps", 1);
      let swept: unknown;
      const tree = await store.tree(
        key,
        async (local) => {
          await files("mine", "mine")(local);
          swept = await store.sweep(prefixOf("steps"));
        },
        () => "mine",
      );
      expect(swept).toEqual({ objects: 0, trees: 0 });
      await spoil(`steps/1/${newAttempt()}/state`, "a late one, still writing");
      expect(await store.sweep(prefixOf("steps"))).toEqual({ objects: 0, trees: 0 });
      const dead = tree.attempt.replace(/\.\d+\./, ".4194000."); // no such process
      await spoil(`steps/1/${dead}/state`, "left");
      await spoil("steps/1.json", "garbage");
      expect(await store.sweep(prefixOf("steps"))).toEqual({ objects: 0, trees: 0 });
      expect((await backend.page("steps/1/")).paths).toHaveLength(4);
    });

    test("a sweep leaves the tree that replaced a broken one, also when its writer has ended", async () => {
      const { place, store, spoil } = await fresh({ failures: 0, lag: 0 });
      const key = treeKeyOf<string>("trees", "a");
      const first = await store.tree(key, files("weights", "state"), () => "first");
      await spoil(`trees/a/${first.attempt}/state`, "cut");
      await elsewhere({ place, name: "a", does: "tree", killAt: Number.POSITIVE_INFINITY });
      const second = await store.readTree(key);
      expect(second?.value).toBe("a");
      expect((await store.sweep(prefixOf("trees"))).trees).toBe(0);
      expect(await store.readTree(key)).toEqual(second);
    });

    test("a tree with a file that is gone or cut counts as absent and is made again", async () => {
      const { store, reopened, told, spoil } = await fresh({ failures: 0 });
      const key = treeKeyOf<string>("steps", 1);
      const first = await store.tree(key, files("weights", "state"), () => "first");
      await spoil(`steps/1/${first.attempt}/policy/weights`, "wei");
      expect(await store.readTree(key)).toBeUndefined();
      expect(told).toEqual(["steps/1.json"]);
      const second = await reopened().tree(key, files("weights", "state"), () => "second");
      expect(second.value).toBe("second");
      expect(await store.readTree(key)).toEqual(second);
      expect(await weights(store, key, second)).toEqual({ result: "weights" });
      await sleep(200);
      expect(await corruptIn(store, prefixOf("steps"))).toMatchObject([
        { path: `steps/1/${first.attempt}/policy/weights`, isReplaced: true },
      ]);
    });

    test("a file that changed at its size is listed", async () => {
      const { store, spoil } = await fresh({ failures: 0, lag: 0 });
      const key = treeKeyOf<string>("steps", 1);
      const { attempt } = await store.tree(key, files("weights", "state"), () => "first");
      await spoil(`steps/1/${attempt}/state`, "stete");
      expect(await corruptIn(store, prefixOf())).toMatchObject([
        { path: `steps/1/${attempt}/state`, isReplaced: false },
      ]);
    });

    test("a part that was freed is gone for good, and its tree stands", async () => {
      const { store, reopened, backend } = await fresh({ lag: 0 });
      const key = treeKeyOf<string>("steps", 1);
      const tree = await store.tree(key, files("weights", "state"), () => "first");
      await store.free(key, "policy");
      expect(await weights(store, key, tree)).toBeUndefined();
      expect(await reopened().readTree(key)).toEqual(tree);
      expect(await reopened().tree(key, files("other", "other"), () => "late")).toEqual(tree);
      const rest = await store.inFolder(key, tree, "", async (local) =>
        readFileSync(join(local, "state"), "utf8"),
      );
      expect(rest).toEqual({ result: "state" });
      expect((await backend.page("steps/1/")).paths.filter((path) => path.includes("policy/"))).toEqual([]);
      expect(await corruptIn(store, prefixOf())).toEqual([]);
      await store.free(key, "policy");
    });

    test("trees that are worked on stay whole while many others are read", async () => {
      const { store } = await fresh({ latency: 0, failures: 0.05 });
      const trees = await Promise.all(
        Array.from({ length: 6 }, async (_, number) => {
          const key = treeKeyOf<string>("versions", number);
          return { key, tree: await store.tree(key, files(String(number).repeat(40_000), ""), () => "") };
        }),
      );
      const read = await Promise.all(
        [...trees, ...trees].map(({ key, tree }) =>
          store.inFolder(key, tree, "policy", async (local) => {
            await sleep(30);
            return readFileSync(join(local, "weights"), "utf8");
          }),
        ),
      );
      expect(read.map((found) => found?.result)).toEqual(
        [...trees, ...trees].map((_, index) => String(index % 6).repeat(40_000)),
      );
    });
  });
}
