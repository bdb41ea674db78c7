/** The text for a whole number of things. English has two forms, Chinese has one. */
export function plural(
  language: string,
  count: number,
  forms: { readonly one?: string; readonly other: string },
): string {
  return language === 'en' && count === 1 ? (forms.one ?? forms.other) : forms.other
}
