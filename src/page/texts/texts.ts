import type en from './en.json'

/** Every text of the page. A language that lacks one does not compile. */
export type Texts = Readonly<Record<keyof typeof en, string>>

/** A text with the name of a person, provider or page in it. */
export function naming(text: string, name: string): string {
  // As a function: `$&` in a name would mean something.
  return text.replace('{name}', () => name)
}
