/**
 * The runtime's optimizers to turn off. The first would keep results of the forward pass that a gradient rule
 * recomputes. The second would read transposed inputs instead of the copies made for faster reading (`forCpu` in
 * model-bytes.ts).
 */
export const disabledOptimizers = "CommonSubexpressionElimination;GemmTransposeFusion";
