import { access } from "./en/access.ts";
import { audit } from "./en/audit.ts";
import { expirations } from "./en/expirations.ts";
import { chart } from "./en/chart.ts";
import { clients } from "./en/clients.ts";
import { common, errors } from "./en/common.ts";
import { diagnose } from "./en/diagnose.ts";
import { flows } from "./en/flows.ts";
import { frame } from "./en/frame.ts";
import { overview } from "./en/overview.ts";
import { addHost, peers } from "./en/peers.ts";
import { peer } from "./en/peer.ts";
import { policy } from "./en/policy.ts";
import { networks, settings } from "./en/settings.ts";
import { invite, login, setup } from "./en/setup.ts";

/** The English catalogue; every other language has the same shape. */
export const en = {
  access,
  addHost,
  audit,
  expirations,
  chart,
  clients,
  common,
  diagnose,
  errors,
  flows,
  frame,
  invite,
  login,
  networks,
  overview,
  peer,
  peers,
  policy,
  settings,
  setup,
};
