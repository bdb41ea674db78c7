import { Fault, type FaultPart, Refusal, type RefusalKind } from '../../kernel/errors.ts'
import { faults, type GrpcStatus, grpcCodes, refusals } from '../../kernel/refusals.ts'

export function codeOf(status: GrpcStatus): number {
  return grpcCodes[status]
}

export function refusalCode(kind: RefusalKind): number {
  return grpcCodes[refusals[kind].grpc]
}

export function faultCode(part: FaultPart): number {
  return grpcCodes[faults[part] === 504 ? 'deadlineExceeded' : 'unavailable']
}

/** The code for a thrown error; `internal` for our own bugs. */
export function codeOfError(error: unknown): number {
  if (error instanceof Refusal) return refusalCode(error.kind)
  return error instanceof Fault ? faultCode(error.part) : grpcCodes.internal
}
