import type { DeviceTensor, Outputs, Tensor } from "../onnx/model-session.ts";
import { passError } from "../onnx/pass-error.ts";
import { gradientName, type TrainingModel } from "./training-graphs.ts";

type Gradients = ReadonlyMap<string, Float32Array>;

/** The inputs of a pass. */
export type Feeds = Readonly<Record<string, Tensor | DeviceTensor>>;

/** Returns a pass's gradients of all trained parameters, except those of single rows. */
export function denseGradients({ trains }: Pick<TrainingModel, "trains">, outputs: Outputs): Gradients {
  return new Map(trains.map((name) => [name, outputs.floats(gradientName(name))]));
}

/** Adds a pass's gradients of single rows to gradients in place. The row numbers are among the pass's inputs. */
export function addGradientRows(
  { rows }: Pick<TrainingModel, "rows">,
  gradients: Gradients,
  outputs: Outputs,
  feeds: Feeds,
): void {
  for (const { parameter, numbers, output } of rows) {
    const [gradient, updates] = [gradients.get(parameter)!, outputs.floats(output)];
    const fed = feeds[numbers];
    if (!fed || !("data" in fed)) throw passError(`${numbers} of ${output} was not fed`);
    const places = fed.data;
    const width = updates.length / places.length;
    places.forEach((place, row) => {
      const start = Number(place) * width;
      addInPlace(gradient.subarray(start, start + width), updates.subarray(row * width, (row + 1) * width));
    });
  }
}

/** Returns the gradients of a pass, including those of single rows. */
export function passGradients(
  model: Pick<TrainingModel, "trains" | "rows">,
  outputs: Outputs,
  feeds: Feeds,
): Gradients {
  const gradients = denseGradients(model, outputs);
  addGradientRows(model, gradients, outputs, feeds);
  return gradients;
}

/** Adds numbers to others in place. */
export function addInPlace(sum: Float32Array, row: Float32Array): void {
  for (let at = 0; at < row.length; at++) sum[at]! += row[at]!;
}
