import { err, ok } from "@weft/protocol";
import { existingNetworks } from "../../db/networks-repository.ts";
import { changeUser, replaceNetworkRoles } from "../../db/users-repository.ts";
import { accountView } from "../../registry/account-view.ts";
import type { Call } from "../../registry/call.ts";
import { changeAccount, refuseStronger } from "../../registry/change-account.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { usersContract } from "./contract.ts";

/** Changes roles and grants; they count from the next call on. */
export async function updateUser(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof usersContract.update>,
): Outcome<typeof usersContract.update> {
  const { userId: id, role, networkRoles, grants } = input;
  for (const wanted of [role ?? "none", ...(networkRoles ?? []).map((given) => given.role)]) {
    const refused = refuseStronger(call, wanted);
    if (refused) return err(refused);
  }
  const changed = await changeAccount(deps, call, {
    id,
    kind: "person",
    action: "users.update",
    endsOwner: () => role !== undefined && role !== "owner",
    async apply(tx) {
      if (networkRoles) {
        const ids = new Set(networkRoles.map(({ networkId }) => networkId));
        if (ids.size !== networkRoles.length) {
          const message = "names a network twice";
          return err({ code: "invalid_input", items: [{ pointer: "/networkRoles", code: "duplicate", message }] });
        }
        const known = await existingNetworks(tx, [...ids]);
        if (known.size !== ids.size) return err({ code: "not_found", what: "network" });
        await replaceNetworkRoles(tx, id, networkRoles);
      }
      const change = { ...(role !== undefined && { role }), ...(grants && { grants: [...new Set(grants)] }) };
      if (Object.keys(change).length > 0) await changeUser(tx, id, change);
      return ok(undefined);
    },
  });
  if (!changed.ok) return changed;
  return changed.value ? ok(accountView(changed.value)) : err({ code: "not_found", what: "user" });
}
