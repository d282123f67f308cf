/** Those of the runtime's optimizers that would keep from the forward pass what a gradient rule computes again. */
export const disabledOptimizers = "CommonSubexpressionElimination";
