import type { FaultPart, RefusalKind } from '../kernel/errors.ts'

/** Everything that Postern says to a user over HTTP, by name. */
export type MessageKind = RefusalKind | FaultPart | OtherMessage

type OtherMessage =
  /** A bug of ours: no detail leaves the process. */
  | 'bug'
  /** What forward-auth proxies get instead of `cross-site-cookie`: its status says 403, not 401. */
  | 'cross-site'
  | 'logged-out'
  /** While the shared store is unreachable. */
  | 'logged-out-here'
  | 'password-changed'
  | 'password-changed-here'

/** All messages in one language. A missing translation does not compile. */
export type Texts = Readonly<Record<MessageKind, string>>
