import { Setting } from '../../src/h2/frames.ts'
import { createFloods, type Flood } from '../../test/support/floods.ts'
import { headers, requestFields } from '../../test/support/frame-builders.ts'
import { permitted } from '../run/rules.ts'

/** A flood as this benchmark sends it. */
export interface Kind extends Flood {
  /** Settings that the client announces. */
  readonly settings?: readonly (readonly [setting: number, value: number])[]
  /** After so many on one connection, it only holds what it has. */
  readonly most?: number
}

/** The floods of the tests, and responses that are not read. */
export function createKinds(token: string): readonly Kind[] {
  const bearer = ['authorization', `Bearer ${token}`] as const
  const get = requestFields(`GET ${permitted.one}`, [bearer])
  const post = requestFields(`POST ${permitted.collection}`, [bearer])
  // The upstream answers it with 100 KiB.
  const large = requestFields(`GET ${permitted.collection}/large`, [bearer])
  return [
    ...createFloods(get, post),
    {
      name: 'windows of zero',
      settings: [[Setting.initialWindowSize, 0]],
      again: (id) => [headers(id, large)],
      most: 100,
    },
  ]
}
