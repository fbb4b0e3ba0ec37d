import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { paths } from "../routes.ts";
import { strings } from "../strings/index.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Logo } from "./logo.tsx";

export type RailProps = { readonly networkId: string | null; readonly onNavigate?: () => void };

/** The main navigation. Only pages that exist have an entry. */
export function Rail({ networkId, onNavigate }: RailProps): ReactNode {
  return (
    <>
      <Link to={paths.home} className="rail-logo" aria-label={strings.frame.home} onClick={onNavigate}>
        <Logo />
        <span className="rail-word">weft</span>
      </Link>
      <nav aria-label={strings.frame.navigation} className="rail-nav">
        {networkId ? (
          <ul>
            {NETWORK_ENTRIES.map((entry) => (
              <li key={entry.to}>
                <Link
                  to={entry.to}
                  params={{ networkId }}
                  className="rail-link"
                  activeOptions={{ exact: entry.to === paths.overview, includeSearch: false }}
                  onClick={onNavigate}
                >
                  <RailLabel icon={entry.icon} label={strings.frame.entries[entry.label]} />
                </Link>
              </li>
            ))}
          </ul>
        ) : null}
        <ul>
          <li>
            <Link to={paths.access} className="rail-link" onClick={onNavigate}>
              <RailLabel icon="access" label={strings.frame.entries.access} />
            </Link>
          </li>
          <li>
            <Link to={paths.audit} className="rail-link" onClick={onNavigate}>
              <RailLabel icon="audit" label={strings.frame.entries.audit} />
            </Link>
          </li>
          <li>
            <Link to={paths.expirations} className="rail-link" onClick={onNavigate}>
              <RailLabel icon="expirations" label={strings.frame.entries.expirations} />
            </Link>
          </li>
          {networkId ? (
            <li>
              <Link to={paths.settings} params={{ networkId }} className="rail-link" onClick={onNavigate}>
                <RailLabel icon="settings" label={strings.frame.entries.settings} />
              </Link>
            </li>
          ) : null}
        </ul>
      </nav>
    </>
  );
}

function RailLabel({ icon, label }: { readonly icon: IconName; readonly label: string }): ReactNode {
  return (
    <>
      <Icon name={icon} />
      <span className="rail-word">{label}</span>
      <span className="rail-tip" aria-hidden="true">
        {label}
      </span>
    </>
  );
}

const NETWORK_ENTRIES = [
  { to: paths.overview, icon: "overview", label: "overview" },
  { to: paths.peers, icon: "peers", label: "peers" },
  { to: paths.policy, icon: "policy", label: "policy" },
  { to: paths.routes, icon: "routes", label: "routes" },
  { to: paths.names, icon: "names", label: "names" },
  { to: paths.diagnose, icon: "diagnose", label: "diagnose" },
] as const;
