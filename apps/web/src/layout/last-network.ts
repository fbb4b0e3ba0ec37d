/** Remembers in this browser which network was open last. */
export const lastNetwork = {
  read(): string | null {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  },
  write(networkId: string): void {
    try {
      localStorage.setItem(KEY, networkId);
    } catch {
      // Storage may be forbidden; then the first network opens next time.
    }
  },
};

const KEY = "weft.network";
