import type { JsonObject, JsonValue } from "everturn/plugin";

/** The tests in a task's ground truth. */
export interface TaskTests {
  /** Files laid over the workspace, by path. */
  files: Record<string, string>;
  /** The files that contain tests in Python. */
  tests: string[];
  /**
   * The names of the tests that a repair must make pass, and of those that it must not break. Default: all
   * tests in the files.
   */
  failToPass: string[];
  passToPass: string[];
  commands: CommandTest[];
}

/** A command and its expected output. */
export interface CommandTest {
  command: string;
  stdin: string;
  stdout: string;
}

/** Reads a task's tests from its ground truth, which is JSON. Returns the reason if it has none. */
export function testsOf(groundTruth: string): TaskTests | { missing: string } {
  try {
    return read(JSON.parse(groundTruth));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { missing: `reward_model.ground_truth says no tests: ${reason}` };
  }
}

function read(said: JsonValue): TaskTests {
  if (!isObject(said)) throw new Error("it is not an object");
  const files = isObject(said.files) ? said.files : {};
  for (const [path, text] of Object.entries(files)) {
    const isPlain = path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
    if (!isPlain || typeof text !== "string") throw new Error(`files: ${path} is not a path with a text`);
  }
  const named = said.tests === undefined ? Object.keys(files).filter(isTestFile) : textsOf(said, "tests");
  const lacking = named.find((path) => typeof files[path] !== "string" || !path.endsWith(".py"));
  if (lacking !== undefined) throw new Error(`tests: files has no ${lacking} in Python`);
  const whole = {
    files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, String(text)])),
    tests: named,
    failToPass: textsOf(said, "fail_to_pass", "FAIL_TO_PASS"),
    passToPass: textsOf(said, "pass_to_pass", "PASS_TO_PASS"),
    commands: commandsOf(said.commands),
  };
  if (named.length + whole.commands.length === 0) throw new Error("neither files with tests nor commands");
  return whole;
}

function isTestFile(path: string): boolean {
  return /(^|\/)(test_[^/]*|[^/]*_test)\.py$/.test(path);
}

/** A list of texts. In SWE-bench it is JSON within a text. */
function textsOf(said: JsonObject, ...names: string[]): string[] {
  const name = names.find((one) => said[one] !== undefined) ?? "";
  const value = said[name] ?? [];
  const list: JsonValue = typeof value === "string" ? JSON.parse(value) : value;
  if (!Array.isArray(list) || list.some((one) => typeof one !== "string"))
    throw new Error(`${name} is not a list of texts`);
  return list.map(String);
}

function commandsOf(said: JsonValue | undefined): CommandTest[] {
  if (said === undefined) return [];
  if (!Array.isArray(said)) throw new Error("commands is not a list");
  return said.map((one) => {
    const { command, stdin = "", stdout } = isObject(one) ? one : {};
    if (typeof command !== "string" || typeof stdin !== "string" || typeof stdout !== "string")
      throw new Error(
        "a command has `command` and `stdout`, what it must print: its exit code alone could be the code's own doing",
      );
    return { command, stdin, stdout };
  });
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
