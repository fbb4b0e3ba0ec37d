/** What can be wrong with somebody's account, their credentials or their identity provider. */
export type AccountFailure =
  /** Login and password are right; the account asks for a code as well. */
  | { readonly code: "second_factor_needed" }
  /** The same after a login at a provider; the token stands for that login until the code comes. */
  | { readonly code: "second_factor_next"; readonly loginToken: string }
  /** What is asked for needs the password or a code once more. */
  | { readonly code: "proof_needed"; readonly detail: string }
  /** Without it the account could not be entered any more. */
  | { readonly code: "last_way_in" }
  | { readonly code: "second_factor_wrong" }
  | { readonly code: "password_wrong" }
  | { readonly code: "code_wrong" }
  /** The second factor is not in the state that the call needs. */
  | { readonly code: "second_factor_state"; readonly detail: string }
  | { readonly code: "invite_unusable" }
  | { readonly code: "bootstrap_unusable" }
  /** What was asked for would leave no enabled owner with a local login. */
  | { readonly code: "last_owner" }
  | { readonly code: "identity_provider_failed"; readonly provider: string; readonly detail: string }
  | { readonly code: "identity_refused"; readonly provider: string; readonly detail: string }
  | { readonly code: "identity_unknown"; readonly provider: string }
  | { readonly code: "identity_waiting"; readonly provider: string }
  | { readonly code: "identity_taken" }
  | { readonly code: "login_ended" };

/** What can be wrong with a request, whatever it asks for. */
export type RequestFailure =
  /** The first call with this key is not finished. */
  | { readonly code: "idempotency_in_progress" }
  /** The key stands for another call. */
  | { readonly code: "idempotency_key_reused" }
  /** The item is no longer what the caller saw. */
  | { readonly code: "version_mismatch"; readonly tag: string }
  | { readonly code: "version_required" }
  | { readonly code: "rate_limited"; readonly retryAfterSeconds: number }
  | { readonly code: "overloaded"; readonly retryAfterSeconds: number }
  | { readonly code: "unsupported_media"; readonly got: string }
  | { readonly code: "payload_too_large"; readonly bytesMax: number }
  | { readonly code: "method_not_allowed"; readonly allowed: readonly string[] }
  /** URL and headers together are longer than the server reads. */
  | { readonly code: "headers_too_large" }
  /** The request did not come to its end in time. */
  | { readonly code: "request_timed_out" }
  | { readonly code: "stopping" };

/** Everything that can be wrong with a call, one variant for each thing a caller can do differently. */
export type Failure =
  | AccountFailure
  | RequestFailure
  | { readonly code: "invalid_input"; readonly items: readonly FailedField[] }
  | { readonly code: "not_authenticated"; readonly detail: string }
  | { readonly code: "login_failed" }
  | { readonly code: "forbidden"; readonly detail: string }
  | { readonly code: "scope_missing"; readonly scope: string }
  | { readonly code: "cross_origin"; readonly origin: string }
  | { readonly code: "setup_token_wrong" }
  | { readonly code: "not_found"; readonly what: string }
  | { readonly code: "owner_exists" }
  | { readonly code: "name_taken"; readonly name: string }
  | { readonly code: "name_reserved"; readonly name: string }
  /** A record or a list of nameservers that cannot be. */
  | { readonly code: "name_fault"; readonly field: string; readonly reason: string }
  | { readonly code: "range_invalid"; readonly range: string; readonly detail: string }
  | { readonly code: "range_overlaps"; readonly range: string; readonly network: string }
  /** No peer of this network can have the address. */
  | { readonly code: "address_unusable"; readonly address: string }
  /** Somebody has it, or had it until a moment ago. */
  | { readonly code: "address_taken"; readonly address: string }
  | { readonly code: "address_pool_full"; readonly network: string; readonly capacity: bigint }
  | { readonly code: "enrolment_key_unknown" }
  | { readonly code: "enrolment_key_expired" }
  | { readonly code: "enrolment_key_used_up" }
  /** What is asked makes no sense for a peer in its present state. */
  | { readonly code: "peer_state"; readonly name: string; readonly state: string; readonly verdict: string }
  /** Others refer to it; they are named. */
  | { readonly code: "in_use"; readonly what: string; readonly users: readonly string[] }
  /** The peer cannot speak for static clients. */
  | { readonly code: "gateway_unfit"; readonly name: string; readonly reason: string }
  /** Nobody speaks for the static client. */
  | { readonly code: "gateway_missing"; readonly name: string }
  /** A member of the network has this WireGuard key. */
  | { readonly code: "key_taken" }
  | { readonly code: "client_link_unusable" }
  | { readonly code: "rule_exists"; readonly ruleId: string }
  | { readonly code: "rule_fault"; readonly field: string; readonly reason: string }
  /** The answer would cost more than one call may; `limit` is in the unit that `what` names. */
  | { readonly code: "work_bound"; readonly what: string; readonly wanted: number; readonly limit: number }
  /** No more of these fit. */
  | { readonly code: "limit_reached"; readonly what: string; readonly limit: number }
  /** Tests stored beside the policy would not hold any more. */
  | {
      readonly code: "policy_test_failed";
      readonly failed: readonly { readonly name: string; readonly reason: string }[];
    }
  /** The peer may not serve as an exit node. */
  | { readonly code: "exit_unapproved"; readonly name: string }
  | { readonly code: "approver_exists"; readonly prefix: string }
  /** The peer has a route to just this range. */
  | { readonly code: "route_taken"; readonly prefix: string; readonly routeId: string }
  /** A value of a conceal profile breaks a rule. */
  | { readonly code: "conceal_fault"; readonly key: string; readonly rule: string }
  /** Nodes that may talk would not understand each other. */
  | { readonly code: "conceal_separates"; readonly pairs: number; readonly examples: readonly string[] }
  | { readonly code: "conceal_not_rolling" }
  | { readonly code: "cursor_invalid" }
  /** The state of the server moved since the plan was made, or something else is to be applied. */
  | { readonly code: "plan_stale" }
  /** Something that a file of configuration asks for cannot be; \`at\` says where it stands. */
  | { readonly code: "configuration_fault"; readonly at: string; readonly reason: string }
  | { readonly code: "backup_busy" }
  | { readonly code: "backup_faulty"; readonly detail: string }
  | { readonly code: "webhook_off" }
  | { readonly code: "webhook_target_refused"; readonly detail: string }
  | JobFailure
  | { readonly code: "internal" };

/** Why work of nodes was not begun, or how it ended otherwise than well. */
export type JobFailure =
  | { readonly code: "peer_offline"; readonly name: string }
  | { readonly code: "same_peer" }
  /** One heavy job runs on a node at a time. */
  | { readonly code: "job_busy"; readonly name: string }
  /** The node's agent is too old for it, or its host forbids it. */
  | { readonly code: "job_unsupported"; readonly name: string }
  /** The node's host says that nobody may ask for such work. */
  | { readonly code: "job_forbidden"; readonly name: string; readonly kind: string }
  /** Nobody saw its end. */
  | { readonly code: "job_left"; readonly detail: string }
  | { readonly code: "job_cancelled"; readonly name: string }
  /** It has an end already. */
  | { readonly code: "job_ended"; readonly state: string }
  /** What is to be measured may not flow. */
  | { readonly code: "pair_denied"; readonly from: string; readonly to: string; readonly reason: string }
  | { readonly code: "job_timed_out"; readonly name: string; readonly seconds: number }
  | { readonly code: "job_failed"; readonly name: string; readonly detail: string };

/** One field that did not fit its schema. */
export type FailedField = { readonly pointer: string; readonly code: string; readonly message: string };
