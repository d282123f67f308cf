import type { Bindings } from "../../onnx/bound-session.ts";
import type { ModelConfig } from "../config/model-config.ts";
import { routedLayers, tiesName } from "../graph/expert-choice.ts";
import type { DecoderPass } from "./cached-decoder.ts";

/** Reads the routing ties of a decoding graph (`choiceTold`). */
export interface TieReader {
  /** Binds memory for passes of this many rows, each with this many tokens including padding. */
  bind(rows: number, length: number): void;
  /** Returns the ties of the rows of the last pass, by places among their tokens. */
  read(tokens: DecoderPass["tokens"]): number[][];
}

/** Creates a reader with its own memory, bound in `bindings`. */
export function createTieReader(bindings: Pick<Bindings, "bindOutput">, config: ModelConfig): TieReader {
  /** In the last layer, only a row's last token passes through the experts. */
  const lastLayer = config.num_hidden_layers - 1;
  const experts = new Map(routedLayers(config).map((layer) => [layer, new BigInt64Array()]));
  let bound = 0;
  return {
    bind(rows, length) {
      bound = length;
      for (const [layer, { length: room }] of experts) {
        const count = layer === lastLayer ? rows : rows * length;
        if (room < count) experts.set(layer, new BigInt64Array(count));
        const data = experts.get(layer)!.subarray(0, count);
        bindings.bindOutput(tiesName(layer), { shape: [count, 1], data });
      }
    },
    read(tokens) {
      if (experts.size === 0) return tokens.map(() => []);
      return tokens.map((row, index) => {
        const tieOf = (place: number, layer: number, chosen: BigInt64Array) => {
          if (layer === lastLayer && place < row.length - 1) return [];
          const expert = Number(chosen[layer === lastLayer ? index : index * bound + place]);
          return expert < 0 ? [] : [place, layer, expert];
        };
        return row.flatMap((_, place) =>
          [...experts].flatMap(([layer, chosen]) => tieOf(place, layer, chosen)),
        );
      });
    },
  };
}
