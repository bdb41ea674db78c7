import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

interface Order {
  readonly id: number
  readonly item: string
  readonly quantity: number
  readonly createdBy: string
}

/**
 * A business service behind Postern. It verifies no tokens and has no accounts: the headers say who
 * calls, and only the gateway can set them.
 */
export function createOrdersService(): Server {
  const orders = new Map<number, Order>([
    [7, { id: 7, item: 'lantern', quantity: 2, createdBy: '1' }],
    [8, { id: 8, item: 'rope, 20 m', quantity: 1, createdBy: '1' }],
  ])

  async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const caller = callerOf(request)
    const { pathname } = new URL(request.url ?? '/', 'http://orders')
    const id = Number(/^\/api\/v1\/orders\/(\d+)$/.exec(pathname)?.[1])

    if (pathname === '/api/v1/orders' && request.method === 'GET') {
      send(reply, 200, { caller, orders: [...orders.values()] })
    } else if (pathname === '/api/v1/orders' && request.method === 'POST') {
      const order = { ...(await readOrder(request)), id: orders.size + 7, createdBy: caller.userId }
      orders.set(order.id, order)
      send(reply, 201, { caller, order })
    } else if (orders.has(id) && request.method === 'GET') {
      send(reply, 200, { caller, order: orders.get(id) })
    } else if (orders.has(id) && request.method === 'PUT') {
      const order = { ...(await readOrder(request)), id, createdBy: caller.userId }
      orders.set(id, order)
      send(reply, 200, { caller, order })
    } else if (orders.has(id) && request.method === 'DELETE') {
      orders.delete(id)
      send(reply, 200, { caller, deleted: id })
    } else {
      send(reply, 404, { msg: 'no such order' })
    }
  }

  return createServer((request, reply) => {
    answer(request, reply).catch(() => send(reply, 400, { msg: 'item and quantity are needed' }))
  })
}

function callerOf({ headers }: IncomingMessage) {
  return {
    userId: String(headers['x-user-id'] ?? ''),
    userName: String(headers['x-user-name'] ?? ''),
    roleKey: String(headers['x-role-key'] ?? ''),
    dataScope: String(headers['x-data-scope'] ?? ''),
  }
}

async function readOrder(request: IncomingMessage): Promise<Pick<Order, 'item' | 'quantity'>> {
  let text = ''
  for await (const chunk of request) text += chunk
  const { item, quantity } = JSON.parse(text) as Order
  if (typeof item !== 'string' || typeof quantity !== 'number') throw new Error('malformed order')
  return { item, quantity }
}

function send(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  reply.end(`${JSON.stringify(body)}\n`)
}
