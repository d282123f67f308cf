import { runError } from "../onnx/run-error.ts";
import type { DeviceTensor, Outputs, Tensor } from "../onnx/session.ts";
import { gradientName, type TrainingModel } from "./training-graphs.ts";

type Gradients = ReadonlyMap<string, Float32Array>;

/** What a pass was fed. */
export type Feeds = Readonly<Record<string, Tensor | DeviceTensor>>;

/** What a pass gave of the gradients of all that is trained, but for single rows. */
export function denseGradients({ trains }: Pick<TrainingModel, "trains">, outputs: Outputs): Gradients {
  return new Map(trains.map((name) => [name, outputs.floats(gradientName(name))]));
}

/** Adds to gradients, in place, what a pass gave of single rows, whose numbers are in what it was fed. */
export function addGradientRows(
  { rows }: Pick<TrainingModel, "rows">,
  gradients: Gradients,
  outputs: Outputs,
  feeds: Feeds,
): void {
  for (const { parameter, numbers, output } of rows) {
    const [gradient, updates] = [gradients.get(parameter)!, outputs.floats(output)];
    const fed = feeds[numbers];
    if (!fed || !("data" in fed)) throw runError(`${numbers} of ${output} was not fed`);
    const places = fed.data;
    const width = updates.length / places.length;
    places.forEach((place, row) => {
      const start = Number(place) * width;
      addInPlace(gradient.subarray(start, start + width), updates.subarray(row * width, (row + 1) * width));
    });
  }
}

/** The gradients of a pass; where it gave them, with single rows added. */
export function passGradients(
  model: Pick<TrainingModel, "trains" | "rows">,
  outputs: Outputs,
  feeds: Feeds,
): Gradients {
  const gradients = denseGradients(model, outputs);
  addGradientRows(model, gradients, outputs, feeds);
  return gradients;
}

function addInPlace(sum: Float32Array, row: Float32Array): void {
  for (let at = 0; at < row.length; at++) sum[at]! += row[at]!;
}
