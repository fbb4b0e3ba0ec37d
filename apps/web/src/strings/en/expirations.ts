import { plural } from "./plural.ts";

export const expirations = {
  title: "Expiring",
  sentence: "Everything that ends by itself, soonest first.",
  table: "What expires",
  loading: "Loading what expires",
  columns: { name: "Name", kind: "What", expiresAt: "Ends", warning: "Left" },
  kinds: { peer: "Membership", enrolmentKey: "Enrolment key", token: "Token", invite: "Invite" },
  kind: "What",
  allKinds: "Everything",
  warnings: {
    day: "less than a day",
    week: "less than 7 days",
    month: "less than 30 days",
    none: "30 days or more",
  },
  emptyTitle: "Nothing expires",
  emptyHint: "No membership, enrolment key, token or invite has an end that is still to come.",
  more: "Later ones",
  loaded: (count: number) => plural(count, { one: "# entry shown", other: "# entries shown" }),
};
