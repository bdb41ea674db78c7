import type { en } from './en.ts'

/** Every text of the page. A language that lacks one does not compile. */
export type Texts = { readonly [Name in keyof typeof en]: TextOf<(typeof en)[Name]> }

type TextOf<T> = T extends (...values: infer Values) => string
  ? (...values: Values) => string
  : string
