/** A place in a file, from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** What a parser makes of a text: plain data, and the place of each key near the top. */
export interface Parsed {
  readonly value: unknown
  /** The place of the key at the end of this pointer, or of the nearest one above that is known. */
  readonly placeOf: (pointer: readonly string[]) => Place
}

/** A parsed file. */
export interface Source extends Parsed {
  /** As shown to the user. */
  readonly name: string
  /** The folder that its relative references start from. */
  readonly folder: string
}
