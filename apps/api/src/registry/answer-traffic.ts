import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { TrafficPoint, TrafficSpan } from "../db/traffic-repository.ts";
import { STEP_MS, stepBegin } from "../domain/traffic-steps.ts";
import type { Failure } from "../domain/failure.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { TRAFFIC_POINTS_DEFAULT, TRAFFIC_POINTS_MAX } from "./traffic-schemas.ts";
import type { TrafficAnswer, TrafficQuestion } from "./traffic-schemas.ts";

/** Answers what moved in a span of time. The last ten seconds may not be written down yet. */
export async function answerTraffic(
  deps: Pick<FeatureDeps, "clock">,
  question: TrafficQuestion,
  read: (span: TrafficSpan) => Promise<readonly TrafficPoint[]>,
): Promise<Result<TrafficAnswer, Failure>> {
  const { step } = question;
  const until =
    question.until === undefined
      ? new Date(stepBegin(step, deps.clock.nowMs()).getTime() + STEP_MS[step])
      : new Date(question.until);
  const fromMs =
    question.from === undefined ? until.getTime() - TRAFFIC_POINTS_DEFAULT * STEP_MS[step] : Date.parse(question.from);
  // A step that began before the span still says what moved in it.
  const from = stepBegin(step, fromMs);
  const steps = (until.getTime() - from.getTime()) / STEP_MS[step];
  if (steps < 0) return fault("/from", "the begin lies behind the end");
  if (steps > TRAFFIC_POINTS_MAX)
    return fault("/from", `a span has at most ${TRAFFIC_POINTS_MAX} steps; choose a wider step or a later begin`);
  const points = await read({ step, from, until });
  return ok({
    step,
    from: from.toISOString(),
    until: until.toISOString(),
    points: points.map(({ at, rxBytes, txBytes }) => ({
      at: at.toISOString(),
      rxBytes: String(rxBytes),
      txBytes: String(txBytes),
    })),
  });
}

function fault(pointer: string, message: string): Result<never, Failure> {
  return err({ code: "invalid_input", items: [{ pointer, code: "invalid", message }] });
}
