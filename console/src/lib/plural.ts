/** The text for a count. English has two forms, Chinese has one. */
export function plural(
  language: string,
  count: number,
  forms: { readonly one?: string; readonly other: string },
): string {
  const form = new Intl.PluralRules(language).select(count)
  return form === 'one' ? (forms.one ?? forms.other) : forms.other
}
