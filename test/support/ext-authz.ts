import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { check, decodeAnswer } from './check-messages.ts'
import type { TestPostern } from './start-postern.ts'

const unchanged = (bytes: Buffer) => bytes

/** A gRPC client of the forward-auth port. Rejects with a ServiceError. */
export function grpcClient({ forwardAuthPort }: Pick<TestPostern, 'forwardAuthPort'>) {
  const client = new Client(`127.0.0.1:${forwardAuthPort}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const call = (path: string, message: Buffer, metadata = new Metadata()) =>
    new Promise<Buffer>((resolve, reject) => {
      const done = (error: ServiceError | null, bytes?: Buffer) =>
        error === null && bytes !== undefined ? resolve(bytes) : reject(error)
      client.makeUnaryRequest(path, unchanged, unchanged, message, metadata, done)
    })
  return {
    call,
    check: async (message: Buffer, metadata?: Metadata) =>
      decodeAnswer(await call(check.path, message, metadata)),
  }
}
