import { UNDERLAY, UNDERLAY_ADDRESSES } from "../site.ts";
import type { Contender } from "./contender.ts";

/** The bare link: what every tunnel is bounded by. */
export const rawVeth: Contender = {
  name: "raw veth",
  start: () =>
    Promise.resolve({
      ok: true,
      tunnel: {
        interfaces: { a: UNDERLAY, b: UNDERLAY },
        v4: UNDERLAY_ADDRESSES,
        v6: { a: "2001:db8::1", b: "2001:db8::2" },
        daemonPids: [],
        whyBroken: () => undefined,
        stop: () => Promise.resolve(),
      },
    }),
};
