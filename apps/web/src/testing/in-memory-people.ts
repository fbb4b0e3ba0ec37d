import { anAccount, at } from "./builders.ts";
import { type Handlers, Refusal } from "./in-memory-link.ts";
import type { World } from "./world.ts";

type Page = <Item>(items: Item[]) => { items: Item[]; nextCursor: null };

/** Answers about people, invites, sessions and the second factor. */
export function peopleHandlers(world: World, page: Page): Handlers {
  const change = (userId: string, by: Partial<World["people"][number]>) => {
    const before = world.people.find(({ id }) => id === userId);
    if (!before) throw new Refusal(404, "not_found");
    const after = { ...before, ...by };
    world.people = world.people.map((person) => (person === before ? after : person));
    return after;
  };
  return {
    "users.list": () => page(world.people),
    "users.update": ({ userId, role }) => change(userId, role === undefined ? {} : { role }),
    "users.disable": ({ userId }) => change(userId, { state: "disabled" }),
    "users.enable": ({ userId }) => change(userId, { state: "active" }),
    "users.resetMfa": ({ userId }) => change(userId, { hasSecondFactor: false }),
    "users.remove": ({ userId }) => void (world.people = world.people.filter(({ id }) => id !== userId)),
    "invites.list": () => page(world.invites),
    "invites.create": ({ role, login }) => {
      const invite = {
        id: "inv_new",
        role,
        login: login ?? null,
        state: "open" as const,
        expiresAt: at(-259_200),
        usedAt: null,
        usedBy: null,
        createdBy: "user_owner",
        createdAt: at(0),
      };
      world.invites.push(invite);
      return { ...invite, link: "http://192.0.2.1:7400/invite#THESECRET" };
    },
    "invites.revoke": ({ inviteId }) => void (world.invites = world.invites.filter(({ id }) => id !== inviteId)),
    "invites.look": ({ secret }) => {
      if (secret !== "THESECRET") throw new Refusal(403, "invite_unusable");
      return { login: null, role: "operator", expiresAt: at(-60) };
    },
    "invites.accept": ({ login }) => {
      world.signedIn = true;
      return { user: { id: "user_new", login, role: "operator" } };
    },
    "sessions.list": () => page(world.sessions),
    "sessions.revoke": ({ sessionId }) => void (world.sessions = world.sessions.filter(({ id }) => id !== sessionId)),
    "sessions.revokeOthers": () => void (world.sessions = world.sessions.filter(({ isCurrent }) => isCurrent)),
    "account.get": () => ({
      ...anAccount({ role: world.role, hasSecondFactor: world.secondFactor === "on" }),
      recoveryCodesLeft: world.secondFactor === "on" ? 10 : 0,
    }),
    "account.beginTotp": ({ password }) => {
      if (password !== "correct horse battery") throw new Refusal(403, "password_wrong");
      world.secondFactor = "pending";
      return { secret: "JBSWY3DPEHPK3PXP", uri: "otpauth://totp/weft:ada?secret=JBSWY3DPEHPK3PXP&issuer=weft" };
    },
    "account.confirmTotp": ({ code }) => {
      if (code !== "123456") throw new Refusal(403, "code_wrong");
      world.secondFactor = "on";
      return { recoveryCodes: ["aaaa-bbbb-cccc-dddd", "eeee-ffff-gggg-hhhh"] };
    },
    "account.removeTotp": () => void (world.secondFactor = "off"),
    "identityProviders.offered": () => ({ providers: world.providers }),
    "identityProviders.begin": () => ({ url: "https://id.example/authorize?state=s", loginToken: "SEALED" }),
    "identityProviders.finish": ({ loginToken, query }) => {
      if (loginToken !== "SEALED" || !query.includes("state=s")) throw new Refusal(403, "login_ended");
      if (world.secondFactor === "on") {
        throw new Refusal(401, "second_factor_next", "send the code", { loginToken: "PROVEN" });
      }
      world.signedIn = true;
      return { user: { id: "user_owner", login: "ada", role: "owner" } };
    },
    "identityProviders.confirm": ({ loginToken, code }) => {
      if (loginToken !== "PROVEN") throw new Refusal(403, "login_ended");
      if (code !== "123456") throw new Refusal(401, "second_factor_wrong");
      world.signedIn = true;
      return { user: { id: "user_owner", login: "ada", role: "owner" } };
    },
  };
}
