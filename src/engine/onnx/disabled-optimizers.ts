/**
 * Those of the runtime's optimizers that would keep from the forward pass what a gradient rule computes again, and that would read
 * transposed what is copied to be read as it is (`for-cpu.ts`).
 */
export const disabledOptimizers = "CommonSubexpressionElimination;GemmTransposeFusion";
