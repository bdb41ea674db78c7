/** What the bench asks of a process with gateways. */
export type ToFleet =
  | {
      readonly kind: 'start'
      readonly url: string
      readonly prefix: string
      readonly from: number
      readonly count: number
    }
  | { readonly kind: 'count'; readonly seconds: number }
  | { readonly kind: 'watch' }
  | { readonly kind: 'stop' }

/** What such a process answers. Times are milliseconds since the epoch. */
export type FromFleet =
  | { readonly kind: 'progress'; readonly started: number }
  | { readonly kind: 'started'; readonly rssMb: number }
  | { readonly kind: 'counted' }
  /** The gateways of this process that have it, in the order in which they got it. */
  | { readonly kind: 'policy' | 'revoked'; readonly name: string; readonly at: readonly number[] }
  /** Since Redis was last lost, all gateways here are current again. */
  | { readonly kind: 'current'; readonly at: readonly number[] }
  | { readonly kind: 'lost' }
