import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  forgetTunables,
  samplingEnvironment,
  trainingEnvironment,
} from "../../../../src/engine/onnx/allocator.ts";

test.each([
  ["training", trainingEnvironment, "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=600000"],
  ["sampling", samplingEnvironment, "glibc.malloc.mmap_threshold=600000"],
])(
  "a process for %s gets its allocator's settings before those that it has, and hands on the latter alone",
  (_, environmentOf, own) => {
    const given = { PATH: "/bin", GLIBC_TUNABLES: "glibc.malloc.check=1" };
    const [plain, tuned] = [environmentOf({ PATH: "/bin" }), environmentOf(given)];
    expect(plain).toEqual({ PATH: "/bin", GLIBC_TUNABLES: own });
    expect(tuned).toEqual({ PATH: "/bin", GLIBC_TUNABLES: `${own}:glibc.malloc.check=1` });
    forgetTunables(plain);
    forgetTunables(tuned);
    expect(plain).toEqual({ PATH: "/bin" });
    expect(tuned).toEqual(given);
  },
);

test.skipIf(process.platform !== "linux")(
  "a process that is no worker, too, gives large arrays memory of their own once it can call the runtime",
  async () => {
    const script = join(import.meta.dirname, "../../../support/heap-growth.ts");
    const { GLIBC_TUNABLES: _, ...env } = process.env;
    const measure = async (how: string) => {
      const { stdout } = await promisify(execFile)(process.execPath, [script, how], { env });
      return JSON.parse(stdout);
    };
    const [alone, ours] = [await measure("alone"), await measure("ours")];
    expect(alone.grown, "what glibc does by itself").toBeGreaterThan(2 ** 24);
    expect(ours).toEqual({ grown: expect.any(Number), zeros: true });
    expect(ours.grown).toBeLessThan(2 ** 24);
  },
);
