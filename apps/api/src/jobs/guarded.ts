/** What a timer calls: an error of one run is reported, and neither ends the process nor the next run. */
export function guarded(run: () => void, onError: (error: unknown) => void): () => void {
  return () => {
    try {
      run();
    } catch (error) {
      onError(error);
    }
  };
}
