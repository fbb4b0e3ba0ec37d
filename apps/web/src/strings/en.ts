import { chart } from "./en/chart.ts";
import { clients } from "./en/clients.ts";
import { common, errors } from "./en/common.ts";
import { flows } from "./en/flows.ts";
import { frame } from "./en/frame.ts";
import { overview } from "./en/overview.ts";
import { addHost, peers } from "./en/peers.ts";
import { peer } from "./en/peer.ts";
import { networks } from "./en/settings.ts";
import { invite, login } from "./en/setup.ts";

/** The English catalogue; every other language has the same shape. */
export const en = {
  addHost,
  chart,
  clients,
  common,
  errors,
  flows,
  frame,
  invite,
  login,
  networks,
  overview,
  peer,
  peers,
};
