/** The catalogue of the first language that the reader asked for and that is there. */
export function chosenFrom<T>(catalogues: ReadonlyMap<string, T>, otherwise: T): T {
  const languages = typeof navigator === "undefined" ? [] : navigator.languages;
  for (const language of languages) {
    const catalogue = catalogues.get(language.split("-")[0] ?? "");
    if (catalogue) return catalogue;
  }
  return otherwise;
}
