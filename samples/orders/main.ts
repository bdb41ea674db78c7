import { createOrdersService } from './orders-service.ts'

const port = Number(process.env['PORT'] ?? 8001)
const service = createOrdersService()
service.on('error', (error) => {
  console.error(`orders service: cannot listen on 127.0.0.1:${port}: ${error.message}`)
  process.exit(1)
})
service.listen(port, '127.0.0.1', () => {
  console.error(`orders service on http://127.0.0.1:${port}`)
})
