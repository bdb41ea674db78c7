import { createOrdersService } from './orders-service.ts'

const port = Number(process.env['PORT'] ?? 8001)
createOrdersService().listen(port, '127.0.0.1', () => {
  console.error(`orders service on http://127.0.0.1:${port}`)
})
