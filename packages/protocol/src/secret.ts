/** Holds a value that must never be printed: text, JSON and inspection show a placeholder. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Hands out the value; call it where the secret is used, never earlier. */
  expose(): T {
    return this.#value;
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return PLACEHOLDER;
  }
}

const PLACEHOLDER = "[secret]";
