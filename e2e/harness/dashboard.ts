import type { Browser, Page } from "playwright-core";

import { repositoryPath } from "./repository.ts";
import { OWNER_LOGIN } from "./server.ts";

export type ColorScheme = "light" | "dark";

/** Opens the dashboard and signs in as the owner. */
export async function signIn(browser: Browser, url: string, password: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1_360, height: 900 } })).newPage();
  await page.goto(`${url}/login`);
  await page.getByLabel("User name").fill(OWNER_LOGIN);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/networks/);
  return page;
}

/** Counts trusted clicks from now on; read them with {@link clicksSoFar}. */
export async function countClicks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const key = "weft-test-clicks";
    addEventListener(
      "click",
      (event) => {
        if (event.isTrusted) sessionStorage.setItem(key, String(Number(sessionStorage.getItem(key) ?? "0") + 1));
      },
      { capture: true },
    );
  });
}

/** How many clicks the page has seen, over all its navigations. */
export async function clicksSoFar(page: Page): Promise<number> {
  return page.evaluate(() => Number(sessionStorage.getItem("weft-test-clicks") ?? "0"));
}

/** Keeps a picture of the page for people; nothing compares it. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: repositoryPath("e2e", "artifacts", `${name}.png`) });
}
