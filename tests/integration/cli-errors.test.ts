import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { Command, CommanderError } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { registerDev } from "../../src/apps/cli/commands/dev.ts";
import { registerEvaluate } from "../../src/apps/cli/commands/evaluate.ts";
import { registerReport } from "../../src/apps/cli/commands/report.ts";
import { registerResume } from "../../src/apps/cli/commands/resume.ts";
import { registerShow } from "../../src/apps/cli/commands/show.ts";
import { registerTrajectories } from "../../src/apps/cli/commands/trajectories.ts";
import { registerValidate } from "../../src/apps/cli/commands/validate.ts";
import { markFolder } from "../../src/base/files/marked-folder.ts";
import { processIdentity } from "../../src/base/processes/process-identity.ts";
import { knownError } from "../../src/control/operations/known-error.ts";
import { openDevice } from "../../src/engine/devices/open-device.ts";
import { settleHome } from "../../src/run/folder/home.ts";
import { everturn, lastLine } from "../support/command.ts";
import { inProcessSpace, mayMakeProcessSpace } from "../support/process-space.ts";
import { writeSampleRun } from "../support/sample-run.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitingProcess } from "../support/waiting-process.ts";

const runs = temporaryFolder();
const { id: run, folder } = await writeSampleRun({}, runs);
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");

/** What a command that must be refused says; it must say it shortly and end with 1. */
async function refused(...parameters: string[]): Promise<string> {
  const { code, stderr } = await everturn(...parameters, "--runs", runs);
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  expect(code, stderr).toBe(1);
  return stderr.trim().replaceAll(runs, "RUNS");
}

const commands = {
  dev: registerDev,
  evaluate: registerEvaluate,
  report: registerReport,
  resume: registerResume,
  show: registerShow,
  trajectories: registerTrajectories,
  validate: registerValidate,
};

/** The same of a command in this process, which costs a tenth: what it throws is what `everturn` says, as tell-error.ts has it. */
async function refusedHere(name: keyof typeof commands, ...parameters: string[]): Promise<string> {
  const said: string[] = [];
  const writeErr = (text: string) => void said.push(text);
  const program = new Command("everturn").exitOverride().configureOutput({ writeErr });
  commands[name](program);
  const takesRuns = name !== "validate" && !parameters.includes("--runs");
  const all = [name, ...parameters, ...(takesRuns ? ["--runs", runs] : [])];
  const thrown: unknown = await program.parseAsync(all, { from: "user" }).catch((error) => error);
  if (thrown instanceof CommanderError) return said.join("").trim();
  const known = knownError(thrown);
  if (known === undefined) throw thrown;
  return `${known.code}: ${known.message}`.replaceAll(runs, "RUNS");
}

function tasks(text: string): string {
  const path = join(runs, "tasks.jsonl");
  writeFileSync(path, text);
  return path;
}

test("a command names the runs there are when its run is not there", async () => {
  const text = `RUN_NOT_FOUND: There is no run nope in RUNS. Runs there: ${run}.`;
  for (const name of ["resume", "evaluate", "dev", "trajectories", "report"] as const)
    expect(await refusedHere(name, "nope"), name).toBe(text);
  expect(await refused("worker", "--role", "tools", "--run", "nope")).toBe(text);
});

test("a run's path serves as its name", async () => {
  const elsewhere = ["--runs", join(runs, "elsewhere"), "--json"];
  const listed = await everturn("trajectories", `${folder.root}/`, "--limit", "1", ...elsewhere);
  const [first] = lastLine<{ trajectories: { id: string }[] }>(listed.stdout).trajectories;
  const shown = await everturn("show", join(runs, first?.id ?? ""), ...elsewhere);
  expect(lastLine(shown.stdout), shown.stderr).toMatchObject({ id: first?.id, finished: true });
});

test("--json says errors as one line of JSON on standard output", async () => {
  const missing = await everturn("trajectories", "nope", "--runs", runs, "--json");
  expect(missing.code).toBe(1);
  expect(missing.stdout.trim().split("\n")).toHaveLength(1);
  expect(lastLine(missing.stdout)).toEqual({
    error: {
      code: "RUN_NOT_FOUND",
      message: `There is no run nope in ${runs}. Runs there: ${run}.`,
      help: `Runs there: ${run}.`,
      retryable: false,
      params: { run: "nope", folder: runs, hint: `Runs there: ${run}.` },
    },
  });
  const wrong = await everturn("validate", pipeline, "--set", "stepz=3", "--json");
  const problems = [{ code: "UNKNOWN_KEY", params: { at: "override stepz=3", key: "stepz" } }];
  expect(lastLine(wrong.stdout)).toMatchObject({ error: { code: "WRONG_CONFIGURATION", problems } });
  const usage = await everturn("show", "--json");
  expect(usage.code).toBe(1);
  expect(lastLine(usage.stdout)).toMatchObject({ error: { code: "COMMAND_INVALID" } });
  expect(usage.stderr).toContain("error: missing required argument 'trajectory'");
});

test("paths that can't be used are named", async () => {
  const file = tasks("");
  const link = join(runs, "link");
  symlinkSync("nowhere", link);
  const unusable = async (path: string) => {
    const { code, stderr } = await everturn("run", pipeline, "--runs", path);
    expect(code, stderr).toBe(1);
    return stderr.trim().replaceAll(runs, "RUNS");
  };
  expect(await unusable(file)).toBe(
    "PATH_UNUSABLE: RUNS/tasks.jsonl can't be used: it is a file, or goes through one, and a folder is wanted. Name another path, or fix this one.",
  );
  expect(await unusable(link)).toMatch(/RUNS\/link can't be used: it is a link to/);
  expect(await refusedHere("resume", run, "--runs", file)).toMatch(/^PATH_UNUSABLE: RUNS\/tasks\.jsonl /);
  expect(await refusedHere("validate", pipeline, "--plugins", link)).toMatch(/^PATH_UNUSABLE: RUNS\/link /);
});

test("show names trajectories like the one that is not there", async () => {
  expect(await refusedHere("show", "nope")).toMatch(
    /^TRAJECTORY_NOT_FOUND: There is no trajectory nope\. .*Ids like it/,
  );
});

test("evaluate refuses a policy version that is not there", async () => {
  for (const version of ["99", "newest", ""]) {
    expect(await refusedHere("evaluate", run, "--policy-version", version)).toContain(
      `POLICY_NOT_FOUND: The run ${run} has no policy version ${version}.`,
    );
  }
});

test("evaluate refuses tasks that are missing, empty or no tasks, before anything starts", async () => {
  expect(await refusedHere("evaluate", run, "--tasks", join(runs, "nope.jsonl"))).toContain(
    "TASKS_NOT_FOUND: There is no task file RUNS/nope.jsonl.",
  );
  expect(await refusedHere("evaluate", run, "--tasks", runs)).toContain("TASKS_NOT_FOUND");
  expect(await refusedHere("evaluate", run, "--tasks", tasks("\n"))).toContain("TASKS_EMPTY");
  const text = '{"data_source": "x", "prompt": [], "reward_model": {"ground_truth": 3}}\nnot JSON\n';
  expect(await refusedHere("evaluate", run, "--tasks", tasks(text))).toMatchInlineSnapshot(`
    "WRONG_CONFIGURATION: RUNS/tasks.jsonl: 3 problems found:
    RUNS/tasks.jsonl:1:32: prompt is an empty list, but must not be empty. The messages that the trajectory starts from.
    RUNS/tasks.jsonl:1:69: reward_model.ground_truth must be text, but is 3. The expected final answer.
    RUNS/tasks.jsonl:2:1: not valid JSON: “not” is not a JSON value. Put text in double quotes.
    Correct it and run again."
  `);
});

test("numbers that are none are refused by their option's name", async () => {
  expect(await refused("evaluate", run, "--limit", "abc")).toBe(
    "error: option '--limit <number>' argument 'abc' is invalid. It is not a whole number.\n" +
      "`npx everturn --help` lists the commands, and `npx everturn COMMAND --help` shows how to use one.",
  );
  expect(await refusedHere("evaluate", run, "--limit", "0")).toContain("It must be at least 1.");
  expect(await refusedHere("trajectories", run, "--limit", "-3")).toContain("It is not a whole number.");
  expect(await refusedHere("trajectories", run, "--min-reward", "high")).toContain("It is not a number.");
});

test("a run that another process works on is left to it", async () => {
  const { pid } = await waitingProcess("any program");
  onTestFinished(() => rmSync(folder.holder));
  writeFileSync(folder.holder, JSON.stringify({ process: processIdentity(pid), address: "127.0.0.1:7233" }));
  const text = `RUN_ALREADY_ACTIVE: Process ${pid} is already working on the run ${run}.`;
  expect(await refused("resume", run)).toContain(text);
  for (const name of ["evaluate", "dev"] as const) expect(await refusedHere(name, run)).toContain(text);
});

test.skipIf(!mayMakeProcessSpace)(
  "a run that another container works on is left to it, and the container is named",
  async () => {
    const holding = join(import.meta.dirname, "..", "support", "holding-process.ts");
    const holder = spawn(process.execPath, [holding, runs, run], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(async () => {
      holder.kill();
      await once(holder, "close");
    });
    await once(holder.stdout, "data");
    const where = `Process ${holder.pid} on ${hostname()} is working on the run ${run}. This machine or container`;
    for (const command of [
      ["resume", run],
      ["trajectory", "pause", `${run}/step-0005/task-05000/0`],
    ]) {
      const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");
      const [program = "", ...space] = inProcessSpace;
      const child = spawn(program, [...space, process.execPath, main, ...command, "--runs", runs]);
      const [said, [code]] = await Promise.all([readText(child.stderr), once(child, "close")]);
      expect(said).toContain(`RUN_HELD_ELSEWHERE: ${where}`);
      expect(code).toBe(1);
    }
    expect(existsSync(folder.database)).toBe(false);
  },
);

test("a worker by hand needs a server: the run's own is not up", async () => {
  expect(await refused("worker", "--role", "tools", "--run", run)).toContain(
    `RUN_HAS_NO_SERVER: The Temporal server of the run ${run} is not running.`,
  );
});

test("a pool has no workers of tools, and needs a server that runs share", async () => {
  expect(await refused("worker", "--role", "tools", "--pool", "gpu")).toContain("WORKER_SERVES_NOTHING");
  expect(await refused("worker", "--role", "policy", "--pool", "gpu")).toContain("POOL_NEEDS_SERVER");
  expect(await refused("run", "pipelines/calculator.yaml", "--pool", "gpu")).toContain("POOL_NEEDS_SERVER");
});

test("a copy in another folder of runs is refused, by resume and by a worker, as long as the original is there", async () => {
  markFolder(folder.root);
  await settleHome(folder.root, run);
  const copies = join(runs, "copies");
  cpSync(folder.root, join(copies, run), { recursive: true });
  const worker = ["worker", "--role", "tools", "--run", run, "--address", "127.0.0.1:1"];
  for (const command of [["resume", run], worker]) {
    const { code, stderr } = await everturn(...command, "--runs", copies);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(
      `RUN_COPIED: The folder ${join(copies, run)} is a copy of the run ${run}, whose original folder is ${folder.root}.`,
    );
  }
});

test.for(["policy", "trainer"])(
  "run: says that the device of the %s is missing before it starts anything",
  async (part, { skip }) => {
    const missing = openDevice("cuda") ?? skip("there is a card here");
    const said = await refused("run", pipeline, "--set", `${part}.config.device=cuda`);
    expect(said).toContain(
      `DEVICE_UNAVAILABLE: The device “cuda” can't be used on this machine: ${missing.reason}. ${missing.hint}`,
    );
    expect(said).not.toContain("Temporal UI");
  },
);
