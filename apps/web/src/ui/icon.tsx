import type { ReactNode } from "react";

/** Names of the drawings in {@link Icon}. */
export type IconName = keyof typeof PATHS;

/** A decorative line drawing; the control that holds it carries the name. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

const PATHS = {
  overview: "M3 11.5 6.5 8l3 3L17 4M3 16.5h14",
  peers:
    "M10 4.5a2 2 0 1 1 0 .01M4.5 13.5a2 2 0 1 1 0 .01M15.5 13.5a2 2 0 1 1 0 .01M8.9 6.4l-3.3 5.4M11.1 6.4l3.3 5.4M6.6 13.6h6.8",
  policy: "M10 2.8 4 5v4.6c0 3.6 2.5 6.3 6 7.6 3.5-1.3 6-4 6-7.6V5l-6-2.2M7.3 10l2 2 3.4-4",
  routes: "M4.5 16.5v-4a3 3 0 0 1 3-3h8M12.5 6l3.5 3.5-3.5 3.5M4.5 3.5v3",
  names: "M3.5 4.5h6l7 7-5.5 5.5-7.5-7.5zM7 8h.01",
  access: "M12.7 3.2a4 4 0 1 1-3.3 6.3L4 15v2h2.5v-2h2v-2h1.2M13.6 6.4h.01",
  diagnose: "M2.5 10.5h3l2-6 3.4 11 2.3-7 1.2 2h3.1",
  audit: "M5 3h7l3.5 3.5V17H5zM12 3v3.5h3.5M7.5 10h5M7.5 13.5h5",
  expirations: "M10 5.5V10l3 2M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14",
  settings:
    "M3 6h7M14 6h3M3 14h3M10 14h7M12 4.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6M8 12.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  close: "M5 5l10 10M15 5 5 15",
  plus: "M10 4v12M4 10h12",
  search: "M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M13.2 13.2 17 17",
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  sun: "M10 6.8a3.2 3.2 0 1 1 0 6.4 3.2 3.2 0 0 1 0-6.4M10 2v1.6M10 16.4V18M2 10h1.6M16.4 10H18M4.3 4.3l1.2 1.2M14.5 14.5l1.2 1.2M15.7 4.3l-1.2 1.2M5.5 14.5l-1.2 1.2",
  moon: "M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3",
  system: "M3 4.5h14v9H3zM7 16.5h6M10 13.5v3",
  user: "M10 4a3 3 0 1 1 0 6 3 3 0 0 1 0-6M4 16.5c.8-2.6 3.2-4 6-4s5.2 1.4 6 4",
  chevron: "M6 8l4 4 4-4",
  updown: "M7 8l3-3 3 3M7 12l3 3 3-3",
  up: "M10 15.5v-11M5.5 9 10 4.5 14.5 9",
  down: "M10 4.5v11M5.5 11l4.5 4.5 4.5-4.5",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  eye: "M2 10s3-5.5 8-5.5 8 5.5 8 5.5-3 5.5-8 5.5S2 10 2 10M10 7.7a2.3 2.3 0 1 1 0 4.6 2.3 2.3 0 0 1 0-4.6",
  eyeOff:
    "M3 3l14 14M8 5c.6-.3 1.3-.5 2-.5 5 0 8 5.5 8 5.5a14 14 0 0 1-2.4 3M5 6.7A13.5 13.5 0 0 0 2 10s3 5.5 8 5.5c1.4 0 2.7-.4 3.8-1M8.4 8.4a2.3 2.3 0 0 0 3.2 3.2",
  warning: "M10 3.2 17.5 16.5h-15zM10 8.2v3.6M10 14.2h.01",
  trash: "M4 5.5h12M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.4 8.5v5M11.6 8.5v5",
  pencil: "M12.8 4.2l3 3L7 16H4v-3zM11 6l3 3",
  arrow: "M4 10h12M11.5 5.5 16 10l-4.5 4.5",
  link: "M8.5 11.5l3-3M9.5 6.5l1.8-1.8a3 3 0 0 1 4.2 4.2l-1.8 1.8M10.5 13.5l-1.8 1.8a3 3 0 0 1-4.2-4.2l1.8-1.8",
  refresh: "M16 10a6 6 0 1 1-1.8-4.3M16 3v3.5h-3.5",
  logout: "M8 3.5H4v13h4M8.5 10H17M13.5 6.5 17 10l-3.5 3.5",
} as const;
