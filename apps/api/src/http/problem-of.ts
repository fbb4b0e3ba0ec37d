import type { AccountFailure, Failure, JobFailure, RequestFailure } from "../domain/failure.ts";
import type { Problem } from "./problem.ts";

/** Every failure as its problem document: status, sentence, stable code. */
export function problemOf(failure: Failure, request: { readonly id: string; readonly path: string }): Problem {
  const status = statusOf(failure);
  return {
    type: `/api/v1/docs#error-${failure.code}`,
    title: TITLES[status] ?? "Error",
    status,
    detail: detailOf(failure),
    instance: request.path,
    code: failure.code,
    requestId: request.id,
    ...(failure.code === "invalid_input" && { errors: failure.items }),
    ...((failure.code === "rate_limited" || failure.code === "overloaded") && {
      retryAfterSeconds: failure.retryAfterSeconds,
    }),
    ...(failure.code === "second_factor_next" && { loginToken: failure.loginToken }),
    ...(failure.code === "stopping" && { retryAfterSeconds: RESTART_SECONDS }),
  };
}

/** HTTP status of a failure. */
export function statusOf(failure: Failure): number {
  return STATUS_OF_CODE[failure.code];
}

/** Every code that an answer can carry, with its status. */
export const STATUS_OF_CODE: { readonly [Code in Failure["code"]]: number } = {
  invalid_input: 400,
  cursor_invalid: 400,
  not_authenticated: 401,
  login_failed: 401,
  second_factor_needed: 401,
  second_factor_next: 401,
  second_factor_wrong: 401,
  forbidden: 403,
  password_wrong: 403,
  code_wrong: 403,
  proof_needed: 403,
  invite_unusable: 403,
  client_link_unusable: 403,
  bootstrap_unusable: 403,
  identity_refused: 403,
  identity_unknown: 403,
  identity_waiting: 403,
  login_ended: 403,
  scope_missing: 403,
  cross_origin: 403,
  setup_token_wrong: 403,
  enrolment_key_unknown: 403,
  enrolment_key_expired: 403,
  not_found: 404,
  method_not_allowed: 405,
  owner_exists: 409,
  last_owner: 409,
  last_way_in: 409,
  limit_reached: 409,
  second_factor_state: 409,
  identity_taken: 409,
  name_taken: 409,
  address_taken: 409,
  range_overlaps: 409,
  rule_exists: 409,
  peer_state: 409,
  conceal_separates: 409,
  conceal_not_rolling: 409,
  route_taken: 409,
  exit_unapproved: 409,
  gateway_unfit: 409,
  gateway_missing: 409,
  key_taken: 409,
  approver_exists: 409,
  in_use: 409,
  peer_offline: 409,
  job_busy: 409,
  job_unsupported: 409,
  job_forbidden: 409,
  job_cancelled: 409,
  job_ended: 409,
  job_left: 409,
  webhook_off: 409,
  backup_busy: 409,
  enrolment_key_used_up: 409,
  idempotency_in_progress: 409,
  version_mismatch: 412,
  plan_stale: 412,
  payload_too_large: 413,
  unsupported_media: 415,
  request_timed_out: 408,
  headers_too_large: 431,
  name_reserved: 422,
  name_fault: 422,
  range_invalid: 422,
  address_unusable: 422,
  address_pool_full: 422,
  rule_fault: 422,
  conceal_fault: 422,
  configuration_fault: 422,
  policy_test_failed: 422,
  work_bound: 422,
  same_peer: 422,
  pair_denied: 422,
  webhook_target_refused: 422,
  backup_faulty: 422,
  idempotency_key_reused: 422,
  version_required: 428,
  rate_limited: 429,
  internal: 500,
  identity_provider_failed: 502,
  job_failed: 502,
  overloaded: 503,
  stopping: 503,
  job_timed_out: 504,
};

/** A failure as a sentence for people. */
export function detailOf(failure: Failure): string {
  if (isJobFailure(failure)) return jobTrouble(failure);
  if (isClientFailure(failure)) return clientTrouble(failure);
  switch (failure.code) {
    case "invalid_input":
      return failure.items.map(({ pointer, message }) => `${pointer || "/"}: ${message}`).join("; ");
    case "cursor_invalid":
      return "the cursor belongs to another list, order or filter; start from the first page";
    case "not_authenticated":
    case "forbidden":
      return failure.detail;
    case "login_failed":
      return "login or password is wrong";
    case "scope_missing":
      return `the token lacks the scope ${failure.scope}`;
    case "cross_origin":
      return `a change must come from the dashboard's own origin, not from ${failure.origin}`;
    case "setup_token_wrong":
      return "open the set-up link that the server printed when it started";
    case "not_found":
      return `there is no such ${failure.what}`;
    case "owner_exists":
      return "the owner was created already; sign in instead";
    case "name_taken":
      return `the name ${failure.name} is taken`;
    case "name_reserved":
      return `the name ${failure.name} has a meaning of its own in every network; choose another`;
    case "range_overlaps":
      return `the range ${failure.range} overlaps the network ${failure.network}`;
    case "range_invalid":
      return `the range ${failure.range} cannot be used: ${failure.detail}`;
    case "address_unusable":
    case "address_taken":
    case "address_pool_full":
      return addressTrouble(failure);
    case "enrolment_key_unknown":
    case "enrolment_key_expired":
    case "enrolment_key_used_up":
      return ENROLMENT_TROUBLE[failure.code];
    case "peer_state":
    case "in_use":
    case "route_taken":
    case "exit_unapproved":
    case "approver_exists":
      return standsInTheWay(failure);
    case "rule_exists":
      return `rule ${failure.ruleId} says the same already`;
    case "rule_fault":
    case "name_fault":
      return `${failure.field}: ${failure.reason}`;
    case "work_bound":
      return `${failure.what} would be ${failure.wanted}, and ${failure.limit} is the most that one call may cost; ask about less`;
    case "limit_reached":
      return `there are ${failure.limit} ${failure.what} already, and more are not kept; remove some first`;
    case "conceal_fault":
      return `${failure.key}: ${failure.rule}`;
    case "conceal_separates":
    case "conceal_not_rolling":
      return concealTrouble(failure);
    case "policy_test_failed":
      return testsFailed(failure.failed);
    case "plan_stale":
      return "what the server has, or what is to be applied, is not what was planned: plan again, look at it, apply that";
    case "configuration_fault":
      return `${failure.at}: ${failure.reason}`;
    case "backup_busy":
      return "a backup is being taken or verified; try again when it is done";
    case "backup_faulty":
      return failure.detail;
    case "webhook_off":
      return "the webhook is off; turn it on first";
    case "webhook_target_refused":
      return `this address cannot be a webhook's: ${failure.detail}`;
    case "internal":
      return "something went wrong on the server; its log has the request id";
    default:
      return requestDetailOf(failure);
  }
}

function requestDetailOf(failure: RequestFailure | AccountFailure): string {
  switch (failure.code) {
    case "method_not_allowed":
      return `this path takes ${failure.allowed.join(", ")}`;
    case "payload_too_large":
      return `the body is longer than ${failure.bytesMax} bytes`;
    case "unsupported_media":
      return `send application/json, not ${failure.got}`;
    case "idempotency_in_progress":
      return "the first call with this Idempotency-Key is not finished; ask again in a moment";
    case "idempotency_key_reused":
      return "this Idempotency-Key was used for another call; take a new one for each thing to create";
    case "version_mismatch":
      return `somebody changed it in the meantime, its version is now ${failure.tag}; read it again before changing it`;
    case "version_required":
      return "say in If-Match which version this changes: the ETag of the last answer, or * for any";
    case "rate_limited":
      return `too many requests; try again in ${failure.retryAfterSeconds} s`;
    case "overloaded":
      return `many nodes connect at once; try again in ${failure.retryAfterSeconds} s`;
    case "headers_too_large":
      return "URL and headers together are longer than 16 KiB";
    case "request_timed_out":
      return "the request did not come to its end in time";
    case "stopping":
      return "the server restarts; try again in a moment";
    default:
      return accountDetailOf(failure);
  }
}

function accountDetailOf(failure: AccountFailure): string {
  switch (failure.code) {
    case "second_factor_state":
    case "proof_needed":
      return failure.detail;
    case "last_way_in":
      return "nothing else lets you into this account; set a password or add another identity first";
    case "second_factor_next":
      return "this account asks for the code of its authenticator as well, or for a recovery code; send it with loginToken";
    case "second_factor_needed":
      return "this account asks for the code of its authenticator as well, or for a recovery code";
    case "second_factor_wrong":
    case "code_wrong":
      return "the code is wrong or was used before; take the next one, or a recovery code";
    case "password_wrong":
      return "the present password is wrong";
    case "invite_unusable":
      return "the invite is unknown, used, revoked or expired; ask for a new link";
    case "bootstrap_unusable":
      return "the bootstrap token is unknown, used or older than an hour; it works once, on a server without accounts";
    case "last_owner":
      return "one enabled owner with a password must remain; make somebody else owner first";
    case "identity_provider_failed":
      return `the identity provider ${failure.provider} failed: ${failure.detail}; sign in with a password, or try again`;
    case "identity_refused":
      return `the identity provider ${failure.provider} let nobody in: ${failure.detail}`;
    case "identity_unknown":
      return `nobody here is known by this account of ${failure.provider}; ask for an invite`;
    case "identity_waiting":
      return `this account of ${failure.provider} waits for an administrator to approve it`;
    case "identity_taken":
      return "this account of the identity provider belongs to somebody else here";
    case "login_ended":
      return "this login was used before, is too old, or began elsewhere; start again";
  }
}

const ENROLMENT_TROUBLE = {
  enrolment_key_unknown: "the enrolment key is unknown; copy the whole join line again",
  enrolment_key_expired: "the enrolment key expired or was revoked; make a new one on the dashboard",
  enrolment_key_used_up: "the enrolment key was used as often as it allows; make a new one on the dashboard",
} as const;

function standsInTheWay(
  failure: Extract<
    Failure,
    { readonly code: "peer_state" | "in_use" | "route_taken" | "exit_unapproved" | "approver_exists" }
  >,
): string {
  if (failure.code === "peer_state") {
    return `peer ${failure.name} is ${failure.state}: there is nothing to ${failure.verdict}`;
  }
  if (failure.code === "route_taken") {
    return `route ${failure.routeId} leads to ${failure.prefix} already; remove it first`;
  }
  if (failure.code === "exit_unapproved") {
    return `peer ${failure.name} is no exit node; make a route to 0.0.0.0/0 or ::/0 through it and approve that first`;
  }
  if (failure.code === "approver_exists")
    return `routes of this group to ${failure.prefix} are approved at once already`;
  return `the ${failure.what} is still used by ${failure.users.join(", ")}; change or remove that first`;
}

function concealTrouble(
  failure: Extract<Failure, { readonly code: "conceal_separates" | "conceal_not_rolling" }>,
): string {
  if (failure.code === "conceal_not_rolling") return "no conceal profile is being rolled out here";
  const pairs = failure.pairs === 1 ? "one pair" : `${failure.pairs} pairs`;
  return `${pairs} of nodes that may talk would not understand each other (${failure.examples.join("; ")}): choose groups that talk among themselves only, update agents that take no profiles, or accept the separation`;
}

function isJobFailure(failure: Failure): failure is JobFailure {
  return failure.code === "peer_offline" || failure.code === "same_peer" || /^(job|pair)_/.test(failure.code);
}

function jobTrouble(failure: JobFailure): string {
  switch (failure.code) {
    case "peer_offline":
      return `peer ${failure.name} is offline`;
    case "same_peer":
      return "a peer is no target for itself; choose another";
    case "job_busy":
      return `peer ${failure.name} runs such a job already; try again when it is done`;
    case "job_unsupported":
      return `peer ${failure.name} does not do that: its agent is too old, or a plain WireGuard client`;
    case "job_forbidden":
      return `the host of peer ${failure.name} forbids the job ${failure.kind} (WEFT_FORBIDDEN_JOBS)`;
    case "job_cancelled":
      return "the job was cancelled";
    case "job_left":
      return failure.detail;
    case "job_ended":
      return `the job has ended already: it is ${failure.state}`;
    case "pair_denied":
      return `nothing was opened for it: ${failure.from} may not begin this to ${failure.to}, ${failure.reason}`;
    case "job_timed_out":
      return `peer ${failure.name} did not answer within ${failure.seconds} s`;
    case "job_failed":
      return `peer ${failure.name} could not do it: ${failure.detail}`;
  }
}

function addressTrouble(
  failure: Extract<Failure, { readonly code: "address_unusable" | "address_taken" | "address_pool_full" }>,
): string {
  switch (failure.code) {
    case "address_unusable":
      return `no peer of this network can have the address ${failure.address}; choose one inside its ranges`;
    case "address_taken":
      return `the address ${failure.address} is in use, or was until a moment ago; choose another or wait ten minutes`;
    case "address_pool_full":
      return `network ${failure.network} has no free address (${failure.capacity} in use)`;
  }
}

function testsFailed(failed: readonly { readonly name: string; readonly reason: string }[]): string {
  return `tests of the policy fail: ${failed.map(({ name, reason }) => `"${name}" (${reason})`).join("; ")}`;
}

/** What a status means. */
export const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  408: "Too slow",
  409: "Conflict",
  412: "Changed in the meantime",
  413: "Too large",
  415: "Unsupported media type",
  422: "Cannot be processed",
  428: "Version missing",
  429: "Too many requests",
  431: "Headers too large",
  500: "Server error",
  502: "Other side failed",
  503: "Not available now",
  504: "Agent did not answer",
};
const RESTART_SECONDS = 2;

/** What can be wrong with a static client. */
type ClientFailure = Extract<
  Failure,
  { readonly code: "gateway_unfit" | "gateway_missing" | "key_taken" | "client_link_unusable" }
>;

function isClientFailure(failure: Failure): failure is ClientFailure {
  const { code } = failure;
  return (
    code === "gateway_unfit" || code === "gateway_missing" || code === "key_taken" || code === "client_link_unusable"
  );
}

function clientTrouble(failure: ClientFailure): string {
  switch (failure.code) {
    case "gateway_unfit":
      return `${failure.name} cannot be a gateway: it ${failure.reason}`;
    case "gateway_missing":
      return `no node speaks for ${failure.name}; choose a gateway for it first`;
    case "key_taken":
      return "a member of this network has the key; make another pair";
    case "client_link_unusable":
      return "the link was used, has ended or never was; ask for another";
  }
}
