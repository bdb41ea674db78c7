import type { version } from '../../operations/running/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const versionView: ViewOf<typeof version> = {
  text: ({ document }) => formatTable(Object.entries(document)),
}
