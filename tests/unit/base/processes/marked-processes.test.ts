import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { markVariable } from "../../../../src/base/processes/marked-processes.ts";
import { machine, processIdentity } from "../../../../src/base/processes/process-identity.ts";
import { settingsOfHost } from "../../../../src/plan/pipeline/resolve/host-settings.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { holdInstances } from "../../../../src/work/tools/instances.ts";
import { openLeases } from "../../../../src/work/tools/leases.ts";
import { openTool } from "../../../../src/work/tools/open-tool.ts";
import { createToolHost } from "../../../../src/work/tools/tool-host.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { threadOf } from "../../../support/thread-of.ts";

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const [resolved] = plan.tools;
if (resolved === undefined) throw new Error("the sample plan has no tool");
const host = createToolHost("calculator", settingsOfHost(plan, "calculator"), () => {});

async function sleeper(mark: string): Promise<number> {
  const code = "setInterval(() => {}, 1000); console.log('up')";
  const child = spawn(process.execPath, ["-e", code], {
    env: { ...process.env, [markVariable]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid ?? -1;
}

test.skipIf(!existsSync("/proc/self/environ"))(
  "what a worker started that died before it could note it is found by its lease's mark and killed",
  async () => {
    const leases = openLeases(temporaryFolder());
    const lease = {
      trajectory: "run-1/step-0001/task-1/0",
      tool: "session",
      fence: 1,
      worker: "dead",
      mark: "a mark",
      owner: { pid: 2 ** 22 + 1, started: "1", machine },
    };
    leases.write("step-0001~task-1~0~session", lease);
    const [left, other] = [await sleeper(lease.mark), await sleeper("another")];
    const own = processIdentity(process.pid);
    if (own === undefined) throw new Error("this process does not run");
    const worker = { id: "alive", owner: own, queue: async () => "tools@1" };
    const tool = openTool(resolved, await threadOf('{ execute: () => ({ text: "" }) }', resolved), host);
    await holdInstances(
      openRunStore(temporaryFolder()),
      leases,
      worker,
      async () => tool,
      () => {},
    ).reap();
    await vi.waitUntil(() => processIdentity(left) === undefined, { timeout: 100_000 });
    expect(processIdentity(other)).toBeDefined();
    expect(await leases.list()).toEqual([]);
  },
);
