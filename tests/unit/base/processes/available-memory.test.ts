import { mkdir, writeFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  availableMemory,
  limitedMemory,
  reclaimable,
} from "../../../../src/base/processes/available-memory.ts";
import { controlGroups } from "../../../../src/base/processes/control-groups.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const mebibyte = 2 ** 20;
/** Of version 1, of itself and with the groups below it; and of version 2, as the kernels write them. */
const statistics = {
  version1: `cache 1674317824\nrss 0\ninactive_file 1\nactive_file 2\nhierarchical_memory_limit 5368709120\ntotal_cache 104857600\ntotal_rss 1088536576\ntotal_inactive_anon 1088512000\ntotal_inactive_file ${80 * mebibyte}\ntotal_active_file ${20 * mebibyte}\n`,
  version2: `anon 1088536576\nfile 104857600\nkernel 5000000\ninactive_anon 1088512000\nactive_anon 20480\ninactive_file ${70 * mebibyte}\nactive_file ${30 * mebibyte}\nunevictable 0\n`,
};
const memberships = {
  version1:
    "9:name=systemd:/\n8:pids:/\n4:cpu,memory:/kubepods/pod1/c2\n3:cpuset:/\n0::/system.slice/kubelet.service\n",
  version2: "0::/kubepods/pod1/c2\n",
};

/** As a Mac wrote it (a pull request of HMCL's, 4876). */
const vmStat = `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                                3857.
Pages active:                            446206.
Pages inactive:                          443760.
Pages speculative:                         1075.
Pages throttled:                              0.
Pages wired down:                        181483.
Pages purgeable:                          17340.
"Translation faults":                8667427138.
Pages copy-on-write:                  156847509.
File-backed pages:                       294894.
Anonymous pages:                         596147.
Pages stored in compressor:             1943619.
Pages occupied by compressor:            442179.
`;

/** The control groups that such files tell of. */
async function told(files: Record<string, string>) {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return controlGroups({ self: join(folder, "self"), groups: join(folder, "groups") });
}

const [limit, left] = [300 * mebibyte, 40 * mebibyte];

describe("what a process in a container could come to hold", () => {
  test.each([
    [
      "version 1",
      { self: memberships.version1, "groups/memory/kubepods/pod1/c2/memory.stat": statistics.version1 },
    ],
    [
      "version 1, seen from inside",
      { self: memberships.version1, "groups/memory/memory.stat": statistics.version1 },
    ],
    ["version 2", { self: memberships.version2, "groups/kubepods/pod1/c2/memory.stat": statistics.version2 }],
    ["version 2, seen from inside", { self: "0::/\n", "groups/memory.stat": statistics.version2 }],
  ])("counts pages of files as available (control groups of %s)", async (_, files) => {
    expect(availableMemory(await told(files), limit, left)).toBe(140 * mebibyte);
  });

  test("is what its limit leaves where nothing is told of files", async () => {
    expect(availableMemory(await told({}), limit, left)).toBe(left);
    expect(availableMemory(await told({ self: memberships.version2 }), limit, left)).toBe(left);
  });

  test("is never more than its limit", async () => {
    const files = { self: "0::/\n", "groups/memory.stat": statistics.version2 };
    expect(availableMemory(await told(files), 120 * mebibyte, left)).toBe(120 * mebibyte);
  });

  test("is what the machine has where nothing limits it", async () => {
    const files = await told({ self: "0::/\n", "groups/memory.stat": statistics.version2 });
    for (const none of [0, totalmem(), 2 ** 63]) expect(availableMemory(files, none, left)).toBe(left);
  });

  test.each([
    [
      "version 1",
      {
        self: memberships.version1,
        "groups/memory/kubepods/pod1/c2/memory.stat": statistics.version1,
        "groups/memory/kubepods/pod1/memory.stat": statistics.version1,
        "groups/memory/kubepods/pod1/memory.limit_in_bytes": `${200 * mebibyte}\n`,
        "groups/memory/kubepods/pod1/memory.usage_in_bytes": `${180 * mebibyte}\n`,
        "groups/memory/memory.stat": statistics.version1,
        "groups/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "groups/memory/memory.usage_in_bytes": `${180 * mebibyte}\n`,
      },
    ],
    [
      "version 2",
      {
        self: memberships.version2,
        "groups/kubepods/pod1/c2/memory.stat": statistics.version2,
        "groups/kubepods/pod1/c2/memory.max": "max\n",
        "groups/kubepods/pod1/memory.stat": statistics.version2,
        "groups/kubepods/pod1/memory.max": `${400 * mebibyte}\n`,
        "groups/kubepods/pod1/memory.high": `${200 * mebibyte}\n`,
        "groups/kubepods/pod1/memory.current": `${180 * mebibyte}\n`,
        "groups/kubepods/memory.stat": statistics.version2,
        "groups/kubepods/memory.max": "max\n",
        "groups/kubepods/memory.high": "max\n",
        "groups/kubepods/memory.current": `${180 * mebibyte}\n`,
      },
    ],
  ])("is what a group around its own leaves, whether it has a limit itself or not (%s)", async (_, files) => {
    const groups = await told(files);
    for (const own of [0, 300 * mebibyte]) {
      expect(availableMemory(groups, own, 150 * mebibyte)).toBe(120 * mebibyte);
      expect(availableMemory(groups, own, 0)).toBe(own === 0 ? 0 : 100 * mebibyte);
      expect(limitedMemory(groups, own, 1000 * mebibyte)).toBe(200 * mebibyte);
    }
    expect(limitedMemory(groups, 150 * mebibyte, 1000 * mebibyte)).toBe(150 * mebibyte);
    expect(limitedMemory(groups, 0, 100 * mebibyte)).toBe(100 * mebibyte);
  });

  test("is on macOS what its vm_stat says can be had, where Node counts free pages alone", () => {
    const pages = (3857 + 1075 + 443_760 + 17_340) * 16_384;
    expect(reclaimable(vmStat)).toBe(pages);
    expect(reclaimable("")).toBe(0);
  });

  test("is some of this machine's memory, and not more than is free", () => {
    expect(availableMemory()).toBeGreaterThan(mebibyte);
    expect(availableMemory()).toBeLessThanOrEqual(1.2 * freemem());
  });
});
