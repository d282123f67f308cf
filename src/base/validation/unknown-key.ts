import type { ErrorObject } from "ajv";
import { type ForeignNames, foreignName } from "./foreign-names.ts";
import { homeOf } from "./home-of.ts";
import { nearest, suggestion } from "./nearest.ts";
import { child, type Pointer, pathText } from "./pointer.ts";
import { propertiesOf } from "./properties-of.ts";

/** How messages refer to a checked value: `base` is its place in its document, and `whole` names the document. */
export interface Subject {
  readonly base: Pointer;
  readonly whole: string;
  /** Keys that belong next to the value, not inside it. */
  readonly beside?: readonly string[];
  /** Whether the document is a pipeline, whose writer may use the key names of other frameworks. */
  readonly inPipeline?: boolean;
}

/** The known key of the same mapping that an unknown key most likely means; undefined if there is none. */
export function meantKey(error: ErrorObject, subject: Subject): string | undefined {
  const known = knownKeys(error);
  const [foreign] = foreignKeys(error, subject);
  if (foreign === undefined) return nearest(error.params.additionalProperty, known);
  return known.find((key) => key === lastOf(foreign.setting));
}

/** Tells what to write instead of an unknown key. */
export function unknownKeyHint(error: ErrorObject, subject: Subject): string {
  const key: string = error.params.additionalProperty;
  const meant = meantKey(error, subject);
  const [foreign, ...others] = foreignKeys(error, subject);
  if (foreign === undefined) {
    const home = meant === undefined ? homeOf(key, error.parentSchema, subject.beside) : undefined;
    return home ?? (suggestion(key, knownKeys(error), "Known keys") || "It takes no keys.");
  }
  if (others.length > 0) {
    const names = [foreign, ...others].map(({ path, setting }) => `“${setting}” for ${path}`);
    return `Write ${names.join(", ")}. docs/choosing.md compares more names.`;
  }
  const question = `Did you mean “${meant ?? foreign.setting}”?`;
  const { note } = foreign;
  return note === undefined ? question : `${question} ${note}`;
}

/** A key that has another framework's name, with its place in the pipeline. */
interface ForeignKey extends ForeignNames {
  readonly path: string;
}

/** The unknown key, or those in its value, for example in verl's actor_rollout_ref, that have other frameworks' names. */
function foreignKeys(error: ErrorObject, subject: Subject): ForeignKey[] {
  if (subject.inPipeline !== true) return [];
  const key: string = error.params.additionalProperty;
  const mapping = pathText(subject.base + error.instancePath);
  const known = knownKeys(error);
  const given: object = Object(error.data);
  return leaves(child(subject.base + error.instancePath, key), Reflect.get(given, key)).flatMap((pointer) => {
    const path = pathText(pointer);
    const found = foreignName(path);
    // A plugin's configuration may lack the setting.
    const isAbsent =
      found !== undefined && mapping === parentOf(found.setting) && !known.includes(lastOf(found.setting));
    return found === undefined || isAbsent ? [] : [{ path, ...found }];
  });
}

/** The pointers of the values in `value`, or its own if it is not a mapping. */
function leaves(pointer: Pointer, value: unknown): Pointer[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [pointer];
  return Object.entries(value).flatMap(([key, below]) => leaves(child(pointer, key), below));
}

function knownKeys(error: ErrorObject): string[] {
  return Object.keys(propertiesOf(error.parentSchema));
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}
