/**
 * Prints numbered steps on standard error: "[2/4] native addon … done in 31 s".
 * On a terminal the newest line of a running step is shown beside it.
 */
export function createProgress(total) {
  let number = 0;
  const live = process.stderr.isTTY;
  const width = () => (process.stderr.columns ?? 100) - 1;

  return {
    async step(title, work) {
      number += 1;
      const label = `[${number}/${total}] ${title}`;
      const startedAt = Date.now();
      process.stderr.write(live ? `${label} …` : `${label} …\n`);
      const show = (line) => {
        if (!live) return;
        const text = `${label} … ${line.trim()}`;
        process.stderr.write(`\r\u001b[2K${text.slice(0, width())}`);
      };
      try {
        const outcome = await work(show);
        finish(`${label}: ${outcome ?? "done"} (${seconds(startedAt)})`);
        return outcome;
      } catch (error) {
        finish(`${label}: FAILED (${seconds(startedAt)})`);
        throw error;
      }
    },
  };

  function finish(text) {
    process.stderr.write(live ? `\r\u001b[2K${text}\n` : `${text}\n`);
  }
}

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Ends the program with the tail of what the failing step printed. */
export function reportFailure(error) {
  if (error?.output) {
    const lines = error.output.trimEnd().split("\n");
    process.stderr.write(`${lines.slice(-60).join("\n")}\n`);
  }
  process.stderr.write(`\n${error?.message ?? error}\n`);
  process.exitCode = 1;
}
