/** Counts, in this tab, logins that succeeded but did not lead to a session within a minute. */
export const loginBounces = {
  read: (): number => recent().length,
  count(): void {
    write([...recent(), Date.now()]);
  },
};

function recent(): number[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((at): at is number => typeof at === "number" && Date.now() - at < WINDOW_MS);
  } catch {
    return [];
  }
}

function write(moments: readonly number[]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(moments));
  } catch {
    // Storage may be forbidden; then loops are not noticed, and nothing else is lost.
  }
}

const KEY = "weft.logins";
const WINDOW_MS = 60_000;
