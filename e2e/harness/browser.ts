import { chromium, type Browser } from "playwright-core";

import { cleanUpLater } from "./cleanup.ts";
import { findProgram } from "./tools.ts";

/** Why no browser can be started, or `undefined`. */
export function whyNoBrowser(): string | undefined {
  return chromiumPath() === undefined
    ? "Chromium is not installed (apt install chromium, or set WEFT_CHROMIUM)"
    : undefined;
}

/** Starts a headless Chromium that ends with us. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error(whyNoBrowser());
  const browser = await chromium.launch({
    executablePath,
    // Chromium refuses its own sandbox to root; the pages are ours.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  cleanUpLater({ name: "browser", run: () => browser.close() });
  return browser;
}

function chromiumPath(): string | undefined {
  const given = process.env["WEFT_CHROMIUM"];
  const candidates = given === undefined ? ["chromium", "chromium-browser", "google-chrome"] : [given];
  return candidates.map(findProgram).find((path) => path !== undefined);
}
