import { attack } from './attack.ts'
import { makeCalls } from './calls.ts'
import type { Order } from './workers.ts'

/* Attacks or calls a server when told to, in a process of its own, and sends back what came of it. */
process.on('message', async (order: Order) => {
  process.send?.(await ('kind' in order ? attack(order) : makeCalls(order)))
})
