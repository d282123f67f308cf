/** The same object, which counts how often its methods are called. */
export function counting<Target extends object>(target: Target): { counted: Target; asked(): number } {
  let asked = 0;
  const counted = new Proxy(target, {
    get: (of, name, receiver) => {
      const member: unknown = Reflect.get(of, name, receiver);
      if (typeof member !== "function") return member;
      return (...parameters: unknown[]): unknown => {
        asked += 1;
        return Reflect.apply(member, of, parameters);
      };
    },
  });
  return { counted, asked: () => asked };
}
