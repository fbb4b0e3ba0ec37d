import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";
import { installBlankCanvas } from "./blank-canvas.ts";

installBlankCanvas();

afterEach(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
