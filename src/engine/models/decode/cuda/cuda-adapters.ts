import type { CardArray } from "../../../onnx/card-memory.ts";
import type { CudaMemory } from "../../../onnx/cuda-memory.ts";
import { elementCount } from "../../../onnx/element-count.ts";
import type { Tensor } from "../../weights/safetensors.ts";
import type { AdapterShape } from "../decoding-model.ts";

/** An adapter's matrices on a card. */
export interface CudaAdapter {
  /** The number of its place. */
  readonly number: number;
  readonly matrices: ReadonlyMap<string, { shape: readonly number[]; data: CardArray }>;
}

/** Adapters of one shape on a card, in a few fixed places. */
export interface CudaAdapters {
  /** Returns the place of an adapter. If it has none yet, it replaces the least recently used one. */
  get(adapter: ReadonlyMap<string, Tensor>): CudaAdapter;
  close(): void;
}

/** The number of versions that usually sample at the same time: the last ones. */
const places = 3;

/** Creates the places, without adapters. */
export function createCudaAdapters(card: CudaMemory, { shapes }: AdapterShape): CudaAdapters {
  /** By recency of use, the latest last. */
  let used: { adapter: ReadonlyMap<string, Tensor>; place: CudaAdapter }[] = [];

  const fresh = (): CudaAdapter => ({
    number: used.length,
    matrices: new Map(
      [...shapes].map(([name, shape]) => [
        name,
        { shape, data: card.allocate("float32", elementCount(shape)) },
      ]),
    ),
  });
  const fill = ({ matrices }: CudaAdapter, adapter: ReadonlyMap<string, Tensor>) => {
    for (const [name, { data: to }] of matrices) {
      const from = adapter.get(name)!.data;
      const whole = { start: 0, stride: to.byteLength };
      card.copy({ array: from, ...whole }, { array: to, ...whole }, 1, to.byteLength);
    }
  };

  return {
    get(adapter) {
      const known = used.find((one) => one.adapter === adapter);
      const place = known?.place ?? (used.length < places ? fresh() : used[0]!.place);
      if (!known) fill(place, adapter);
      used = [...used.filter((one) => one.place !== place), { adapter, place }];
      return place;
    },
    close() {
      for (const { place } of used) for (const { data } of place.matrices.values()) card.free(data);
      used = [];
    },
  };
}
