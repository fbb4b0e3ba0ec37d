import { hash, verify } from "@node-rs/argon2";

/** Hashes and checks passwords. */
export type Passwords = {
  readonly hash: (password: string) => Promise<string>;
  /** Takes as long for an unknown user (`undefined`) as for a wrong password. */
  readonly matches: (hash: string | undefined, password: string) => Promise<boolean>;
};

/** Parameters of argon2id; the floor of SEC-15. */
export const ARGON2 = { memoryKib: 19_456, passes: 2, lanes: 1 } as const;

/** argon2id through its kept library; work runs on the thread pool. */
export function createPasswords(): Passwords {
  const options = { memoryCost: ARGON2.memoryKib, timeCost: ARGON2.passes, parallelism: ARGON2.lanes };
  // argon2id is the library's default kind; its own text form records all parameters.
  const nobody = hash("no user has this password", options);
  return {
    hash: (password) => hash(password, options),
    async matches(stored, password) {
      const known = await verify(stored ?? (await nobody), password);
      return known && stored !== undefined;
    },
  };
}
