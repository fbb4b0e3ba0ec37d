/** The forms a language needs; English uses `one` and `other`. `#` stands for the number. */
export type PluralForms = { readonly other: string } & { readonly [Category in Intl.LDMLPluralRule]?: string };

/** Makes a chooser of plural forms for one language. */
export function createPlural(language: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replaceAll("#", numbers.format(count));
}
