/** A mistake of the model. The model sees the message, and the images are unchanged. */
export class Mistake extends Error {}
