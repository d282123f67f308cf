import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Containers, openContainers } from "everturn/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { reap } from "../../../../src/work/sandbox/containers/leases.ts";
import { containerClaims } from "../../../support/container-claims.ts";
import { engineImage } from "../../../support/engine-image.ts";

for (const kind of ["podman", "docker"] as const) {
  const image = (await engineImage(kind)) ?? "";
  const here = image === "" ? undefined : await openContainers({ kind, image });

  describe.runIf(here !== undefined)(kind, () => {
    const containers = here as Containers;
    afterAll(async () => {
      await containers.close();
      execFileSync(kind, ["rmi", "--force", image]);
    });

    containerClaims(containers);

    test("processes that a command leaves behind continue, and a limit ends them", async () => {
      const session = await containers.open({ limits: { time: 2 } });
      await session.exec({ command: "sleep 601 >/dev/null 2>&1 &" });
      const sleeping = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 60[1]'";
      expect((await session.exec({ command: sleeping })).stdout).toBe("1\n");
      await session.exec({ command: "while :; do :; done" });
      expect((await session.exec({ command: sleeping })).stdout).toBe("0\n");
      await session.close();
    });

    test("memory and processes are limited", async () => {
      const session = await containers.open({ limits: { memory: 64, processes: 20 } });
      const bomb = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
      expect(await session.exec({ command: bomb })).toMatchObject({ outcome: "memory-limit" });
      const forks = "for one in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 9 & done";
      expect(await session.exec({ command: forks })).toMatchObject({ outcome: "process-limit" });
      await session.close();
    });

    test("the cores are limited", async () => {
      const session = await containers.open({ cpus: 0.5 });
      const quota = "cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null | head -n 1";
      expect((await session.exec({ command: quota })).stdout).toMatch(/^50000\b/);
      await session.close();
    });

    test("an absent image is named with its remedy", async () => {
      await expect(openContainers({ kind, image: "localhost/everturn-absent:1" })).rejects.toThrow(
        `the image localhost/everturn-absent:1 is not on this machine; load it with \`${kind} pull`,
      );
    });

    test("containers of a killed process end with it, and those that don't are removed by the next one", async () => {
      const script = join(import.meta.dirname, "..", "..", "..", "support", "container-holder.ts");
      const holder = spawn(process.execPath, [script, kind, image, "2"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(createInterface({ input: holder.stdout }), "line");
      const held = () => {
        const filter = `label=everturn.holder=${holder.pid}`;
        return execFileSync(kind, ["ps", "--all", "--quiet", "--filter", filter], { encoding: "utf8" });
      };
      expect(held().trim().split("\n")).toHaveLength(2);
      await reap(kind);
      expect(held().trim().split("\n")).toHaveLength(2);
      holder.kill("SIGKILL");
      await expect.poll(held, { timeout: 60_000 }).toBe("");

      const owner = JSON.stringify({ pid: 1, started: "0", machine: "another" });
      const labels = ["--label", `everturn.owner=${owner}`, "--label", "everturn.holder=left"];
      const create = (until: number) =>
        execFileSync(kind, ["create", ...labels, "--label", `everturn.until=${until}`, image, "sh"], {
          encoding: "utf8",
        }).trim();
      const [over, valid] = [create(1), create(Date.now() / 1000 + 600)];
      expect(await reap(kind)).toBeGreaterThan(0);
      const left = () =>
        execFileSync(
          kind,
          ["ps", "--all", "--quiet", "--no-trunc", "--filter", "label=everturn.holder=left"],
          {
            encoding: "utf8",
          },
        );
      expect(left()).not.toContain(over);
      expect(left()).toContain(valid);
      execFileSync(kind, ["rm", valid]);
    });
  });
}
