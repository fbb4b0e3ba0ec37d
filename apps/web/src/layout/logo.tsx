import type { ReactNode } from "react";

/** Threads crossing over and under: the mark of the product. */
export function Logo({ size = 26 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true" className="logo">
      <rect width="32" height="32" rx="8" className="logo-ground" />
      <g strokeWidth="3" strokeLinecap="round" className="logo-thread">
        <path d="M11 7v4.500M11 16v9M21 7v9M21 20.500V25" />
        <path d="M7 11h9M20.500 11H25M7 21h4.500M16 21h9" opacity=".62" />
      </g>
    </svg>
  );
}
