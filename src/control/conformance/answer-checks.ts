import { isObject, type JsonObject } from "../../contracts/json.ts";
import { toolFunctions } from "../../plugin/registry/tool-functions.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";
import { alone, answered, eachAlone } from "./called-alone.ts";
import { Broken } from "./promise.ts";
import { callText, shortened, type ToolSubject, withTool } from "./tool-subject.ts";

/**
 * The longest answer, in characters. A longer one crosses threads and is stored for nothing, because the model reads
 * 8,000 characters by default.
 */
const longestAnswer = 2 ** 20;

/** Checks that the tool loads, in a thread of its own. */
export async function loading(subject: ToolSubject): Promise<void> {
  await withTool(subject, async () => {});
}

/** Checks that each call is answered within its time-out. */
export async function timeOut(subject: ToolSubject): Promise<void> {
  await withTool(subject, (called) => eachAlone(subject, called).then(() => {}));
}

/** Checks that the schemas allow their own examples and defaults. */
export async function schema({ resolved }: ToolSubject): Promise<void> {
  const functions = toolFunctions(resolved);
  for (const { name, parameters } of functions) lookAt(parameters, functions.length > 1 ? `${name}: ` : "");
}

function lookAt(parameters: JsonObject, of: string): void {
  const problem = argumentsValidator(parameters);
  for (const example of Array.isArray(parameters.examples) ? parameters.examples : []) {
    const wrong = isObject(example) ? problem(example) : "an example must be an object of arguments.";
    if (wrong === undefined) continue;
    throw new Broken(
      `${of}the schema rejects its own example ${JSON.stringify(example)}: ${wrong}`,
      "Correct the example, or the schema.",
    );
  }
  const { properties, required } = parameters;
  for (const [key, one] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(one) || one.default === undefined) continue;
    const wrong = argumentsValidator({ type: "object", properties: { [key]: one } })({ [key]: one.default });
    if (wrong === undefined) continue;
    throw new Broken(
      `${of}the schema rejects the default of “${key}”: ${wrong}`,
      "Correct the default, or the schema.",
    );
  }
  for (const key of Array.isArray(required) ? required.map(String) : []) {
    if (isObject(properties) && key in properties) continue;
    throw new Broken(
      `${of}“${key}” is required but has no schema`,
      "Describe it in `properties`, or remove it from `required`.",
    );
  }
}

/** Checks that each case gets the expected answer. */
export async function answers(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    const state = await called.create();
    for (const one of subject.cases) {
      const { text, error = false, invalid, done = false } = await called.call(one, { state });
      const seen = `${callText(one)} returned ${JSON.stringify(shortened(text))}`;
      if (one.text !== undefined && text !== one.text)
        throw new Broken(
          `${seen} instead of ${JSON.stringify(shortened(one.text))}`,
          "Correct the tool, or the case.",
        );
      if (one.error !== undefined && error !== one.error)
        throw new Broken(
          `${seen}, with error: ${error}`,
          `Mark it with error: ${one.error}, or correct the case.`,
        );
      if (one.invalid !== undefined && (invalid !== undefined) !== one.invalid)
        throw new Broken(
          `${seen}, ${invalid === undefined ? "without a reason why it is invalid" : "as invalid"}`,
          "Return { invalid: reason } only for calls that are not allowed, or correct the case.",
        );
      if (one.done !== undefined && done !== one.done)
        throw new Broken(`${seen}, with done: ${done}`, `Return done: ${one.done}, or correct the case.`);
    }
  });
}

/** Checks that everything the schema allows is answered. */
export async function oddArguments(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    for (const [index, one] of subject.odd.entries()) await alone(called, one, `check/odd-${index}`);
  });
}

/** Checks that an answer is well-formed text of an acceptable size. */
export async function output(subject: ToolSubject): Promise<void> {
  await withTool(subject, async (called) => {
    for (const [index, one] of [...subject.cases, ...subject.odd].entries()) {
      const { text } = await answered(called, one, `check/output-${index}`);
      const given = JSON.stringify(one.arguments);
      if (!text.isWellFormed() && given.isWellFormed()) {
        const advice = "Cut texts between code points ([...text].slice(…)), never in the middle of one.";
        throw new Broken(`${callText(one)} returned half a character (a lone surrogate)`, advice);
      }
      if (text.includes("\ufffd") && !given.includes("\ufffd")) {
        const advice =
          "Describe bytes that are not text in another way: their number, their type, or base64.";
        throw new Broken(`${callText(one)} returned U+FFFD: it decoded bytes that are not text`, advice);
      }
      if (text.length > longestAnswer && given.length * 2 < text.length) {
        const advice =
          "Cut it in the tool, with a note in the text. By default, the model reads 8,000 characters of an observation.";
        throw new Broken(`${callText(one)} returned ${text.length} characters`, advice);
      }
    }
  });
}
