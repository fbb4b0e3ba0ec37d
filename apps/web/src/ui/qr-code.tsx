import { type ReactNode, useMemo } from "react";
import { encode } from "uqr";

/** A QR code, black on white in both themes: cameras want it so. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { size, path } = useMemo(() => draw(text), [text]);
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function draw(text: string): { readonly size: number; readonly path: string } {
  const { size, data } = encode(text, { ecc: "M", border: QUIET_MODULES });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: dark.join("") };
}

/** White around the code that the standard asks for. */
const QUIET_MODULES = 4;
