import { expect, test } from "vitest";
import { forgetTunables, samplingEnvironment, trainingEnvironment } from "../../../src/onnx/allocator.ts";

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
