/** Names for sets of peers that one network may have. */
export const GROUPS_MAX = 1_000;

/** Tokens that one account may have, ended ones among them. */
export const TOKENS_MAX = 500;

/** Invites that may be open at a time. */
export const INVITES_MAX = 1_000;

/** Policies that are kept of one network, the newest ones; older ones go when another is saved. */
export const POLICY_VERSIONS_MAX = 500;
