/** Gives the test document a canvas that accepts every drawing call and shows nothing; charts are looked at in a browser. */
export function installBlankCanvas(): void {
  Object.defineProperty(HTMLCanvasElement.prototype, "getContext", { value: () => blank() });
  Object.defineProperty(globalThis, "Path2D", { value: BlankPath, configurable: true });
}

// A function cannot stand in for a class that is called with `new`.
// oxlint-disable-next-line typescript/no-extraneous-class
class BlankPath {
  constructor() {
    return blank();
  }
}

function blank(): object {
  const values = new Map<PropertyKey, unknown>([["measureText", () => ({ width: 10 })]]);
  return new Proxy(
    {},
    {
      get: (_, name) => values.get(name) ?? (() => undefined),
      set(_, name, value) {
        values.set(name, value);
        return true;
      },
    },
  );
}
