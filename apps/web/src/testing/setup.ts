import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";
import { installBlankCanvas } from "./blank-canvas.ts";

installBlankCanvas();

// A busy machine may take seconds to load a page's code; a test that passes never waits that long.
configure({ asyncUtilTimeout: 10_000 });

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
