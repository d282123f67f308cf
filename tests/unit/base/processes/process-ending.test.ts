import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchKernelKills } from "../../../../src/base/processes/kernel-kills.ts";
import { endingOf } from "../../../../src/base/processes/process-ending.ts";

/** How a Node process with this code ends. */
function ending(code: string, options: string[] = [], kernelKilled = false) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...options, "-e", code], {
    encoding: "utf8",
  });
  const output = stdout + stderr;
  return endingOf({ code: status, signal, output, lines: output.trim(), kernelKilled });
}

test("a full JavaScript heap is said to be one", () => {
  const fill = "const all = []; for (;;) all.push(new Array(1e5).fill({}));";
  expect(ending(fill, ["--max-old-space-size=16"])).toEqual({
    reason: "its JavaScript heap is full, SIGABRT",
    outOfMemory: true,
    lines: expect.stringMatching(/^FATAL ERROR: .*heap.*memory$/),
  });
});

test.each([
  "terminate called after throwing an instance of 'std::bad_alloc'",
  "# Fatal process out of memory: Worklist::Segment::Create",
  "  type: 'ONNX_OUT_OF_MEMORY',",
  "RangeError: Array buffer allocation failed",
])("a process that says %j found no memory", (words) => {
  const said = ending(`console.error(${JSON.stringify(words)}); process.exit(3)`);
  expect(said).toMatchObject({ outOfMemory: true, lines: words });
});

test("a SIGKILL is the kernel's where the kernel says that it killed for want of memory", () => {
  const killed = "process.kill(process.pid, 'SIGKILL')";
  expect(ending(killed)).toMatchObject({ reason: "SIGKILL", outOfMemory: false });
  expect(ending(killed, [], true)).toMatchObject({
    reason: "the kernel killed it because memory ran out, SIGKILL",
    outOfMemory: true,
  });
});

test("a process that was killed is not said to lack memory for what its log said before", () => {
  const code = "console.error('ONNX_OUT_OF_MEMORY'); process.kill(process.pid, 'SIGKILL')";
  expect(ending(code)).toEqual({ reason: "SIGKILL", outOfMemory: false, lines: "ONNX_OUT_OF_MEMORY" });
});

test("only a kill of about the last second is the kernel's reason", async () => {
  let kills = 3;
  let looks = 0;
  const watch = () =>
    watchKernelKills(() => {
      looks++;
      return kills;
    });
  const late = watch();
  kills = 4;
  looks = 0;
  while (looks === 0) await sleep(50);
  expect(late.stop(), "before the last look").toBe(false);
  const now = watch();
  kills = 5;
  expect(now.stop(), "since the last look").toBe(true);
});

test("any other end is told by its exit code, with what was written last", () => {
  expect(ending("console.error('broken'); process.exit(3)")).toEqual({
    reason: "exit code 3",
    outOfMemory: false,
    lines: "broken",
  });
});
