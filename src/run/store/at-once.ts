/** How many objects of a store are processed at once. The store may be far away, so each answer takes time. */
export const objectsAtOnce = 32;
