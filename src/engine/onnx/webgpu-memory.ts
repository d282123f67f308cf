import { type Bindings, type BoundSession, createBoundSession } from "./bound-session.ts";
import {
  type CardArray,
  type CardMemory,
  type CopiedBytes,
  type CopiedPair,
  cardArray,
} from "./card-memory.ts";
import { elementBytes } from "./element-bytes.ts";
import type { Graph } from "./graph.ts";
import { modelBytes } from "./model-bytes.ts";
import { type MoveWay, movingGraph, zerosGraph } from "./moving-graphs.ts";
import { passError } from "./pass-error.ts";
import { requireDevice } from "./require-device.ts";
import { made, type RuntimeFunctions } from "./runtime-functions.ts";

/** Memory of WebGPU's card for float32 numbers. */
export interface WebgpuMemory extends CardMemory {
  /** Releases the models that copy. Free arrays first. */
  close(): void;
}

/** Opens that memory. Only models can move numbers there, see `movingGraph`. Throws DEVICE_UNAVAILABLE. */
export function createWebgpuMemory(runtime: RuntimeFunctions): WebgpuMemory {
  requireDevice("webgpu");
  const opened: BoundSession[] = [];
  const open = (graph: Graph): BoundSession => {
    const model = modelBytes(graph, { device: "webgpu" });
    const session = createBoundSession(runtime, model, { threads: 1, device: "webgpu" });
    opened.push(session);
    return session;
  };
  const zeroing = open(zerosGraph());
  const zeros = zeroing.bindings();
  const allocator = zeroing.allocator("webgpu");
  const movers = new Map<string, Bindings>();
  const mover = (way: MoveWay, pairs: number): Bindings => {
    const known = movers.get(`${way} ${pairs}`);
    if (known) return known;
    const fresh = open(movingGraph(way, pairs)).bindings();
    movers.set(`${way} ${pairs}`, fresh);
    return fresh;
  };

  const clear = (array: CardArray) => {
    if (array.length === 0) return;
    zeros.keepInput("shape", { shape: [1], data: BigInt64Array.of(BigInt(array.length)) });
    zeros.bindOutput("zeros", { shape: [array.length], data: array });
    zeros.run();
  };

  return {
    allocate(type, length) {
      const bytes = elementBytes[type] * length;
      const address = bytes > 0 ? made(runtime.AllocatorAlloc, allocator, bytes) : 0n;
      if (typeof address !== "bigint") throw passError("a card's memory has no address");
      const array = cardArray(type, { card: "webgpu", address }, 0, length);
      clear(array);
      return array;
    },
    clear,
    free({ buffer: { address } }) {
      if (address !== 0n) runtime.AllocatorFree(allocator, address);
    },
    copyAll(pairs, count, bytes) {
      if (count > 0 && bytes > 0) move(mover, pairs, count, bytes);
    },
    close() {
      runtime.ReleaseAllocator(allocator);
      for (const session of opened) session.close();
    },
  };
}

function move(
  mover: (way: MoveWay, pairs: number) => Bindings,
  pairs: readonly CopiedPair[],
  count: number,
  bytes: number,
): void {
  const [pair] = pairs;
  if (!pair) return;
  const [from, to] = [firstPiece(pair[0]), firstPiece(pair[1])];
  const places = [from, to].filter(({ isOnCard }) => isOnCard).flatMap(({ at, stride }) => [at, stride]);
  const width = places.reduce(commonDivisor, bytes);
  const rows = (bytes / width) * count;
  const floats = rows * (width / 4);
  const way = from.isOnCard ? (to.isOnCard ? "across" : "out") : "in";
  const bindings = mover(way, pairs.length);

  /** Binds the row numbers of the pieces in a card's arrays. */
  const bindRows = (name: "from" | "to", { at, stride }: FirstPiece) => {
    const each = bytes / width;
    const data = BigInt64Array.from({ length: rows }, (_, row) =>
      BigInt((at + Math.floor(row / each) * stride) / width + (row % each)),
    );
    bindings.keepInput(name, { shape: name === "to" ? [rows, 1] : [rows], data });
  };
  const values = new Float32Array(way === "across" ? 0 : pairs.length * floats);
  if (way !== "in") bindRows("from", from);
  else {
    eachPiece(pairs, 0, count, bytes, (array, at, place) =>
      values.set(array.subarray(at, at + bytes / 4), place),
    );
    bindings.keepInput("values", { shape: [pairs.length, rows, width / 4], data: values });
  }
  if (way !== "out") bindRows("to", to);
  else bindings.bindOutput("taken", { shape: [pairs.length * rows, width / 4], data: values });
  pairs.forEach(([source, target], index) => {
    if (way !== "in") bindings.bindInput(`source${index}`, inRows(source, width));
    if (way === "out") return;
    bindings.bindInput(`target${index}`, inRows(target, width));
    bindings.bindOutput(`moved${index}`, inRows(target, width));
  });
  bindings.run();
  if (way === "out") {
    eachPiece(pairs, 1, count, bytes, (array, at, place) =>
      array.set(values.subarray(place, place + bytes / 4), at),
    );
  }
}

/** The byte offset of an array's first piece in its memory, and the distance to the next one. */
interface FirstPiece {
  readonly isOnCard: boolean;
  readonly at: number;
  readonly stride: number;
}

function firstPiece({ array, start, stride }: CopiedBytes): FirstPiece {
  return { isOnCard: "type" in array, at: array.byteOffset + start, stride };
}

/** Returns a card's memory up to the end of an array as a table of rows of this many bytes. */
function inRows({ array }: CopiedBytes, width: number): { shape: number[]; data: CardArray } {
  if (!("type" in array) || array.type !== "float32") throw passError("only float32 is moved on a card");
  const rows = Math.floor((array.byteOffset + array.byteLength) / width);
  return {
    shape: [rows, width / 4],
    data: cardArray("float32", array.buffer, 0, (rows * width) / 4),
  };
}

/** Visits the pieces of arrays in main memory, with each piece's offset there and its number among all pieces. */
function eachPiece(
  pairs: readonly CopiedPair[],
  side: 0 | 1,
  count: number,
  bytes: number,
  visit: (array: Float32Array, at: number, place: number) => void,
): void {
  pairs.forEach((pair, index) => {
    const { array, start, stride } = pair[side];
    if (!(array instanceof Float32Array)) throw passError("only float32 is moved to a card and from it");
    for (let piece = 0; piece < count; piece++) {
      visit(array, (start + piece * stride) / 4, ((index * count + piece) * bytes) / 4);
    }
  });
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
