/** A set of small numbers; one bit each, because every stream keeps one over all peers of its network. */
export type BitSet = {
  readonly has: (index: number) => boolean;
  readonly add: (index: number) => void;
  readonly remove: (index: number) => void;
  readonly clear: () => void;
};

export function createBitSet(): BitSet {
  let words = new Uint32Array(4);
  return {
    has: (index) => ((words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0,
    add(index) {
      const word = index >>> 5;
      if (word >= words.length) {
        const larger = new Uint32Array(Math.max(word + 1, words.length * 2));
        larger.set(words);
        words = larger;
      }
      words[word] = (words[word] ?? 0) | (1 << (index & 31));
    },
    remove(index) {
      const word = index >>> 5;
      if (word < words.length) words[word] = (words[word] ?? 0) & ~(1 << (index & 31));
    },
    clear: () => void words.fill(0),
  };
}
