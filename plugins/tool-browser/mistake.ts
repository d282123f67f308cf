/** A mistake of the model or of the page. The model sees the message. */
export class Mistake extends Error {}
