// Written by "npm run generate" from the schemas of the management API.

export interface AccessChange {
  readonly direction: 'gain' | 'loss'
  readonly severity: 'superuser' | 'unchecked' | 'wide' | 'changing' | 'reading' | 'uncertain' | 'loss'
  readonly cause: 'superuser' | 'allow' | 'deny' | 'inheritance' | 'exclusion' | 'casbin'
  readonly line: 'added' | 'removed'
  readonly origin: Origin
  readonly roleKey?: string | undefined
  readonly parentKey?: string | undefined
  readonly domains?: readonly string[] | undefined
  readonly text?: string | undefined
  readonly hasEffect: boolean
  readonly withoutEffect: readonly string[]
  readonly routes: readonly {
    readonly path: string
    readonly access: 'permitted' | 'authenticated' | 'public'
    readonly upstream?: string | undefined
  }[]
  readonly until?: string | undefined
  readonly startsAt?: string | undefined
  readonly shares: readonly ChangeShare[]
}

export interface AccessDiff {
  readonly from: string
  readonly to: string
  readonly widened: boolean
  readonly areRoutesKnown: boolean
  readonly widenedHere: boolean
  readonly changes: readonly AccessChange[]
}

export interface AccountCount {
  readonly enabled: number
  readonly disabled: number
  /** With names: of the enabled ones. */
  readonly names?: readonly string[] | undefined
}

export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly actor: {
    /** operator, user, service or gateway. */
    readonly kind: string
    readonly name: string
    readonly origin: string
  }
  readonly action: string
  readonly subject: string
  /** What it was; null: it did not exist. */
  readonly before: unknown
  /** What it became; null: it no longer exists. */
  readonly after: unknown
}

export type AuditList = readonly AuditEntry[]

export interface Captcha {
  readonly id: string
  /** A picture as a data: address. */
  readonly data: string
  /** The address of a recording. */
  readonly audio: string
}

export interface ChangeShare {
  readonly roleCount: number
  readonly roles?: readonly string[] | undefined
  readonly grants: readonly {
    readonly methods: readonly string[]
    readonly path: string
    readonly example?: {
      readonly method: string
      readonly path: string
    } | undefined
    readonly certain: boolean
    readonly owner?: string | undefined
    readonly origin: Origin
  }[]
  /** Where a long list of roles is, such as changes[0].shares[0]. */
  readonly rolesAt?: string | undefined
}

/** With compact. "cells" says what the letters mean. */
export interface CompactMatrix {
  readonly policy: string
  readonly revision: string
  readonly roles: readonly string[]
  readonly unserved: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly refused: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly unasked: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly routesWithoutRule: readonly string[]
  readonly notes: readonly string[]
  readonly cells: Readonly<Record<string, 'no' | 'allowed' | 'inherited' | 'superuser' | 'everyone' | 'partly' | 'partly inherited' | 'partly everyone' | 'denied' | 'admin'>>
  readonly operations: readonly CompactOperation[]
}

export interface CompactOperation {
  readonly method: string
  readonly path: string
  readonly access: readonly string[]
  readonly servedBy: readonly string[]
  readonly isFixedResponse: boolean
  readonly isExact: boolean
  /** A letter for each role. */
  readonly cells: string
}

export interface ConfigCheck {
  readonly file: string
  readonly ok: boolean
  readonly problems: readonly {
    /** The variable, for a setting of the environment. */
    readonly file: string
    readonly line?: number | undefined
    readonly column?: number | undefined
    readonly message: string
    readonly fix?: string | undefined
  }[]
  readonly warnings: readonly string[]
  /** Mode, routes and upstreams in words. */
  readonly summary?: string | undefined
}

/** The settings, as config/schema.json describes them. */
export type ConfigPrint = unknown

export interface Confirmation {
  readonly password?: string | undefined
  readonly otp?: string | undefined
}

export interface Credentials {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** One-time code, if the account has them. */
  readonly otp?: string | undefined
  /** The ID of a captcha, where logins need one. */
  readonly uuid?: string | undefined
  /** What is in its picture. */
  readonly code?: string | undefined
  /** A directory or login module. */
  readonly provider?: string | undefined
}

export interface DecisionBatch {
  readonly decisions: readonly WatchedDecision[]
  /** How many more the gateway decided. */
  readonly leftOut: number
}

/** The newest decides now; the oldest is since when. */
export interface DecisionChange {
  readonly step: string
  readonly line: string
  /** null: in files that are not committed. */
  readonly at: string | null
  readonly cause: 'published' | 'committed' | 'uncommitted' | 'expired'
  readonly revision: string
  readonly commit?: string | undefined
  readonly author?: string | undefined
  readonly message?: string | undefined
  readonly signers: readonly string[]
}

/** One event. */
export type DecisionEvent = {
  readonly event: 'state'
  readonly data: WatchState
} | {
  readonly event: 'decisions'
  readonly data: DecisionBatch
}

export interface Denial {
  readonly roleKey: string
  readonly method: string
  readonly path?: string | undefined
  readonly domain?: string | undefined
  readonly route?: string | undefined
  readonly count: number
  readonly last: string
  readonly line?: string | undefined
  readonly nearMisses: readonly {
    readonly differs: 'method' | 'role' | 'domain' | 'inheritance' | 'expired'
    readonly rule: Rule
  }[]
  readonly allowedNow?: boolean | undefined
  readonly step?: string | undefined
  readonly isUnserved?: boolean | undefined
  readonly rule?: Rule | undefined
}

export interface Disagreement {
  readonly would: 'deny' | 'allow'
  readonly role: string
  readonly method: string
  readonly live: {
    readonly step: string
    readonly rule?: {
      readonly file: string
      readonly line: number
      readonly text: string
    } | undefined
  }
  readonly shadow: {
    readonly step: string
    readonly rule?: {
      readonly file: string
      readonly line: number
      readonly text: string
    } | undefined
  }
  readonly count: number
  readonly first: string
  readonly last: string
  readonly requestId: string
  readonly path?: string | undefined
  readonly domain?: string | undefined
  readonly userId?: string | undefined
}

export interface DistinctCount {
  readonly count: number
  /** false: there were more than `count`. */
  readonly isExact: boolean
  readonly some: readonly string[]
}

export interface EffectiveRule {
  readonly rule: Rule
  readonly via: readonly string[]
  readonly until?: string | undefined
  readonly effect: 'allows' | 'partly' | 'outweighed' | 'denies' | 'idle'
  readonly example?: {
    readonly method: string
    readonly path: string
  } | undefined
}

export interface ErrorEntry {
  readonly message: string
  readonly kind?: string | undefined
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly fix?: string | undefined
}

export interface Errors {
  readonly ok: false
  readonly errors: readonly ErrorEntry[]
}

export interface EvaluatingReplica {
  readonly id: string
  readonly state: 'evaluating' | 'failed' | 'missing' | 'lost' | 'ended'
  readonly version?: string | undefined
  readonly evaluatingMs: number
  readonly problem?: string | undefined
  readonly evaluated: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  readonly failed: number
}

export interface Exclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly origin: Origin
  readonly until?: string | undefined
}

export interface ExclusionEffect {
  readonly exclusion: Exclusion
  readonly effect: 'whole' | 'partly' | 'none'
  /** Why some or all of its calls would be answered the same without it. */
  readonly reasons: readonly ({
    readonly why: 'refused'
    readonly refusal?: string | undefined
  } | {
    readonly why: 'unserved'
  } | {
    readonly why: 'own-endpoint'
    readonly need: 'nothing' | 'identity'
  } | {
    readonly why: 'open-route'
    readonly need: 'nothing' | 'identity'
    readonly path: string
  } | {
    readonly why: 'earlier-entry'
    readonly exclusion: Exclusion
  })[]
}

export interface FileProblem {
  readonly file: string
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly message: string
  readonly fix?: string | undefined
}

export interface Finding {
  readonly file: string
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly message: string
  readonly fix?: string | undefined
  readonly code: string
  readonly related?: readonly Origin[] | undefined
}

export interface Fleet {
  /** redis: all that report there; gateway: the processes of the gateway that answered. */
  readonly source: 'redis' | 'gateway'
  /** null: nothing is published. */
  readonly revision: string | null
  readonly converged: boolean
  readonly counts: {
    readonly current: number
    readonly behind: number
    readonly stale: number
    readonly lost: number
  }
  readonly replicas: readonly Replica[]
}

export interface HistoryEntry {
  readonly revision: string
  readonly sequence: number
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: string
  readonly id?: string | undefined
  readonly origin?: string | undefined
  readonly publisher?: string | undefined
  readonly signed?: {
    readonly statement: string
    readonly signatures: readonly string[]
  } | undefined
  readonly evidence?: {
    readonly [member: string]: unknown
  } | undefined
  readonly signers: readonly string[]
}

export interface KeysList {
  /** null: no key of the directory signs. */
  readonly signer: string | null
  readonly keys: readonly {
    readonly kid: string
    readonly algorithm: string
    readonly role: 'verifies' | 'signs' | 'could sign'
    /** null: the key is a shared secret. */
    readonly thumbprint: string | null
    readonly file: string
  }[]
}

export interface LiveSession {
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly address: string
  /** User-Agent of the login. */
  readonly agent: string
  readonly via: 'console' | 'gateway'
  readonly issuedAt: string
  readonly expiresAt: string
  readonly seenAt: string
}

export interface Lockout {
  readonly kind: string
  /** null: masked, because no account has it. */
  readonly username?: string | null | undefined
  readonly address?: string | undefined
  readonly crossSite?: boolean | undefined
  readonly since: string
  readonly until: string
  readonly attempts: number
}

export interface LoggedOut {
  readonly ok: true
}

export interface LoginAttempt {
  readonly at: string
  /** null: masked, because no account has it. */
  readonly username: string | null
  /** null: another program wrote the message. */
  readonly outcome: string | null
  readonly via: 'console' | 'gateway'
  readonly succeeded: boolean
  readonly message: string
  readonly address: string
  readonly client: string
  readonly userAgent: string
}

export interface LoginList {
  readonly since: string
  /** logger.enableddb of this configuration. */
  readonly recording: boolean
  readonly attempts: readonly LoginAttempt[]
  /** Whether older attempts match too. */
  readonly more: boolean
}

export interface LoginLocks {
  readonly lockouts: readonly Lockout[]
  /** Recorded with another signing key. */
  readonly unreadable: number
}

export interface LoginUnlock {
  readonly user?: string | undefined
  readonly address?: string | undefined
  readonly ended: number
}

export interface OpenRoute {
  readonly by: string
  readonly need: 'nothing' | 'identity'
  readonly path: string
  readonly covers: string
  readonly methods?: readonly string[] | undefined
  readonly reason?: string | undefined
  readonly upstream?: string | undefined
  readonly isFixedResponse: boolean
  readonly except: readonly {
    readonly path: string
    readonly access: 'permitted' | 'authenticated' | 'public'
  }[]
}

export interface Origin {
  readonly file: string
  readonly line: number
}

export type OtherTokens = {
  readonly kind: 'service'
  readonly maxLifetimeSeconds: number
} | {
  readonly kind: 'issuer'
  readonly issuer: string
  readonly roles: readonly string[]
}

export interface PolicyApprove {
  readonly signedBy: string
  readonly revision: string
  readonly state: 'open' | 'approved' | 'stale'
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: 'push' | 'rollback'
  /** null: nothing was published. */
  readonly over: string | null
  readonly evidence: ProposalEvidence
  readonly signers: readonly string[]
  readonly needed: number
  /** Signatures that do not count. */
  readonly otherSignatures: number
}

export interface PolicyBlame {
  readonly roleKey: string
  readonly method: string
  readonly path: string
  readonly allowed: boolean
  readonly changes: readonly DecisionChange[]
  /** null: no older version decided otherwise. */
  readonly before: {
    readonly step: string
    readonly line: string
  } | null
  readonly isComplete: boolean
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export type PolicyCan = RoleAccess | RoleComparison

export interface PolicyCheck {
  readonly ok: boolean
  readonly directory: string
  readonly revision?: string | undefined
  readonly engine?: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  } | undefined
  readonly superusers?: readonly {
    readonly role: string
    readonly inherited: boolean
    readonly clause: string
  }[] | undefined
  readonly rules?: number | undefined
  readonly roles?: number | undefined
  readonly exclusions?: number | undefined
  readonly errors: readonly FileProblem[]
  readonly warnings: readonly Finding[]
}

export interface PolicyDenials {
  readonly since: string
  readonly observed: {
    readonly days: number
    readonly observedDays: number
    readonly hours: number
    readonly decisions: number
    readonly uncounted: number
    readonly firstRevisions: readonly string[]
    readonly laterRevisions: readonly string[]
    readonly isComplete: boolean
    /** null: nothing was observed. */
    readonly from: string | null
  }
  readonly refusals: number
  readonly others: number
  readonly denials: readonly Denial[]
  readonly left: number
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface PolicyDiff {
  readonly from: string
  readonly to: string
  readonly widened: boolean
  readonly areRoutesKnown: boolean
  readonly widenedHere: boolean
  readonly changes: readonly AccessChange[]
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly notes: readonly string[]
  /** With accounts: of each role that gains or loses at this gateway. */
  readonly accounts?: readonly {
    readonly roleKey: string
    readonly gains: boolean
    readonly loses: boolean
    readonly enabled: number
    readonly disabled: number
    readonly names: readonly string[]
  }[] | undefined
}

export interface PolicyExplain {
  readonly allowed: boolean
  readonly step: 'admin' | 'exclusion' | 'superuser' | 'rule' | 'none' | 'route' | 'endpoint' | 'refused'
  readonly need?: 'nothing' | 'identity' | 'permission' | undefined
  readonly rule?: Rule | undefined
  readonly exclusion?: Exclusion | undefined
  readonly clause?: string | undefined
  /** null: the gateway does not identify the caller. */
  readonly roleKey: string | null
  readonly method: string
  readonly path: string
  readonly host?: string | undefined
  readonly isUnserved: boolean
  readonly refusal?: string | undefined
  readonly refused?: string | undefined
  readonly account?: {
    readonly userId: string
    readonly username: string
    /** null: the account has no role. */
    readonly roleKey: string | null
    readonly roleId?: string | undefined
    readonly roleName?: string | undefined
    readonly dataScope?: string | undefined
    readonly enabled?: boolean | undefined
    readonly kind?: 'service' | undefined
  } | undefined
  readonly token?: {
    readonly id: string
    readonly expiresAt: string
    readonly caller: {
      readonly userId: string
      readonly roleId: string
      readonly roleKey: string
      readonly roleName: string
      readonly username: string
      readonly dataScope: string
    }
  } | undefined
  readonly route: string | null
  readonly access: 'permitted' | 'authenticated' | 'public' | null
  readonly upstream: string | null
  readonly isFixedResponse: boolean
  readonly endpoint: string | null
  readonly nearMisses: readonly {
    readonly differs: 'method' | 'role' | 'domain' | 'inheritance' | 'expired'
    readonly rule: Rule
  }[]
  readonly notes: readonly string[]
  /** null: no policy was evaluated. */
  readonly policy: string | null
  readonly revision: string | null
}

export interface PolicyFiles {
  readonly policy: string
  /** null: the files are not valid, so they have none. */
  readonly revision: string | null
  readonly files: readonly {
    readonly name: string
    readonly text: string
  }[]
}

export interface PolicyGuard {
  readonly ok: boolean
  readonly guardrails: readonly {
    readonly text: string
    readonly reason?: string | undefined
    readonly origin: {
      readonly file: string
      readonly line: number
    }
    readonly violations: readonly {
      readonly message: string
      readonly proof?: {
        readonly roleKey?: string | undefined
        readonly method: string
        readonly path: string
      } | undefined
    }[]
  }[]
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export type PolicyHistory = readonly HistoryEntry[]

export type PolicyMatrix = {
  readonly policy: string
  readonly revision: string
  readonly roles: readonly string[]
  readonly unserved: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly refused: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly unasked: readonly {
    readonly method: string
    readonly path: string
  }[]
  readonly routesWithoutRule: readonly string[]
  readonly notes: readonly string[]
  readonly operations: readonly {
    readonly method: string
    readonly path: string
    readonly access: readonly string[]
    readonly servedBy: readonly string[]
    readonly isFixedResponse: boolean
    readonly isExact: boolean
    readonly cells: Readonly<Record<string, 'no' | 'allowed' | 'inherited' | 'superuser' | 'everyone' | 'partly' | 'partly inherited' | 'partly everyone' | 'denied' | 'admin'>>
  }[]
} | CompactMatrix

export interface PolicyNames {
  readonly roles: readonly string[]
  readonly operations: readonly {
    readonly method: string
    readonly path: string
    readonly from: readonly string[]
  }[]
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface PolicyOpen {
  readonly endpoints: readonly {
    readonly by: string
    readonly need: 'nothing' | 'identity'
    readonly method: string
    readonly path: string
    readonly reason: string
    readonly upstream?: string | undefined
  }[]
  readonly routes: readonly OpenRoute[]
  readonly exclusions: readonly ExclusionEffect[]
  readonly areRoutesKnown: boolean
  /** null: no configuration says which other tokens gateways accept. */
  readonly otherTokens: readonly OtherTokens[] | null
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export type PolicyPromote = {
  readonly head: {
    readonly revision: string
    readonly sequence: number
    readonly author?: string | undefined
    readonly signed?: {
      readonly statement: string
      readonly signatures: readonly string[]
    } | undefined
  }
  readonly parent?: string | undefined
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  /** Why a failover of Redis could lose it. */
  readonly unconfirmed?: string | undefined
  readonly convergence?: {
    readonly head: {
      readonly revision: string
      readonly sequence: number
      readonly author?: string | undefined
      readonly signed?: {
        readonly statement: string
        readonly signatures: readonly string[]
      } | undefined
    }
    readonly replicas: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly behind: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly lost: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly expected?: number | undefined
    readonly problem?: string | undefined
  } | undefined
} | {
  readonly ok: boolean
  readonly obstacles: readonly {
    readonly kind: 'no-evidence' | 'would-deny' | 'failed' | 'not-evaluating' | 'lost' | 'too-short'
    readonly count?: number | undefined
    readonly most?: number | undefined
    readonly replica?: EvaluatingReplica | undefined
  }[]
  readonly evidence: {
    readonly replicas: readonly EvaluatingReplica[]
    readonly evaluated: number
    readonly wouldDeny: number
    readonly wouldAllow: number
    readonly failed: number
    readonly against: readonly string[]
    readonly disagreements: readonly Disagreement[]
  }
}

export interface PolicyPromotePlan {
  readonly dryRun: true
  /** Whether it succeeds if every reporting replica loads it. */
  readonly ok: boolean
  readonly revision: string
  readonly publishes: boolean
  readonly parent: string | null
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  readonly replicas?: readonly {
    readonly id: string
    readonly lost: boolean
  }[] | undefined
}

export type PolicyProposals = readonly Proposal[] | ProposalInFull

export interface PolicyProposalsChange {
  readonly dropped: string
}

export type PolicyPropose = {
  readonly revision: string
  readonly state: 'open' | 'approved' | 'stale'
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: 'push' | 'rollback'
  /** null: nothing was published. */
  readonly over: string | null
  readonly evidence: ProposalEvidence
  readonly signers: readonly string[]
  readonly needed: number
  /** Signatures that do not count. */
  readonly otherSignatures: number
  readonly diff?: AccessDiff | undefined
} | TestedPolicy | {
  readonly ok: false
  readonly errors: readonly FileProblem[]
  readonly directory?: string | undefined
  readonly revision?: string | undefined
}

export type PolicyPush = {
  readonly head: {
    readonly revision: string
    readonly sequence: number
    readonly author?: string | undefined
    readonly signed?: {
      readonly statement: string
      readonly signatures: readonly string[]
    } | undefined
  }
  readonly parent?: string | undefined
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  /** Why a failover of Redis could lose it. */
  readonly unconfirmed?: string | undefined
  readonly convergence?: {
    readonly head: {
      readonly revision: string
      readonly sequence: number
      readonly author?: string | undefined
      readonly signed?: {
        readonly statement: string
        readonly signatures: readonly string[]
      } | undefined
    }
    readonly replicas: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly behind: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly lost: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly expected?: number | undefined
    readonly problem?: string | undefined
  } | undefined
} | {
  readonly ok: boolean
  readonly shadow: {
    readonly revision: string
    readonly author: string
    readonly message: string
    readonly base?: string | undefined
    /** When it was pushed, in milliseconds. */
    readonly sequence: number
    readonly signed?: {
      readonly statement: string
      readonly signatures: readonly string[]
    } | undefined
  }
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  readonly replicas?: readonly EvaluatingReplica[] | undefined
} | {
  readonly dryRun: true
  /** Whether it succeeds if every reporting replica loads it. */
  readonly ok: boolean
  readonly revision: string
  readonly publishes: boolean
  readonly parent: string | null
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  readonly replicas?: readonly {
    readonly id: string
    readonly lost: boolean
  }[] | undefined
} | {
  readonly dryRun: true
  readonly ok: boolean
  readonly shadow: string
  readonly replaces?: string | null | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
} | TestedPolicy | {
  readonly ok: false
  readonly errors: readonly FileProblem[]
  readonly directory?: string | undefined
  readonly revision?: string | undefined
}

export type PolicyPushPlan = {
  readonly dryRun: true
  /** Whether it succeeds if every reporting replica loads it. */
  readonly ok: boolean
  readonly revision: string
  readonly publishes: boolean
  readonly parent: string | null
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  readonly replicas?: readonly {
    readonly id: string
    readonly lost: boolean
  }[] | undefined
} | {
  readonly dryRun: true
  readonly ok: boolean
  readonly shadow: string
  readonly replaces?: string | null | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
}

export interface PolicyReplay {
  readonly policies: string
  readonly failed: boolean
  readonly notes: readonly string[]
  /** The policy that evaluated the calls. */
  readonly revision: string
  readonly lines: number
  /** Log lines that are not decisions. */
  readonly otherLines: number
  /** Logs that could be read up to this line only. */
  readonly unreadable: readonly {
    readonly file: string
    readonly line: number
    readonly message: string
  }[]
  readonly damaged: {
    readonly lines: number
    readonly first?: {
      readonly file: string
      readonly line: number
      readonly message: string
    } | undefined
  }
  readonly decisions: number
  readonly first?: string | undefined
  readonly last?: string | undefined
  /** Decisions that were asked again. */
  readonly asked: number
  readonly unchanged: number
  /** Allowed then, denied now. */
  readonly wouldDeny: number
  /** Denied then, allowed now. */
  readonly wouldAllow: number
  /** No policy decided these: the token was refused, or the route needs no permission. */
  readonly notAsked: {
    readonly identity: number
    readonly route: number
  }
  readonly couldNotAsk: {
    readonly 'hashed-path': number
    readonly 'omitted-path': number
    readonly 'ambiguous-path': number
    readonly 'omitted-role': number
    readonly 'omitted-domain': number
    readonly 'unknown-step': number
    readonly 'engine-failed': number
  }
  /** By which gateways decided the replayed calls, most decisions first. */
  readonly revisions: readonly {
    readonly revision: string
    readonly decisions: number
  }[]
  /** Decisions of further revisions, or without one. */
  readonly otherRevisions: number
  readonly changes: readonly ReplayChange[]
  /** Calls that change and are not in the list, because it is too long. */
  readonly unlisted: {
    readonly deny: number
    readonly allow: number
  }
}

export interface PolicyRollback {
  readonly head: {
    readonly revision: string
    readonly sequence: number
    readonly author?: string | undefined
    readonly signed?: {
      readonly statement: string
      readonly signatures: readonly string[]
    } | undefined
  }
  readonly parent?: string | undefined
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  /** Why a failover of Redis could lose it. */
  readonly unconfirmed?: string | undefined
  readonly convergence?: {
    readonly head: {
      readonly revision: string
      readonly sequence: number
      readonly author?: string | undefined
      readonly signed?: {
        readonly statement: string
        readonly signatures: readonly string[]
      } | undefined
    }
    readonly replicas: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly behind: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly lost: readonly {
      readonly id: string
      readonly revision?: string | undefined
      readonly sequence?: number | undefined
      readonly at: string
      readonly ageSeconds: number
      readonly stale: boolean
      readonly lost: boolean
      readonly lastError?: string | undefined
      readonly version: string
      readonly facts?: ReplicaFacts | undefined
    }[]
    readonly expected?: number | undefined
    readonly problem?: string | undefined
  } | undefined
}

export interface PolicyRollbackPlan {
  readonly dryRun: true
  /** Whether it succeeds if every reporting replica loads it. */
  readonly ok: boolean
  readonly revision: string
  readonly publishes: boolean
  readonly parent: string | null
  readonly replay?: Replay | undefined
  readonly engine: {
    readonly name: 'index' | 'casbin'
    readonly reason: string
    readonly outsideIndex?: readonly string[] | undefined
    readonly cost?: {
      readonly msPerDecision: number
      readonly decisions: number
      readonly rules: number
    } | undefined
  }
  readonly diff?: AccessDiff | undefined
  readonly replicas?: readonly {
    readonly id: string
    readonly lost: boolean
  }[] | undefined
}

export type PolicyShadow = {
  readonly shadow: {
    readonly revision: string
    readonly author: string
    readonly message: string
    readonly at: string
  }
  readonly live: string | null
  readonly replicas: readonly EvaluatingReplica[]
  readonly evaluated: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  readonly failed: number
  readonly against: readonly string[]
  readonly disagreements: readonly Disagreement[]
} | {
  readonly shadow: null
}

export interface PolicyShadowChange {
  /** null: no valid shadow was ended. */
  readonly ended: string | null
  readonly shadow?: {
    readonly revision: string
    readonly author: string
    readonly message: string
    readonly at: string
  } | undefined
  readonly live?: string | null | undefined
  readonly replicas?: readonly EvaluatingReplica[] | undefined
  readonly evaluated?: number | undefined
  readonly wouldDeny?: number | undefined
  readonly wouldAllow?: number | undefined
  readonly failed?: number | undefined
  readonly against?: readonly string[] | undefined
  readonly disagreements?: readonly Disagreement[] | undefined
}

export interface PolicySimulate {
  readonly roleKey: string
  readonly withRoles: readonly string[]
  readonly gains: RoleDifferences
  readonly losses: RoleDifferences
  readonly account?: {
    readonly userId: string
    readonly username: string
    /** null: the account has no role. */
    readonly roleKey: string | null
    readonly roleId?: string | undefined
    readonly roleName?: string | undefined
    readonly dataScope?: string | undefined
    readonly enabled?: boolean | undefined
    readonly kind?: 'service' | undefined
  } | undefined
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface PolicyStatus {
  /** Whether every known replica uses the live revision. */
  readonly converged: boolean
  /** null: nothing is published. */
  readonly head: {
    readonly revision: string
    readonly sequence: number
    readonly author?: string | undefined
    readonly signed?: {
      readonly statement: string
      readonly signatures: readonly string[]
    } | undefined
  } | null
  /** How many signatures a policy needs. */
  readonly signatures: number
  readonly replicas: readonly {
    readonly id: string
    readonly revision?: string | undefined
    readonly sequence?: number | undefined
    readonly at: string
    readonly ageSeconds: number
    readonly stale: boolean
    readonly lost: boolean
    readonly lastError?: string | undefined
    readonly version: string
    readonly facts?: ReplicaFacts | undefined
  }[]
  /** null: no shadow runs. */
  readonly shadow: {
    readonly revision: string | null
    readonly evaluated: number
    readonly wouldDeny: number
    readonly wouldAllow: number
    readonly failed: number
  } | null
}

export type PolicyTest = TestedPolicy | {
  readonly ok: false
  readonly directory: string
  readonly errors: readonly FileProblem[]
}

export interface PolicyUnused {
  readonly policy: string
  readonly revision: string
  readonly observed: {
    readonly days: number
    readonly observedDays: number
    readonly hours: number
    readonly decisions: number
    readonly uncounted: number
    readonly firstRevisions: readonly string[]
    readonly laterRevisions: readonly string[]
    readonly isComplete: boolean
    /** null: nothing was observed. */
    readonly from: string | null
    readonly otherRoles: number
  }
  readonly baseline: {
    readonly name: string
    readonly isKnown: boolean
  }
  readonly grants: readonly {
    readonly file: string
    readonly line: number
    readonly roleKey: string
    readonly method: string
    readonly path: string
    readonly effect: 'allow' | 'deny'
    readonly fields?: readonly string[] | undefined
    readonly domain?: string | undefined
    readonly until?: string | undefined
    readonly isNew: boolean
  }[]
  readonly exclusions: readonly {
    readonly file: string
    readonly line: number
    readonly method: string
    readonly path: string
    readonly reason: string
    readonly until?: string | undefined
    readonly isNew: boolean
  }[]
  readonly roles: readonly {
    readonly roleKey: string
    readonly isNew: boolean
    readonly rules: number
    readonly parents: number
  }[]
  readonly unmentioned: readonly {
    readonly roleKey: string
    readonly count: number
    readonly last: string
  }[]
  readonly notes: readonly string[]
  readonly candidate?: {
    readonly directory: string
    readonly revision: string
    readonly dropped: {
      readonly rules: number
      readonly inheritances: number
      readonly exclusions: number
    }
    readonly tests: number
    readonly failures: readonly string[]
    readonly errors: readonly FileProblem[]
  } | undefined
}

export interface PolicyWho {
  readonly method: string
  readonly path: string
  readonly superusers: readonly {
    readonly roleKey: string
    readonly clause: string
  }[]
  readonly otherMethods: readonly Rule[]
  readonly allows: 'none' | 'roles' | 'authenticated' | 'everyone'
  readonly refusal?: string | undefined
  readonly refused?: string | undefined
  readonly isUnserved: boolean
  readonly route: string | null
  readonly access: 'permitted' | 'authenticated' | 'public' | null
  readonly upstream: string | null
  readonly isFixedResponse: boolean
  readonly endpoint: string | null
  readonly exclusion: Exclusion | null
  readonly admin: {
    readonly allowed: boolean
    /** null: the accounts could not be counted, and a note says why. */
    readonly accounts?: AccountCount | null | undefined
  }
  readonly roles: readonly RoleByRule[]
  readonly deniedRoles: readonly RoleByRule[]
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface Problem {
  /** Which refusal or fault it is; it does not change. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** What is wrong, in one line. */
  readonly detail: string
  readonly ok?: false | undefined
  readonly errors?: readonly ErrorEntry[] | undefined
  readonly [member: string]: unknown
}

export interface Proposal {
  readonly revision: string
  readonly state: 'open' | 'approved' | 'stale'
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: 'push' | 'rollback'
  /** null: nothing was published. */
  readonly over: string | null
  readonly evidence: ProposalEvidence
  readonly signers: readonly string[]
  readonly needed: number
  /** Signatures that do not count. */
  readonly otherSignatures: number
}

export interface ProposalEvidence {
  readonly warnings: number
  readonly tests?: {
    readonly passed: number
    readonly coverage: number
  } | undefined
  readonly replay?: {
    readonly decisions: number
    readonly asked: number
    readonly unchanged: number
    readonly wouldDeny: number
    readonly wouldAllow: number
    readonly first?: string | undefined
    readonly last?: string | undefined
  } | undefined
}

export interface ProposalInFull {
  readonly revision: string
  readonly state: 'open' | 'approved' | 'stale'
  readonly author: string
  readonly message: string
  readonly at: string
  readonly kind: 'push' | 'rollback'
  /** null: nothing was published. */
  readonly over: string | null
  readonly evidence: ProposalEvidence
  readonly signers: readonly string[]
  readonly needed: number
  /** Signatures that do not count. */
  readonly otherSignatures: number
  readonly statement: string
  readonly signatures: readonly string[]
  /** What others signed of its predecessor; null: nothing. */
  readonly base: {
    readonly statement: string
    readonly signatures: readonly string[]
  } | null
  readonly diff?: AccessDiff | undefined
}

export interface Providers {
  readonly password: boolean
  readonly captcha: boolean
  readonly providers: readonly {
    readonly name: string
    readonly url: string
  }[]
}

export interface Replay {
  /** The policy that evaluated the calls. */
  readonly revision: string
  readonly lines: number
  /** Log lines that are not decisions. */
  readonly otherLines: number
  /** Logs that could be read up to this line only. */
  readonly unreadable: readonly {
    readonly file: string
    readonly line: number
    readonly message: string
  }[]
  readonly damaged: {
    readonly lines: number
    readonly first?: {
      readonly file: string
      readonly line: number
      readonly message: string
    } | undefined
  }
  readonly decisions: number
  readonly first?: string | undefined
  readonly last?: string | undefined
  /** Decisions that were asked again. */
  readonly asked: number
  readonly unchanged: number
  /** Allowed then, denied now. */
  readonly wouldDeny: number
  /** Denied then, allowed now. */
  readonly wouldAllow: number
  /** No policy decided these: the token was refused, or the route needs no permission. */
  readonly notAsked: {
    readonly identity: number
    readonly route: number
  }
  readonly couldNotAsk: {
    readonly 'hashed-path': number
    readonly 'omitted-path': number
    readonly 'ambiguous-path': number
    readonly 'omitted-role': number
    readonly 'omitted-domain': number
    readonly 'unknown-step': number
    readonly 'engine-failed': number
  }
  /** By which gateways decided the replayed calls, most decisions first. */
  readonly revisions: readonly {
    readonly revision: string
    readonly decisions: number
  }[]
  /** Decisions of further revisions, or without one. */
  readonly otherRevisions: number
  readonly changes: readonly ReplayChange[]
  /** Calls that change and are not in the list, because it is too long. */
  readonly unlisted: {
    readonly deny: number
    readonly allow: number
  }
}

export interface ReplayChange {
  readonly result: 'allow' | 'deny'
  readonly calls: number
  readonly users: DistinctCount
  readonly roles: DistinctCount
  readonly methods: DistinctCount
  readonly first?: string | undefined
  readonly last?: string | undefined
  /** The first call that was read. */
  readonly example: {
    readonly requestId?: string | undefined
    readonly at?: string | undefined
    readonly userId?: string | undefined
    readonly roleKey: string
    readonly host?: string | undefined
    readonly domain?: string | undefined
    readonly method: string
    readonly path: string
  }
  readonly before: {
    readonly step: string
    readonly revisions: DistinctCount
    /** A line of that revision. */
    readonly rule?: {
      readonly file: string
      readonly line: number
    } | undefined
  }
  readonly now: {
    readonly step: string
    readonly rule?: Rule | undefined
    readonly exclusion?: Exclusion | undefined
    readonly clause?: string | undefined
  }
}

export interface Replica {
  readonly id: string
  readonly state: 'current' | 'behind' | 'stale' | 'lost'
  readonly revision: string | null
  readonly version: string
  /** Since its last report. */
  readonly ageSeconds: number
  readonly lastError?: string | undefined
  readonly facts?: ReplicaFacts | undefined
}

export interface ReplicaFacts {
  readonly startedAt: string
  readonly mode: string
  /** Absent without several workers. */
  readonly worker?: number | undefined
  readonly ready: boolean
  readonly configuration?: {
    readonly revision: string
    readonly since: string
    readonly rejected: boolean
  } | undefined
  readonly clock?: {
    /** Negative: behind. */
    readonly aheadMs: number
    /** The true value is within this of aheadMs. */
    readonly withinMs: number
    readonly source: 'Redis' | 'the database'
  } | undefined
  readonly keys: {
    /** null: no key signs. */
    readonly signer: string | null
    readonly ids: readonly string[]
    readonly count: number
    readonly since: string
    readonly rejected: boolean
  }
  readonly certificate?: {
    readonly names: string
    readonly notAfter: string
    readonly rejected: boolean
  } | undefined
  readonly upstreams: {
    readonly targets: number
    readonly out: number
    readonly named: readonly TargetOut[]
  }
  /** Finished requests since the start. */
  readonly outcomes: Readonly<Record<string, number>>
}

export interface RoleAccess {
  readonly roleKey: string
  readonly unrestricted?: 'admin' | {
    readonly clause: string
  } | undefined
  readonly isKnown: boolean
  readonly inherits: readonly string[]
  readonly routes: readonly {
    readonly route?: Route | undefined
    readonly isFixedResponse: boolean
    readonly rules: readonly EffectiveRule[]
  }[]
  readonly unserved: readonly EffectiveRule[]
  readonly ineffective: readonly EffectiveRule[]
  readonly isExact: boolean
  readonly unasked: number
  readonly open: {
    readonly endpoints: readonly {
      readonly by: string
      readonly need: 'nothing' | 'identity'
      readonly method: string
      readonly path: string
      readonly reason: string
      readonly upstream?: string | undefined
    }[]
    readonly routes: readonly OpenRoute[]
    readonly exclusions: readonly ExclusionEffect[]
    readonly areRoutesKnown: boolean
  }
  readonly account?: {
    readonly userId: string
    readonly username: string
    /** null: the account has no role. */
    readonly roleKey: string | null
    readonly roleId?: string | undefined
    readonly roleName?: string | undefined
    readonly dataScope?: string | undefined
    readonly enabled?: boolean | undefined
    readonly kind?: 'service' | undefined
  } | undefined
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface RoleByRule {
  readonly roleKey: string
  readonly rule: Rule
  readonly via: readonly string[]
  readonly until?: string | undefined
  readonly alsoAllowedBy: readonly {
    readonly rule: Rule
    readonly via: readonly string[]
    readonly until?: string | undefined
  }[]
  /** null: the accounts could not be counted, and a note says why. */
  readonly accounts?: AccountCount | null | undefined
}

export interface RoleComparison {
  readonly roleKey: string
  readonly comparedWith: string
  readonly more: RoleDifferences
  readonly less: RoleDifferences
  readonly account?: {
    readonly userId: string
    readonly username: string
    /** null: the account has no role. */
    readonly roleKey: string | null
    readonly roleId?: string | undefined
    readonly roleName?: string | undefined
    readonly dataScope?: string | undefined
    readonly enabled?: boolean | undefined
    readonly kind?: 'service' | undefined
  } | undefined
  readonly policy: string
  readonly revision: string
  readonly notes: readonly string[]
}

export interface RoleDifference {
  readonly rule: Rule
  readonly via: readonly string[]
  readonly until?: string | undefined
  readonly isWhole: boolean
  readonly example: {
    readonly method: string
    readonly path: string
  }
  readonly isUnserved: boolean
}

export interface RoleDifferences {
  readonly differences: readonly RoleDifference[]
  readonly isEverything: boolean
  readonly isExact: boolean
  readonly unasked: number
}

export type RoleList = readonly RoleSummary[]

export interface RoleShow {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  /** As stored: the number of go-admin, or another text. */
  readonly dataScope: string
  readonly users: {
    readonly enabled: number
    readonly disabled: number
  }
  readonly services: number
  /** null: go-admin does not define this data scope. */
  readonly dataScopeName: string | null
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** The first accounts by ID: compare with users and services. */
  readonly accounts: readonly {
    readonly username: string
    readonly kind: 'user' | 'service'
  }[]
  /** IDs of other roles with this key. */
  readonly sameKey: readonly string[]
}

export interface RoleSummary {
  readonly roleId: string
  readonly roleKey: string
  readonly name: string
  /** As stored: the number of go-admin, or another text. */
  readonly dataScope: string
  readonly users: {
    readonly enabled: number
    readonly disabled: number
  }
  readonly services: number
  /** null: go-admin does not define this data scope. */
  readonly dataScopeName: string | null
}

export interface Route {
  readonly path: string
  readonly access: 'permitted' | 'authenticated' | 'public'
  readonly name?: string | undefined
  readonly upstream?: string | undefined
  readonly match?: 'prefix' | 'exact' | undefined
  readonly hosts?: readonly string[] | undefined
  readonly methods?: readonly string[] | undefined
  readonly respond?: {
    readonly [member: string]: unknown
  } | undefined
  readonly [member: string]: unknown
}

export interface Rule {
  readonly roleKey: string
  readonly method: string
  readonly path: string
  readonly effect: 'allow' | 'deny'
  readonly origin: Origin
  readonly fields?: readonly string[] | undefined
  readonly domain?: string | undefined
  readonly until?: string | undefined
}

export type ServiceList = readonly {
  readonly userId: string
  readonly name: string
  readonly note: string
  readonly createdAt: string
  /** Empty: the role does not exist. */
  readonly role: string
}[]

export interface Session {
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly expiresAt: string
  readonly role: 'reader' | 'author' | 'publisher'
  /** Until when changes are allowed; null: confirm the session first. */
  readonly confirmedUntil: string | null
  readonly confirmBy: 'password' | 'provider'
  /** null: the login was by password. */
  readonly provider: string | null
  /** dev: the gateway is not safe for a network. */
  readonly mode: string
  readonly version: string
  /** Whether the console changes anything (console.write). */
  readonly write: boolean
}

export interface SessionEnd {
  readonly ended: readonly string[]
  readonly session?: string | undefined
  readonly address?: string | undefined
  readonly users?: 'all' | readonly string[] | undefined
}

export interface SessionList {
  /** Also those that limit leaves out. */
  readonly total: number
  readonly sessions: readonly LiveSession[]
}

export type Status = {
  readonly live: boolean
} | {
  readonly version: string
  readonly mode: string
  readonly ready: boolean
  readonly problems: readonly {
    readonly name: string
    readonly problem: string
  }[]
  readonly policy: {
    readonly revision: string | null
  }
  readonly configuration?: {
    readonly file: string
    readonly revision: string
    readonly since: string
    readonly problem?: string | undefined
    readonly needRestart: readonly string[]
  } | undefined
  readonly workers?: {
    readonly count: number
    readonly listening: number
    readonly outdated: readonly {
      readonly worker: number
      readonly problem: string
    }[]
  } | undefined
}

export interface TargetOut {
  readonly upstream: string
  readonly target: string
  readonly state: 'circuit-open' | 'circuit-half-open' | 'unhealthy' | 'ejected'
}

export interface TestedPolicy {
  readonly ok: boolean
  readonly directory: string
  readonly revision: string
  readonly tests: number
  readonly failed: number
  readonly failures: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly message: string
    readonly expectation: {
      readonly role?: string | undefined
      readonly domain?: string | undefined
      readonly method: string
      readonly path: string
      readonly host?: string | undefined
      readonly expect: string
      readonly step?: string | undefined
      readonly reason?: string | undefined
      readonly withoutRules: boolean
      readonly at?: string | undefined
    }
    readonly decision: {
      readonly allowed: boolean
      readonly step: string
      readonly isUnserved?: boolean | undefined
      readonly rule?: Rule | undefined
      readonly exclusion?: Exclusion | undefined
      readonly revision: string
    }
  }[]
  readonly coverage: {
    readonly rules: {
      readonly total: number
      readonly decided: number
      readonly undecided: readonly Rule[]
    }
    readonly exclusions: {
      readonly total: number
      readonly decided: number
      readonly undecided: readonly Exclusion[]
    }
    readonly percent: number
  }
  readonly warnings: readonly Finding[]
  /** With routes: those that no test is about. */
  readonly untested?: {
    readonly routes: readonly string[]
    readonly routeCount: number
    readonly operationCount: number
    readonly operations: readonly {
      readonly method: string
      readonly path: string
      readonly operationId?: string | undefined
      readonly origin: Origin
    }[]
  } | undefined
}

export type TokenList = readonly {
  readonly id: string
  readonly service: string
  readonly userId: string
  readonly role: string
  readonly status: 'good' | 'expired' | 'revoked' | 'key removed' | 'too long-lived'
  readonly note: string
  readonly issuedBy: string
  readonly issuedAt: string
  readonly expiresAt: string
  readonly lastSeen: string | null
  /** null: signed with jwt.secret. */
  readonly kid: string | null
}[]

/** One event. */
export type TrafficEvent = {
  readonly event: 'history'
  readonly data: {
    readonly stepMs: number
    readonly points: readonly TrafficPoint[]
  }
} | {
  readonly event: 'point'
  readonly data: TrafficPoint
}

export interface TrafficPoint {
  /** The end of the step, in milliseconds since 1970. */
  readonly at: number
  /** Requests that ended in it. Absent: no gateway answered. */
  readonly outcomes?: Readonly<Record<string, number>> | undefined
  readonly revision?: string | null | undefined
  readonly counts?: Readonly<Record<string, number>> | undefined
}

export interface Upstreams {
  readonly upstreams: readonly {
    readonly name: string
    readonly balance: string
    readonly targets: readonly {
      /** The address too if the name has several. */
      readonly target: string
      /** Its part of the requests beside the others. */
      readonly weight: number
      /** Below 100 while it warms up. */
      readonly sharePercent: number
      readonly circuit: 'closed' | 'half-open' | 'open'
      readonly healthy: boolean
      /** 0: it is not ejected. */
      readonly ejectedMs: number
      readonly ejections: number
      readonly recentRequests: number
      readonly recentFailures: number
      readonly outstanding: number
      readonly tunnels: number
      readonly connections: number
      readonly lastError: {
        readonly at: string
        readonly message: string
      } | null
    }[]
  }[]
}

export interface UserAdd {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
  /** The generated one: no other call shows it. */
  readonly password?: string | undefined
}

export interface UserDelete {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
}

export type UserDeletePlan = readonly {
  readonly userId: string
  readonly roleKey: string
}[]

export interface UserDisable {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
}

export interface UserEnable {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
}

export type UserList = readonly UserSummary[]

export interface UserPasswd {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
  /** The generated one: no other call shows it. */
  readonly password?: string | undefined
}

export interface UserRole {
  readonly done: string
  readonly username: string
  readonly tokensEnded: boolean
}

export interface UserShow {
  readonly userId: string
  readonly username: string
  /** Empty: the role does not exist. */
  readonly roleKey: string
  readonly enabled: boolean
  readonly kind: 'user' | 'service'
  /** Whether it has one-time codes. */
  readonly secondFactor: boolean
  /** false: another system vouches for the user, or it is a service account. */
  readonly hasPassword: boolean
  readonly roleName: string
  /** As stored: the number of go-admin, or another text. */
  readonly dataScope: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** null: go-admin does not define this data scope. */
  readonly dataScopeName: string | null
  readonly links: readonly {
    readonly provider: string
    readonly issuer: string
    readonly subject: string
    readonly linkedBy: string
    readonly linkedAt: string
    /** Last login through it, to the hour; null: never. */
    readonly seenAt: string | null
  }[]
  readonly oneTimeCodes: {
    readonly enrolledAt: string | null
    /** The key that encrypts the secret. */
    readonly key: string
    readonly recoveryCodesLeft: number
    readonly failures: number
  } | null
  /** null: Redis or the signing key could not be read. */
  readonly lockouts: readonly {
    readonly kind: string
    readonly address?: string | undefined
    readonly since: string
    readonly until: string
    readonly attempts: number
  }[] | null
  /** null: the store of sessions could not be read. */
  readonly sessions: number | null
  /** IDs of other users with this name. */
  readonly sameName: readonly string[]
}

export interface UserSummary {
  readonly userId: string
  readonly username: string
  /** Empty: the role does not exist. */
  readonly roleKey: string
  readonly enabled: boolean
  readonly kind: 'user' | 'service'
  /** Whether it has one-time codes. */
  readonly secondFactor: boolean
}

export interface Version {
  readonly version: string
  readonly commit: string
  readonly node: string
  readonly platform: string
}

export interface WatchState {
  /** Whether there is anything to hear gateways by. */
  readonly available: boolean
  readonly connected: boolean
}

export interface WatchedDecision {
  readonly at: string
  readonly gateway: string
  readonly method: string
  readonly result: 'allow' | 'deny'
  readonly reason: string
  readonly step: string
  readonly path?: string | undefined
  readonly host?: string | undefined
  readonly domain?: string | undefined
  readonly role?: string | undefined
  readonly user?: string | undefined
  readonly rule?: string | undefined
  readonly revision?: string | undefined
  readonly request?: string | undefined
}

/** What `get` asks, by path. */
export interface Questions {
  /** who is logged in */
  readonly 'session': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Session
  }
  /** ways to log in */
  readonly 'providers': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Providers
  }
  /** a captcha */
  readonly 'captcha': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Captcha
  }
  /** print the version, commit, Node version and platform */
  readonly 'version': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Version
    readonly formats: 'text'
  }
  /** show version, readiness, policy and configuration of a running gateway */
  readonly 'status': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Status
    readonly formats: 'text'
  }
  /** show the targets of a running gateway: state, load, ejections and last errors */
  readonly 'upstreams': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Upstreams
    readonly formats: 'text'
  }
  /** show every running gateway: version, policy, keys, certificate, targets and requests */
  readonly 'fleet': {
    readonly input: Readonly<Record<string, never>>
    readonly document: Fleet
    readonly formats: 'text'
  }
  /** validate a configuration and the files it names */
  readonly 'config/check': {
    readonly input: Readonly<Record<string, never>>
    readonly document: ConfigCheck
    readonly formats: 'text'
  }
  /** print the effective configuration, with defaults and with secrets masked */
  readonly 'config/print': {
    readonly input: Readonly<Record<string, never>>
    readonly document: ConfigPrint
    readonly formats: 'text'
  }
  /** validate a policy directory and print warnings */
  readonly 'policy/check': {
    readonly input: {
      /** treat warnings as errors, for CI */
      readonly strict?: boolean | undefined
      /** warn about roles that this policy does not name */
      readonly against?: string | undefined
      /** warn about roles that have no row in the accounts database */
      readonly accounts?: boolean | undefined
    }
    readonly document: PolicyCheck
    readonly formats: 'text'
  }
  /** run the tests of a policy directory */
  readonly 'policy/test': {
    readonly input: {
      /** fail when tests cover fewer rules and exclusions than this */
      readonly 'min-coverage'?: number | undefined
      /** also list routes and OpenAPI operations that no test is about */
      readonly routes?: boolean | undefined
    }
    readonly document: PolicyTest
    readonly formats: 'text'
  }
  /** show whether a caller may make a call, and which rule decides */
  readonly 'policy/explain': {
    readonly input: {
      /** role key, such as editor; put -- before one that starts with a dash */
      readonly role?: string | undefined
      /** HTTP method, such as GET */
      readonly method: string
      /** request path, or https://HOST/PATH; the policy does not see a query string */
      readonly path: string
      /** ask for the role of this account */
      readonly user?: string | undefined
      /** ask for a caller without a token */
      readonly anonymous?: boolean | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyExplain
    readonly formats: 'text'
  }
  /** list the roles that may make a call */
  readonly 'policy/who': {
    readonly input: {
      /** HTTP method, such as GET */
      readonly method: string
      /** request path, or https://HOST/PATH; a query string is ignored */
      readonly path: string
      /** count the accounts of each role in the configured database */
      readonly accounts?: boolean | undefined
      /** with --accounts, name them */
      readonly names?: boolean | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyWho
    readonly formats: 'text' | 'csv'
  }
  /** show since when a role may make a call, and who changed that */
  readonly 'policy/blame': {
    readonly input: {
      /** role key, such as editor */
      readonly role: string
      /** HTTP method, such as GET */
      readonly method: string
      /** request path, or https://HOST/PATH; a query string is ignored */
      readonly path: string
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyBlame
    readonly formats: 'text'
  }
  /** show what an account would gain and lose with another role */
  readonly 'policy/simulate': {
    readonly input: {
      /** the account */
      readonly user: string
      /** role that the account would have */
      readonly 'add-role': string
      /** role that it would no longer have: the one that it has now */
      readonly 'remove-role'?: string | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicySimulate
    readonly formats: 'text' | 'csv'
  }
  /** list everything that a role or an account may do */
  readonly 'policy/can': {
    readonly input: {
      /** role key, such as editor */
      readonly role?: string | undefined
      /** ask for the role of this account */
      readonly user?: string | undefined
      /** show the differences from this role instead */
      readonly compare?: string | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyCan
    readonly formats: 'text' | 'csv'
  }
  /** list every endpoint that needs no permission */
  readonly 'policy/open': {
    readonly input: {
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyOpen
    readonly formats: 'text'
  }
  /** list the guardrails of a policy, and prove those that it breaks */
  readonly 'policy/guard': {
    readonly input: {
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyGuard
    readonly formats: 'text'
  }
  /** print a table of roles and operations */
  readonly 'policy/matrix': {
    readonly input: {
      /** with --output json, one letter for each role of an operation */
      readonly compact?: boolean | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyMatrix
    readonly formats: 'text' | 'csv'
  }
  /** list grants, exclusions and roles that no request has used */
  readonly 'policy/unused': {
    readonly input: {
      /** days to look back, today included, at most 90 */
      readonly days?: number | undefined
      /** the policy with which these days began: a directory, a commit as git:REF, or a revision */
      readonly baseline?: string | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyUnused
    readonly formats: 'text'
  }
  /** list what gateways refused most often, and the line that would allow it */
  readonly 'policy/denials': {
    readonly input: {
      /** how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01 */
      readonly since?: string | undefined
      /** how many to list, the most frequent ones first */
      readonly limit?: number | undefined
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyDenials
    readonly formats: 'text'
  }
  /** compare two policies by the access they grant */
  readonly 'policy/diff': {
    readonly input: {
      /** old policy: a directory, a commit (git:REF or git:REF:PATH), a revision or live (default: live) */
      readonly from?: string | undefined
      /** new policy (default: policy.directory of the configuration, else policies) */
      readonly to?: string | undefined
      /** name the accounts in the configured database that gain or lose at this gateway */
      readonly accounts?: boolean | undefined
      /** exit with 1 only if access widens at a gateway with this configuration */
      readonly 'this-gateway'?: boolean | undefined
    }
    readonly document: PolicyDiff
    readonly formats: 'text'
  }
  /** list the proposals and who has signed them, or show one */
  readonly 'policy/proposals': {
    readonly input: {
      /** show this proposal; its first 12 hex digits are enough */
      readonly revision?: string | undefined
    }
    readonly document: PolicyProposals
    readonly formats: 'text'
  }
  /** show what the shadow would deny and allow, or end it */
  readonly 'policy/shadow': {
    readonly input: {
      /** number of lines for each of the two lists, most frequent first */
      readonly limit?: number | undefined
    }
    readonly document: PolicyShadow
    readonly formats: 'text'
  }
  /** list the roles, methods and paths that a policy and the routes name */
  readonly 'policy/names': {
    readonly input: {
      /** published policy to ask about: the live one or a revision of the history */
      readonly revision?: string | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for this date or time, such as 2026-12-01: lines that have expired by then do not count (default: now) */
      readonly at?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyNames
    readonly formats: 'text'
  }
  /** print the files of a policy */
  readonly 'policy/files': {
    readonly input: {
      /** a directory, a revision, a proposal or live (default: what the gateway of the configuration loads) */
      readonly revision?: string | undefined
      /** also print tests/*_test.yaml */
      readonly tests?: boolean | undefined
    }
    readonly document: PolicyFiles
    readonly formats: 'text'
  }
  /** show which revision each replica uses */
  readonly 'policy/status': {
    readonly input: Readonly<Record<string, never>>
    readonly document: PolicyStatus
    readonly formats: 'text'
  }
  /** list who published which revision, when and why */
  readonly 'policy/history': {
    readonly input: {
      /** number of entries, newest first */
      readonly limit?: number | undefined
    }
    readonly document: PolicyHistory
    readonly formats: 'text' | 'jsonl'
  }
  /** list accounts with their role, status, kind and one-time codes */
  readonly 'user/list': {
    readonly input: {
      /** only names that start with this, in any case */
      readonly 'starts-with'?: string | undefined
      /** number of accounts, by ID (default: all) */
      readonly limit?: number | undefined
    }
    readonly document: UserList
    readonly formats: 'text'
  }
  /** show one account: its role, data scope, status, links, lock-outs, sessions and one-time codes */
  readonly 'user/show': {
    readonly input: {
      /** user name */
      readonly name: string
    }
    readonly document: UserShow
    readonly formats: 'text'
  }
  /** list all roles with their data scope and number of accounts */
  readonly 'role/list': {
    readonly input: Readonly<Record<string, never>>
    readonly document: RoleList
    readonly formats: 'text'
  }
  /** show one role and its accounts */
  readonly 'role/show': {
    readonly input: {
      /** role key, as policies and tokens have it */
      readonly key: string
    }
    readonly document: RoleShow
    readonly formats: 'text'
  }
  /** list the accounts of programs */
  readonly 'service/list': {
    readonly input: Readonly<Record<string, never>>
    readonly document: ServiceList
    readonly formats: 'text'
  }
  /** list the tokens of service accounts */
  readonly 'token/list': {
    readonly input: {
      /** only the tokens of this service account */
      readonly service?: string | undefined
    }
    readonly document: TokenList
    readonly formats: 'text'
  }
  /** list who is logged in */
  readonly 'session/list': {
    readonly input: {
      /** only sessions of this user */
      readonly user?: string | undefined
      /** number of sessions, those seen last first */
      readonly limit?: number | undefined
    }
    readonly document: SessionList
    readonly formats: 'text'
  }
  /** list login attempts and logouts, newest first */
  readonly 'login/list': {
    readonly input: {
      /** only attempts with this name, in any letter case */
      readonly user?: string | undefined
      /** only attempts from this address, or from a range such as 192.0.2.0/24 */
      readonly address?: string | undefined
      /** only attempts with this outcome: logged-in, logged-out, wrong-credentials, wrong-captcha, no-such-provider, login-expired, provider-refused, no-account, account-disabled, no-role, otp-needed, wrong-otp, otp-not-enrolled, not-permitted, too-many-requests, bad-login-request, unavailable */
      readonly outcome?: 'logged-in' | 'logged-out' | 'wrong-credentials' | 'wrong-captcha' | 'no-such-provider' | 'login-expired' | 'provider-refused' | 'no-account' | 'account-disabled' | 'no-role' | 'otp-needed' | 'wrong-otp' | 'otp-not-enrolled' | 'not-permitted' | 'too-many-requests' | 'bad-login-request' | 'unavailable' | undefined
      /** how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01 */
      readonly since?: string | undefined
      /** how many to list */
      readonly limit?: number | undefined
    }
    readonly document: LoginList
    readonly formats: 'text'
  }
  /** list the lock-outs that are open now */
  readonly 'login/locks': {
    readonly input: Readonly<Record<string, never>>
    readonly document: LoginLocks
    readonly formats: 'text'
  }
  /** list the changes to accounts, roles, keys, sessions and policies */
  readonly 'audit/list': {
    readonly input: {
      /** only the last 30m, 12h or 7d (default: all) */
      readonly since?: string | undefined
      /** only changes by this operator, user, service account or gateway */
      readonly actor?: string | undefined
      /** only this action, such as user.role, or a group, such as user */
      readonly action?: string | undefined
      /** only changes of this user, role, key or policy */
      readonly subject?: string | undefined
      /** number of entries, newest first */
      readonly limit?: number | undefined
    }
    readonly document: AuditList
    readonly formats: 'text' | 'jsonl'
  }
  /** list the keys of a directory and show which one signs */
  readonly 'keys/list': {
    readonly input: Readonly<Record<string, never>>
    readonly document: KeysList
    readonly formats: 'text'
  }
  /** check, test and publish a policy directory, or publish an approved proposal */
  readonly 'policy/push': {
    readonly input: {
      /** policy directory (default: policy.directory), or the revision of a proposal */
      readonly revision: string
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
    }
    readonly document: PolicyPushPlan
  }
  /** make the shadow live if its evidence allows it */
  readonly 'policy/promote': {
    readonly input: {
      /** revision of the shadow; its first 12 hex digits are enough */
      readonly revision: string
      /** refuse unless every running replica has evaluated it for this long, such as 1h */
      readonly after?: string | undefined
      /** refuse when the shadow would have denied more requests than N */
      readonly 'max-would-deny'?: number | undefined
      /** reason for this change (default: the reason of the shadow) */
      readonly message?: string | undefined
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
    }
    readonly document: PolicyPromotePlan
  }
  /** publish an earlier revision again */
  readonly 'policy/rollback': {
    readonly input: {
      /** revision to publish; its first 12 hex digits are enough */
      readonly revision: string
      /** reason for this change (default: "back to REVISION") */
      readonly message?: string | undefined
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
    }
    readonly document: PolicyRollbackPlan
  }
  /** delete an account and revoke its tokens */
  readonly 'user/delete': {
    readonly input: {
      /** user name */
      readonly name: string
    }
    readonly document: UserDeletePlan
  }
}

/** What `post` sends, by path: logins, questions about drafts, and changes. */
export interface Posts {
  /** enter the password or code again */
  readonly 'session/confirm': {
    readonly input: Confirmation
    readonly document: Session
  }
  /** log in */
  readonly 'login': {
    readonly input: Credentials
    readonly document: Session
  }
  /** log out */
  readonly 'logout': {
    readonly input: Readonly<Record<string, never>>
    readonly document: LoggedOut
  }
  /** validate a policy directory and print warnings */
  readonly 'policy/check': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** treat warnings as errors, for CI */
      readonly strict?: boolean | undefined
      /** warn about roles that this policy does not name */
      readonly against?: string | undefined
      /** warn about roles that have no row in the accounts database */
      readonly accounts?: boolean | undefined
    }
    readonly document: PolicyCheck
    readonly formats: 'text'
  }
  /** run the tests of a policy directory */
  readonly 'policy/test': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** fail when tests cover fewer rules and exclusions than this */
      readonly 'min-coverage'?: number | undefined
      /** also list routes and OpenAPI operations that no test is about */
      readonly routes?: boolean | undefined
    }
    readonly document: PolicyTest
    readonly formats: 'text'
  }
  /** list what gateways refused most often, and the line that would allow it */
  readonly 'policy/denials': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01 */
      readonly since?: string | undefined
      /** how many to list, the most frequent ones first */
      readonly limit?: number | undefined
      /** domain to ask about, under a model with one: Casbin's r = sub, dom, obj, act (if the host is the domain, --host is enough) */
      readonly domain?: string | undefined
      /** answer for requests to this host, such as api.example.com (default: a host that no route names) */
      readonly host?: string | undefined
    }
    readonly document: PolicyDenials
    readonly formats: 'text'
  }
  /** compare two policies by the access they grant */
  readonly 'policy/diff': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** old policy: a directory, a commit (git:REF or git:REF:PATH), a revision or live (default: live) */
      readonly from: string
      /** name the accounts in the configured database that gain or lose at this gateway */
      readonly accounts?: boolean | undefined
      /** exit with 1 only if access widens at a gateway with this configuration */
      readonly 'this-gateway'?: boolean | undefined
    }
    readonly document: PolicyDiff
    readonly formats: 'text'
  }
  /** ask a policy again what gateways decided */
  readonly 'policy/replay': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** leave out earlier decisions: 6h, 7d or a UTC date such as 2026-11-01 */
      readonly since?: string | undefined
    }
    readonly document: PolicyReplay
    readonly formats: 'text'
  }
  /** remove a proposal */
  readonly 'policy/proposals': {
    readonly input: {
      /** remove this proposal */
      readonly drop: string
      /** The value of drop once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: PolicyProposalsChange
    readonly formats: 'text'
  }
  /** end the shadow and delete what was counted */
  readonly 'policy/shadow': {
    readonly input: {
      /** end the shadow and delete what was counted */
      readonly end: 'end'
    }
    readonly document: PolicyShadowChange
    readonly formats: 'text'
  }
  /** check and test a policy, and store it for others to approve */
  readonly 'policy/propose': {
    readonly input: {
      /** The files of the draft. */
      readonly files: readonly {
        readonly name: string
        readonly text: string
      }[]
      /** The directory of the files, as the command names it in what it prints. */
      readonly directory?: string | undefined
      /** reason for this change */
      readonly message: string
      /** warn about roles that have no row in the accounts database */
      readonly accounts?: boolean | undefined
      /** accept a directory without tests; tests that exist still run */
      readonly 'no-tests'?: boolean | undefined
      /** propose only if this revision is live; "live" replaces any revision */
      readonly over: string
    }
    readonly document: PolicyPropose
    readonly formats: 'text'
  }
  /** review a proposal and sign it */
  readonly 'policy/approve': {
    readonly input: {
      /** proposed revision; its first 12 hex digits are enough */
      readonly revision: string
      /** a signature that was made elsewhere, over "statement" of "policy proposals REVISION --output json": the base64 text of an SSH signature, in one line */
      readonly signature: string
    }
    readonly document: PolicyApprove
    readonly formats: 'text'
  }
  /** check, test and publish a policy directory, or publish an approved proposal */
  readonly 'policy/push': {
    readonly input: {
      /** policy directory (default: policy.directory), or the revision of a proposal */
      readonly revision: string
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
      /** The value of revision once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: PolicyPush
    readonly formats: 'text'
  }
  /** make the shadow live if its evidence allows it */
  readonly 'policy/promote': {
    readonly input: {
      /** revision of the shadow; its first 12 hex digits are enough */
      readonly revision: string
      /** refuse unless every running replica has evaluated it for this long, such as 1h */
      readonly after?: string | undefined
      /** refuse when the shadow would have denied more requests than N */
      readonly 'max-would-deny'?: number | undefined
      /** reason for this change (default: the reason of the shadow) */
      readonly message?: string | undefined
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
      /** The value of revision once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: PolicyPromote
    readonly formats: 'text'
  }
  /** publish an earlier revision again */
  readonly 'policy/rollback': {
    readonly input: {
      /** revision to publish; its first 12 hex digits are enough */
      readonly revision: string
      /** reason for this change (default: "back to REVISION") */
      readonly message?: string | undefined
      /** publish only if this revision is live; "live" replaces any revision */
      readonly over?: string | undefined
      /** how long to wait for the replicas; 0 checks once (default: 15) */
      readonly wait?: number | undefined
      /** fail unless exactly N replicas use it; each gateway process is a replica */
      readonly replicas?: number | undefined
      /** publish without checking the replicas, for a first policy before any gateway runs */
      readonly 'no-wait'?: boolean | undefined
      /** succeed although replicas are lost or none has reported, for a deployment that replaces them */
      readonly 'allow-lost'?: boolean | undefined
      /** The value of revision once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: PolicyRollback
    readonly formats: 'text'
  }
  /** delete an account and revoke its tokens */
  readonly 'user/delete': {
    readonly input: {
      /** user name */
      readonly name: string
      /** The value of name once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: UserDelete
    readonly formats: 'text'
  }
  /** create an account and print its generated password */
  readonly 'user/add': {
    readonly input: {
      /** user name */
      readonly name: string
      /** role key */
      readonly role: string
    }
    readonly document: UserAdd
    readonly formats: 'text'
  }
  /** set a new password and revoke the tokens of the user */
  readonly 'user/passwd': {
    readonly input: {
      /** user name */
      readonly name: string
      /** The value of name once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: UserPasswd
    readonly formats: 'text'
  }
  /** change the role of a user and revoke their tokens */
  readonly 'user/role': {
    readonly input: {
      /** user name */
      readonly name: string
      /** role key */
      readonly role: string
      /** The value of name once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: UserRole
    readonly formats: 'text'
  }
  /** disable an account and revoke its tokens */
  readonly 'user/disable': {
    readonly input: {
      /** user name */
      readonly name: string
      /** The value of name once more, as the person typed it. */
      readonly confirm: string
    }
    readonly document: UserDisable
    readonly formats: 'text'
  }
  /** enable a disabled account */
  readonly 'user/enable': {
    readonly input: {
      /** user name */
      readonly name: string
    }
    readonly document: UserEnable
    readonly formats: 'text'
  }
  /** end one session, all sessions of a user, or all sessions */
  readonly 'session/end': {
    readonly input: {
      /** the session, as "session list" shows it */
      readonly id?: string | undefined
      /** end every session of this user */
      readonly user?: string | undefined
    }
    readonly document: SessionEnd
    readonly formats: 'text'
  }
  /** end the lock-outs of an account or an address */
  readonly 'login/unlock': {
    readonly input: {
      /** user name, or an IPv4 or IPv6 address */
      readonly user: string
    }
    readonly document: LoginUnlock
    readonly formats: 'text'
  }
}

/** What `open` follows, by path. */
export interface Streams {
  readonly 'live/traffic': TrafficEvent
  readonly 'live/decisions': DecisionEvent
}
