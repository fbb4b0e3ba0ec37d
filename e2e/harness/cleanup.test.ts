import { expect, test } from "vitest";

import { cleanUpLater, cleanUpNow } from "./cleanup.ts";

test("what was registered last is undone first", async () => {
  const undone: string[] = [];
  cleanUpLater({ name: "first", run: () => void undone.push("first") });
  cleanUpLater({ name: "second", run: () => void undone.push("second") });

  await cleanUpNow();

  expect(undone).toEqual(["second", "first"]);
});

test("a second call waits for what the first one is still undoing", async () => {
  let finish: () => void = () => undefined;
  let undone = false;
  cleanUpLater({
    name: "slow",
    run: async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      undone = true;
    },
  });

  const first = cleanUpNow();
  const second = cleanUpNow().then(() => undone);
  finish();
  await first;

  expect(await second).toBe(true);
});

test("what was undone by hand is not undone again", async () => {
  let times = 0;
  const undo = cleanUpLater({ name: "once", run: () => void (times += 1) });

  await undo();
  await cleanUpNow();

  expect(times).toBe(1);
});
