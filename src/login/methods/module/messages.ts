import type { FoundAccount, LoginLogDetails, LoginRequest } from './contract.ts'
import type { Declaration } from './declaration.ts'

/** What a thread needs to start. */
export interface ThreadTask {
  readonly file: string
}

export interface VerifyOrder {
  readonly request: LoginRequest
  readonly remoteAddress: string
}

export type ToThread =
  | ({ readonly kind: 'verify'; readonly call: number } & VerifyOrder)
  | { readonly kind: 'abort'; readonly call: number }
  | {
      readonly kind: 'account'
      readonly lookup: number
      readonly account?: FoundAccount | undefined
      /** Why there is no answer. */
      readonly problem?: string
    }

export type FromThread =
  | { readonly kind: 'loaded'; readonly declaration: Declaration }
  | { readonly kind: 'unusable'; readonly problem: string }
  | { readonly kind: 'returned'; readonly call: number; readonly result: unknown }
  | { readonly kind: 'threw'; readonly call: number; readonly error: ThrownError }
  | {
      readonly kind: 'find'
      readonly call: number
      readonly lookup: number
      readonly username: string
    }
  | ({ readonly kind: 'log'; readonly call: number } & LogLine)

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly details: LoginLogDetails
}

/** The parts of an error that reach the log, of bounded length. */
export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack: string
}
