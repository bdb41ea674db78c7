import { lowerThreadPriority } from '../thread-priority.ts'

/* Takes in one policy. Loads what it needs for that only when it yields to those who forward. */
lowerThreadPriority('lower')
await import('./policy-work.ts')
