import { z } from "zod";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { UserSchema } from "../../registry/user-schemas.ts";

export const sessionsContract = {
  login: mutation({
    summary: "Starts a session with login and password",
    rest: { method: "POST", path: "/sessions", status: 201, location: "/sessions/current" },
    access: { kind: "public" },
    input: z.strictObject({ login: z.string().min(1).max(100), password: z.string().min(1).max(1_000) }),
    output: z.strictObject({ user: UserSchema }),
  }),
  logout: mutation({
    summary: "Ends the current session",
    rest: { method: "DELETE", path: "/sessions/current", status: 204 },
    access: { kind: "public" },
    input: NoInput,
    output: NoOutput,
  }),
  current: query({
    summary: "Says who is calling",
    rest: { method: "GET", path: "/sessions/current", status: 200 },
    access: { kind: "signed-in", scope: "settings:read" },
    input: NoInput,
    output: z.strictObject({ user: UserSchema }),
  }),
};
