import { z } from "zod";
import { TRAFFIC_STEPS } from "../domain/traffic-steps.ts";
import { CounterSchema, TimeSchema } from "./common-schemas.ts";

/** Steps of one answer. */
export const TRAFFIC_POINTS_MAX = 10_080;

/** Which traffic is asked for. */
export const trafficFields = {
  step: z.enum(TRAFFIC_STEPS).default("1m").describe("Width of a step; fine ones are kept for the shortest time."),
  from: TimeSchema.optional().describe("Begin; without it, 360 steps before the end."),
  until: TimeSchema.optional().describe("End, itself not included; that of the running step when left out."),
};

export const TrafficSchema = z
  .strictObject({
    step: z.enum(TRAFFIC_STEPS),
    from: TimeSchema,
    until: TimeSchema,
    points: z
      .array(
        z.strictObject({
          at: TimeSchema.describe("Begin of the step"),
          rxBytes: CounterSchema,
          txBytes: CounterSchema,
        }),
      )
      .describe("In order of time; a step in which nothing moved is left out"),
  })
  .meta({ id: "Traffic" });

/** Steps that are asked for when nothing says since when. */
export const TRAFFIC_POINTS_DEFAULT = 360;

export type TrafficQuestion = z.output<z.ZodObject<typeof trafficFields>>;
export type TrafficAnswer = z.output<typeof TrafficSchema>;
