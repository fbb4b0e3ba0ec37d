import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { CopyButton } from "./copy-button.tsx";

test("copies the whole text and says that it did", async () => {
  const user = userEvent.setup();
  Object.defineProperty(window, "isSecureContext", { value: true, configurable: true });
  render(<CopyButton text="100.80.0.1" what="address 100.80.0.1" />);

  await user.click(screen.getByRole("button", { name: "Copy address 100.80.0.1" }));

  expect((await screen.findByRole("status")).textContent).toBe("Copied address 100.80.0.1");
  expect(await navigator.clipboard.readText()).toBe("100.80.0.1");
});

test("copies through a selection on a page without TLS", async () => {
  const user = userEvent.setup();
  Object.defineProperty(window, "isSecureContext", { value: false, configurable: true });
  const copied: (string | undefined)[] = [];
  Object.defineProperty(document, "execCommand", {
    configurable: true,
    value: () => {
      copied.push(document.querySelector("textarea")?.value);
      return true;
    },
  });
  render(<CopyButton text="secret line" what="join line" look="primary" />);

  await user.click(screen.getByRole("button", { name: "Copy join line" }));

  await screen.findByRole("button", { name: "Copied join line" });
  expect(copied).toEqual(["secret line"]);
  expect(document.querySelector("textarea")).toBeNull();
});

test("says so when copying failed", async () => {
  const user = userEvent.setup();
  Object.defineProperty(window, "isSecureContext", { value: false, configurable: true });
  Object.defineProperty(document, "execCommand", { value: () => false, configurable: true });
  render(<CopyButton text="x" what="name web-1" />);

  await user.click(screen.getByRole("button", { name: "Copy name web-1" }));

  expect((await screen.findByRole("status")).textContent).toContain("Could not copy name web-1");
});
