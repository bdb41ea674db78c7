import type { Config } from '../schema/schema.ts'

/** A configuration in which whatever did not fit its schema is absent. */
export type Draft = DeepPartial<Config>

type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly (DeepPartial<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T
