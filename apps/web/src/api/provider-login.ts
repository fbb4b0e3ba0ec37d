/** What a login at a provider needs when the browser comes back; kept in this tab alone. */
export type ProviderLogin = {
  readonly loginToken: string;
  readonly next: string | null;
  readonly invite: string | null;
};

/** Keeps one login on its way. Another tab, or another site's link, finds none and is turned away. */
export const providerLogin = {
  keep(login: ProviderLogin): void {
    sessionStorage.setItem(KEY, JSON.stringify(login));
  },
  /** The login, once. */
  take(): ProviderLogin | null {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    try {
      const kept: unknown = JSON.parse(text ?? "null");
      return isLogin(kept) ? kept : null;
    } catch {
      return null;
    }
  },
};

function isLogin(value: unknown): value is ProviderLogin {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const isText = (name: string): boolean => fields.get(name) === null || typeof fields.get(name) === "string";
  return typeof fields.get("loginToken") === "string" && isText("next") && isText("invite");
}

const KEY = "weft.provider-login";
