import type { Result } from "@weft/protocol";
import { listUsers } from "../db/users-repository.ts";
import type { Account } from "../db/users-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { accountView } from "./account-view.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { listFields, listSpec } from "./list-kit.ts";
import { answerList } from "./pages.ts";
import { ServerRoleSchema } from "./user-schemas.ts";
import { z } from "zod";

/** What lists of accounts offer; people and service accounts stand in one table. */
const offered = {
  orders: ["login", "-login", "createdAt", "-createdAt"],
  filters: { role: ServerRoleSchema },
  search: "Part of a login.",
} as const;

export const usersSpec = listSpec({ name: "users", ...offered });
export const serviceAccountsSpec = listSpec({ name: "serviceAccounts", ...offered });
export const accountsInput = z.strictObject(listFields(usersSpec)).prefault({});

/** Lists accounts of one kind. */
export function listAccounts(
  deps: FeatureDeps,
  kind: Account["kind"],
  input: z.output<typeof accountsInput>,
): Promise<Result<{ items: ReturnType<typeof accountView>[]; nextCursor: string | null; total?: number }, Failure>> {
  return answerList(deps, {
    spec: kind === "person" ? usersSpec : serviceAccountsSpec,
    scope: "",
    input,
    read: (request) => listUsers(deps.database.db, kind, request),
    view: accountView,
  });
}
