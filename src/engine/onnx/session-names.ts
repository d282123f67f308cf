import { made, type Pointer, type RuntimeFunction, type RuntimeFunctions } from "./runtime-functions.ts";

/** The names of a model's inputs, in its order. */
export function inputNames(runtime: RuntimeFunctions, session: Pointer): string[] {
  return namesBy(runtime, session, runtime.SessionGetInputCount, runtime.SessionGetInputName);
}

/** The names of a model's outputs, in its order. */
export function outputNames(runtime: RuntimeFunctions, session: Pointer): string[] {
  return namesBy(runtime, session, runtime.SessionGetOutputCount, runtime.SessionGetOutputName);
}

function namesBy(
  runtime: RuntimeFunctions,
  session: Pointer,
  countOf: RuntimeFunction,
  nameOf: RuntimeFunction,
): string[] {
  const allocator = made(runtime.GetAllocatorWithDefaultOptions);
  return Array.from({ length: Number(made(countOf, session)) }, (_, index) => {
    const text = made(nameOf, session, index, allocator);
    const name = runtime.text(text);
    runtime.AllocatorFree(allocator, text);
    return name;
  });
}
