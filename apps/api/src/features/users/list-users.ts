import { err, ok } from "@weft/protocol";
import { countUsers, findUser, listUsers as readUsers } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { usersContract } from "./contract.ts";

/** Lists people. */
export async function listUsers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof usersContract.list>,
): Outcome<typeof usersContract.list> {
  const { db } = deps.database;
  const filter = { kind: "person", q: input.q } as const;
  const name = `users?q=${input.q ?? ""}`;
  const request = pageRequest(deps, name, input);
  if (!request.ok) return request;
  const page = await readUsers(db, { ...request.value, ...filter });
  return ok({
    items: page.rows.map(accountView),
    nextCursor: nextCursor(deps, { name, sort: input.sort }, page.next),
    ...(input.count && { total: await countUsers(db, filter) }),
  });
}

/** Shows one person. */
export async function getUser(
  deps: FeatureDeps,
  _call: Call,
  { userId }: InputOf<typeof usersContract.get>,
): Outcome<typeof usersContract.get> {
  const user = await findUser(deps.database.db, userId);
  if (!user || user.kind !== "person") return err({ code: "not_found", what: "user" });
  return ok(accountView(user));
}
