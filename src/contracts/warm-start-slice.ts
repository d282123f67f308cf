/** Supervised steps per activity of a warm start. A worker that dies repeats at most these. */
export const warmStartSlice = 25;
