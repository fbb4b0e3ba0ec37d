import type { FeatureDeps, Perform } from "./feature-deps.ts";
import { operations } from "./operations.ts";
import { runChecked, runOperation } from "./run-operation.ts";

/** Lets use cases run operations of other features. */
export function createPerform(depsOf: () => FeatureDeps): Perform {
  const byContract = new Map(operations.map((operation) => [operation.contract, operation]));
  return async ({ call, tx, authority }, contract, input) => {
    const operation = byContract.get(contract);
    if (!operation) throw new Error(`no operation belongs to the contract "${contract.summary}"`);
    const deps = depsOf();
    const inside: FeatureDeps = { ...deps, database: { db: tx, isAlive: deps.database.isAlive } };
    const run = authority === "caller" ? runOperation : runChecked;
    // Tags are for the operation that the caller named.
    const request = { call: { ...call, ifMatch: undefined }, input };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output was checked by this very contract
    return run(operation, inside, request) as never;
  };
}
