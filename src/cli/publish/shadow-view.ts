import type {
  policyShadow,
  policyShadowEnd,
  ShadowDocument,
} from '../../operations/publish/descriptions.ts'
import type { ObservedShadow } from '../../operations/publish/observed-shadow.ts'
import { jsonPieces } from '../format.ts'
import type { ViewOf } from '../view.ts'
import {
  formatCounts,
  formatDisagreements,
  formatReplicas,
  formatShadow,
  formatTotals,
} from './shadow-in-words.ts'

const noShadow = 'no shadow runs: push one with "postern policy push --shadow -m WHY"\n'

export const policyShadowView: ViewOf<typeof policyShadow, ObservedShadow> = {
  text({ shown: shadow }, { limit }) {
    if (shadow === undefined) return noShadow
    const { evidence } = shadow
    return [
      formatShadow(shadow),
      formatTotals(evidence),
      formatReplicas(evidence.replicas),
      formatDisagreements('deny', evidence, limit),
      formatDisagreements('allow', evidence, limit),
    ].join('')
  },
}

export const policyShadowEndView: ViewOf<typeof policyShadowEnd, boolean> = {
  text({ document, shown: isEnded, notes = [] }) {
    if (isEnded === undefined) return noShadow
    if (!isEnded) return { out: '', err: notes.map((note) => `${note}\n`).join('') }
    const { ended, evaluated } = document
    const counted =
      evaluated === undefined ? '' : ` after ${formatCounts(document as ShadowDocument)}`
    return `ended the shadow ${ended ?? 'that was not valid'}${counted}\n`
  },
  json: ({ document, notes = [] }) => ({
    out: jsonPieces(document),
    err: notes.map((note) => `${note}\n`).join(''),
  }),
}
