/** Something that changes and tells its listeners; the shape `useSyncExternalStore` wants. */
export type Store<Value> = {
  readonly get: () => Value;
  readonly subscribe: (listener: () => void) => () => void;
};

/** A store whose value is set from outside. */
export type SettableStore<Value> = Store<Value> & { readonly set: (value: Value) => void };

export function createStore<Value>(initial: Value): SettableStore<Value> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
  };
}
