/** A mistake of the model. The model sees the message, and the tree is unchanged. */
export class Mistake extends Error {}
