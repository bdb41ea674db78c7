/** A value that may lack any part, such as a configuration without the values that do not fit its schema. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly (DeepPartial<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T
