import {
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { EverturnError } from "../errors/everturn-error.ts";
import { isExact } from "../json/exact-json.ts";
import { defined } from "../records/defined.ts";
import { placeAt } from "./place.ts";
import { child, type Pointer } from "./pointer.ts";
import { inexactNumberAt, type Problem } from "./problem.ts";
import type { NodeOffsets, SourceDocument } from "./source-document.ts";

/** A parsed YAML text: one document each, with the problems that js-yaml and the search for duplicate keys found. */
export interface ParsedYaml {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly Problem[];
}

/**
 * The most characters and values that a text may have, counting the values of aliases. js-yaml itself limits nesting
 * to a hundred levels.
 */
const most = { characters: 4 * 2 ** 20, values: 200_000 };

/** Parses YAML 1.2 (core schema) and keeps the position of each key and value. `file` is for messages. */
export function parseYaml(source: string, file: string): ParsedYaml {
  try {
    if (source.length > most.characters)
      YAMLException.throwAt(source, 0, `it has more than ${most.characters} characters`, file);
    const events = parseEvents(source, { filename: file });
    const walk = walkEvents(events, source, file);
    const values = constructFromEvents(events, { source, json: true });
    const room = { values: most.values };
    const documents = values.map((value, index) => ({
      file,
      source,
      value: unshared(value, room),
      offsets: walk.documents[index] ?? new Map(),
    }));
    return { documents, problems: walk.problems };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { documents: [], problems: [syntaxProblem(error, source, file)] };
  }
}

/** Decimal numbers of YAML's core schema. */
const numberPattern = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

function walkEvents(events: Event[], source: string, file: string) {
  const documents: Map<Pointer, NodeOffsets>[] = [];
  const problems: Problem[] = [];
  const open = new Set<string>();
  let next = 0;

  function node(offsets: Map<Pointer, NodeOffsets>, pointer: Pointer, key?: number): void {
    const event = events[next++];
    if (event === undefined) return;
    const start = startOf(event);
    const anchor = "anchorStart" in event ? source.slice(event.anchorStart, event.anchorEnd) : "";
    if (event.type === EVENT_ID.ALIAS && open.has(anchor)) {
      YAMLException.throwAt(source, start, "an alias stands inside what it names", file);
    }
    if (event.type === EVENT_ID.SCALAR) number(event, pointer);
    offsets.set(pointer, defined({ value: start >= 0 ? start : (key ?? 0), key }));
    if (event.type !== EVENT_ID.SEQUENCE && event.type !== EVENT_ID.MAPPING) return;
    open.add(anchor);
    if (event.type === EVENT_ID.SEQUENCE) {
      for (let index = 0; events[next]?.type !== EVENT_ID.POP; index++) node(offsets, child(pointer, index));
    } else {
      pairs(offsets, pointer);
    }
    open.delete(anchor);
    next++;
  }

  function number(event: ScalarEvent, pointer: Pointer): void {
    if (event.style !== SCALAR_STYLE.PLAIN || event.tagStart >= 0) return;
    const text = getScalarValue(source, event);
    if (numberPattern.test(text) && !isExact(text))
      problems.push(inexactNumberAt(placeAt(file, source, startOf(event)), pointer, text));
  }

  function pairs(offsets: Map<Pointer, NodeOffsets>, pointer: Pointer): void {
    for (let event = events[next]; event !== undefined && event.type !== EVENT_ID.POP; event = events[next]) {
      if (event.type !== EVENT_ID.SCALAR) {
        YAMLException.throwAt(source, startOf(event), "a key must be plain text", file);
      }
      next++;
      const name = getScalarValue(source, event);
      const at = child(pointer, name);
      const earlier = offsets.get(at)?.key;
      if (earlier !== undefined) problems.push(duplicateKey(name, earlier, startOf(event)));
      node(offsets, at, startOf(event));
    }
  }

  function duplicateKey(key: string, first: number, second: number): Problem {
    const place = placeAt(file, source, second);
    const { line } = placeAt(file, source, first);
    return { place, error: new EverturnError("DUPLICATE_KEY", { at: place.text, key, line }) };
  }

  while (next < events.length) {
    const offsets = new Map<Pointer, NodeOffsets>();
    next++;
    node(offsets, "");
    next++;
    documents.push(offsets);
  }
  return { documents, problems };
}

function startOf(event: Event): number {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type === EVENT_ID.SCALAR) return scalarStart(event);
  return event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE ? event.start : -1;
}

function scalarStart(event: ScalarEvent): number {
  const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return event.valueStart - (quoted ? 1 : 0);
}

/** Copies a value so that aliases no longer share nodes. `room` limits the number of values. */
function unshared(value: unknown, room: { values: number }): unknown {
  if (room.values-- <= 0) throw new YAMLException(`its aliases stand for more than ${most.values} values`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => unshared(item, room));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unshared(item, room)]));
}

/** Replacements for js-yaml's reasons that only make sense to someone who knows its parser, and hints. */
const explanations: [RegExp, { reason?: string; hint: string }][] = [
  [/^tab characters/, { reason: "a tab is used for indentation", hint: "Indent with spaces." }],
  [
    /^deficient indentation/,
    {
      reason: "a [, { or quote that was opened before is still open here",
      hint: "Close it, or indent this line further than the one that opened it.",
    },
  ],
  [
    /^bad indentation of a mapping entry/,
    {
      reason: "this fits neither the mapping above it nor a new one",
      hint: "Give the keys of one mapping the same indentation; put a text that holds “: ” or starts with @, `, % or a bracket in quotes.",
    },
  ],
  [
    /^end of the stream/,
    {
      reason: "expected a `key: value` of the mapping that the file is",
      hint: "Look for a line, this one or one before, that isn't `key: value`.",
    },
  ],
  [/^an alias stands inside/, { hint: "Write the value out." }],
  [/^nesting exceeded/, { reason: "it is more than 100 levels deep", hint: "Write it flatter." }],
  [/^unidentified alias/, { hint: "Put the text in quotes if no alias was meant." }],
  [/^unknown .*tag/, { hint: "Remove the tag; a pipeline needs none." }],
];

function syntaxProblem(error: YAMLException, source: string, file: string): Problem {
  const glued = /^end of the stream/.test(error.reason) ? /^[\w-]+:(?=\S)/m.exec(source) : null;
  if (glued !== null) {
    const place = placeAt(file, source, glued.index + glued[0].length);
    const reason = "a space is missing after the colon";
    return { place, error: new EverturnError("YAML_SYNTAX", { at: place.text, reason, hint: "Add it." }) };
  }
  const place = placeAt(file, source, error.mark?.position ?? 0);
  const known = explanations.find(([pattern]) => pattern.test(error.reason))?.[1];
  const reason = known?.reason ?? error.reason;
  const hint = known?.hint ?? "Correct the text there.";
  return { place, error: new EverturnError("YAML_SYNTAX", { at: place.text, reason, hint }) };
}
