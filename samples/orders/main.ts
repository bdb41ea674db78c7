import { createOrdersService } from './orders-service.ts'

const port = Number(process.env['PORT'] ?? 8001)
// Loopback by default, so that only the gateway on this machine can reach it.
const host = process.env['HOST'] ?? '127.0.0.1'
const service = createOrdersService()
service.on('error', (error) => {
  console.error(`orders service: cannot listen on ${host}:${port}: ${error.message}`)
  process.exit(1)
})
service.listen(port, host, () => {
  console.error(`orders service on http://${host}:${port}`)
})
