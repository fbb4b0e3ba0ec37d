import { z } from "zod";
import { listOutput, SessionIdSchema, TimeSchema, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { CodeSchema, PasswordSchema, UserSchema } from "../../registry/user-schemas.ts";

const SessionSchema = z
  .strictObject({
    id: SessionIdSchema,
    userId: UserIdSchema,
    login: z.string(),
    address: z.string(),
    userAgent: z.string(),
    isCurrent: z.boolean(),
    createdAt: TimeSchema,
    lastSeenAt: TimeSchema,
    expiresAt: TimeSchema,
  })
  .meta({ id: "Session" });

export const sessionsSpec = listSpec({
  name: "sessions",
  orders: ["-createdAt", "createdAt"],
  filters: { userId: UserIdSchema },
  search: "Part of what the browser calls itself.",
});

export const sessionsContract = {
  login: mutation({
    summary: "Starts a session with login and password, and a code where the account asks for one",
    rest: { method: "POST", path: "/sessions", status: 201, location: "/sessions/current" },
    access: { kind: "public" },
    input: z.strictObject({
      login: z.string().min(1).max(100),
      password: PasswordSchema,
      code: CodeSchema.optional(),
    }),
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
  list: query({
    summary: "Lists browsers that are signed in: your own, or everybody's for administrators",
    rest: { method: "GET", path: "/sessions", status: 200 },
    access: { kind: "signed-in", scope: "users:read" },
    list: sessionsSpec,
    input: z.strictObject(listFields(sessionsSpec)).prefault({}),
    output: listOutput(SessionSchema),
  }),
  revoke: mutation({
    summary: "Ends a session at once, with its open streams",
    rest: { method: "DELETE", path: "/sessions/{sessionId}", status: 204 },
    access: { kind: "signed-in", scope: "users:write" },
    input: z.strictObject({ sessionId: SessionIdSchema }),
    output: NoOutput,
  }),
  revokeOthers: mutation({
    summary: "Ends all sessions of the caller but this one",
    rest: { method: "POST", path: "/sessions/revoke-others", status: 204 },
    access: { kind: "signed-in", scope: "users:write" },
    input: NoInput,
    output: NoOutput,
  }),
};
