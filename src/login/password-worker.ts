import bcrypt from 'bcrypt'
import { answerCalls } from '../background/answer-calls.ts'
import { lowerThreadPriority } from '../background/thread-priority.ts'
import type { Comparison } from './hashing-threads.ts'

/* Compares one password with one hash at a time. Threads that forward requests go first. */
lowerThreadPriority()
answerCalls(({ password, hash }: Comparison) => bcrypt.compareSync(Buffer.from(password), hash))
